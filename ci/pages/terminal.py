# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a program shows on a terminal of 80 columns."""
import fcntl
import os
import pty
import re
import struct
import termios

COLUMNS, ROWS = 80, 24
CLEAR_LINE = re.compile(r"[^\n]*\r\x1b\[K")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CTRL_C = b"\x03"


def on_terminal(words, environment=None, interrupt_at=None):
    """The bytes that it writes there as text, and its exit code; Ctrl-C when the text first appears."""
    child, screen = pty.fork()
    if child == 0:
        try:
            os.execvpe(words[0], words, {**os.environ, "TERM": "xterm", **(environment or {})})
        finally:
            os._exit(127)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = b""
    while piece := read(screen):
        written += piece
        if interrupt_at and interrupt_at.encode() in written:
            os.write(screen, CTRL_C)
            interrupt_at = None
    os.close(screen)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return written.decode(errors="replace").replace("\r\n", "\n"), code


def read(screen):
    """What comes next; nothing at the end, where Linux says that there is no terminal any more."""
    try:
        return os.read(screen, 65536)
    except OSError:
        return b""


def left_on(written):
    """What stands on the screen in the end, without colours: lines that were cleared are gone."""
    return STYLE.sub("", CLEAR_LINE.sub("", written))
