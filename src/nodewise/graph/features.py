"""The features of a graph: the user's, or structural ones computed when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.structural import structural_features

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

Features: TypeAlias = "npt.NDArray[np.float32] | sp.csr_matrix[np.float32]"
_CELLS_AT_ONCE = 1 << 22


class FeatureField:
    """The `features` field of `Graph`, float32 (N, F); None on construction asks for structural features.

    Those cost more than reading the edges does, and inspecting or converting a graph needs none of them: they
    are computed the first time somebody reads the field, and then kept.
    """

    def __get__(self, graph: Graph | None, owner: type[Graph]) -> Features:
        if graph is None:
            raise AttributeError("features")  # tells `dataclass` that the field has no default
        state = graph.__dict__
        if state["_features"] is None:
            state["_features"], state["_walked"] = structural_features(graph, state["_walked"])
        features: Features = state["_features"]
        return features

    def __set__(self, graph: Graph, value: Features | None) -> None:
        # A mapped matrix in half precision stays on the disk; the encoders widen the rows they read.
        kept = (np.float32, np.float16) if isinstance(value, np.memmap) else (np.float32,)
        if value is not None and value.dtype not in kept:
            value = as_features(value)
        graph.__dict__.update(_features=value, _structural=value is None, _walked=None)


def as_features(values: Any, source: str = "features", *, copy: bool = False) -> Features:
    """Return a matrix of numbers as float32 (N, F), a sparse one as CSR; NaN and infinity are refused.

    With `copy` it is nobody else's: what is done to `values` later does not reach it.
    """
    from nodewise.read.interop import untensored

    values = untensored(values, source)
    if sp.issparse(values):
        given: Any = values
        _check_shape(given, source)
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and that is refused
            matrix: sp.csr_matrix[np.float32] = sp.csr_matrix(given, dtype=np.float32, copy=copy)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if len(bad):
            row = int(np.searchsorted(matrix.indptr, bad[0], "right")) - 1
            raise not_finite(f"{source}, row {row + 1}", int(matrix.indices[bad[0]]), matrix.data[bad[0]])
        return matrix
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"{source}: no matrix of numbers ({str(error).partition('.')[0]})") from None
    _check_shape(array, source)
    with np.errstate(over="ignore"):
        numbers = np.array(array, np.float32, order="C") if copy else np.ascontiguousarray(array, np.float32)
    check_finite(numbers, lambda row: f"{source}, row {row + 1}")
    return numbers


def _check_shape(array: Any, source: str) -> None:
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise InputError(
            f"{source}: an array of type {array.dtype} and shape {array.shape}; "
            "features are a matrix of numbers with one row per node"
        )
    if array.shape[0] and not array.shape[1]:
        raise InputError(
            f"{source}: a matrix without columns; leave features out to use structural ones", code="no-features"
        )


def check_finite(matrix: npt.NDArray[np.float32], place: Callable[[int], str], names: tuple[str, ...] = ()) -> None:
    """Refuse NaN and infinity in a dense matrix, naming the first such cell."""
    rows = max(_CELLS_AT_ONCE // max(matrix.shape[1], 1), 1)
    for start in range(0, len(matrix), rows):
        finite = np.isfinite(matrix[start : start + rows])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            name = names[column] if names else int(column)
            raise not_finite(place(start + int(row)), name, matrix[start + row, column])


def not_finite(place: str, column: str | int, value: float) -> InputError:
    """Return the error for a feature that is NaN, infinite, or beyond float32."""
    where = f"column {column + 1}" if isinstance(column, int) else repr(column)
    return InputError(
        f"{place}: feature {where} is {value}; features must be finite numbers of at most 3.4e38", code="bad-number"
    )
