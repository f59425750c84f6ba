# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What rank 0 has found reaches the ranks that are left."""

import os
import socket
import threading

from ringcheck import launched


def test_ranks_that_have_gone_take_no_result_away(monkeypatch):
    address = f"\0ringcheck-test-{os.getpid()}".encode()
    monkeypatch.setattr(launched, "_address", lambda: address)
    everybody = launched.Everybody(4)
    heard = []
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(address)
    listener = threading.Thread(target=lambda: heard.append(launched.hear()))
    listener.start()
    everybody.tell(1, {"cases": []}, seconds=0.5)  # one has gone, one never comes
    listener.join()
    assert heard == [(1, {"cases": []})]
