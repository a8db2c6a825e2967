import warnings

import torch

from nodewise.views.sparse import csr_tensor


def test_rows_come_back_and_nobody_is_warned() -> None:
    indptr, indices = torch.tensor([0, 2, 2, 3]), torch.tensor([0, 3, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = csr_tensor(indptr, indices, torch.tensor([1.0, 2.0, 3.0]), (3, 4))
    expected = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]])
    assert matrix.layout == torch.sparse_csr
    assert torch.equal(matrix.to_dense(), expected)
    assert torch.equal(matrix @ torch.eye(4), expected)
