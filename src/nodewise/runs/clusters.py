"""Groups of nodes whose vectors are alike, named after what their members have in common."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.errors import InputError, did_you_mean, require_seed, require_type
from nodewise.core.messages import count, html_table, text_table
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.report.attributes import read_attributes
from nodewise.report.cluster_names import name_clusters
from nodewise.report.neighbors import cluster_number, clusters
from nodewise.runs.source import GraphSource
from nodewise.runs.together import find_graph, read_runs, recorded_graph
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.search import nearest, unit_rows, write_table

WAYS = ("kmeans", "hdbscan", "leiden")
_NEAR = 15
_DENSE_DIMENSIONS = 20
_FEWEST = 5
_SCORED = 5000


@dataclass(frozen=True)
class Clusters:
    """A cluster per node.

    Attributes:
        ids: the nodes.
        numbers: int64 (N,), the largest cluster being 0; -1 for a node in none.
        names: what the members of each have in common, in words.
        silhouette: how well they keep apart, -1 to 1, in a sample; None for fewer than two.
        way: how they were found.
    """

    ids: NodeIds
    numbers: np.ndarray
    names: tuple[str, ...]
    silhouette: float | None
    way: str

    @property
    def sizes(self) -> list[int]:
        """The number of members of each."""
        found: list[int] = np.bincount(self.numbers[self.numbers >= 0], minlength=len(self.names)).tolist()
        return found

    def to_arrow(self) -> Any:
        """Return a table with the columns `id`, `cluster` (null for none) and `name`."""
        import pyarrow as pa

        nowhere = self.numbers < 0
        names = pa.array(self.names or [""]).take(pa.array(np.where(nowhere, 0, self.numbers), mask=nowhere))
        return pa.table({"id": self.ids.to_arrow(), "cluster": pa.array(self.numbers, mask=nowhere), "name": names})

    def to_pandas(self) -> Any:
        """Return the table as a data frame."""
        return self.to_arrow().to_pandas()

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet or csv, whichever the name ends in."""
        write_table(self.to_arrow(), path)

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles and a row of cells per cluster."""
        rows = zip(self.sizes, self.names, strict=True)
        return ("cluster", "nodes", "name"), [(str(i), f"{size:,}", name) for i, (size, name) in enumerate(rows)]

    def __repr__(self) -> str:
        return text_table(*self.table())

    def _repr_html_(self) -> str:
        return f"{html_table(*self.table())}<p>{escape(self.way)}</p>"


def find_clusters(
    run: Path,
    k: int | str = "auto",
    *,
    way: str = "kmeans",
    source: GraphSource | Graph | None = None,
    attributes: Path | None = None,
    id_column: str | None = None,
    seed: int = 0,
    data_dir: Path | None = None,
) -> Clusters:
    """Return the clusters of a run, or of a file of vectors, by cosine.

    Args:
        run: whose vectors.
        k: how many clusters, or "auto": for k-means by the silhouette, 2 to 20; the other ways find out themselves.
        way: "kmeans"; "hdbscan", which leaves nodes between clusters out; "leiden", communities of the graph of
            nearest vectors, which needs leidenalg.
        source: the graph, whose features name the clusters, where the run cannot find it.
        attributes: a table, keyed by id, whose columns name them too.
        id_column: its column of ids.
        seed: of the search.
        data_dir: where the files of data sets are.
    """
    require_type("way", way, str, "text")
    require_seed(seed)
    require_type("k", k, Integral | str, "a whole number, or 'auto'")
    if way not in WAYS:
        raise InputError(f"unknown way {way!r}{did_you_mean(way, WAYS)}")
    if k != "auto" and way != "kmeans":
        raise InputError(f"-k {k}: {way} finds the number of clusters itself; leave it out")
    if k != "auto" and (isinstance(k, str) or not k >= 1):
        raise InputError(f"-k {k}: give a whole number of clusters, or auto")
    runs = read_runs([run])
    if k != "auto" and int(k) > len(runs.ids):
        raise InputError(f"-k {k}: there are {count(len(runs.ids), 'vector')}; ask for no more clusters than that")
    graph, _ = find_graph(runs, source, data_dir, quiet=True)
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    unit = unit_rows(runs.matrices[0])
    if way == "kmeans":
        numbers = clusters(unit, cluster_number(unit, seed) if k == "auto" else int(k), seed)
    else:
        numbers = _by_size(_dense(unit, seed) if way == "hdbscan" else _leiden(Embeddings(runs.ids, unit), seed))
    columns = () if attributes is None else read_attributes(attributes, runs.ids, id_column)[0]
    names = tuple(recorded_graph(run).get("feature_names", ())) if run.is_dir() else ()
    return Clusters(runs.ids, numbers, name_clusters(numbers, graph, names, columns), _silhouette(unit, numbers), way)


def _dense(unit: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.cluster import HDBSCAN
    from sklearn.decomposition import PCA

    # Density means little in hundreds of dimensions.
    if min(unit.shape) > _DENSE_DIMENSIONS:
        unit = PCA(_DENSE_DIMENSIONS, random_state=seed).fit_transform(unit)
    smallest = max(_FEWEST, len(unit) // 100)
    if len(unit) < smallest:  # which scikit-learn refuses
        return np.full(len(unit), -1)
    return np.asarray(HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(unit))


def _leiden(vectors: Embeddings, seed: int) -> np.ndarray:
    try:
        import igraph
        import leidenalg
    except ImportError:
        raise InputError(
            "--way leiden needs leidenalg; install it with 'pip install leidenalg'", code="missing-package"
        ) from None
    near = nearest(vectors, vectors, min(_NEAR, max(1, len(vectors) - 1)))
    ends = np.stack([vectors.ids.positions(near.nodes), vectors.ids.positions(near.neighbors)], axis=1)
    kept = near.similarities > 0
    graph = igraph.Graph(n=len(vectors), edges=ends[kept].tolist())
    graph.es["weight"] = near.similarities[kept].astype(float).tolist()
    graph.simplify(combine_edges="max")
    found = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, weights="weight", seed=seed)
    return np.asarray(found.membership)


def _by_size(numbers: np.ndarray) -> np.ndarray:
    """Return the clusters numbered by size, the largest first; what is negative stays -1."""
    inside = numbers >= 0
    order = np.argsort(-np.bincount(numbers[inside]), kind="stable") if inside.any() else np.empty(0, np.int64)
    return np.where(inside, np.argsort(order)[np.maximum(numbers, 0)] if len(order) else -1, -1).astype(np.int64)


def _silhouette(unit: np.ndarray, numbers: np.ndarray) -> float | None:
    from sklearn.metrics import silhouette_score

    inside = np.flatnonzero(numbers >= 0)
    some = np.random.default_rng(0).permutation(inside)[:_SCORED]
    groups = len(np.unique(numbers[some]))
    return float(silhouette_score(unit[some], numbers[some])) if 1 < groups < len(some) else None
