"""Strategies are compared on equal seeds and splits, and nobody's labels train anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nodewise as nw
from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model

GRAPH = replace(block_model(300, num_classes=3, num_features=60, words_per_node=8, noise=0.6, seed=1), name="planted")
SMALL = {"steps": 4, "batch_size": 64, "dimension": 16, "device": "cpu"}


class Nothing(nw.Strategy):
    """Keep the least similar part."""

    share: float = 0.4

    def choose(self, candidates: nw.Candidates) -> nw.PairSets:
        return nw.PairSets(candidates.scores < candidates.scores.quantile(self.share, -1, keepdim=True))


def test_rows_are_paired_with_all_negatives() -> None:
    found = nw.compare([Nothing(share=0.2), "hard"], on=[GRAPH], seeds=range(3), **SMALL)
    assert found.strategies == ("all", "Nothing(share=0.2)", "hard")
    assert found.accuracy.shape == (3, 1, 3)
    gain = found.gain("hard", "planted")
    assert gain.mean == pytest.approx((found.accuracy[2, 0] - found.accuracy[0, 0]).mean())
    assert gain.verdict in repr(found)
    assert "<td>hard</td>" in found._repr_html_()


def test_all_negatives_are_always_there_and_only_once() -> None:
    same = nw.compare(["all"], on=[GRAPH], seeds=[5, 6], **SMALL)
    assert same.strategies == ("all",)
    again = nw.compare([], on=[GRAPH], seeds=[5, 6], **SMALL)
    assert np.array_equal(same.accuracy, again.accuracy)


@pytest.mark.parametrize(("on", "seeds"), [([], [0]), ([GRAPH], [])])
def test_nothing_to_compare_is_told(on: list[nw.Graph], seeds: list[int]) -> None:
    with pytest.raises(InputError, match="at least one graph and one seed"):
        nw.compare(["hard"], on=on, seeds=seeds)


def test_a_graph_without_labels_is_refused() -> None:
    with pytest.raises(InputError, match="has no labels"):
        nw.compare(["hard"], on=[replace(GRAPH, labels=None, class_names=(), split=None)], seeds=[0], **SMALL)
