"""What clusters are called: after what sets their members apart from all other nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph
from nodewise.report.columns import Column

_FLAG = re.compile(r"=|: | is missing$")
"""What a feature of a table is called that a node has or has not: country=Malta, note: bees, age is missing."""
_CRYPTIC = re.compile(r": \.{3}.*\.{3}$|, (co)?sine\)$")
"""What one is called that says little to people: a run of letters, a place on a circle."""
_TELLING = 0.3
"""How many standard deviations off the mean of all nodes a feature must be to name a cluster."""


def name_clusters(
    numbers: np.ndarray,
    graph: Graph | None,
    names: tuple[str, ...],
    columns: Sequence[Column],
    rows: np.ndarray | None = None,
) -> tuple[str, ...]:
    """Return a name per cluster: the three things in which its members differ most from all nodes.

    A number counts by how many standard deviations its mean in the cluster is off, a category by how much more frequent
    it is there, in standard deviations of a share.

    Args:
        numbers: int64 (N,), the cluster of each node, -1 for none.
        graph: whose features name them.
        names: of the features.
        columns: that name them too.
        rows: where the nodes are a part of the graph's, their positions.
    """
    found: list[list[tuple[float, str]]] = [[] for _ in range(int(numbers.max(initial=-1)) + 1)]
    members = [np.flatnonzero(numbers == each) for each in range(len(found))]
    if graph is not None and not graph.structural and len(found):
        features: Any = graph.features if rows is None else graph.features[rows]
        mean = np.asarray(features.mean(0)).ravel()
        sparse = not isinstance(features, np.ndarray)
        square = np.asarray((features.multiply(features) if sparse else features**2).mean(0)).ravel()
        spread = np.sqrt(np.maximum(square - mean**2, 0))
        names = names if len(names) == len(mean) else tuple(f"feature {place}" for place in range(len(mean)))
        words = sparse and mean.min() >= 0
        flags = np.array([words or (graph.table is not None and bool(_FLAG.search(name))) for name in names])
        cryptic = np.array([graph.table is not None and bool(_CRYPTIC.search(name)) for name in names])
        for each, inside in enumerate(members):
            off = (np.asarray(features[inside].mean(0)).ravel() - mean) / np.where(spread > 0, spread, 1)
            telling = np.where(cryptic, 0, np.where(flags, off, np.abs(off)))
            for place in np.argsort(-telling, kind="stable")[:3]:
                name = names[place]
                found[each].append((telling[place], name if flags[place] else _said(name, off[place])))
    for column in columns:
        for each, inside in enumerate(members):
            found[each] += _traits(column, inside)
    return tuple(
        ", ".join(dict.fromkeys(words for size, words in sorted(traits, reverse=True)[:3] if size >= _TELLING))
        or f"cluster {each}"
        for each, traits in enumerate(found)
    )


def _traits(column: Column, rows: np.ndarray) -> list[tuple[float, str]]:
    if column.kind == "number":
        known = column.values[~np.isnan(column.values)]
        here = column.values[rows]
        here = here[~np.isnan(here)]
        if not len(here) or not known.std() > 0:
            return []
        off = float((here.mean() - known.mean()) / known.std())
        return [(abs(off), _said(column.name, off))]
    if column.kind != "category" or not (column.values >= 0).any():
        return []
    shares = np.bincount(column.values[column.values >= 0], minlength=len(column.names)) / len(column.values)
    here = np.bincount(column.values[rows][column.values[rows] >= 0], minlength=len(column.names)) / max(len(rows), 1)
    more = (here - shares) / np.sqrt(np.maximum(shares * (1 - shares), 1e-12))
    best = int(more.argmax())
    return [(float(more[best]), f"{column.name} {column.names[best]}")]


def _said(name: str, off: float) -> str:
    return f"{'high' if off > 0 else 'low'} {name}"
