"""The cells of the figure: a map of some nodes, and how well the classes keep apart in it and in the vectors."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from nodewise.evaluation.clustering import class_silhouette, project
from nodewise.evaluation.inputs import Matrix, as_matrices
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.reproduce import tables
from nodewise.reproduce.measure import FEATURES, NoSettings, fit_vectors, known
from nodewise.reproduce.paper_values import FIGURES, OURS
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task

NODES, NEIGHBORS = 2000, 10
MORE_COLUMNS = ("silhouette", "purity", "map_silhouette", "map_purity", "map")

PROTOCOL = (
    f"{NODES} labeled nodes drawn at random, the same for all; silhouette of the classes (Euclidean) and share of "
    f"the {NEIGHBORS} nearest nodes (cosine) of a node's own class, in the vectors; both again in the map by t-SNE"
)


def measure_separation(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Embed the graph and describe the drawn nodes; each seed's map is a file that travels with its row."""
    labels, _ = known(graph)
    drawn = drawn_nodes(labels)
    fitted = fit_vectors(task, graph, seeds, device)
    rows = []
    for seed, matrix in zip(seeds, as_matrices(fitted.stack), strict=True):
        some = _take(matrix, drawn)
        places = project(some, "tsne", seed=seed)
        name = f"maps/{graph.name}-{task.method}-{seed}-{task.config}.csv".replace(" ", "-")
        rows.append(
            {
                "silhouette": round(class_silhouette(some, labels[drawn]), 4),
                "purity": round(neighbor_purity(some, labels[drawn], metric="cosine"), 4),
                "map_silhouette": round(class_silhouette(places, labels[drawn]), 4),
                "map_purity": round(neighbor_purity(places, labels[drawn], metric="euclidean"), 4),
                "map": name,
                "seconds": round(fitted.seconds, 3),
                "peak_mb": fitted.peak_mb,
                "protocol": PROTOCOL,
                "files": {name: _map_text(places, labels[drawn])},
            }
        )
    return rows


def drawn_nodes(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the nodes on the map: the same for every method and seed."""
    labeled = np.flatnonzero(labels >= 0)
    if len(labeled) <= NODES:
        return labeled
    return np.sort(np.random.default_rng(0).choice(labeled, NODES, replace=False))


def neighbor_purity(vectors: Matrix, labels: NDArray[np.int64], *, metric: str, k: int = NEIGHBORS) -> float:
    """Return the mean share of a node's k nearest others that are of its class: 1 / classes by chance."""
    from sklearn.neighbors import NearestNeighbors

    k = min(k, len(labels) - 1)
    near = NearestNeighbors(n_neighbors=k, metric=metric).fit(vectors).kneighbors(return_distance=False)
    return float((labels[near] == labels[:, None]).mean())


def _take(matrix: Matrix, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return some rows as a dense array: few enough to be one, also of sparse features."""
    if isinstance(matrix, torch.Tensor):
        return matrix[torch.as_tensor(rows, device=matrix.device)].cpu().numpy()
    some = matrix[rows]
    return np.asarray(some.toarray() if sp.issparse(some) else some)


def _map_text(places: NDArray[np.float32], labels: NDArray[np.int64]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("x", "y", "class"))
    writer.writerows((f"{x:.4f}", f"{y:.4f}", int(label)) for (x, y), label in zip(places, labels, strict=True))
    return text.getvalue()


def read_map(text: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the places (n, 2) and classes (n,) of a map file."""
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)
    return table[:, :2], table[:, 2].astype(np.int64)


COMPARED = (FEATURES, "mvgrl", OURS)
"""The panels unless others are asked for."""

TITLES = {FEATURES: "raw features", "mvgrl": "MVGRL", OURS: "ours"}


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks."""
    able = (FEATURES, *(name for name, found in METHODS.items() if not found.needs_labels()))
    setup.check_methods(able)
    chosen = setup.methods or tuple(name for name in COMPARED if name in able)
    return [
        Task("separation", name, dataset, name, NoSettings() if name == FEATURES else setup.settings(name, dataset))
        for dataset in setup.datasets
        for name in chosen
    ]


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    missing = [name for name in COMPARED if name not in METHODS and name != FEATURES and setup.methods is None]
    notes = [f"Not in this version, so not measured: {', '.join(missing)}."] if missing else []
    columns = ("silhouette", "purity", "map_silhouette", "map_purity")
    found = [
        tables.Table(
            f"{dataset.capitalize()}: how well the classes keep apart",
            ("method", "silhouette", "kNN purity", "silhouette, map", "kNN purity, map", "n"),
            [
                (
                    TITLES.get(name, name),
                    *(_cell(results, name, dataset, column) for column in columns),
                    tables.number(results.summary(name, dataset, "silhouette", "separation")),
                )
                for name in results.methods
            ],
        )
        for dataset in results.datasets
    ]
    below = (
        f"{PROTOCOL}. The picture shows seed 0; mean ± standard deviation over seeds.",
        f"The paper says of Pubmed: {FIGURES['maps']}.",
    )
    return tables.noted(found, (*below, *notes))


def _cell(results: Results, name: str, dataset: str, column: str) -> str:
    found = results.summary(name, dataset, column, "separation")
    return tables.mean(found, 3) + (f" ± {found.std:.3f}" if found is not None and found.std else "")
