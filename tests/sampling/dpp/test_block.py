import torch

from nodewise.sampling.dpp import block
from nodewise.sampling.dpp.block import away_from_ends, eliminate_block_numpy, eliminate_block_torch
from nodewise.sampling.dpp.kernels import gaussian_kernel, marginal_kernel


def loop_twin(kernel: torch.Tensor, uniforms: torch.Tensor) -> tuple[list[bool], list[float]]:
    """One draw, entry by entry."""
    rest = kernel.tolist()
    n = len(rest)
    accepted, pivots = [], []
    for j in range(n):
        yes = uniforms[j].item() < rest[j][j]
        pivot = rest[j][j] if yes else rest[j][j] - 1.0
        accepted.append(yes)
        pivots.append(pivot)
        for a in range(j + 1, n):
            for b in range(j + 1, n):
                rest[a][b] -= rest[a][j] * rest[j][b] / pivot
    return accepted, pivots


def test_both_versions_equal_the_loop_and_factor_the_kernel(points, uniforms) -> None:
    for n in (1, 2, 9, 33):
        kernel = marginal_kernel(4 * gaussian_kernel(torch.stack([points(n, 4, seed) for seed in range(5)])))
        u = uniforms(5, n)
        for eliminate in (eliminate_block_numpy, eliminate_block_torch):
            accepted, pivots, inverse = eliminate(kernel, u)
            for draw in range(5):
                expected, values = loop_twin(kernel[draw], u[draw])
                assert accepted[draw].tolist() == expected
                assert torch.allclose(pivots[draw], torch.tensor(values, dtype=torch.float64), rtol=1e-10)
            signed = kernel - torch.diag_embed((~accepted).double())
            assert torch.allclose(inverse @ signed @ inverse.mT, torch.diag_embed(pivots), atol=1e-10)
            assert torch.equal(inverse.triu(1), torch.zeros_like(inverse))


def test_one_or_two_draws_equal_the_same_among_others(points, uniforms) -> None:
    kernel = marginal_kernel(4 * gaussian_kernel(torch.stack([points(9, 4, seed) for seed in range(5)])))
    u = uniforms(5, 9)
    together = eliminate_block_numpy(kernel, u)
    for few in (slice(0, 1), slice(3, 4), slice(1, 3)):
        part = eliminate_block_numpy(kernel[few], u[few])
        assert torch.equal(part.accepted, together.accepted[few])
        assert torch.allclose(part.pivots, together.pivots[few], rtol=1e-10)
        assert torch.allclose(part.inverse, together.inverse[few], atol=1e-10)


def test_on_a_cpu_the_numpy_version_decides(points, uniforms, monkeypatch) -> None:
    calls = []
    monkeypatch.setattr(block, "eliminate_block_numpy", lambda *given: calls.append(given) or "decided")
    assert block.eliminate_block(points(4, 4).unsqueeze(0), uniforms(1, 4)) == "decided"
    assert len(calls) == 1


def test_inputs_are_left_alone(points, uniforms) -> None:
    kernel = marginal_kernel(gaussian_kernel(points(6, 2))).unsqueeze(0)
    before = kernel.clone()
    eliminate_block_numpy(kernel, uniforms(1, 6))
    eliminate_block_torch(kernel, uniforms(1, 6))
    assert torch.equal(kernel, before)


def test_a_sure_item_is_always_and_an_impossible_one_never_accepted() -> None:
    kernel = torch.diag(torch.tensor([1.0, 0.0, 1.0 - 1e-13, 1e-13], dtype=torch.float64)).unsqueeze(0)
    for u in (0.0, 1.0 - 2.0**-53):
        done = eliminate_block_numpy(kernel, away_from_ends(torch.full((1, 4), u)))
        assert done.accepted.tolist() == [[True, False, True, False]]
        assert done.pivots.abs().min() >= 1e-12 / 2
