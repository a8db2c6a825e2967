import pytest
import torch
from tests.triton_process import run

COMPARISON = """
import sys, torch
from nodewise.core import rng
from nodewise.sampling.dpp.block import away_from_ends, eliminate_block_torch
from nodewise.sampling.dpp.kernels import gaussian_kernel, marginal_kernel
from nodewise.sampling.dpp.triton_block import eliminate_block_triton
device = sys.argv[1]
for n in (1, 5, 16, 40, 64):
    x = rng.uniform64(3, torch.arange(3)[:, None, None], torch.arange(n)[:, None], torch.arange(8)).to(device)
    kernel = marginal_kernel(3 * gaussian_kernel(x))
    uniforms = away_from_ends(rng.uniform64(4, torch.arange(3)[:, None], torch.arange(n))).to(device)
    fast, slow = eliminate_block_triton(kernel, uniforms), eliminate_block_torch(kernel, uniforms)
    assert torch.equal(fast.accepted, slow.accepted), n
    assert torch.allclose(fast.pivots, slow.pivots, rtol=1e-10), n
    assert torch.allclose(fast.inverse, slow.inverse, rtol=1e-10, atol=1e-10), n
    strided = eliminate_block_triton(kernel.repeat(1, 2, 2)[:, :n, n:], uniforms.repeat(1, 2)[:, n:])
    assert torch.equal(strided.accepted, slow.accepted), n
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
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
def test_draws_on_cuda_equal_those_on_the_cpu_and_do_not_wait_for_the_device() -> None:
    from nodewise.core import rng
    from nodewise.sampling.dpp import DppSettings, sample_negatives

    x = rng.uniform64(5, torch.arange(300).unsqueeze(-1), torch.arange(10))
    candidates = rng.uniform64(6, torch.arange(50).unsqueeze(-1), torch.arange(300)) < 0.7
    for law in ("shared", "literal", "per_node"):
        settings = DppSettings(law=law)
        on_cpu = sample_negatives(x, candidates, 7, settings)
        args = x.cuda(), candidates.cuda(), 7, settings
        on_cuda = sample_negatives(*args)
        assert torch.equal(on_cuda.cpu(), on_cpu), law
        torch.cuda.set_sync_debug_mode("error")
        try:
            sample_negatives(*args)
        finally:
            torch.cuda.set_sync_debug_mode("default")
