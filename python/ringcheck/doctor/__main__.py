# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m ringcheck.doctor``."""

import sys

from ringcheck.doctor import doctor

sys.exit(0 if doctor() else 1)
