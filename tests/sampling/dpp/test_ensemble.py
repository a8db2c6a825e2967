import pytest
import torch

from nodewise.sampling.dpp.elimination import draw_from_marginal
from nodewise.sampling.dpp.ensemble import draw_from_ensemble
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel, marginal_kernel


def slow_twin(likelihood: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Eliminate K = L (L + I)^-1 item by item, from last to first."""
    kernel = marginal_kernel(likelihood).flip(-1, -2)
    return draw_from_marginal(kernel, uniforms.flip(-1), block=1).flip(-1)


def conditional_probabilities(likelihood: torch.Tensor, chosen: torch.Tensor) -> list[float]:
    """P(j in Y | what was decided about the items after j), from determinants alone, by the definition."""
    n = len(likelihood)
    probabilities = []
    for j in range(n - 1, -1, -1):

        def weight(kept: torch.Tensor, j: int = j) -> torch.Tensor:
            # Sum of det(L_Y) over all Y that agree with the decisions: items before j are free.
            free = (torch.arange(n) < j).double()
            rows = torch.cat([torch.arange(j), j + torch.nonzero(kept).flatten()])
            return torch.linalg.det((likelihood + torch.diag(free))[rows][:, rows])

        yes, no = chosen[j:].clone(), chosen[j:].clone()
        yes[0], no[0] = True, False
        probabilities.append(float(weight(yes) / (weight(yes) + weight(no))))
    return probabilities[::-1]


@pytest.mark.parametrize(("n", "scale", "block"), [(12, 3.0, 64), (12, 40.0, 5), (8, 0.5, 3)])
def test_all_subsets_are_drawn_as_often_as_they_should(
    enumeration, points, uniforms, n: int, scale: float, block: int
) -> None:
    likelihood = scale * gaussian_kernel(points(n, 3))
    law = enumeration.law_of_likelihood(likelihood)
    assert torch.allclose(law, enumeration.law_of_marginal(marginal_kernel(likelihood)), atol=1e-12)
    draws = draw_from_ensemble(likelihood, uniforms(30000, n), block)
    assert enumeration.largest_inclusion_error(draws, law)[1] < 1
    assert enumeration.p_value(draws, law) > 1e-3


def test_decisions_are_thresholds_of_the_conditional_probabilities(points, uniforms) -> None:
    likelihood = 3 * gaussian_kernel(points(9, 3))
    u = uniforms(50, 9)
    for draw, row in zip(draw_from_ensemble(likelihood, u, block=4), u, strict=True):
        expected = [x < p for x, p in zip(row.tolist(), conditional_probabilities(likelihood, draw), strict=True)]
        assert draw.tolist() == expected


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_draws_equal_the_slow_twin_for_any_block_size(points, uniforms, scale: float) -> None:
    for seed in range(4):
        likelihood = scale * gaussian_kernel(points(150, 5, seed))
        u = uniforms(5, 150, seed=seed)
        expected = slow_twin(likelihood, u)
        for block in (1, 7, 32, 64, 150, 500):
            assert torch.equal(draw_from_ensemble(likelihood, u, block), expected)


def test_batches_equal_single_draws(points, uniforms) -> None:
    likelihood = torch.stack([3 * gaussian_kernel(points(70, 4, seed)) for seed in range(6)]).reshape(2, 3, 70, 70)
    u = uniforms(2, 3, 5, 70)
    together = draw_from_ensemble(likelihood, u, block=16)
    assert together.shape == (2, 3, 5, 70)
    for i in range(2):
        for j in range(3):
            for r in range(5):
                assert torch.equal(draw_from_ensemble(likelihood[i, j], u[i, j, r : r + 1])[0], together[i, j, r])


def test_masked_items_are_never_and_duplicates_never_both_chosen(points, uniforms) -> None:
    x = points(40, 3)
    likelihood = 20 * gaussian_kernel(torch.cat([x, x[:20]]).float())
    masked = torch.arange(60) % 7 == 3
    likelihood[masked] = 0.0
    likelihood[:, masked] = 0.0
    draws = draw_from_ensemble(likelihood, uniforms(2000, 60), block=16)
    assert not draws[:, masked].any()
    assert draws[:, ~masked].any(dim=0).all()
    assert not (draws[:, :20] & draws[:, 40:]).any()


@pytest.mark.parametrize("kind", ["zero", "ones", "identity", "low rank", "huge", "huge low rank", "tiny"])
def test_extreme_likelihoods_give_valid_sets(points, uniforms, kind: str) -> None:
    x = points(80, 4)
    likelihood, smallest, largest = {
        "zero": (torch.zeros(80, 80), 0, 0),
        "ones": (torch.ones(80, 80), 0, 1),
        "identity": (1e9 * torch.eye(80), 80, 80),
        "low rank": (linear_kernel(x), 0, 4),
        "huge": (1e12 * gaussian_kernel(x), 10, 80),
        "huge low rank": (1e8 * linear_kernel(x), 4, 4),
        "tiny": (1e-12 * gaussian_kernel(x), 0, 1),
    }[kind]
    sizes = draw_from_ensemble(likelihood, uniforms(200, 80), block=16).sum(-1)
    assert sizes.min() >= smallest
    assert sizes.max() <= largest
    for edge in (0.0, 1 - 2.0**-53):
        assert draw_from_ensemble(likelihood, torch.full((1, 80), edge, dtype=torch.float64)).shape == (1, 80)


def test_inputs_are_left_alone(points, uniforms) -> None:
    likelihood = gaussian_kernel(points(20, 3))
    before = likelihood.clone()
    draw_from_ensemble(likelihood, uniforms(2, 20))
    assert torch.equal(likelihood, before)
