# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of bench/peers are judged by."""

import pathlib
import sys

import pytest
import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "peers"))
import exact  # noqa: E402


@pytest.mark.parametrize("seq", [1, 5, 23])
def test_exact_attention_is_that_of_autograd(seq, monkeypatch):
    monkeypatch.setattr(exact, "ROWS", 5)  # in several pieces, the last one shorter
    torch.manual_seed(seq)
    q, k, v, d_o = (3 * torch.randn(1, 2, seq, 8, dtype=torch.float64) for _ in range(4))
    inputs = [x.clone().requires_grad_() for x in (q, k, v)]
    o = functional.scaled_dot_product_attention(*inputs, is_causal=True)
    want = [o.detach(), *torch.autograd.grad(o, inputs, d_o)]
    for got, true in zip(exact.attention(q, k, v, d_o), want):
        torch.testing.assert_close(got, true, rtol=1e-11, atol=1e-11)
