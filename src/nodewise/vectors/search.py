"""The nearest vectors of many nodes at once, or all pairs above a similarity: exactly, in blocks, or by an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.errors import InputError, require_whole
from nodewise.core.files import atomic_write
from nodewise.core.folder import result_file
from nodewise.core.messages import count, html_table, text_table
from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings, require_comparable

MOST_EXACT = 20_000_000_000
"""Beyond this many pairs an index is used, if the library for it is installed."""
FEWEST_INDEXED = 10_000
"""Nodes below which an index is never used: to make ready for one takes longer than to look at all of them."""

_ENTRIES_AT_ONCE = 1 << 24
_MOST_PAIRS = 100_000_000
_MEASURED = 200
_INDEXED = 30
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class NeighborTable:
    """Pairs of a node asked about and a node near to it, the nearest first for each.

    It is gone through, and indexed, as a list of (node, neighbor, similarity); where a single node was asked about by
    its id, of (neighbor, similarity).

    Attributes:
        nodes: the nodes asked about, one per pair.
        neighbors: the nodes near to them.
        similarities: float32 (n,), cosines.
        recall: if an index found them, the share of true neighbors it found for some nodes that were looked up exactly.
        single: whether it is of a single node, which then goes without saying.
    """

    nodes: Any
    neighbors: Any
    similarities: np.ndarray
    recall: float | None = None
    single: bool = False

    @classmethod
    def of_one(cls, node: int | str, near: list[tuple[int | str, float]]) -> NeighborTable:
        """Return what `Embeddings.neighbors` found for a node."""
        import pyarrow as pa

        others = pa.array([other for other, _ in near])
        return cls(pa.array([node] * len(near)), others, np.array([cosine for _, cosine in near]), single=True)

    def alone(self) -> NeighborTable:
        """Return the same table, gone through as that of a single node."""
        return replace(self, single=True)

    def __len__(self) -> int:
        return len(self.similarities)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        columns = [self.neighbors.to_pylist(), self.similarities.tolist()]
        yield from zip(*([] if self.single else [self.nodes.to_pylist()]), *columns, strict=True)

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, NeighborTable | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_arrow(self) -> Any:
        """Return a table with the columns `node`, `neighbor` and `similarity`."""
        import pyarrow as pa

        return pa.table({"node": self.nodes, "neighbor": self.neighbors, "similarity": self.similarities})

    def to_pandas(self) -> Any:
        """Return the table as a data frame."""
        return self.to_arrow().to_pandas()

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet or csv, whichever the name ends in."""
        write_table(self.to_arrow(), path)

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles and a row of cells for each of the first pairs."""
        header = ("neighbor", "similarity") if self.single else ("node", "neighbor", "similarity")
        return header, [(*map(str, ids), f"{cosine:.4f}") for *ids, cosine in islice(self, _SHOWN)]

    def __repr__(self) -> str:
        more = len(self) - _SHOWN
        return text_table(*self.table()) + (f"\nand {count(more, 'more pair')}" if more > 0 else "")

    def _repr_html_(self) -> str:
        return f"{html_table(*self.table())}<p>{count(len(self), 'pair')}</p>"


def write_table(table: Any, path: str | Path) -> None:
    """Write an Arrow table as Parquet or csv, whichever the name ends in."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    path = result_file(path)
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(
            f"{path}: the format is not clear; let the name end in .parquet or .csv", code="unsupported-format"
        )
    with atomic_write(path) as temporary:
        (pq.write_table if path.suffix.lower() == ".parquet" else pa_csv.write_csv)(table, temporary)


def nearest(
    queries: Embeddings,
    among: Embeddings,
    k: int = 10,
    *,
    allowed: np.ndarray | None = None,
    approximate: bool | None = None,
    seed: int = 0,
) -> NeighborTable:
    """Return the `k` nodes of `among` most similar to each of `queries` by cosine, itself left out.

    Args:
        queries: the nodes asked about.
        among: where to look.
        k: how many, or all there are if these are fewer.
        allowed: bool (N,), which nodes of `among` may be found; all unless given.
        approximate: use the index of pynndescent, unless there are fewer than `FEWEST_INDEXED` nodes to look among;
            if None, where there are more than `MOST_EXACT` pairs.
        seed: of the index.
    """
    require_whole("k", k)
    require_comparable(queries, among)
    pool = np.arange(len(among)) if allowed is None else np.flatnonzero(allowed)
    if not len(pool):
        raise InputError("no node is left to be a neighbor; loosen the condition", code="nothing-to-do")
    asked, looked = unit_rows(queries.vectors), unit_rows(among.vectors[pool])
    own = _own_places(queries, among, pool)
    recall = None
    if (approximate and len(looked) >= FEWEST_INDEXED) or (
        approximate is None and len(asked) * len(looked) > MOST_EXACT and _has_index()
    ):
        places, cosines = _by_index(asked, looked, own, k, seed)
        some = np.random.default_rng(seed).permutation(len(asked))[:_MEASURED]
        true, _ = _exactly(asked[some], looked, own[some], k)
        recall = float(np.mean([np.isin(true[i], places[row]).mean() for i, row in enumerate(some)]))
    else:
        places, cosines = _exactly(asked, looked, own, k)
    rows, columns = np.nonzero(cosines > -1.5)  # what is left out stands there with -2
    return _table(queries.ids, among.ids, rows, pool[places[rows, columns]], cosines[rows, columns], recall)


def similar_pairs(
    queries: Embeddings, among: Embeddings, at_least: float, *, allowed: np.ndarray | None = None
) -> NeighborTable:
    """Return all pairs whose cosine is `at_least` that; within one set of nodes each pair once."""
    require_comparable(queries, among)
    pool = np.arange(len(among)) if allowed is None else np.flatnonzero(allowed)
    asked, looked = unit_rows(queries.vectors), unit_rows(among.vectors[pool])
    own, within = _own_places(queries, among, pool), queries.ids is among.ids and allowed is None
    parts, total = [], 0
    for start, cosines in _blocks(asked, looked, own):
        rows, places = np.nonzero(cosines >= np.float32(at_least))
        if within:
            first = rows + start < places
            rows, places = rows[first], places[first]
        order = np.lexsort((-cosines[rows, places], rows))
        parts.append((rows[order] + start, places[order], cosines[rows, places][order]))
        if (total := total + len(order)) > _MOST_PAIRS:
            raise InputError(
                f"more than {_MOST_PAIRS:,} pairs have a cosine of {at_least:g} or more; ask for a higher one",
                code="too-many-pairs",
            )
    rows, places, found = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return _table(queries.ids, among.ids, rows, pool[places], found)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _own_places(queries: Embeddings, among: Embeddings, pool: np.ndarray) -> np.ndarray:
    """Return where each node asked about stands itself in the pool; -1 if nowhere."""
    if queries.ids.kind != among.ids.kind:
        return np.full(len(queries), -1)
    place = np.full(len(among) + 1, -1)
    place[pool] = np.arange(len(pool))
    return np.asarray(place[among.ids.positions(queries.ids)])


def _blocks(asked: np.ndarray, looked: np.ndarray, own: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the first row and the cosines of block after block; -2 for a node with itself."""
    step = max(1, _ENTRIES_AT_ONCE // len(looked))
    for start in range(0, len(asked), step):
        cosines = np.clip(asked[start : start + step] @ looked.T, -1, 1)
        mine = own[start : start + step]
        cosines[np.flatnonzero(mine >= 0), mine[mine >= 0]] = -2
        yield start, cosines


def _exactly(asked: np.ndarray, looked: np.ndarray, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    k = min(k, len(looked))
    places, found = np.empty((len(asked), k), np.int64), np.empty((len(asked), k), np.float32)
    for start, cosines in _blocks(asked, looked, own):
        best = np.sort(np.argpartition(cosines, -k, axis=1)[:, -k:], axis=1)
        scores = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")
        rows = slice(start, start + len(cosines))
        places[rows], found[rows] = (np.take_along_axis(each, order, axis=1) for each in (best, scores))
    return places, found


def _has_index() -> bool:
    from importlib.util import find_spec

    return find_spec("pynndescent") is not None


def _by_index(
    asked: np.ndarray, looked: np.ndarray, own: np.ndarray, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise InputError(
            "an approximate search needs pynndescent; install it with 'pip install pynndescent'", code="missing-package"
        ) from None
    wanted = min(k + 1, len(looked))
    index = NNDescent(looked, metric="dot", n_neighbors=min(max(_INDEXED, wanted), len(looked)), random_state=seed)
    places = np.asarray(index.query(asked, wanted, epsilon=0.2)[0], np.int64)
    cosines = np.einsum("id,ikd->ik", asked, looked[places]) if len(places) else np.empty(places.shape, np.float32)
    cosines[(places == own[:, None]) | (places < 0)] = -2
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(k, len(looked))]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def _table(
    queries: NodeIds,
    among: NodeIds,
    rows: np.ndarray,
    places: np.ndarray,
    cosines: np.ndarray,
    recall: float | None = None,
) -> NeighborTable:
    import pyarrow as pa

    nodes, others = queries.to_arrow().take(pa.array(rows)), among.to_arrow().take(pa.array(places))
    return NeighborTable(nodes, others, np.asarray(cosines, np.float32), recall)
