"""Graphs of other libraries and tables in memory are the graphs that files would have been."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.read.interop import as_graph
from nodewise.read.read import read_graph

ENDS = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
NAMES = ["a", "b", "c", "d"]


def pairs(graph: Graph) -> set[tuple[Any, Any]]:
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    ends = zip(rows.tolist(), graph.indices.tolist(), strict=True)
    return {(graph.ids[i], graph.ids[j]) for i, j in ends}


NAMED = {(NAMES[i], NAMES[j]) for i, j in ENDS} | {(NAMES[j], NAMES[i]) for i, j in ENDS}
NUMBERED = {*ENDS, *((j, i) for i, j in ENDS)}
TABLE = pa.table({"source": [NAMES[i] for i, _ in ENDS], "target": [NAMES[j] for _, j in ENDS]})


def test_tables_of_edges_features_and_labels() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    features, labels = pandas.DataFrame({"id": NAMES, "x": [1.0, 2, 3, 4]}), {"id": NAMES[:3], "label": ["r", "g", "r"]}
    for edges, known in (
        (TABLE, pa.table(labels)),
        (TABLE.to_pandas(), pandas.DataFrame(labels)),
        (polars.from_arrow(TABLE), polars.DataFrame(labels)),
    ):
        graph = read_graph(edges, features=features, labels=known)
        assert pairs(graph) == NAMED
        assert graph.labels is not None
        assert [graph.class_names[code] if code >= 0 else None for code in graph.labels] == ["r", "g", "r", None]
        assert graph.origin is None


def test_graphs_of_other_libraries() -> None:
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    data = pytest.importorskip("torch_geometric.data").Data(edge_index=torch.tensor(ENDS).T, num_nodes=4)
    row, column = np.array(ENDS).T
    plain = igraph.Graph(n=4, edges=ENDS)
    for given in (networkx.Graph(ENDS), data, sp.csr_matrix((np.ones(5), (row, column)), (4, 4)), plain):
        assert pairs(as_graph(given)) == NUMBERED
        assert pairs(read_graph(given)) == NUMBERED
    named = igraph.Graph(n=4, edges=ENDS)
    named.vs["name"], named.es["weight"] = NAMES, [1.0, 2, 3, 4, 5]
    graph = as_graph(named)
    assert pairs(graph) == NAMED
    assert graph.weights is not None


def test_methods_take_them_and_refuse_the_rest() -> None:
    networkx = pytest.importorskip("networkx")
    model = NodeEmbedder(steps=1, dimension=4, batch_size=8, device="cpu").fit(networkx.karate_club_graph())
    assert len(model.embeddings_) == 34
    with pytest.raises(InputError) as refused:
        model.fit(42)
    assert refused.value.code == "bad-argument"


def test_attributes_of_edges_may_have_other_names() -> None:
    ring = pytest.importorskip("networkx").cycle_graph(4)
    other = pytest.importorskip("igraph").Graph.Ring(4)
    for number, edge in enumerate(ring.edges):
        ring.edges[edge]["calls"] = number + 1.0
    other.es["calls"] = [1.0, 2.0, 3.0, 4.0]
    for graph in (ring, other):
        assert read_graph(graph).weights is None
        assert sorted(read_graph(graph, weight_column="calls").weights) == [1, 1, 2, 2, 3, 3, 4, 4]
        with pytest.raises(InputError) as error:
            read_graph(graph, weight_column="visits")
        assert error.value.code == "missing-column"
        with pytest.raises(InputError) as error:
            read_graph(graph, delimiter=";")
        assert error.value.code == "bad-argument"
    with pytest.raises(InputError) as error:
        read_graph(sp.eye_array(3).tocsr(), weight_column="calls")
    assert error.value.code == "bad-argument"
