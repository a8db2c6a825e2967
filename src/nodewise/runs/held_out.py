"""Edges that training does not see, kept in the run to be predicted: link prediction proper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.folder import RunFolder
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.read.parquet import ParquetColumns


def hold_out_edges(graph: Graph, share: float, seed: int) -> tuple[Graph, np.ndarray]:
    """Return the graph without a random share of its edges, and these as positions (E, 2).

    No node loses its last edge, so a little less than the share is taken where nodes have few. The draw depends on the
    edges, the share and the seed.
    """
    if not 0 < share < 1:
        raise InputError(f"--hold-out-edges {share:g}: give a share of the edges between 0 and 1, such as 0.1")
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    once = np.flatnonzero(sources < graph.indices)
    ends = np.stack([sources[once], np.asarray(graph.indices)[once].astype(np.int64)], axis=1)
    generator = np.random.Generator(np.random.Philox(key=[seed, 0]))
    taken = np.sort(generator.choice(len(ends), max(1, round(share * len(ends))), replace=False))
    left = graph.degrees - np.bincount(ends[taken].ravel(), minlength=graph.num_nodes)
    # All edges of a node that would be left alone are given back.
    taken = taken[(left[ends[taken]] > 0).all(1)]
    if not len(taken):
        raise InputError(
            f"--hold-out-edges {share:g}: every edge drawn is the last one of a node; give a smaller share, or a graph "
            "with more edges",
            code="too-few-edges",
        )
    return without_edges(graph, ends[taken]), ends[taken]


def without_edges(graph: Graph, edges: np.ndarray) -> Graph:
    """Return the graph without the edges between these positions (E, 2), everything else as it is."""
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), graph.degrees)
    both = np.concatenate([edges @ [graph.num_nodes, 1], edges @ [1, graph.num_nodes]])
    kept = ~np.isin(sources * graph.num_nodes + graph.indices, both)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(sources[kept], minlength=graph.num_nodes))])
    per_edge: dict[str, Any] = {"indptr": indptr.astype(np.int64), "indices": np.asarray(graph.indices)[kept]}
    per_edge |= {"typed": None}  # types have served to choose edges, and would still name those taken out
    if graph.weights is not None:
        per_edge |= {"weights": np.asarray(graph.weights)[kept], "bounds": None}
    features = None if graph.structural else graph.features  # computed from the edges that are left
    return replace(graph, features=features, **per_edge)


def write_held_out(folder: RunFolder, ids: NodeIds, edges: np.ndarray) -> None:
    """Write the columns `source` and `target`, in the user's ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ends = {name: ids.to_arrow().take(pa.array(edges[:, i])) for i, name in enumerate(("source", "target"))}
    with atomic_write(folder.held_out) as temporary:
        pq.write_table(pa.table(ends), temporary)


def read_held_out(run: Path, ids: NodeIds) -> np.ndarray:
    """Return the edges that a run was trained without, as positions (E, 2) among `ids`."""
    path = RunFolder(run).held_out
    if not path.is_file():
        raise InputError(
            f"{run}: no edges were held out of its training; make it with 'nodewise embed ... --hold-out-edges 0.1'",
            code="no-held-out-edges",
        )
    file = ParquetColumns.open(path)
    columns = file.read([file.names.index(name) for name in ("source", "target") if name in file.names]).keys
    ends = [ids.positions(column, str(path)) for column in columns]
    if len(ends) != 2 or min((end.min(initial=0) for end in ends), default=-1) < 0:
        raise InputError(f"{path}: not the edges held out of this graph; make the run again", code="damaged-run")
    return np.stack(ends, axis=1)
