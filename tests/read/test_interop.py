import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.coo_matrix, sp.csr_array, np.array])
def test_a_symmetric_matrix_needs_no_note(kind):
    graph = Graph.from_scipy(kind(PATH), name="path", labels=["a", "b", "a"])
    assert graph.adjacency().toarray().tolist() == PATH.tolist()
    assert graph.notes == ()
    assert graph.name == "path"
    assert graph.class_names == ("a", "b")


def test_directions_and_loops_of_a_matrix_are_noted():
    graph = Graph.from_scipy(sp.csr_matrix(np.array([[3, 2], [0, 0]])), ids=["x", "y"])
    assert graph.ids.to_list() == ["x", "y"]
    assert graph.num_edges == 1
    assert [note.split()[0] for note in graph.notes] == ["directions", "1"]


def test_entries_of_a_matrix_are_weights():
    graph = Graph.from_scipy(sp.csr_matrix(np.array([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])))
    assert graph.weights.tolist() == [2, 2, 0.5, 0.5]
    assert graph.notes == ()
    one_way = Graph.from_scipy(sp.csr_matrix(np.array([[0, 2, 0], [1, 0, 0.5], [0, 0, 0]])))
    assert one_way.weights.tolist() == [3, 3, 0.5, 0.5], "both directions of an edge are added up"


@pytest.mark.parametrize(
    ("matrix", "fragment"),
    [
        (np.ones((2, 3)), "shape (2, 3)"),
        (np.array([[0, -1], [-1, 0]]), "row 0, column 1: an edge with weight -1"),
        (np.array([[0, np.nan], [0, 0]]), "row 0, column 1: an edge without a weight"),
        (np.array([[0, 1j], [0, 0]]), "complex128"),
    ],
)
def test_matrices_that_are_no_adjacency_are_refused(matrix, fragment):
    with pytest.raises(InputError) as error:
        Graph.from_scipy(sp.coo_matrix(matrix))
    assert fragment in str(error.value)


def test_networkx_nodes_are_the_ids_in_order():
    source = nx.Graph([("b", "a"), ("a", "c")])
    graph = Graph.from_networkx(source)
    assert graph.ids.to_list() == ["b", "a", "c"]
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.notes == ()
    assert Graph.from_networkx(nx.path_graph(3)).ids.to_list() == [0, 1, 2]


def test_networkx_attributes_become_features_and_labels():
    source = nx.Graph([(0, 1)])
    source.add_node(0, x=1, v=[2.0, 3.0], kind="p")
    source.add_node(1, x=4, v=[5.0, 6.0])
    graph = Graph.from_networkx(source, features=["x", "v"], labels="kind")
    assert graph.features.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert graph.labels.tolist() == [0, -1]


def test_directed_and_parallel_networkx_edges_are_noted_and_their_weights_added_up():
    source = nx.MultiDiGraph()
    source.add_edge("a", "b", weight=2)
    source.add_edge("a", "b", weight=1)
    source.add_edge("b", "c", cost=7, weight=1)
    graph = Graph.from_networkx(source)
    assert any("directions" in note for note in graph.notes)
    assert graph.weights.tolist() == [3, 3, 1, 1]
    assert "1 repeated edge merged, their weights added up" in graph.notes
    assert Graph.from_networkx(source, weight=None).weights is None
    for edge, cost in zip(source.edges, (1, 1, 7), strict=True):
        source.edges[edge]["cost"] = cost
    assert Graph.from_networkx(source, weight="cost").weights.tolist() == [2, 2, 7, 7]


@pytest.mark.parametrize(
    ("build", "options", "fragment"),
    [
        (lambda g: g.add_edge(1, "a"), {}, "not a mixture"),
        (lambda g: g.add_edge((0, 1), (1, 0)), {}, "use integers or strings"),
        (lambda g: g.add_edge("a", "b", weight=-1), {}, "between 'a' and 'b': an edge with weight -1"),
        (lambda g: g.add_edge("a", "b", weight="x"), {}, "weight that is no number"),
        (lambda g: g.add_edge("a", "b", weight=10**400), {}, "between 'a' and 'b': an edge with weight inf"),
        (lambda g: (g.add_edge("a", "b"), g.add_node("a", x=10**400)), {"features": ["x"]}, "must be numbers"),
        (lambda g: g.add_edge("a", "b"), {"features": "club"}, "a list of attributes, such as ['club']"),
        (lambda g: g.add_edge("a", "b"), {"features": 5}, "a list of attributes"),
        (lambda g: g.add_edge("a", "b"), {"labels": ["club"]}, "labels must be the name of an attribute"),
        (lambda g: g.add_edge("a", "b"), {"features": ["x"]}, "node 'a' has no attribute 'x'"),
        (lambda g: (g.add_edge("a", "b"), g.add_node("a", x="u")), {"features": ["x"]}, "must be numbers"),
        (
            lambda g: (g.add_node("a", x=[1]), g.add_node("b", x=[1, 2])),
            {"features": ["x"]},
            "different numbers of features",
        ),
    ],
)
def test_networkx_graphs_that_cannot_be_used_are_refused(build, options, fragment):
    source = nx.Graph()
    build(source)
    with pytest.raises(InputError) as error:
        Graph.from_networkx(source, **options)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def data(**parts):
    return Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=4, **parts)


def test_pyg_data_brings_features_labels_and_split():
    masks = {f"{part}_mask": torch.arange(4) == i for i, part in enumerate(("train", "val", "test"))}
    graph = Graph.from_pyg(data(x=torch.eye(4), y=torch.tensor([2, 0, 2, 0]), **masks), name="pyg")
    assert (graph.num_nodes, graph.num_edges, graph.name) == (4, 2, "pyg")
    assert np.array_equal(graph.features, np.eye(4))
    assert graph.class_names == (0, 2)
    assert graph.labels.tolist() == [1, 0, 1, 0]
    assert [part.tolist() for part in vars(graph.split).values()] == [[0], [1], [2]]
    assert graph.notes == ()


def test_sparse_pyg_features_stay_sparse():
    for layout in (torch.eye(4).to_sparse_coo(), torch.eye(4).to_sparse_csr()):
        graph = Graph.from_pyg(data(x=layout))
        assert sp.issparse(graph.features)
        assert np.array_equal(graph.features.toarray(), np.eye(4))


def test_what_pyg_data_holds_beyond_a_graph_is_noted_or_refused():
    assert "edge_attr not used" in Graph.from_pyg(data(edge_attr=torch.ones(4, 2))).notes[0]
    assert Graph.from_pyg(data(edge_weight=torch.tensor([1.0, 1, 3, 3]))).weights.tolist() == [1, 1, 3, 3]
    with pytest.raises(InputError, match="edge_weight has the shape"):
        Graph.from_pyg(data(edge_weight=torch.ones(4, 2)))
    parts = ("train", "val", "test")
    many = {f"{part}_mask": torch.eye(4, dtype=torch.bool)[:, [i]].expand(4, 3) for i, part in enumerate(parts)}
    assert Graph.from_pyg(data(**many)).notes == ("the first of 3 splits taken",)
    with pytest.raises(InputError, match=r"y has the shape \(4, 3\)"):
        Graph.from_pyg(data(y=torch.zeros(4, 3)))
    with pytest.raises(InputError, match="no edge_index"):
        Graph.from_pyg(Data(x=torch.eye(2)))


def test_half_precision_of_pyg_is_read():
    x, weights = torch.tensor([[0.5], [1.0], [2.0], [4.0]]), torch.tensor([1.0, 1, 3, 3])
    graph = Graph.from_pyg(data(x=x.bfloat16(), edge_weight=weights.bfloat16()))
    assert graph.features.tolist() == x.tolist()
    assert graph.weights.tolist() == [1, 1, 3, 3]


def of_two_kinds(ends=((0, 1, 2), (1, 2, 3)), x=None, **other):
    found = HeteroData()
    found["a"].x, found["b"].x = torch.eye(4), torch.eye(4) if x is None else x
    found["a", "to", "b"].edge_index = torch.tensor(ends)
    for name, value in other.items():
        found["b", "back", "a"][name] = value
    return found


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        (Data(edge_index=torch.eye(2), num_nodes=2), "edge_index is of type float32; give integer positions"),
        (Data(edge_index=torch.zeros(3, 2).long(), num_nodes=2), "shape (3, 2), but (2, E) is needed; transpose it"),
        (Data(edge_index=torch.zeros(2).long(), num_nodes=2), "shape (2,), but (2, E) is needed"),
        (Data(edge_index=[[0, 1], [1, 2]], num_nodes=3), "edge_index is [[0, 1], [1, 2]]; give a tensor"),
        (data(x=[[1.0]] * 4), "; give a tensor"),
        (of_two_kinds(weight=torch.ones(2)), "there is no edge_index of ('b', 'back', 'a')"),
        (of_two_kinds(ends=((0.0, 1.0), (1.0, 2.0))), "edge_index of ('a', 'to', 'b') is of type float32"),
        (of_two_kinds(ends=((0, 1), (1, 2), (2, 3))), "transpose it"),
        (of_two_kinds(x=torch.ones(4)), "x of b has the shape (4,)"),
    ],
)
def test_pyg_data_that_cannot_be_used_is_refused_in_one_sentence(given, fragment):
    with pytest.raises(InputError) as error:
        Graph.from_pyg(given)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weight": "calls"}, "no edge has an attribute 'calls'; did you mean 'call'?"),
        ({"types": "rel"}, "no edge has an attribute 'rel'"),
        ({"kinds": "role"}, "no node has an attribute 'role'; did you mean 'roles'?"),
        ({"labels": "role"}, "no node has an attribute 'role'"),
    ],
)
def test_an_attribute_that_is_named_must_be_there(options, said):
    source = nx.Graph()
    source.add_node("a", roles="x")
    source.add_edge("a", "b", call=2)
    with pytest.raises(InputError) as error:
        Graph.from_networkx(source, **options)
    assert said in str(error.value)
    assert error.value.code == "missing-column"


@pytest.mark.parametrize("attributes", [{}, {"weight": None}, {"weight": float("nan")}])
def test_an_edge_without_the_weight_of_others_is_refused(attributes):
    source = nx.Graph()
    source.add_edge("a", "b", weight=2)
    source.add_edge("b", "c", **attributes)
    with pytest.raises(InputError, match=r"between 'b' and 'c': an edge without a weight; .*weight=None") as error:
        Graph.from_networkx(source)
    assert error.value.code == "bad-weight"
    assert Graph.from_networkx(source, weight=None).weights is None


def test_what_is_no_matrix_or_a_damaged_one_is_refused():
    pointing, below = (sp.csr_matrix(np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]])) for _ in range(2))
    pointing.indptr[-1], below.indices[0] = 1000, -5
    for damaged in (pointing, below):
        with pytest.raises(InputError) as refused:
            Graph.from_scipy(damaged)
        assert refused.value.code == "damaged-file"
    with pytest.raises(InputError, match="square matrix"):
        Graph.from_scipy(5)


def test_edges_of_a_type_stay_within_their_kinds():
    data = HeteroData()
    data["a"].x, data["b"].x = torch.ones(3, 2), torch.ones(3, 2)
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1, 3], [0, 1, 2]])
    with pytest.raises(InputError, match="names node 3 of 'a', which has 3 nodes"):
        Graph.from_pyg(data)
    other = HeteroData()
    other["a"].x = torch.ones(3, 2)
    other["a", "to", "c"].edge_index = torch.tensor([[0, 1], [0, 1]])
    with pytest.raises(InputError, match="of type 'c', of which there are none"):
        Graph.from_pyg(other)


def two_types(**of_b: torch.Tensor) -> HeteroData:
    """Return four nodes of type a and three of type b, with edges both ways."""
    data = HeteroData()
    data["a"].x, data["b"].x = torch.eye(4), torch.eye(3)
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 0]])
    data["b", "of", "a"].edge_index = torch.tensor([[0], [1]])
    for name, value in of_b.items():
        data["b"][name] = value
    return data


def test_weights_labels_and_split_of_several_types_are_kept():
    masks = {
        f"{part}_mask": torch.tensor([i == k for i in range(3)]) for k, part in enumerate(("train", "val", "test"))
    }
    data = two_types(y=torch.tensor([1, 0, 1]), **masks)
    data["a", "to", "b"].edge_weight = torch.tensor([1.0, 2, 3, 4])
    data["b", "of", "a"].edge_weight = torch.tensor([5.0])
    graph = Graph.from_pyg(data)
    assert [None if k < 0 else graph.class_names[k] for k in graph.labels] == [None] * 4 + [1, 0, 1]
    assert [part.tolist() for part in (graph.split.train, graph.split.val, graph.split.test)] == [[4], [5], [6]]
    assert sorted(graph.weights) == sorted([1, 2, 3, 4, 5] * 2)
    del data["b", "of", "a"].edge_weight
    with pytest.raises(InputError) as error:
        Graph.from_pyg(data)
    assert error.value.code == "bad-weight"


def test_classes_of_several_types_are_not_mixed():
    data = two_types(y=torch.tensor([1, 0, 1]))
    data["a"].y = torch.tensor([0, 1, 0, 1])
    graph = Graph.from_pyg(data)
    assert graph.labels is None
    assert any("y of a, b not used" in note for note in graph.notes)
