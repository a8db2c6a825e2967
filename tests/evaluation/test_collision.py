import numpy as np
import pytest
import torch

from nodewise.evaluation.collision import CollisionCounts, count_collisions


def batch(own_candidates: bool) -> tuple[torch.Tensor, ...]:
    generator = np.random.default_rng(0)
    before = generator.random((6, 9)) < 0.8
    after = before & (generator.random((6, 9)) < 0.5)
    shape = (6, 9) if own_candidates else 9
    return tuple(map(torch.from_numpy, (generator.integers(-1, 3, 6), generator.integers(-1, 3, shape), before, after)))


@pytest.mark.parametrize("own_candidates", [False, True])
def test_shares_against_a_loop_over_pairs(own_candidates: bool) -> None:
    queries, candidates, before, after = batch(own_candidates)
    offered, kept, removed = [], [], []
    for i in range(6):
        for j in range(9):
            other = candidates[i, j] if own_candidates else candidates[j]
            if before[i, j] and queries[i] >= 0 and other >= 0:
                same = bool(queries[i] == other)
                offered.append(same)
                (kept if after[i, j] else removed).append(same)
    counts = count_collisions(queries, candidates, before, after)
    assert counts.share_before == pytest.approx(np.mean(offered))
    assert counts.share_after == pytest.approx(np.mean(kept))
    assert counts.precision == pytest.approx(np.mean(removed))
    assert counts.recall == pytest.approx(np.sum(removed) / np.sum(offered))
    assert counts.to_dict()["removed"] == len(removed)


def test_a_perfect_sampler() -> None:
    labels = torch.tensor([0, 1, 0, 1])
    before = ~torch.eye(4, dtype=torch.bool)
    counts = count_collisions(labels, labels, before, before & (labels[:, None] != labels))
    assert (counts.share_before, counts.share_after, counts.precision, counts.recall) == (
        1 / 3,
        0.0,
        1.0,
        1.0,
    )


def test_batches_add_up() -> None:
    queries, candidates, before, after = batch(own_candidates=False)
    parts = [count_collisions(queries[i : i + 2], candidates, before[i : i + 2], after[i : i + 2]) for i in (0, 2, 4)]
    assert sum(parts, CollisionCounts()) == count_collisions(queries, candidates, before, after)


def test_nothing_offered_or_removed_has_no_share() -> None:
    labels = torch.tensor([0, 1])
    nobody = torch.zeros(2, 2, dtype=torch.bool)
    assert set(count_collisions(labels, labels, nobody, nobody).to_dict().values()) == {None, 0}
    everyone = ~nobody
    assert count_collisions(labels, labels, everyone, everyone).precision is None


def test_a_sampler_cannot_keep_what_it_was_not_offered() -> None:
    labels = torch.tensor([0, 1])
    with pytest.raises(ValueError, match="not offered"):
        count_collisions(labels, labels, torch.zeros(2, 2, dtype=torch.bool), torch.ones(2, 2, dtype=torch.bool))
