import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.evaluation import inputs as rows
from nodewise.evaluation.inputs import DenseRows, SparseRows, chunks, gather, probe_dtype

CPU = torch.device("cpu")


def features() -> sp.csr_matrix:
    return sp.random(30, 11, 0.3, format="csr", random_state=0, dtype=np.float64)


@pytest.mark.parametrize("convert", [lambda m: m.toarray(), lambda m: torch.from_numpy(m.toarray()), lambda m: m])
def test_dense_rows_are_the_matrix_with_ones(convert: object) -> None:
    index = np.array([4, 4, 29])
    block = gather([convert(features())], [index], torch.float64, CPU)
    assert isinstance(block, DenseRows)
    expected = np.hstack([features().toarray()[index], np.ones((3, 1))])
    assert np.array_equal(block.blocks[0].numpy(), expected)


def test_rows_beyond_the_limit_stay_sparse_and_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    index = np.arange(3, 20)
    dense = gather([features()], [index], torch.float64, CPU)
    monkeypatch.setattr(rows, "DENSE_LIMIT", 17 * 12 - 1)
    sparse = gather([features()], [index], torch.float64, CPU)
    assert isinstance(sparse, SparseRows)
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(1, 5, 12, dtype=torch.float64, generator=generator)
    errors = torch.randn(1, 5, 17, dtype=torch.float64, generator=generator)
    torch.testing.assert_close(sparse.scores(weights), dense.scores(weights))
    torch.testing.assert_close(sparse.gradient(errors), dense.gradient(errors))
    # A dense matrix is in memory already: it never becomes sparse.
    assert isinstance(gather([features().toarray()], [index], torch.float64, CPU), DenseRows)


def test_dtype() -> None:
    half, single, double = (np.zeros((2, 2), kind) for kind in ("f2", "f4", "f8"))
    assert probe_dtype([half, single]) == torch.float32
    assert probe_dtype([single, double]) == probe_dtype([torch.zeros(2, 2, dtype=torch.float64)]) == torch.float64
    assert probe_dtype([sp.csr_matrix(single)]) == torch.float32


def test_chunks_cover_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DENSE_LIMIT", 16 * 10 * 3)
    pieces = list(chunks(np.arange(11), 10))
    assert [len(piece) for piece in pieces] == [3, 3, 3, 2]
    assert np.concatenate(pieces).tolist() == list(range(11))
