"""Table 1: the data sets as they are read, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph
from nodewise.graph.statistics import num_components
from nodewise.reproduce import tables
from nodewise.reproduce.paper_values import EDGES_NOTE, TABLE1


def render(graphs: Sequence[Graph], left_out: Sequence[str] = ()) -> list[tables.Table]:
    """Return the table, which names the data sets that could not be read."""
    missing = f"Could not be read, so left out: {', '.join(name.capitalize() for name in left_out)}."
    rows = []
    for graph in graphs:
        paper = TABLE1.get(graph.name)
        features: Any = graph.features
        split = graph.split
        empty = np.asarray(abs(features).sum(axis=1)).ravel() == 0
        rows.append(
            (
                graph.name.capitalize(),
                *_beside(graph.num_nodes, None if paper is None else paper.nodes),
                *_beside(graph.num_edges, None if paper is None else paper.edges),
                *_beside(graph.num_features, None if paper is None else paper.features),
                *_beside(graph.num_classes, None if paper is None else paper.classes),
                f"{num_components(graph):,}",
                f"{int((graph.degrees == 0).sum()):,}",
                f"{int(empty.sum()):,}",
                tables.EMPTY if split is None else f"{len(split.train)} / {len(split.val)} / {len(split.test)}",
            )
        )
    quantities = [name for each in ("nodes", "edges", "features", "classes") for name in (each, "printed")]
    return [
        tables.Table(
            "The data sets as read, beside Table 1 of the paper",
            ("data set", *quantities, "components", "isolated", "without features", "train / val / test"),
            rows,
            (EDGES_NOTE, *([missing] if left_out else ())),
        )
    ]


def _beside(ours: int, paper: int | None) -> tuple[str, str]:
    return f"{ours:,}", tables.EMPTY if paper is None else f"{paper:,}"
