import warnings

import scipy.sparse as sp
import torch

from nodewise.views.topology import csr_of, csr_tensor, sparse_product


def test_rows_come_back_and_nobody_is_warned() -> None:
    indptr, indices = torch.tensor([0, 2, 2, 3]), torch.tensor([0, 3, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = csr_tensor(indptr, indices, torch.tensor([1.0, 2.0, 3.0]), (3, 4))
    expected = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]])
    assert matrix.layout == torch.sparse_csr
    assert torch.equal(matrix.to_dense(), expected)
    assert torch.equal(matrix @ torch.eye(4), expected)


def test_both_indices_are_of_one_type_which_cuda_takes_for_granted() -> None:
    matrix = csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([1, 0], dtype=torch.int32), torch.ones(2), (2, 2))
    assert matrix.crow_indices().dtype == matrix.col_indices().dtype == torch.int64
    assert torch.equal(matrix @ torch.eye(2), torch.eye(2).flip(0))


def test_a_product_and_its_gradient_are_those_of_dense_matrices() -> None:
    matrix = sp.random(5, 7, density=0.4, format="csr", random_state=0, dtype="float64")
    left, right = csr_of(matrix, "cpu"), csr_of(matrix.T.tocsr(), "cpu")
    assert left.dtype == torch.float32
    dense = torch.randn(7, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weight = torch.arange(15.0).view(5, 3)
    (sparse_product(left, right, dense) * weight).sum().backward()
    assert torch.allclose(dense.grad, left.to_dense().T @ weight)
    assert torch.allclose(sparse_product(left, right, dense), left.to_dense() @ dense)
