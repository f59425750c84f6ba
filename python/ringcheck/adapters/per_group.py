# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What an adapter makes of a process group."""
import functools

#: Made once a group, and of the last group alone: what is made of one keeps it alive, with the threads that it polls by.
once_a_group = functools.lru_cache(maxsize=1)
