import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph import features as module
from nodewise.graph.features import as_features, check_finite
from nodewise.graph.graph import Graph
from nodewise.graph.structural import NUM_STRUCTURAL, structural_features


def test_any_numbers_become_float32():
    for given in ([[1, 2], [3, 4]], np.array([[True, False]]), np.eye(2, dtype=np.float64)):
        assert as_features(given).dtype == np.float32
    assert as_features(np.eye(2, dtype=np.float32)[:, ::-1]).flags.c_contiguous


def test_sparse_stays_sparse_with_repeats_summed_and_the_original_untouched():
    given = sp.coo_matrix(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    matrix = as_features(given)
    assert isinstance(matrix, sp.csr_matrix)
    assert matrix.dtype == np.float32
    assert matrix.toarray().tolist() == [[0, 3], [5, 0]]
    unsorted = sp.csr_matrix((np.ones(2, np.float32), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    as_features(unsorted)
    assert unsorted.indices.tolist() == [1, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_a_number_that_is_not_finite_is_named_by_row_and_column(bad):
    values = np.zeros((4, 3))
    values[2, 1] = bad
    for given in (values, sp.csr_matrix(values)):
        with pytest.raises(InputError, match=r"f, row 3: feature .*2 is|f, row 3: feature .* is"):
            as_features(given, "f")


def test_the_first_bad_cell_is_found_in_any_part_of_a_long_matrix(monkeypatch):
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 4)
    matrix = np.zeros((7, 2), np.float32)
    matrix[5, 1] = np.nan
    with pytest.raises(InputError, match="line 5: feature 'y' is nan"):
        check_finite(matrix, lambda row: f"line {row}", ("x", "y"))


@pytest.mark.parametrize("given", [np.zeros(3), np.array([["a"]]), np.array([[1j]])])
def test_what_is_no_matrix_of_numbers_is_refused(given):
    with pytest.raises(InputError, match="matrix of numbers"):
        as_features(given)


def test_structural_features_are_computed_once_and_only_when_read(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return structural_features(*arguments)

    monkeypatch.setattr(module, "structural_features", counted)
    graph = Graph.from_edges([0, 1], [1, 2])
    assert graph.structural
    assert graph.num_features == NUM_STRUCTURAL
    repr(graph)
    assert not calls
    assert graph.features.shape == (3, NUM_STRUCTURAL)
    assert graph.features is graph.features
    assert len(calls) == 1


def test_the_field_behaves_like_any_other_of_a_frozen_dataclass():
    graph = Graph.from_edges([0], [1], features=np.eye(2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.features = np.eye(2)
    renamed = dataclasses.replace(graph, name="other")
    assert renamed.features is graph.features
    assert [field.name for field in dataclasses.fields(Graph)][2] == "features"
    with pytest.raises(TypeError, match="features"):
        Graph(graph.indptr, graph.indices, ids=graph.ids)
