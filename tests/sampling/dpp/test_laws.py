import pytest
import torch

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.sampling.dpp import laws
from nodewise.sampling.dpp.ensemble import draw_from_ensemble
from nodewise.sampling.dpp.greedy import greedy_map
from nodewise.sampling.dpp.kernels import gaussian_kernel, literal_kernel, marginal_kernel
from nodewise.sampling.dpp.laws import sample_negatives
from nodewise.sampling.dpp.settings import DppSettings, fit_scale

EVERY_LAW = [
    DppSettings(law="shared", size=12.0),
    DppSettings(law="literal"),
    DppSettings(law="per_node", size=12.0),
    DppSettings(law="fixed", size=12.0),
    DppSettings(law="greedy", size=12.0),
]


def name(settings: DppSettings) -> str:
    return settings.law


def masks(queries: int, items: int, share: float = 0.6) -> torch.Tensor:
    u = rng.uniform64(rng.key(0, "masks"), torch.arange(queries).unsqueeze(-1), torch.arange(items))
    return u < share


def many_runs(x: torch.Tensor, mask: torch.Tensor, settings: DppSettings, runs: int = 20000) -> torch.Tensor:
    """Draws (runs, B, M) of stacked runs that differ in their key alone."""
    keys = rng.bits(rng.key(0, "runs"), torch.arange(runs))
    return sample_negatives(x.expand(runs, *x.shape), mask.expand(runs, *mask.shape), keys, settings)


def test_restriction_is_exact_for_marginal_kernels(enumeration, points) -> None:
    kernel = marginal_kernel(3 * gaussian_kernel(points(10, 3)))
    law = enumeration.law_of_marginal(kernel)
    inside = torch.tensor([0, 2, 3, 5, 8])
    restricted = torch.zeros(2**5, dtype=torch.float64)
    codes = (enumeration.subsets(10)[:, inside].long() << torch.arange(5)).sum(-1)
    restricted.index_add_(0, codes, law)
    expected = enumeration.law_of_marginal(kernel[inside][:, inside])
    assert (restricted - expected).abs().max() < 1e-10


@pytest.mark.parametrize("law", ["shared", "literal", "per_node"])
def test_each_query_sees_its_law(enumeration, points, law: str) -> None:
    x, mask = points(8, 2), masks(3, 8)
    draws = many_runs(x, mask, DppSettings(law=law, bandwidth=1.5, draws=2))
    similarity = gaussian_kernel(x, 1.5)
    for query, inside in enumerate(mask):
        assert not draws[:, query, ~inside].any()
        rows = torch.nonzero(inside).flatten()
        assert 2 <= len(rows) < 8
        kernel = {
            "shared": lambda s=rows: marginal_kernel(similarity)[s][:, s],
            "literal": lambda s=rows: literal_kernel(similarity)[s][:, s],
            "per_node": lambda s=rows: marginal_kernel(similarity[s][:, s]),
        }[law]()
        expected = enumeration.law_of_marginal(kernel)
        assert enumeration.largest_inclusion_error(draws[:, query, rows], expected)[1] < 1
        assert enumeration.p_value(draws[:, query, rows], expected) > 1e-3


def test_the_laws_are_told_apart(enumeration, points) -> None:
    x, mask = points(8, 2), masks(3, 8)
    similarity = gaussian_kernel(x, 1.5)
    rows = torch.nonzero(mask[0]).flatten()
    draws = many_runs(x, mask, DppSettings(law="shared", bandwidth=1.5))[:, 0, rows]
    own = enumeration.law_of_marginal(marginal_kernel(similarity[rows][:, rows]))
    assert enumeration.largest_inclusion_error(draws, own)[1] > 2


def test_shared_thins_dense_regions_and_literal_does_not(points) -> None:
    x = torch.cat([0.05 * points(30, 2), 20 + 10 * points(30, 2)])
    everything = torch.ones(1, 60, dtype=torch.bool)
    for law, is_thinned in (("shared", True), ("literal", False)):
        rate = many_runs(x, everything, DppSettings(law=law, bandwidth=1.0, draws=1), 1000).double().mean((0, 1))
        dense, sparse = rate[:30].mean(), rate[30:].mean()
        assert (dense < 0.5 * sparse) == is_thinned


@pytest.mark.parametrize("settings", EVERY_LAW, ids=name)
def test_draws_stay_inside_the_candidates(points, settings: DppSettings) -> None:
    mask = masks(40, 60)
    mask[7] = False
    kept = sample_negatives(points(60, 4), mask, 3, settings)
    assert kept.dtype == torch.bool
    assert not (kept & ~mask).any()
    assert kept.any()
    assert not kept[7].any()


@pytest.mark.parametrize("settings", EVERY_LAW, ids=name)
def test_stacked_runs_equal_runs_alone(points, settings: DppSettings) -> None:
    x = torch.stack([points(40, 4, seed) for seed in range(3)])
    mask = masks(30, 40).reshape(3, 10, 40)
    keys = rng.key(torch.arange(3), "dpp", 17)
    queries, items = torch.arange(100, 130).reshape(3, 10), torch.arange(120).reshape(3, 40)
    together = sample_negatives(x, mask, keys.unsqueeze(-1), settings, queries=queries, items=items)
    for run in range(3):
        alone = sample_negatives(
            x[run], mask[run], rng.key(run, "dpp", 17), settings, queries=queries[run], items=items[run]
        )
        assert torch.equal(together[run], alone)


@pytest.mark.parametrize("settings", EVERY_LAW, ids=name)
def test_a_query_keeps_the_same_set_whatever_the_chunk(points, settings: DppSettings, monkeypatch) -> None:
    x, mask, names = points(40, 4), masks(30, 40), torch.arange(30) * 7 + 5
    whole = sample_negatives(x, mask, 9, settings, queries=names)
    monkeypatch.setattr(laws, "_CHUNK_ENTRIES", 40 * 40 * 4)
    part = sample_negatives(x, mask[11:20], 9, settings, queries=names[11:20])
    assert torch.equal(part, whole[11:20])


@pytest.mark.parametrize(("entries", "sizes"), [(None, [30]), (40 * 40 * 4, [4] * 7 + [2]), (1, [1] * 30)])
def test_per_node_draws_for_as_many_queries_at_once_as_the_chunk_holds(
    points, monkeypatch, entries: int | None, sizes: list[int]
) -> None:
    seen = []

    def spy(likelihood: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
        seen.append(likelihood.shape[-3])
        return draw_from_ensemble(likelihood, uniforms)

    monkeypatch.setattr(laws, "draw_from_ensemble", spy)
    if entries is not None:
        monkeypatch.setattr(laws, "_CHUNK_ENTRIES", entries)
    sample_negatives(points(40, 4), masks(30, 40), 9, DppSettings(law="per_node"))
    assert seen == sizes


@pytest.mark.parametrize("law", ["shared", "literal", "per_node", "fixed"])
def test_another_key_gives_another_draw(points, law: str) -> None:
    settings = DppSettings(law=law, size=10.0)
    x, mask = points(50, 4), masks(20, 50)
    first = sample_negatives(x, mask, 1, settings)
    assert torch.equal(first, sample_negatives(x, mask, 1, settings))
    assert torch.equal(first, sample_negatives(x, mask, torch.tensor(1), settings))
    assert not torch.equal(first, sample_negatives(x, mask, 2, settings))


@pytest.mark.parametrize("draws", [1, 5])
def test_queries_are_spread_over_the_draws(points, draws: int) -> None:
    everything = torch.ones(400, 50, dtype=torch.bool)
    kept = sample_negatives(points(50, 4), everything, 1, DppSettings(draws=draws))
    _, counts = torch.unique(kept, dim=0, return_counts=True)
    assert len(counts) == draws
    assert counts.min() > 0.6 * 400 / draws


def test_sizes_are_met(points) -> None:
    x, everything = points(80, 6), torch.ones(16, 80, dtype=torch.bool)
    for law in ("fixed", "greedy"):
        assert (sample_negatives(x, everything, 0, DppSettings(law=law, size=9.0)).sum(-1) == 9).all()
    for law in ("shared", "per_node"):
        settings = DppSettings(law=law, size=9.0, draws=16)
        scale = fit_scale(x, settings)
        sizes = torch.cat([sample_negatives(x, everything, key, settings, scale=scale).sum(-1) for key in range(20)])
        assert sizes.double().mean().item() == pytest.approx(9.0, abs=0.8)


def test_greedy_keeps_the_most_diverse(points) -> None:
    x, mask = points(30, 4), masks(5, 30)
    kept = sample_negatives(x, mask, 0, DppSettings(law="greedy", size=8.0))
    best = set(greedy_map(gaussian_kernel(x), 8).tolist())
    for row, inside in zip(kept, mask, strict=True):
        assert set(torch.nonzero(row).flatten().tolist()) == best & set(torch.nonzero(inside).flatten().tolist())


@pytest.mark.parametrize("law", ["shared", "per_node", "fixed", "greedy"])
def test_more_items_than_there_are_candidates_is_refused(points, law: str) -> None:
    with pytest.raises(InputError, match="10 items"):
        sample_negatives(points(10, 3), masks(4, 10), 0, DppSettings(law=law, size=11.0))


def test_no_gradient_flows(points) -> None:
    x = points(10, 3).requires_grad_()
    assert not sample_negatives(x, masks(4, 10), 0, DppSettings(law="per_node")).requires_grad
    assert x.grad is None
