"""Vectors keyed by the user's own node ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError, did_you_mean, nearest, require_type, seen
from nodewise.core.folder import result_file
from nodewise.core.messages import count, excerpt
from nodewise.graph.ids import NodeIds
from nodewise.vectors import embedding_files
from nodewise.vectors.kinds import NodeKinds

PathLike = str | os.PathLike[str]
_ROWS_AT_ONCE = 1 << 16
_IDS_TO_COMPARE = 100_000


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One vector per node: row i of `vectors`, float32 (N, d) and finite, belongs to ``ids[i]``.

    It is read like a dictionary from ids: ``emb["n1"]`` is a vector, ``"n1" in emb`` tells whether there is one, and a
    loop over it gives the ids. Rows by their number are ``emb.vectors[:10]`` and ``emb.ids[0]``.

    Attributes:
        ids: the nodes.
        vectors: their vectors.
        kinds: of which kind each is, where there are several.
        mark: what tells them from vectors of other models, if a run or a model of a run made them.
    """

    ids: NodeIds
    vectors: npt.NDArray[np.float32]
    kinds: NodeKinds | None = None
    mark: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.ids, NodeIds):
            object.__setattr__(self, "ids", NodeIds(self.ids))
        try:
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and that is refused below
                vectors = np.ascontiguousarray(self.vectors, np.float32)
        except (ValueError, TypeError):
            raise InputError(f"vectors must be a matrix of numbers, not {seen(self.vectors)}") from None
        if vectors.ndim != 2 or vectors.shape[1] == 0:
            raise InputError(f"vectors have the shape {vectors.shape}; a matrix with one row per node is needed")
        if len(vectors) != len(self.ids):
            raise InputError(f"{count(len(vectors), 'vector')} for {count(len(self.ids), 'id')}; give one for each")
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            finite = np.isfinite(vectors[start : start + _ROWS_AT_ONCE])
            if not finite.all():
                row, column = np.argwhere(~finite)[0]
                node, value = self.ids[start + int(row)], vectors[start + row, column]
                raise InputError(f"the vector of node {excerpt(node)} holds {value} at position {column}; remove it")
        if self.kinds is not None and len(self.kinds.codes) != len(self.ids):
            raise InputError(f"kinds of {len(self.kinds.codes):,} nodes for {count(len(self.ids), 'id')}")
        object.__setattr__(self, "vectors", vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, nodes: int | str | Sequence[int | str]) -> npt.NDArray[np.float32]:
        """Return the vector (d,) of a node, or those (n, d) of a list of nodes."""
        if isinstance(nodes, slice):
            raise InputError(
                "embeddings are asked for by id, which a slice is not; rows by their number are .vectors[:10]",
                code="bad-argument",
            )
        require_type("the nodes asked for", nodes, int | str | np.integer | Iterable, "an id or a list of ids")
        one = isinstance(nodes, int | str | np.integer)
        found: npt.NDArray[np.float32]
        found = self.vectors[self.position(nodes) if one else [self.position(node) for node in nodes]]  # type: ignore
        return found

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.ids)

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, int | str | np.integer) or isinstance(node, bool):
            return False
        try:
            return bool(self.ids.positions([node])[0] >= 0)
        except InputError:  # of another type than the ids
            return False

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.vectors, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Embeddings({len(self):,} nodes, {self.num_dimensions} dimensions)"

    def _repr_html_(self) -> str:
        cells = ("".join(f"<td>{value:.3f}</td>" for value in row[:6]) for row in self.vectors[:5])
        rows = (f"<tr><th>{escape(str(id))}</th>{each}</tr>" for id, each in zip(self.ids, cells, strict=False))
        return f"<table>{''.join(rows)}</table><p>{escape(repr(self))}</p>"

    def of(self, nodes: NodeIds | Sequence[int | str] | int | str) -> Embeddings:
        """Return the embeddings of some nodes, in their order; a single id is that of one."""
        nodes = [nodes] if isinstance(nodes, str | Integral) else nodes
        nodes = nodes if isinstance(nodes, NodeIds) else NodeIds(nodes, "the nodes asked for")
        rows = self.ids.positions(nodes, "the nodes asked for")
        if len(missing := np.flatnonzero(rows < 0)):
            raise InputError(
                f"no node {excerpt(nodes[int(missing[0])])} among the {count(len(self), 'embedding')}",
                code="unknown-node",
            )
        kinds = None if self.kinds is None else self.kinds.take(rows)
        return Embeddings(nodes, self.vectors[rows], kinds, self.mark)

    def to_pandas(self) -> Any:
        """Return a data frame, a row per node, its id as the index."""
        import pandas as pd

        return pd.DataFrame(self.vectors, index=pd.Index(self.ids.to_arrow().to_pandas(), name="id"))

    def to_arrow(self) -> Any:
        """Return an Arrow table with the columns `id` and `embedding`, which polars and DuckDB take as it is."""
        import pyarrow as pa

        flat = pa.array(self.vectors.reshape(-1))
        vectors = pa.FixedSizeListArray.from_arrays(flat, self.num_dimensions)
        return pa.table({"id": self.ids.to_arrow(), "embedding": vectors})

    @property
    def num_dimensions(self) -> int:
        """The length d of each vector."""
        return int(self.vectors.shape[1])

    def position(self, node: int | str) -> int:
        """Return the row of a node; for an unknown one say which id is spelled most like it."""
        found = int(self.ids.positions([node], "the node asked for")[0])
        if found >= 0:
            return found
        near = nearest(node, map(str, islice(self.ids, _IDS_TO_COMPARE))) if isinstance(node, str) else None
        hint = f"did you mean {excerpt(near)}?" if near is not None else f"ids look like {excerpt(self.ids[0])}"
        raise InputError(
            f"no node {excerpt(node)} among the {count(len(self), 'embedding')}; {hint}", code="unknown-node"
        )

    def neighbors(self, node: int | str, k: int = 10, metric: Metric = "cosine") -> list[tuple[int | str, float]]:
        """Return the `k` other nodes most similar to `node`, nearest first, each with its similarity."""
        require_type("k", k, Integral, "a whole number")
        if k < 1:
            raise InputError(f"k is {k}; ask for at least one neighbor")
        here = self.position(node)
        scores = similarities(self.vectors, self.vectors[here], metric)
        scores[here] = -np.inf
        nearest = highest(scores, min(k, len(self) - 1))
        return [(self.ids[int(row)], float(scores[row])) for row in nearest]

    def to_parquet(self, path: PathLike) -> None:
        """Write columns `id`, in its own type, and `embedding`, a list of d float32 numbers.

        The kinds of nodes, where there are several, are in the metadata of the file.
        """
        embedding_files.write_parquet(result_file(path), self.ids, self.vectors, self.kinds, self.mark)

    def to_npy(self, path: PathLike) -> None:
        """Write the matrix as NAME.npy and the ids as NAME.ids.parquet beside it."""
        embedding_files.write_npy(result_file(path), self.ids, self.vectors)

    def to_word2vec(self, path: PathLike) -> None:
        """Write the text format of word2vec: a line "N d", then a line "id v1 ... vd" for each node."""
        embedding_files.write_word2vec(result_file(path), self.ids, self.vectors)

    def write(self, path: PathLike) -> None:
        """Write in the format that the name ends in: .parquet, .csv, .npy, .vec, .txt, .arrow or .safetensors."""
        target, writers = result_file(path), embedding_files.WRITERS
        if (writer := writers.get(target.suffix.lower())) is None:
            raise InputError(
                f"{path}: the format is not clear; let the name end in one of {', '.join(writers)}",
                code="unsupported-format",
            )
        if writer is embedding_files.write_parquet:
            self.to_parquet(path)
        else:
            writer(target, self.ids, self.vectors)

    def to_csv(self, path: PathLike, neo4j: bool = False) -> None:
        """Write a column `id` and one per dimension; for neo4j-admin, `id:ID` and `embedding:float[]`."""
        (embedding_files.write_neo4j if neo4j else embedding_files.write_csv)(result_file(path), self.ids, self.vectors)

    @classmethod
    def from_parquet(cls, path: PathLike) -> Embeddings:
        """Read what `to_parquet` wrote, or a column `id` beside one numeric column per dimension."""
        return _keyed(embedding_files.read_parquet, Path(path))

    @classmethod
    def from_npy(cls, path: PathLike) -> Embeddings:
        """Read what `to_npy` wrote; without the file of ids, they are the row numbers from 0."""
        return _keyed(embedding_files.read_npy, Path(path))

    @classmethod
    def from_word2vec(cls, path: PathLike) -> Embeddings:
        """Read what `to_word2vec` wrote; ids come back as strings unless every one is a whole number."""
        return _keyed(embedding_files.read_word2vec, Path(path))


def read_embeddings(path: PathLike) -> Embeddings:
    """Read embeddings in the format that the file's ending names: Parquet, npy, csv, tsv or word2vec text."""
    readers = embedding_files.READERS
    reader = next((reader for ending, reader in readers.items() if str(path).lower().endswith(ending)), None)
    if reader is None:
        raise InputError(f"{path}: the format is not clear; let the name end in one of {', '.join(readers)}")
    return _keyed(reader, Path(path))


def _keyed(reader: embedding_files.Reader, path: Path) -> Embeddings:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", code="missing-file")
    ids, vectors = reader(path)
    about: tuple[NodeKinds | None, str | None] = (None, None)
    if reader is embedding_files.read_parquet:
        about = embedding_files.read_parquet_about(path, len(ids))
    try:
        return Embeddings(ids, vectors, *about)
    except InputError as error:
        raise InputError(f"{path}: {error}", code=error.code) from error


def require_comparable(some: Embeddings, others: Embeddings) -> None:
    """Refuse vectors that mean nothing to each other: of other dimensions, or known to be of another model."""
    if some.num_dimensions != others.num_dimensions:
        found = f"vectors of {some.num_dimensions} and of {others.num_dimensions} dimensions"
    elif some.mark is not None and others.mark is not None and some.mark != others.mark:
        found = "vectors of two different models"
    else:
        return
    raise InputError(
        f"{found} cannot be compared; take those of one run, as 'nodewise transform RUN' makes them", code="other-nodes"
    )


Metric = Literal["cosine", "dot", "euclidean"]
_ROWS_COMPARED = 4096


def similarities(
    vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], metric: Metric = "cosine"
) -> npt.NDArray[np.float64]:
    """Return how similar each row of `vectors` (N, d) is to `query` (d,), higher meaning nearer, as (N,).

    "euclidean" is the negative distance. The cosine with a zero vector is 0. Computed in float64, so that no
    finite input overflows.
    """
    if metric not in get_args(Metric):
        raise InputError(f"unknown metric {metric!r}{did_you_mean(str(metric), get_args(Metric))}")
    wanted = query.astype(np.float64)
    found = np.empty(len(vectors))
    for start in range(0, len(vectors), _ROWS_COMPARED):
        block = vectors[start : start + _ROWS_COMPARED].astype(np.float64)
        rows = slice(start, start + len(block))
        if metric == "euclidean":
            found[rows] = -np.linalg.norm(block - wanted, axis=1)
            continue
        found[rows] = block @ wanted
        if metric == "cosine":
            lengths = np.linalg.norm(block, axis=1) * np.linalg.norm(wanted)
            found[rows] /= np.where(lengths > 0, lengths, 1)
    return found


def highest(scores: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Return the positions of the `k` highest scores, best first; the earlier of two equal ones wins."""
    k = min(k, len(scores))
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]
