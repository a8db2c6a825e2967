import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import as_matrices, check_labels, check_split, check_vectors
from nodewise.graph.graph import Split

LABELS = np.array([0, 0, 0, 1, 1, 1, -1, 0, 1])


def split(train: list[int], val: list[int], test: list[int]) -> Split:
    return Split(*(np.array(part, dtype=np.int64) for part in (train, val, test)))


def test_every_way_to_give_embeddings() -> None:
    stack = np.zeros((3, 9, 2))
    assert [m.shape for m in as_matrices(stack)] == [(9, 2)] * 3
    assert [m.shape for m in as_matrices(torch.zeros(3, 9, 2))] == [(9, 2)] * 3
    assert len(as_matrices(stack[0])) == len(as_matrices(sp.csr_matrix(stack[0]))) == 1
    assert len(as_matrices([stack[0], stack[1]])) == 2


@pytest.mark.parametrize("convert", [np.asarray, torch.tensor, sp.csr_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_vectors(convert: object, bad: float) -> None:
    matrix = np.ones((9, 2))
    check_vectors([convert(matrix)], 9)
    matrix[4, 1] = matrix[7, 0] = bad
    with pytest.raises(InputError, match="NaN or infinite values in 2 of 9 rows, the first is row 4"):
        check_vectors([convert(matrix)], 9)


def test_sparse_matrix_with_empty_rows_names_the_right_row() -> None:
    matrix = np.zeros((9, 2))
    matrix[5, 1] = np.nan
    with pytest.raises(InputError, match="row 5"):
        check_vectors([sp.csr_matrix(matrix)], 9)


def test_wrong_shapes() -> None:
    with pytest.raises(InputError, match="embeddings 1 have 8 rows but there are 9 labels"):
        check_vectors([np.zeros((9, 2)), np.zeros((8, 2))], 9)
    with pytest.raises(InputError, match=r"shape \(9,\)"):
        check_vectors([np.zeros(9)], 9)
    with pytest.raises(InputError, match=r"shape \(9, 0\)"):
        check_vectors([np.zeros((9, 0))], 9)
    with pytest.raises(InputError, match="no embeddings"):
        check_vectors([], 9)


def test_labels_of_a_part_of_the_nodes_are_fine() -> None:
    labels, classes = check_labels(torch.from_numpy(LABELS))
    assert classes == 2
    assert labels.tolist() == LABELS.tolist()
    assert check_labels([0, 0, 3, 3])[1] == 4


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 1], r"class 1 has a single labeled node \(row 2\)"),
        ([2, 2, -1], "only class 2"),
        ([-1, -1], "no label at all"),
        ([], "expected one whole number per node"),
        ([0, 0, 1, 1, -2], "label -2 is negative"),
        ([0.0, 1.0], "float64"),
        ([[0, 1]], r"shape \(1, 2\)"),
    ],
)
def test_labels_that_cannot_be_used(labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_labels(labels)


def test_a_good_split_passes() -> None:
    checked = check_split(split([0, 3], [1, 4], [2, 5]), LABELS)
    assert checked.train.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([], [1], [2]), "no train nodes"),
        (([0, 3], [], [2]), "no val nodes"),
        (([0, 3], [1], []), "no test nodes"),
        (([0, 3], [1], [9]), r"outside 0\.\.8"),
        (([0, 3], [-1], [2]), r"outside 0\.\.8"),
        (([0, 3], [1], [6]), "1 of the split's test nodes have no label, the first is row 6"),
        (([0, 3], [1], [2, 3]), "1 nodes are both train and test nodes, the first is row 3"),
        (([0, 3], [1, 2], [2]), "both val and test"),
        (([0, 1], [3], [4]), "all training nodes are of one class"),
    ],
)
def test_splits_that_cannot_be_used(parts: tuple[list[int], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_split(split(*parts), LABELS)
