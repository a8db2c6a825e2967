"""Several kinds of nodes: features of their own, kept by files, runs and new nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from tests.graphs import random_graph
from torch_geometric.data import HeteroData

from nodewise.core.errors import InputError
from nodewise.encoders import features as module
from nodewise.encoders.features import Features
from nodewise.encoders.preparation import FeatureSettings
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.read.read import read_graph
from nodewise.runs import page
from nodewise.runs.run import Run
from nodewise.store.convert import Conversion, convert, write_store

QUICK = {"steps": 1, "batch_size": 8, "dimension": 6, "device": "cpu"}


def with_kinds(*, sparse: bool = False, names: tuple[str, ...] = ("a", "b", "c")) -> Graph:
    graph = random_graph(30, 60, sparse=sparse)
    return replace(graph, kinds=np.arange(30) % 4 - 1, kind_names=names)  # some of no known kind


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("chunk", [10, 1 << 18])
def test_every_kind_has_a_block_of_its_own(sparse: bool, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)  # read some rows at a time, or all at once
    graph = with_kinds(sparse=sparse)
    assert graph.kinds is not None
    preparation = FeatureSettings().fit(graph)
    features = Features(graph, "cpu", preparation)
    plain = preparation.apply(graph.features) if preparation is not None else graph.features
    plain = np.asarray(plain if isinstance(plain, np.ndarray) else plain.todense())
    expected = np.zeros((30, 21))
    for node, kind in enumerate(graph.kinds):
        if kind >= 0:
            expected[node, 7 * kind : 7 * kind + 7] = plain[node]
    assert features.shape == (30, 21)
    weight = torch.randn(21, 4, generator=torch.Generator().manual_seed(0))
    assert np.allclose(features.times(weight), expected @ weight.numpy(), atol=1e-5)
    assert np.allclose(features.rows(torch.tensor([3, 11])), expected[[3, 11]], atol=1e-6)


def test_files_keep_kinds(tmp_path: Path) -> None:
    graph = with_kinds()
    graph.to_npz(tmp_path / "g.npz")
    write_store(graph, tmp_path / "store")
    rows = "".join(f"{i},{i % 2}\n" for i in range(30))
    (tmp_path / "labels.csv").write_text(f"id,label\n{rows}")
    for again in (
        read_graph(tmp_path / "g.npz"),
        read_graph(tmp_path / "store"),
        read_graph(tmp_path / "store", labels=tmp_path / "labels.csv"),
    ):
        assert again.kind_names == ("a", "b", "c")
        assert np.array_equal(again.kinds, graph.kinds)
        assert fingerprint(again) == fingerprint(graph) != fingerprint(random_graph(30, 60))


def test_the_column_called_type_holds_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\nc1,p1\nc1,p2\nc2,p1\n")
    rows = "id,type,age,price\nc1,customer,30,\nc2,customer,40,\np1,product,,9\np2,product,,5\nq,product,,1\n"
    Path("nodes.csv").write_text(rows)
    graph = read_graph("edges.csv", features="nodes.csv")
    assert graph.kind_names == ("customer", "product")
    assert graph.kinds is not None
    assert graph.kinds.tolist() == [0, 0, 1, 1, 1]
    convert(Conversion(Path("edges.csv"), Path("nodes.csv")), "graph.store")
    stored = read_graph("graph.store")
    assert stored.kind_names == graph.kind_names
    assert np.array_equal(stored.kinds, graph.kinds)
    assert np.allclose(stored.features, graph.features)
    assert stored.notes == graph.notes
    plain = read_graph("edges.csv", features="nodes.csv", columns="type:category")
    assert (plain.kinds, plain.kind_names) == (None, ())
    Path("nodes.csv").write_text(f"{rows}s,shop,,1\n")
    for refused in (
        lambda: read_graph("edges.csv", features="nodes.csv"),
        lambda: convert(Conversion(Path("edges.csv"), Path("nodes.csv")), "other.store"),
    ):
        with pytest.raises(InputError, match="no edge touches a node of type 'shop'") as error:
            refused()
        assert error.value.code == "untouched-type"
    assert not Path("other.store").exists()
    assert read_graph("edges.csv", features="nodes.csv", like=graph).num_nodes == 6  # tomorrow's rows may be few


def test_ids_that_differ_between_edges_and_features_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\nC-0001,p1\nC-0001,p2\nC-0002,p1\n")
    rows = "id,type,age,price\nK1,customer,30,\nK2,customer,40,\np1,product,,9\np2,product,,5\n"
    Path("nodes.csv").write_text(rows)
    for refused in (
        lambda: read_graph("edges.csv", features="nodes.csv"),
        lambda: convert(Conversion(Path("edges.csv"), Path("nodes.csv")), "graph.store"),
    ):
        with pytest.raises(InputError, match="the features call one 'K1', while the edges name 'C-0001'") as error:
            refused()
        assert error.value.code == "untouched-type"
    Path("nodes.csv").write_text(rows.replace("p1", "q1").replace("p2", "q2"))
    with pytest.raises(InputError, match="such as 'C-0001', but rows of others, such as 'K1'; write ids alike in both"):
        read_graph("edges.csv", features="nodes.csv")


def test_a_run_knows_the_kinds_of_training(tmp_path: Path) -> None:
    graph = with_kinds()
    model = NodeEmbedder(**QUICK).fit(graph)
    model.save(tmp_path / "run", graph)
    again = Run(tmp_path / "run").model("cpu")
    assert graph.kinds is not None
    shown = page._features(graph, Run(tmp_path / "run").folder, graph.ids)[0]
    assert (shown.name, shown.kind, set(shown.names)) == ("type", "category", {"a", "b", "c"})
    turned = replace(graph, kinds=np.where(graph.kinds >= 0, 2 - graph.kinds, -1), kind_names=("c", "b", "a"))
    for other in (graph, turned):
        assert np.allclose(again.transform(other).vectors, model.embeddings_.vectors, atol=1e-6)
    for wrong in (random_graph(30, 60), replace(graph, kind_names=("a", "b", "d"))):
        with pytest.raises(InputError) as error:
            again.transform(wrong)
        assert error.value.code == "other-features"


def test_types_of_other_libraries() -> None:
    source = nx.Graph([("x", "y"), ("y", "z")])
    nx.set_node_attributes(source, {"x": "p", "y": "q", "z": "p"}, "type")
    assert Graph.from_networkx(source, kinds="type").kind_names == ("p", "q")
    data = HeteroData()
    data["author"].x, data["paper"].x = torch.ones(2, 1), torch.ones(3, 2)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    graph = Graph.from_pyg(data)
    assert graph.ids.to_list() == ["author:0", "author:1", "paper:0", "paper:1", "paper:2"]
    assert graph.kind_names == ("author", "paper")
    assert np.asarray(graph.features).tolist() == [[1, 0], [1, 0], [1, 1], [1, 1], [1, 1]]
    assert graph.adjacency().toarray()[0].tolist() == [0, 0, 1, 0, 0]
