"""The graph that comes with the package: Citeseer (Giles, Bollacker & Lawrence 1998; Sen et al. 2008).

`citeseer.npz` holds what the Planetoid files say, without pickles and in a sixth of their size. Words are
either present or absent, so that only their positions are kept. `scripts/bundle_citeseer.py` made it.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.datasets.planetoid import citation_graph
from nodewise.graph.graph import Graph, Split


def load_citeseer() -> Graph:
    """Return the bundled Citeseer, bit for bit the graph that its Planetoid files make."""
    with resources.files(__name__).joinpath("citeseer.npz").open("rb") as stream:
        return unpack(dict(np.load(stream, allow_pickle=False)))


def pack(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    """Return the small arrays that `unpack` makes Citeseer of."""
    if graph.split is None or graph.labels is None or not sp.issparse(graph.features):
        raise ValueError("only a labeled graph with sparse features and a split can be packed")
    sources = np.repeat(np.arange(len(graph.indptr) - 1), np.diff(graph.indptr))
    once = sources < graph.indices
    return {
        "edges": np.stack([sources[once], graph.indices[once]]).astype(np.uint16),
        "words_per_node": np.diff(graph.features.indptr).astype(np.uint8),
        "words": graph.features.indices.astype(np.uint16),
        "num_words": np.array(graph.features.shape[1], np.uint16),
        "labels": graph.labels.astype(np.int8),
        "train": graph.split.train.astype(np.uint16),
        "val": graph.split.val.astype(np.uint16),
        "test": graph.split.test.astype(np.uint16),
        "notes": np.array(graph.notes),
    }


def unpack(arrays: dict[str, npt.NDArray[Any]]) -> Graph:
    """Return the graph that `pack` was given."""
    words = arrays["words"].astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(arrays["words_per_node"], dtype=np.int32)])
    sources, targets = arrays["edges"].astype(np.int64)
    graph = citation_graph(
        "citeseer",
        words=sp.csr_matrix(
            (np.ones(len(words), np.float32), words, starts), shape=(len(starts) - 1, int(arrays["num_words"]))
        ),
        sources=sources,
        targets=targets,
        labels=arrays["labels"].astype(np.int64),
        split=Split(*(arrays[part].astype(np.int64) for part in ("train", "val", "test"))),
    )
    return replace(graph, notes=tuple(arrays["notes"].tolist()))
