import pytest
import torch
from tests.sampling.test_strategy import candidates

from nodewise.sampling.pairs import LabelsAreHidden, PairSets


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


def test_counts_are_means_over_the_queries_of_a_run() -> None:
    negatives = torch.tensor([[[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [1, 1, 1]]], dtype=torch.bool)
    counts = PairSets(negatives).counts()
    assert counts["negatives"].tolist() == [1.0, 2.0]
    assert counts["empty"].tolist() == [0.5, 0.0]


def test_what_is_left_is_remembered_and_each_run_sees_its_own() -> None:
    batch = candidates()
    left = batch.leaving(batch.negatives & (batch.scores > 0))
    assert torch.equal(batch.negatives, ~batch.own)
    assert torch.equal(left.of_run(1).negatives, left.negatives[1])
    assert left.scores is batch.scores


def test_labels_are_not_to_be_seen() -> None:
    for name in ("labels", "y"):
        with pytest.raises(LabelsAreHidden):
            getattr(candidates(), name)
