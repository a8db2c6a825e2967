"""Edges held out of training are in the run, not in the graph that training sees, and no node is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.graph import Graph
from nodewise.runs.held_out import hold_out_edges, read_held_out, without_edges, write_held_out

SMALL = ("--set", "training.steps=2", "--set", "training.batch_size=16", "--set", "encoder.dimension=8")


def ring(nodes: int = 40) -> Graph:
    ends = [(i, (i + step) % nodes) for i in range(nodes) for step in (1, 2)]
    names = [f"n{i}" for i in range(nodes)]
    return Graph.from_edges(*np.array(ends).T, num_nodes=nodes, ids=names, features=np.eye(nodes, 3))


def pairs(graph: Graph) -> set[tuple[int, int]]:
    return {
        (i, int(j))
        for i in range(graph.num_nodes)
        for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        if i < j
    }


def test_the_rest_is_the_graph_without_them() -> None:
    graph = ring()
    rest, edges = hold_out_edges(graph, 0.2, seed=3)
    taken = {tuple(edge) for edge in edges.tolist()}
    assert len(taken) == 16
    assert pairs(rest) == pairs(graph) - taken
    assert (rest.degrees > 0).all()
    assert (hold_out_edges(graph, 0.2, seed=3)[1] == edges).all()
    assert pairs(without_edges(graph, edges)) == pairs(rest)
    assert (rest.features == graph.features).all()


def test_no_node_loses_its_last_edge() -> None:
    star = Graph.from_edges([0] * 9, range(1, 10), num_nodes=10)
    with pytest.raises(InputError) as refused:
        hold_out_edges(star, 0.5, seed=0)
    assert refused.value.code == "too-few-edges"
    for share in (0.0, 1.0):
        with pytest.raises(InputError, match="between 0 and 1"):
            hold_out_edges(star, share, seed=0)


def test_they_come_back_from_the_run(folder: Path) -> None:
    graph = ring()
    _, edges = hold_out_edges(graph, 0.2, seed=3)
    write_held_out(RunFolder(folder), graph.ids, edges)
    assert (read_held_out(folder, graph.ids) == edges).all()
    with pytest.raises(InputError) as refused:
        read_held_out(folder, ring(30).ids)
    assert refused.value.code == "damaged-run"


def test_links_are_a_task(nodewise: Callable[..., Any], refused: Callable[..., str], folder: Path) -> None:
    lines = [f"n{i},n{j}\n" for i, j in sorted(pairs(ring()))]
    Path("edges.csv").write_text("source,target\n" + "".join(lines))
    assert nodewise("embed", "edges.csv", "-o", "run", "--hold-out-edges", 0.2, *SMALL, "-q").code == 0
    assert json.loads(Path("run/environment.json").read_text())["graph"]["edges"] == 64
    report = json.loads(nodewise("evaluate", "run", "--task", "links", "--json").out)
    assert [row["name"] for row in report["comparison"]] == [
        "structural features",
        "smoothed features",
        "random encoder",
    ]
    assert 0 <= report["scores"]["auc"]["mean"] <= 1
    assert "16 edges that training did not see" in report["protocol"]
    assert nodewise("embed", "edges.csv", "-o", "plain", *SMALL, "-q").code == 0
    assert "[no-held-out-edges]" in refused("evaluate", "plain", "--task", "links")
    assert not Path("plain/held_out_edges.parquet").exists()


def test_weights_stay_with_their_edges() -> None:
    ends = np.array(sorted(pairs(ring())))
    graph = Graph.from_edges(*ends.T, num_nodes=40, weights=1 + ends.sum(1))
    rest, _ = hold_out_edges(graph, 0.2, seed=0)
    assert rest.weights is not None
    for i in range(40):
        for place in range(rest.indptr[i], rest.indptr[i + 1]):
            assert rest.weights[place] == 1 + i + rest.indices[place]


def test_a_node_may_be_left_with_a_single_edge() -> None:
    nodes = np.arange(10)
    cycle = Graph.from_edges(nodes, (nodes + 1) % 10, num_nodes=10)
    rest, edges = hold_out_edges(cycle, 0.1, seed=0)
    assert len(edges) == 1
    assert rest.degrees[edges[0]].tolist() == [1, 1]
