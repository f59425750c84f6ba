# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What every process does that the judge, or another one for it, has started."""

import ctypes
import faulthandler
import signal

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """However the process that started this one ends, this one does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def settle() -> None:
    """Ends when the judge does and by no Ctrl-C, and says on SIGUSR2, or where it crashes, where it is."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2)
