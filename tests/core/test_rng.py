import numpy as np
import pytest
import torch
from scipy import stats

from nodewise.core import rng


def splitmix64(state: int) -> int:
    """The published generator, in plain Python integers: the slow twin of one fold."""
    mask = (1 << 64) - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def test_known_outputs_of_splitmix64() -> None:
    # The first outputs for seed 1234567, as listed by the reference implementation's test vectors.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    drawn = rng.bits(1234567, torch.arange(4))
    assert [int(v) & ((1 << 64) - 1) for v in drawn] == expected


def test_fold_is_the_same_for_integers_and_tensors() -> None:
    for key in (0, 1, -5, 2**62, -(2**63)):
        for value in (0, 1, 17, 2**40):
            plain = rng.fold(key, value)
            assert int(rng.fold(torch.tensor(key), value)) == plain
            assert int(rng.fold(key, torch.tensor(value))) == plain
            assert plain & (2**64 - 1) == splitmix64((key + value * 0x9E3779B97F4A7C15) & (2**64 - 1))


def test_a_draw_depends_on_its_name_only() -> None:
    key = rng.key(3, "walk", 11)
    nodes = torch.arange(1000)
    together = rng.bits(key, nodes[:, None], torch.arange(7))
    for start in range(0, 1000, 130):
        assert torch.equal(
            rng.bits(key, nodes[start : start + 130, None], torch.arange(7)), together[start : start + 130]
        )
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(rng.bits(key, nodes[order, None], torch.arange(7)), together[order])


def test_seeds_and_steps_may_be_tensors() -> None:
    seeds = torch.tensor([4, 5])
    steps = torch.tensor(9)
    stacked = rng.bits(rng.key(seeds, "walk", steps)[:, None], torch.arange(5))
    for row, seed in zip(stacked, (4, 5), strict=True):
        assert torch.equal(row, rng.bits(rng.key(seed, "walk", 9), torch.arange(5)))


def test_names_differ() -> None:
    keys = {rng.key(seed, purpose, step) for seed in range(20) for purpose in ("a", "b", "ab") for step in range(50)}
    assert len(keys) == 20 * 3 * 50


@pytest.mark.parametrize("axis", [0, 1])
def test_uniform_law_and_independence(axis: int) -> None:
    key = rng.key(0, "test", 0)
    u = rng.uniform64(key, torch.arange(1000)[:, None], torch.arange(1000)).numpy()
    assert stats.kstest(u.ravel()[::7], "uniform").pvalue > 1e-3
    neighbors = np.corrcoef(np.take(u, range(999), axis).ravel(), np.take(u, range(1, 1000), axis).ravel())[0, 1]
    assert abs(neighbors) < 5e-3


def test_every_bit_is_fair() -> None:
    drawn = rng.bits(rng.key(1, "bits"), torch.arange(200_000))
    ones = torch.stack([(drawn >> b) & 1 for b in range(64)]).double().mean(1)
    assert (ones - 0.5).abs().max() < 5 * 0.5 / 200_000**0.5


def test_avalanche() -> None:
    # One flipped bit of the index flips each output bit about half of the time.
    index = torch.arange(2000) * 7919
    base = rng.bits(5, index)
    for bit in (0, 3, 17, 40):
        changed = base ^ rng.bits(5, index ^ (1 << bit))
        flips = torch.stack([(changed >> b) & 1 for b in range(64)]).double().mean()
        assert abs(flips - 0.5) < 0.01


def test_below_is_uniform_and_in_range() -> None:
    drawn = rng.below(torch.tensor([1, 2, 7]), rng.key(2, "below"), torch.arange(70_000)[:, None])
    assert int(drawn[:, 0].max()) == 0
    for column, bound in ((1, 2), (2, 7)):
        counts = torch.bincount(drawn[:, column], minlength=bound)
        assert len(counts) == bound
        assert stats.chisquare(counts.numpy()).pvalue > 1e-3


def test_normal_numbers_have_the_moments_and_the_law_of_normal_numbers() -> None:
    drawn = rng.normal(rng.key(4, "normal"), torch.arange(1000)[:, None], torch.arange(200))
    assert drawn.dtype == torch.float32
    assert drawn.isfinite().all()
    numbers = drawn.double().numpy().ravel()
    # Of a standard normal number z, Var z^k = (2k - 1)!! - (the k-th moment)²; five standard errors.
    for power, (moment, variance) in enumerate([(0, 1), (1, 2), (0, 15), (3, 96)], start=1):
        assert abs((numbers**power).mean() - moment) < 5 * (variance / len(numbers)) ** 0.5
    assert stats.kstest(numbers[::7], "norm").pvalue > 1e-3
    assert abs(np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < 0.01


def test_normal_numbers_depend_on_their_name_only() -> None:
    keys = rng.key(torch.tensor([[4], [9]]), "normal")
    together = rng.normal(keys, torch.arange(50))
    for row, seed in zip(together, (4, 9), strict=True):
        assert torch.equal(row[20:30], rng.normal(rng.key(seed, "normal"), torch.arange(20, 30)))
    uniform = rng.uniform64(rng.key(4, "normal"), torch.arange(50))
    assert abs(np.corrcoef(together[0], uniform)[0, 1]) < 0.6, "other draws than the uniform ones of the same name"


@pytest.mark.parametrize("columns", [1, 4, 6])
def test_keep_mask_rate_and_independence(columns: int) -> None:
    mask = rng.keep_mask(0.3, rng.key(3, "mask"), torch.arange(60_000), columns)
    assert mask.shape == (60_000, columns)
    rate = mask.double().mean(0)
    assert (rate - 0.3).abs().max() < 0.01
    both = (mask[:, :1] & mask[:, -1:]).double().mean()
    assert abs(both - (0.09 if columns > 1 else 0.3)) < 0.01
    assert rng.keep_mask(1.0, 1, torch.arange(9), columns).all()
    assert not rng.keep_mask(0.0, 1, torch.arange(9), columns).any()


def test_permutation_is_uniform() -> None:
    firsts = [int(rng.permutation(rng.key(seed, "order"), 5)[0]) for seed in range(5000)]
    assert stats.chisquare(np.bincount(firsts, minlength=5)).pvalue > 1e-3
    assert sorted(rng.permutation(8, 100).tolist()) == list(range(100))


@pytest.mark.gpu
def test_same_bits_on_gpu() -> None:
    key = rng.key(7, "device", 3)
    nodes = torch.arange(5000)
    on_cpu = rng.bits(key, nodes[:, None], torch.arange(26))
    on_gpu = rng.bits(key, nodes.cuda()[:, None], torch.arange(26, device="cuda"))
    assert torch.equal(on_cpu, on_gpu.cpu())
    assert torch.equal(rng.uniform(key, nodes), rng.uniform(key, nodes.cuda()).cpu())
    assert torch.equal(rng.keep_mask(0.7, key, nodes, 512), rng.keep_mask(0.7, key, nodes.cuda(), 512).cpu())
