"""Refuse vectors, labels and splits that cannot give an honest score, each with one line that says why."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from nodewise.core.errors import InputError, require_type, seen
from nodewise.graph.graph import Split
from nodewise.read.interop import untensored

Matrix: TypeAlias = np.ndarray | sp.csr_matrix | Tensor
"""One embedding, or raw features: (N, d), dense or CSR."""

Stack: TypeAlias = Matrix | Sequence[Matrix]
"""Embeddings of several encoder seeds: (S, N, d), or a sequence of S matrices; a single (N, d) is S = 1."""


def as_matrices(vectors: Stack) -> list[Matrix]:
    """Return the embeddings of each encoder seed as a list of (N, d) matrices, without copying."""
    if isinstance(vectors, np.ndarray | Tensor):
        return list(vectors) if vectors.ndim == 3 else [vectors]
    several = isinstance(vectors, list | tuple)
    matrices: list[Matrix] = list(vectors) if several else [vectors]  # type: ignore[list-item]
    for matrix in matrices:
        if not isinstance(matrix, np.ndarray | Tensor) and not sp.issparse(matrix):
            what = "vectors must be a matrix of numpy, scipy or torch, or a list of them"
            raise InputError(f"{what}, not {seen(matrix)}", code="bad-argument")
    return matrices


def check_vectors(matrices: Sequence[Matrix], num_nodes: int, counted: str = "labels") -> None:
    """Require matrices (num_nodes, d >= 1) of finite numbers; `counted` says what there are num_nodes of."""
    if not matrices:
        raise InputError("no embeddings were given: pass at least one (N, d) matrix")
    # One matrix may stand for several splits: look at each object once.
    for position, matrix in {id(matrix): (i, matrix) for i, matrix in enumerate(matrices)}.values():
        which = f"embeddings {position}" if len(matrices) > 1 else "embeddings"
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise InputError(f"{which} have shape {tuple(matrix.shape)}: expected (nodes, dimensions)")
        if matrix.shape[0] != num_nodes:
            raise InputError(
                f"{which} have {matrix.shape[0]} rows but there are {num_nodes} {counted}: "
                "rows and nodes must be the same, in the same order"
            )
        finite = _finite_rows(matrix)
        if not finite.all():
            bad = np.flatnonzero(~finite)
            raise InputError(
                f"{which} hold NaN or infinite values in {len(bad)} of {num_nodes} rows, "
                f"the first is row {bad[0]}: the training diverged or the file is damaged"
            )


def _finite_rows(matrix: Matrix) -> np.ndarray:
    if isinstance(matrix, Tensor):
        return np.asarray(torch.isfinite(matrix).all(dim=1).cpu())
    if isinstance(matrix, np.ndarray):
        return np.asarray(np.isfinite(matrix).all(axis=1))
    finite = np.ones(matrix.shape[0], dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    finite[rows[~np.isfinite(matrix.data)]] = False
    return finite


def check_labels(labels: np.ndarray | Tensor | Sequence[int]) -> tuple[np.ndarray, int]:
    """Return labels as int64 (N,) with -1 where unknown, and the number of classes.

    Classes need not all be in use (a subgraph may lack some), but two must be, and none may have one member:
    it could be trained on or tested on, never both.
    """
    array = np.asarray(untensored(labels, "labels"))
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"labels are {array.dtype} of shape {array.shape}: expected one whole number per node")
    array = array.astype(np.int64)
    if array.size and array.min() < -1:
        raise InputError(f"label {array.min()} is negative: classes count from 0, and -1 means unknown")
    sizes = np.bincount(array[array >= 0])
    used = np.flatnonzero(sizes)
    if len(used) < 2:
        found = f"only class {used[0]}" if len(used) else "no label at all"
        raise InputError(f"the labels hold {found}: an evaluation needs at least two classes")
    lonely = np.flatnonzero(sizes == 1)
    if len(lonely):
        raise InputError(
            f"class {lonely[0]} has a single labeled node (row {np.flatnonzero(array == lonely[0])[0]}): "
            "label another one, or set this one to -1"
        )
    return array, len(sizes)


def check_split(split: Split, labels: np.ndarray) -> Split:
    """Require non-empty, disjoint parts of labeled nodes, and two classes to train on."""
    require_type("split", split, Split, "a Split, or a list with one for each embedding")
    parts = {name: np.asarray(getattr(split, name)) for name in ("train", "val", "test")}
    for name, part in parts.items():
        if not part.size:
            raise InputError(f"the split has no {name} nodes: each of train, val and test needs at least one")
        if part.min() < 0 or part.max() >= len(labels):
            raise InputError(
                f"the split's {name} nodes go from {part.min()} to {part.max()}, outside 0..{len(labels) - 1}"
            )
        unlabeled = part[labels[part] < 0]
        if unlabeled.size:
            raise InputError(
                f"{unlabeled.size} of the split's {name} nodes have no label, "
                f"the first is row {unlabeled[0]}: leave them out"
            )
    for first, second in (("train", "val"), ("train", "test"), ("val", "test")):
        shared = np.intersect1d(parts[first], parts[second])
        if shared.size:
            raise InputError(
                f"{shared.size} nodes are both {first} and {second} nodes, the first is row {shared[0]}: "
                "parts of a split may not overlap"
            )
    if len(np.unique(labels[parts["train"]])) < 2:
        raise InputError("all training nodes are of one class: a probe needs at least two to learn from")
    return Split(**parts)


DENSE_LIMIT = 2**28
"""Most numbers a dense block may hold: 1 GiB of float32."""


class Rows(Protocol):
    """S stacked blocks X of n rows, each with a 1 appended: (S, n, d + 1)."""

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (S, P, d + 1) -> (S, P, n)."""
        ...

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (S, P, n) -> (S, P, d + 1)."""
        ...


class DenseRows:
    """Blocks of equal height side by side in one tensor."""

    def __init__(self, blocks: Tensor) -> None:
        self.blocks = blocks

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (S, P, d + 1) -> (S, P, n)."""
        return torch.bmm(weights, self.blocks.mT)

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (S, P, n) -> (S, P, d + 1)."""
        return torch.bmm(errors, self.blocks)


class SparseRows:
    """One block (S = 1) too large to be dense, such as bags of words over a big vocabulary."""

    def __init__(self, block: Tensor) -> None:
        self.block = block
        self.transposed = block.t().coalesce()

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (1, P, d + 1) -> (1, P, n)."""
        return _multiply(self.block, weights)

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (1, P, n) -> (1, P, d + 1)."""
        return _multiply(self.transposed, errors)


def gather(matrices: Sequence[Matrix], indices: Sequence[np.ndarray], dtype: torch.dtype, device: torch.device) -> Rows:
    """Take `indices[s]` of `matrices[s]`; all of equal number and width. Only CSR input may stay sparse."""
    first = matrices[0]
    too_large = len(indices[0]) * (first.shape[1] + 1) > DENSE_LIMIT
    if too_large and len(matrices) == 1 and not isinstance(first, np.ndarray | Tensor):
        return SparseRows(_sparse_rows(first, indices[0], dtype, device))
    blocks = torch.stack([dense_rows(m, i, dtype, device) for m, i in zip(matrices, indices, strict=True)])
    return DenseRows(torch.cat([blocks, blocks.new_ones(*blocks.shape[:2], 1)], dim=2))


def dense_rows(matrix: Matrix, index: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the rows of these numbers as a dense tensor (n, d), outside of any autograd graph."""
    if isinstance(matrix, Tensor):
        rows = matrix[torch.tensor(index, device=matrix.device)]
    elif isinstance(matrix, np.ndarray):
        rows = torch.from_numpy(np.ascontiguousarray(matrix[index]))
    else:
        rows = torch.from_numpy(matrix[index].toarray())
    return rows.detach().to(device=device, dtype=dtype)


def chunks(index: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Cut row numbers into pieces whose dense rows stay well below the limit."""
    height = max(1, DENSE_LIMIT // (16 * width))
    for start in range(0, len(index), height):
        yield index[start : start + height]


def probe_dtype(matrices: Sequence[Matrix]) -> torch.dtype:
    """float64 if some input is; otherwise float32, also for half precision and whole numbers."""
    doubles = (np.dtype("float64"), torch.float64)
    return torch.float64 if any(matrix.dtype in doubles for matrix in matrices) else torch.float32


def _multiply(sparse: Tensor, rows: Tensor) -> Tensor:
    """Return rows · sparseᵀ: (n, m), (1, P, m) -> (1, P, n)."""
    columns: Tensor = torch.sparse.mm(sparse, rows[0].T)
    return columns.T.unsqueeze(0)


def _sparse_rows(matrix: sp.csr_matrix, index: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    ones = sp.csr_matrix(np.ones((len(index), 1)))
    rows = sp.coo_matrix(sp.hstack([sp.csr_matrix(matrix[index]), ones]))
    places = torch.from_numpy(np.stack([rows.row, rows.col]).astype(np.int64))
    values = torch.from_numpy(rows.data)
    with warnings.catch_warnings():
        # torch 2.11 calls the checks disabled even here, where they are asked for.
        warnings.filterwarnings("ignore", "Sparse invariant checks")
        block = torch.sparse_coo_tensor(places, values, rows.shape, dtype=dtype, device=device, check_invariants=True)
    return block.coalesce()
