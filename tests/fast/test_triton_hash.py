"""The hash on a GPU is the hash."""

import pytest
import torch
from tests.triton_process import run

from nodewise.core import rng

COMPARISON = """
import sys, torch
from nodewise.core.rng import bits, mix_in_torch
from nodewise.fast.triton_hash import mix_on_gpu
device = sys.argv[1]
for shape in ((), (0,), (1,), (5, 7), (1024,), (3, 1025)):
    x = torch.randint(-(2**62), 2**62, shape, device=device) * 2 + torch.randint(0, 2, shape, device=device)
    assert torch.equal(mix_on_gpu(x), mix_in_torch(x)), shape
    if x.dim() > 1:
        assert torch.equal(mix_on_gpu(x.T), mix_in_torch(x.T))
print("equal")
"""


def test_the_kernel_equals_its_twin_when_interpreted() -> None:
    pytest.importorskip("triton")
    assert run(COMPARISON, "cpu") == "equal\n"


@pytest.mark.gpu
def test_the_kernel_equals_its_twin_on_cuda() -> None:
    pytest.importorskip("triton")
    assert run(COMPARISON, "cuda") == "equal\n"


@pytest.mark.gpu
def test_draws_are_the_same_on_both_devices() -> None:
    index = torch.arange(1000)
    keys = rng.fold(rng.key(torch.tensor([1, 2]), "test"), 3).unsqueeze(-1)
    for draw in (rng.uniform, rng.uniform64, rng.bits):
        assert torch.equal(draw(keys.cuda(), index.cuda()).cpu(), draw(keys, index))
