import torch
from tests.sampling.test_strategy import candidates

from nodewise.sampling.pairs import PairSets


def test_own_is_every_copy_of_the_querys_node() -> None:
    nodes = torch.tensor([[4, 9, 4, 7], [1, 2, 1, 1]])
    own = candidates(nodes).own
    for run in range(2):
        for i in range(4):
            for j in range(4):
                assert bool(own[run, i, j]) == (nodes[run, i] == nodes[run, j])


def test_scores_are_dot_products_over_the_temperature() -> None:
    batch = candidates(temperature=0.25)
    for run in range(2):
        for i in range(0, 12, 5):
            for j in range(12):
                expected = float(batch.query[run, i] @ batch.key[run, j]) / 0.25
                assert abs(float(batch.scores[run, i, j]) - expected) < 1e-5


def test_counts_are_means_over_the_queries_of_a_run_and_keep_the_rest() -> None:
    negatives = torch.tensor([[[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [1, 1, 1]]], dtype=torch.bool)
    weights, moved = torch.rand(2, 2, 3), torch.tensor([0.5, 0.25])
    pairs = PairSets(negatives, ~negatives, weights, 0.1, {"moved": moved}).with_counts()
    assert pairs.statistics["negatives"].tolist() == [1.0, 2.0]
    assert pairs.statistics["empty"].tolist() == [0.5, 0.0]
    assert pairs.statistics["moved"] is moved
    assert pairs.log_weights is weights
    assert pairs.positive_prior == 0.1
    assert torch.equal(pairs.positives, ~negatives)
