import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.adjacency import DIRECTED, Edges
from nodewise.graph.ids import NodeIds


def edges(*pairs, nodes=4):
    ends = np.array(pairs, np.int32)
    return Edges(NodeIds.range(nodes), ends[:, 0], ends[:, 1], ("first",))


def pairs(found):
    return list(zip(found.sources.tolist(), found.targets.tolist(), strict=True))


def place(edge):
    return f"e.csv, line {edge + 1}"


def test_edges_in_both_directions_are_kept_once_without_a_note():
    found = edges((0, 1), (2, 0), (1, 0), (3, 3), (0, 2)).once()
    assert sorted(pairs(found)) == [(0, 1), (0, 2), (3, 3)]
    assert found.notes == ("first",)


def test_edges_in_one_direction_stay_and_are_noted():
    found = edges((0, 1), (1, 0), (2, 0)).once()
    assert len(found.sources) == 3
    assert found.notes == ("first", DIRECTED)


def test_positive_weights_are_ignored_and_said_where_asked_for():
    found = edges((0, 1), (1, 2)).weighted(np.array([0.5, 2]), place, used=False)
    assert pairs(found) == [(0, 1), (1, 2)]
    assert found.weights is None
    assert any("weights ignored" in note for note in found.notes)


def test_weights_that_are_all_one_and_not_used_say_nothing():
    given = edges((0, 1), (1, 2))
    assert given.weighted(np.ones(2), place, used=False) is given


def test_weights_in_both_directions_are_taken_once_where_they_agree():
    both = edges((0, 1), (1, 0), (1, 2), (2, 1))
    once = both.weighted(np.array([2, 2, 3, 3]), place).once()
    assert (pairs(once), once.weights.tolist(), once.notes) == ([(0, 1), (1, 2)], [2, 3], ("first",))
    unlike = both.weighted(np.array([2, 1, 3, 3]), place).once()
    assert len(unlike.sources) == 4
    assert DIRECTED in unlike.notes


def test_weight_zero_is_no_edge():
    found = edges((0, 1), (1, 2), (2, 3)).weighted(np.array([1.0, 0, 1]), place)
    assert found.weights.tolist() == [1, 1]
    assert pairs(found) == [(0, 1), (2, 3)]
    assert "1 edge of weight zero dropped" in found.notes


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, 1e300])
def test_other_weights_are_refused_where_they_stand(bad):
    with pytest.raises(InputError, match=r"e\.csv, line 2: an edge with(out a)? weight") as error:
        edges((0, 1), (1, 2)).weighted(np.array([1.0, bad]), place)
    assert error.value.code == "bad-weight"
