"""Types of edges: chosen, or followed one after the other, against loops over single paths."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

from nodewise.core.errors import InputError
from nodewise.graph import edge_types
from nodewise.graph.graph import Graph, without_weights
from nodewise.read.assemble import take_apart
from nodewise.read.interop import as_graph
from nodewise.runs.held_out import without_edges

NAMES = np.array(["buys", "likes", "knows", None], object)


def typed_graph(*, weighted: bool = False, directed: bool = False, seed: int = 0) -> Graph:
    """Thirty nodes of two kinds, 160 edges of three types or of none, some of them given twice."""
    draw = np.random.default_rng(seed)
    sources, targets = draw.integers(0, 30, (2, 160))
    kinds = np.where(np.arange(30) < 20, "customer", "product")
    weights = draw.uniform(0.5, 2, 160).astype(np.float32) if weighted else None
    types = NAMES[draw.integers(0, 4, 160)].tolist()
    return Graph.from_edges(sources, targets, weights=weights, types=types, kinds=kinds, directed=directed)


def edges_of(graph: Graph, name: str) -> list[tuple[int, int, float]]:
    assert graph.typed is not None
    weights = np.ones(len(graph.typed.sources)) if graph.typed.weights is None else graph.typed.weights
    wanted = graph.typed.names.index(name)
    rows = zip(graph.typed.sources, graph.typed.targets, graph.typed.codes, weights, strict=True)
    return [(int(s), int(t), float(w)) for s, t, code, w in rows if code == wanted]


def steps_of(graph: Graph, name: str) -> dict[int, dict[int, float]]:
    """Return where an edge of a type leads, and its weight; repeated ones add up, or are one where none has weights."""
    plain, found = name.removeprefix("^"), defaultdict(lambda: defaultdict(float))
    for s, t, w in edges_of(graph, plain):
        ways = [(s, t), (t, s)] if not graph.directed else [(t, s) if plain != name else (s, t)]
        for a, b in ways:
            found[a][b] = found[a][b] + w if graph.typed.weights is not None else 1.0
    return found


def walked(graph: Graph, steps: list[str], kinds: list[str | None]) -> np.ndarray:
    """Return, path by path, the weight of the first edge times the chances of the steps that follow."""
    total = np.zeros((graph.num_nodes, graph.num_nodes))

    def fits(node: int, place: int) -> bool:
        return kinds[place] is None or graph.kind_names[graph.kinds[node]] == kinds[place]

    def go(start: int, node: int, place: int, weight: float) -> None:
        if place == len(steps):
            total[start, node] += weight
            return
        onward = {b: w for b, w in steps_of(graph, steps[place]).get(node, {}).items() if fits(b, place + 1)}
        for b, w in onward.items():
            go(start, b, place + 1, w if place == 0 else weight * w / sum(onward.values()))

    for start in range(graph.num_nodes):
        if fits(start, 0):
            go(start, start, 0, 1.0)
    np.fill_diagonal(total, 0)
    return total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_some_types_are_what_reading_only_their_edges_gives(weighted: bool, directed: bool) -> None:
    graph = typed_graph(weighted=weighted, directed=directed)
    found = graph.of_types("likes, buys")
    rows = [edge for name in ("buys", "likes") for edge in edges_of(graph, name)]
    weights = [w for _, _, w in rows] if weighted else None
    ends = [[edge[i] for edge in rows] for i in (0, 1)]
    expected = Graph.from_edges(*ends, weights=weights, num_nodes=30, directed=directed)
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert (found.weights is None) == (expected.weights is None)
    if weighted:
        assert np.allclose(found.weights, expected.weights, rtol=1e-6)
    if directed:
        assert np.array_equal(found.faces.indices, expected.faces.indices)
    assert found.typed.names == ("buys", "likes")
    assert np.array_equal(found.of_types(["buys"]).indices, graph.of_types("buys").indices)
    assert any("edges of type buys, likes used" in note for note in found.notes)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("metapath", "steps", "kinds"),
    [
        ("buys,buys", ["buys", "buys"], [None] * 3),
        ("knows,buys,likes", ["knows", "buys", "likes"], [None] * 4),
        ("customer,buys,product,likes,customer", ["buys", "likes"], ["customer", "product", "customer"]),
        ("likes", ["likes"], [None] * 2),
    ],
)
def test_a_metapath_joins_what_its_paths_join(
    weighted: bool, metapath: str, steps: list[str], kinds: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_types, "_WORK", 20)  # a few rows at a time
    graph = typed_graph(weighted=weighted)
    found, expected = graph.along(metapath), walked(graph, steps, kinds)
    both = expected + expected.T
    ours = found.adjacency().toarray()
    if found.weights is None:  # all weigh the same
        both = (both > 0).astype(float)
    assert np.allclose(ours, both, rtol=1e-5)
    assert found.typed is None
    assert any("the metapath" in note for note in found.notes)


@pytest.mark.parametrize("metapath", ["buys,^buys", "knows,^likes,buys"])
def test_directed_metapaths_go_along_and_against(metapath: str) -> None:
    graph = typed_graph(weighted=True, directed=True)
    found, steps = graph.along(metapath), metapath.split(",")
    expected = walked(graph, steps, [None] * (len(steps) + 1))
    sources, targets, weights = found.faces.edges()
    ours = np.zeros((30, 30))
    ours[sources, targets] = weights
    assert np.allclose(ours, expected, rtol=1e-5)


def test_one_step_over_a_metapath_of_two_is_a_walk_along_it() -> None:
    graph = typed_graph(weighted=True)
    ours = graph.along("buys,buys").adjacency().toarray()
    steps = steps_of(graph, "buys")
    for node in np.flatnonzero(ours.sum(1)):
        chances: dict[int, float] = defaultdict(float)
        for middle, w in steps[node].items():
            for end, v in steps[middle].items():
                if end != node:
                    chances[end] += w / sum(steps[node].values()) * v / sum(steps[middle].values())
        for end, chance in chances.items():
            assert ours[node, end] / ours[node].sum() == pytest.approx(chance / sum(chances.values()), rel=1e-4)


@pytest.mark.parametrize(
    ("chosen", "code", "said"),
    [
        (lambda g: g.of_types("bys"), "unknown-type", "no edge is of type 'bys'; did you mean 'buys'?"),
        (lambda g: g.of_types(""), "unknown-type", "name some"),
        (lambda g: g.along("buys,sells"), "unknown-type", "no edge is of type 'sells'"),
        (lambda g: g.along("customer,buys,shop"), "unknown-type", "no node is of type 'shop'"),
        (lambda g: g.along("customer,buys"), "bad-metapath", "must begin and end with a type of nodes"),
        (lambda g: g.along(""), "bad-metapath", "the metapath is empty"),
        (lambda g: g.along("^buys,buys"), "bad-metapath", "--directed"),
        (lambda g: g.along("buys").of_types("buys"), "unknown-type", "edges have no types to choose from"),
    ],
)
def test_what_cannot_be_chosen_is_refused(chosen: Any, code: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        chosen(typed_graph())
    assert error.value.code == code
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_metapaths_that_lead_nowhere_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.from_edges(
        [0, 0, 4], [2, 3, 5], types=["buys", "buys", "ships"], kinds=["c", "c", "p", "p", "s", "s"]
    )
    for metapath, said in {
        "buys,ships": "no edge of type 'ships' leads on from where 'buys' leads",
        "p,buys,p": "no edge of type 'buys' leads from a node of type 'p' to a node of type 'p'",
        "ships,ships": "leads from every node back to itself only",
    }.items():
        with pytest.raises(InputError, match=said) as error:
            graph.along(metapath)
        assert error.value.code == "bad-metapath"
    monkeypatch.setattr(edge_types, "available_memory", lambda: 100)
    with pytest.raises(InputError, match="do not fit into memory") as error:
        graph.along("buys,buys")
    assert error.value.code == "too-little-memory"


def test_types_of_other_libraries() -> None:
    source = nx.Graph()
    source.add_edge("x", "y", type="buys")
    source.add_edge("y", "z")
    graph = Graph.from_networkx(source)
    assert graph.typed.counts() == {"buys": 1}
    assert graph.of_types("buys").num_edges == 1
    assert Graph.from_networkx(source, types=None).typed is None
    data = HeteroData()
    data["author"].num_nodes, data["paper"].num_nodes = 2, 3
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    data["paper", "rev_writes", "author"].edge_index = torch.tensor([[0, 1, 2], [0, 1, 1]])
    graph = Graph.from_pyg(data)
    assert graph.typed.counts() == {"cites": 1, "rev_writes": 3, "writes": 3}
    assert graph.num_edges == 4
    coauthors = graph.along("paper,writes,author,writes,paper")
    assert np.argwhere(coauthors.adjacency().toarray()).tolist() == [[3, 4], [4, 3]]
    other = pytest.importorskip("igraph").Graph(edges=[(0, 1), (1, 2)], edge_attrs={"type": ["a", "b"]})
    assert as_graph(other).typed.counts() == {"a": 1, "b": 1}


def test_types_stay_with_what_is_done_to_a_graph() -> None:
    graph = typed_graph(weighted=True)
    edges, *_ = take_apart(graph)
    assert edges.types.names == graph.typed.names
    assert without_weights(graph).typed.weights is None
    assert without_edges(graph, np.array([[0, int(graph.indices[0])]])).typed is None
    assert "3 types of edges" in repr(graph)
    assert not (graph.typed.sources == graph.typed.targets).any()
    with pytest.raises(InputError, match="1 types of edges for 2 edges"):
        Graph.from_edges([0, 1], [1, 2], types=["a"])
    with pytest.raises(InputError, match="different types of edges"):
        Graph.from_edges(np.zeros(2000, int), np.arange(1, 2001), types=[f"t{i}" for i in range(2000)])
