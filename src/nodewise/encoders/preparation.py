"""Features made comparable before anything is learned from them: x <- (x - shift) * scale, then rows of length one.

Raw counts weigh the most frequent words most, and columns of unlike units the one with the largest numbers. Which
preparation suits is decided from the features alone:

- sparse and not negative, as words or tags are: idf_c^p with idf_c = ln((1 + N) / (1 + n_c)) + 1 and n_c the nodes
  that have c (`tfidf`). The strength p = 1/2 is between counts as they are and all of idf: on citation graphs words
  lose by idf, tags of friends gain by it;
- structural features and those of tables of unlike columns, which are made comparable where they are computed: as they
  are (`none`);
- other numbers: every column to mean 0 and standard deviation 1 (`standard`).

What was decided and fitted is kept with a run and applied to new nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from nodewise.core.config import Checked, Range
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.graph.statistics import scale_warning

Scaling = Literal["tfidf", "standard", "none"]
_ROWS = 1 << 18
_MOSTLY_ZERO = 0.5
_EQUAL = 1e-6
"""Deviation of a column in units of its mean that is rounding of float32."""


@dataclass(frozen=True)
class FeatureSettings(Checked, section="features"):
    """How features are prepared.

    Attributes:
        scaling: of columns; `auto` decides from the features.
        idf: strength of the inverse document frequency in `tfidf`; 0 leaves counts as they are, 1 takes all of it.
        unit_rows: whether rows are scaled to length one; structural features never are.
    """

    scaling: Literal["auto", "tfidf", "standard", "none"] = "auto"
    idf: Annotated[float, Range(0, 4)] = 0.5
    unit_rows: bool = True

    def fit(self, graph: Graph) -> Preparation | None:
        """Return what suits the features of a graph; None where they stay as they are."""
        scaling: Scaling = suited(graph) if self.scaling == "auto" else self.scaling
        unit_rows = self.unit_rows and not graph.structural
        if scaling == "tfidf":
            return Preparation(scaling, _idf(graph, self.idf), None, unit_rows)
        if scaling == "standard":
            mean, deviation = _moments(graph)
            varied = deviation > _EQUAL * np.abs(mean)
            scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=varied)
            if varied.any() or self.scaling == "standard":
                return Preparation(scaling, scale.astype(np.float32), mean.astype(np.float32), unit_rows)
        # Where no column varies, nothing would be left of them.
        return Preparation("none", np.ones(graph.num_features, np.float32), None, unit_rows) if unit_rows else None


@dataclass(frozen=True)
class Preparation:
    """A fitted preparation.

    Attributes:
        scaling: which one it is.
        scale: float32 (F,), what columns are multiplied by.
        shift: float32 (F,), what is subtracted from them before; None for nothing.
        unit_rows: whether rows are scaled to length one at the end.
    """

    scaling: Scaling
    scale: npt.NDArray[np.float32]
    shift: npt.NDArray[np.float32] | None
    unit_rows: bool

    def apply(self, rows: Any) -> Any:
        """Return prepared rows: dense stays dense, sparse stays sparse unless a shift makes it dense."""
        if isinstance(rows, sp.csr_matrix | sp.csr_array):
            if self.shift is None:
                scaled: Any = sp.csr_matrix(rows, dtype=np.float32, copy=True)
                scaled.data *= self.scale[scaled.indices]
                lengths = np.sqrt(
                    np.add.reduceat(np.append(scaled.data, 0).astype(np.float64) ** 2, scaled.indptr[:-1])
                )
                lengths[np.diff(scaled.indptr) == 0] = 0
                scaled.data *= np.repeat(self._row_scale(lengths), np.diff(scaled.indptr))
                return scaled
            rows = rows.toarray()
        dense = np.asarray(rows, np.float32)
        dense = (dense - self.shift if self.shift is not None else dense) * self.scale
        return dense * self._row_scale(np.linalg.norm(dense, axis=1))[:, None]

    def _row_scale(self, lengths: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        if not self.unit_rows:
            return np.ones(len(lengths), np.float32)
        scale = np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        return np.asarray(scale, np.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return what a run keeps of it, beside `facts`."""
        shift = {} if self.shift is None else {"features.shift": torch.from_numpy(self.shift)}
        return {"features.scale": torch.from_numpy(self.scale)} | shift

    def facts(self) -> dict[str, str]:
        """Return the rest of what a run keeps."""
        return {"scaling": self.scaling, "unit_rows": str(self.unit_rows).lower()}

    @classmethod
    def kept(cls, tensors: dict[str, Tensor], facts: Mapping[str, str], columns: int) -> Preparation | None:
        """Take what a run keeps out of its tensors; None of a run whose features, so many, stay as they are."""
        scale, shift = tensors.pop("features.scale", None), tensors.pop("features.shift", None)
        if scale is None:
            return None
        scaling = facts.get("scaling")
        given = [scale] if shift is None else [scale, shift]
        whole = all(
            each.shape == (columns,) and each.dtype == torch.float32 and each.isfinite().all() for each in given
        )
        if scaling not in ("tfidf", "standard", "none") or not whole:
            raise InputError(
                "what the run says about the preparation of its features is damaged; make it again", code="damaged-run"
            )
        shifted = None if shift is None else shift.numpy()
        return cls(cast(Scaling, scaling), scale.numpy(), shifted, facts.get("unit_rows") == "true")


def units_warning(graph: Graph, settings: object) -> str | None:
    """Return the warning that some columns drown the others, where a method's settings leave features as they are."""
    prepared = getattr(settings, "features", None)
    if isinstance(prepared, FeatureSettings) and prepared.scaling != "none":
        return None
    return scale_warning(graph)


def suited(graph: Graph) -> Scaling:
    """Return the preparation that suits the features of a graph."""
    if graph.structural or (graph.table is not None and graph.table.comparable):
        return "none"
    features: Any = graph.features
    sparse = not isinstance(features, np.ndarray)
    stored = features.nnz if sparse else sum(np.count_nonzero(rows) for rows in _blocks(features))
    words = stored <= _MOSTLY_ZERO * features.shape[0] * features.shape[1]
    return "tfidf" if words and not features.min() < 0 else "standard"


def _blocks(features: Any) -> Iterator[Any]:
    return (features[start : start + _ROWS] for start in range(0, features.shape[0], _ROWS))


def _idf(graph: Graph, strength: float) -> npt.NDArray[np.float32]:
    features: Any = graph.features
    if features.min() < 0:
        raise InputError(
            f"{graph.name}: features.scaling=tfidf is for counts, but features reach {features.min():g}; "
            "use features.scaling=standard"
        )
    present = np.zeros(features.shape[1], np.int64)
    for rows in _blocks(features):
        present += np.count_nonzero(rows, 0) if isinstance(rows, np.ndarray) else rows.astype(bool).getnnz(0)
    return np.asarray((np.log((1 + graph.num_nodes) / (1 + present)) + 1) ** strength, np.float32)


def _moments(graph: Graph) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and standard deviation of each column; about the mean, so that large numbers keep their digits."""
    features: Any = graph.features
    total = sum((np.asarray(rows.sum(0, dtype=np.float64)).ravel() for rows in _blocks(features)), np.zeros(1))
    mean = total / graph.num_nodes
    squares = np.zeros_like(mean)
    for rows in _blocks(features):
        dense = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.float64)
        squares += np.square(dense - mean).sum(0)
    return mean, np.sqrt(squares / graph.num_nodes)
