# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a declaration or a call that cannot be."""


class Refused(Exception):
    """A declaration, or a call, that cannot be: the value, the limit and the fix."""
