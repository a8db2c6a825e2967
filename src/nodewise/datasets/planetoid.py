"""Make a graph of the Planetoid files: citation networks with a public split.

A data set comes in eight parts. `allx`, `ally` are the features and one-hot classes of all nodes but the last
thousand or so, which are the test nodes. `tx`, `ty` are those of the test nodes, in the order of
`test.index`, which is not ascending. `x`, `y` repeat the first rows of `allx`, `ally`: the training nodes.
`graph` lists the neighbors of every node.

Citeseer's test.index leaves out 15 of the last 1015 numbers: documents without words or class. They stay in
the graph, with a row of zeros and an unknown label (-1), and are in no part of the split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.datasets.planetoid_pickle import read_array, read_lists, read_matrix
from nodewise.graph.graph import Graph, Split

NUM_VALIDATION = 500

# The files only number the classes. For Cora the sizes of the classes in its older distribution, which all
# differ, tell which number is which; without such evidence the others keep their numbers.
CLASS_NAMES: dict[str, tuple[str | int, ...]] = {
    "cora": (
        "Theory",
        "Reinforcement_Learning",
        "Genetic_Algorithms",
        "Neural_Networks",
        "Probabilistic_Methods",
        "Case_Based",
        "Rule_Learning",
    )
}


def planetoid_graph(name: str, files: Mapping[str, bytes]) -> Graph:
    """Return the graph of the parts "x", "tx", "allx", "y", "ty", "ally", "graph" and "test.index"."""
    words = [read_matrix(files[part], f"ind.{name}.{part}") for part in ("allx", "tx")]
    classes = [read_array(files[part], f"ind.{name}.{part}") for part in ("ally", "ty")]
    num_train = len(read_array(files["y"], f"ind.{name}.y"))
    test = _read_index(files["test.index"], f"ind.{name}.test.index")
    sources, targets, num_nodes = _read_edges(files["graph"], f"ind.{name}.graph")

    described = np.concatenate([np.arange(words[0].shape[0]), test])
    if len(np.unique(described)) != len(described):
        raise InputError(f"ind.{name}.test.index: a node is listed twice, or is in allx already")
    try:
        features, labels = _place_rows(words, classes, described, num_nodes)
    except (ValueError, IndexError) as error:
        raise InputError(f"ind.{name}.*: allx, tx, ally, ty, test.index and graph do not fit together") from error
    graph = citation_graph(
        name,
        words=features,
        sources=sources,
        targets=targets,
        labels=labels,
        split=Split(
            train=np.arange(num_train), val=np.arange(num_train, num_train + NUM_VALIDATION), test=np.sort(test)
        ),
    )
    # Every citation is listed with both of its papers, a self-citation twice with its one.
    citations, loops = len(sources) // 2, int((sources == targets).sum()) // 2
    dropped, merged = count(loops, "self-loop"), count(citations - loops - graph.num_edges, "repeat")
    notes = [f"{count(citations, 'citation')}: {dropped} dropped, {merged} merged"]
    if bare := num_nodes - len(described):
        notes.append(f"{count(bare, 'node')} without words or class kept, with zero features and no label")
    return replace(graph, notes=tuple(notes))


def citation_graph(
    name: str,
    *,
    words: sp.csr_matrix,
    sources: npt.NDArray[np.integer[Any]],
    targets: npt.NDArray[np.integer[Any]],
    labels: npt.NDArray[np.int64],
    split: Split,
) -> Graph:
    """Return the graph with rows of `words` scaled to sum to one; rows without words stay zero."""
    return Graph.from_edges(
        sources,
        targets,
        num_nodes=words.shape[0],
        features=normalize_rows(words),
        labels=labels,
        class_names=CLASS_NAMES.get(name, tuple(range(int(labels.max()) + 1))),
        split=split,
        name=name,
    )


def normalize_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Return float32 rows whose absolute values sum to one; rows of zeros stay. Sums are taken in float64."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sums = np.bincount(rows, weights=np.abs(matrix.data), minlength=matrix.shape[0])
    sums[sums == 0] = 1
    scaled = (matrix.data / sums[rows]).astype(np.float32)
    return sp.csr_matrix((scaled, matrix.indices, matrix.indptr), shape=matrix.shape)


def _place_rows(
    words: list[sp.csr_matrix], classes: list[npt.NDArray[Any]], nodes: npt.NDArray[np.int64], num_nodes: int
) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
    """Return features (N, F) and labels (N,), given the rows of allx, then of tx, and the node of each."""
    rows, one_hot = sp.vstack(words).tocoo(), np.concatenate(classes)
    if rows.shape[0] != len(nodes):
        raise ValueError(f"{rows.shape[0]} rows for {len(nodes)} nodes")
    labels = np.full(num_nodes, -1)
    labels[nodes] = np.where(one_hot.sum(axis=1) == 1, one_hot.argmax(axis=1), -1)
    features = sp.csr_matrix((rows.data, (nodes[rows.row], rows.col)), shape=(num_nodes, rows.shape[1]))
    return features, labels


def _read_index(data: bytes, source: str) -> npt.NDArray[np.int64]:
    lines = data.split()
    if not all(line.isdigit() and len(line) < 10 for line in lines):
        raise InputError(f"{source}: expected one node number a line, found something else")
    return np.array([int(line) for line in lines], np.int64)


def _read_edges(data: bytes, source: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    lists = read_lists(data, source)
    nodes = range(len(lists))
    if set(lists) != set(nodes):
        raise InputError(f"{source}: its nodes are not numbered 0, 1, 2, ...")
    sources = np.repeat(np.arange(len(lists)), [len(lists[node]) for node in nodes])
    targets = np.fromiter(chain.from_iterable(lists[node] for node in nodes), np.int64, len(sources))
    return sources, targets, len(lists)
