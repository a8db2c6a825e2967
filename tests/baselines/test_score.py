from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nodewise.baselines.label_propagation import LabelPropagation
from nodewise.baselines.score import test_accuracy as accuracy_of
from nodewise.core.errors import InputError
from nodewise.data.graph import Graph, Split


def path_of_ten(wrong: int = 0) -> Graph:
    """Two paths of five, an end of each known; `wrong` test labels are not the path's."""
    ends = [0, 1, 2, 3, 5, 6, 7, 8]
    labels = [0] * 5 + [1] * 5
    for i in range(wrong):
        labels[1 + i] = 1
    graph = Graph.from_edges(ends, [i + 1 for i in ends], labels=labels)
    return replace(graph, split=Split(*map(np.array, ([0, 5], [4, 9], [1, 2, 3, 6, 7]))))


@pytest.mark.parametrize(("wrong", "share"), [(0, 1.0), (1, 0.8), (2, 0.6)])
def test_the_share_of_test_nodes_that_are_right(wrong: int, share: float) -> None:
    assert accuracy_of(LabelPropagation(device="cpu"), path_of_ten(wrong)) == pytest.approx(share)


def test_a_graph_without_test_nodes_is_refused() -> None:
    graph = path_of_ten()
    assert graph.split is not None
    bare = replace(graph, split=replace(graph.split, test=graph.split.test[:0]))
    with pytest.raises(InputError, match="no labelled test nodes"):
        accuracy_of(LabelPropagation(device="cpu"), bare)
