import pytest
import torch
from tests.sampling.test_strategy import candidates

from nodewise.sampling.pairs import Candidates, LabelsAreHidden, PairSets, mean_one


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


def test_a_training_that_says_nothing_is_at_its_beginning() -> None:
    batch = candidates()
    plain = Candidates(batch.query, batch.key, batch.query_nodes, batch.key_nodes, 0.5, batch.topology, 3)
    assert plain.progress == 0
    assert (plain.seen, plain.members, plain.begun, plain.encoded) == (None,) * 4


def test_weights_have_mean_one_over_the_negatives_of_each_query_and_nobody_else_has_any() -> None:
    log_weights = torch.randn(3, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    negatives = torch.tensor([[1, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]], dtype=torch.bool)
    found = mean_one(log_weights, negatives)
    assert not found[~negatives].any()
    for row, given, among in zip(found[:2], log_weights, negatives, strict=False):
        weights = given[among].exp()
        assert torch.allclose(row[among].exp(), weights / weights.mean())
