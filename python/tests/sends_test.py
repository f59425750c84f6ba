# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a function says that it sends is held against what torch.distributed carries."""

import extra_block
import pytest
import ringcheck


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_one_more_block_fails_counters(device):
    if device == "cuda" and extra_block.gpus() < 2:
        pytest.skip(f"NCCL takes a GPU a rank, 2 are needed, and there are {extra_block.gpus()}")
    extra_block.check(device)


def test_nonsense_is_refused():
    with pytest.raises(ringcheck.Refused, match=r"sends\(case, 0\) gives \[0\]; want bytes"):
        extra_block.judged(extra_block.says_nonsense, "cpu")
