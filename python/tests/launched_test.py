# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a launcher says, and what rank 0 has found, which reaches the ranks that are left."""

import os
import socket
import threading

import pytest
from ringcheck import Refused, launched


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


def test_variables_of_the_user_stay():
    theirs = ["RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME",
              "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_ERROR_FILE"]
    users = {name: "x" for name in ("LOCAL_CACHE", "GROUP_ID", "ROLE_ARN", "RANKING", "MASTER_KEY", "WORLD_SIZES",
                                    "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "HOME")}
    choice = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}  # torchrun gives its ranks one
    assert launched.without_launcher(users | choice | dict.fromkeys(theirs, "0")) == users
    assert launched.without_launcher(users | choice) == users | choice


@pytest.mark.parametrize("address, port, said", [
    (None, "29500", "MASTER_ADDR is not set beside RANK and WORLD_SIZE; unset both"), ("", "29500", "MASTER_ADDR is not set"),
    ("localhost", None, "MASTER_PORT is not set"), ("localhost", "x", "MASTER_PORT='x'; want a number from 1 to 65535"),
    ("localhost", "65536", "MASTER_PORT='65536'; want"), ("localhost", "29500", None)])
def test_ranks_are_told_where_they_meet(monkeypatch, address, port, said):
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": address, "MASTER_PORT": port}.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    if said is None:
        assert launched.world().size == 2
    else:
        with pytest.raises(Refused, match=said):
            launched.world()


def test_one_of_one_rank_without_a_meeting_is_alone(monkeypatch):
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": None, "MASTER_PORT": None}.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert launched.world() is None
