"""Arguments of other types than the Python API takes: one sentence, and never an error from below."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch

from nodewise import Embeddings, Graph, NodeEmbedder, compare, read_graph
from nodewise.core.errors import InputError
from nodewise.evaluation.evaluate import evaluate_embeddings
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Split
from nodewise.graph.ids import NodeIds
from nodewise.methods.settings import Settings
from nodewise.methods.smoothed import SmoothedFeatures
from nodewise.runs.neighbors import find_neighbors
from nodewise.runs.run import Run

ANY: Any = None
VECTORS = Embeddings(NodeIds(["a", "b", "c"]), np.eye(3, dtype=np.float32))
GRAPH = Graph.from_edges([0, 1, 2], [1, 2, 0])


LABELS = {0: "x", 1: "y", 2: "x"}


def saved() -> Run:
    return SmoothedFeatures().fit(GRAPH).save("run", GRAPH)


def made(**details: Any) -> Graph:
    return Graph.from_edges([0], [1], **details)


CALLS: dict[str, Callable[[], Any]] = {
    "types are a number": lambda: GRAPH.of_types(5),  # type: ignore[arg-type]
    "metapath is a number": lambda: GRAPH.along(5),  # type: ignore[arg-type]
    "where is a function": lambda: find_neighbors(Path("run"), "a", where=len),  # type: ignore[arg-type]
    "strategies are a number": lambda: compare(5, "citeseer"),  # type: ignore[arg-type]
    "a graph to compare on is a number": lambda: compare("hard", [5]),  # type: ignore[list-item]
    "graphs to compare on are a frame": lambda: compare("hard", pd.DataFrame({"a": [1]})),  # type: ignore[arg-type]
    "seeds to compare are a number": lambda: compare("hard", "citeseer", seeds=3),  # type: ignore[arg-type]
    "two columns of one name": lambda: read_graph(pd.DataFrame([["a", "b", 1, 2]], columns=["a", "b", "x", "x"])),
    "a lazy frame of no such column": lambda: read_graph(
        pytest.importorskip("polars").LazyFrame({"a": [1]}).select("b")
    ),
    "k is a fraction": lambda: VECTORS.neighbors("a", k=2.5),  # type: ignore[arg-type]
    "k is text": lambda: VECTORS.neighbors("a", k="x"),  # type: ignore[arg-type]
    "k is true": lambda: VECTORS.neighbors("a", k=True),
    "node is nothing": lambda: VECTORS.neighbors(ANY),
    "node is half a letter": lambda: VECTORS.neighbors("\ud800"),
    "ids of half a letter": lambda: made(ids=["\ud800", "b"]),
    "ids are a number": lambda: NodeIds(5),
    "positions of a number": lambda: VECTORS.ids.positions(5),
    "saved into a number": lambda: Run.write(SmoothedFeatures().fit(GRAPH), ANY),
    "saved with a number": lambda: Run.write(SmoothedFeatures().fit(GRAPH), "new", 3),  # type: ignore[arg-type]
    "a condition that is nothing": lambda: find_neighbors(Path("run"), where=[ANY]),
    "graph from nothing": lambda: read_graph(ANY),
    "graph from a number": lambda: read_graph(5),  # type: ignore[arg-type]
    "graph from bytes": lambda: read_graph(b"x"),  # type: ignore[arg-type]
    "features from a number": lambda: read_graph("e.csv", features=5),  # type: ignore[arg-type]
    "labels from a list": lambda: read_graph("e.csv", labels=[]),  # type: ignore[arg-type]
    "delimiter is a number": lambda: read_graph("e.csv", delimiter=5),  # type: ignore[arg-type]
    "header is text": lambda: read_graph("e.csv", header="no"),  # type: ignore[arg-type]
    "column is a number": lambda: read_graph("e.csv", source=1),  # type: ignore[arg-type]
    "edges of no shape": lambda: Graph.from_edges([[1], [1, 2]], [0]),  # type: ignore[list-item]
    "nodes are a fraction": lambda: made(num_nodes=2.5),
    "nodes are text": lambda: made(num_nodes="x"),
    "features of no shape": lambda: made(features=[[1], [1, 2]]),
    "labels are a number": lambda: made(labels=5),
    "labels are names of numbers": lambda: made(labels=["a", "b"], class_names=["a", "b"]),
    "class names are a number": lambda: made(labels=[0, 1], class_names=5),
    "split is a number": lambda: made(split=5),
    "split of names": lambda: made(split=Split(["a"], [], [])),  # type: ignore[arg-type]
    "name is a number": lambda: made(name=5),
    "matrix is nothing": lambda: Graph.from_scipy(None),
    "networkx of nothing": lambda: Graph.from_networkx(ANY),
    "npz of nothing": lambda: Graph.from_npz(ANY),
    "settings are text": lambda: NodeEmbedder("paper"),  # type: ignore[arg-type]
    "seed is a fraction": lambda: NodeEmbedder(seed=1.5),  # type: ignore[arg-type]
    "seed is too large": lambda: NodeEmbedder(seed=2**63),
    "seed is negative": lambda: NodeEmbedder(seed=-1),
    "split to score by is a number": lambda: saved().evaluate(labels=LABELS, split=5),
    "repeats are text": lambda: saved().evaluate(labels=LABELS, repeats="a"),
    "repeats are none at all": lambda: saved().evaluate(labels=LABELS, repeats=0),
    "probe is nothing": lambda: saved().evaluate(labels=LABELS, probe=None),
    "task is a number": lambda: saved().evaluate(labels=LABELS, task=5),
    "seed of probes is negative": lambda: saved().evaluate(labels=LABELS, seed=-1),
    "seed of probes is too large": lambda: saved().evaluate(labels=LABELS, seed=2**32),
    "metrics are text": lambda: saved().evaluate(labels=LABELS, metrics="nmi"),
    "k is negative": lambda: saved().neighbors(k=-1),
    "k of some is a fraction": lambda: saved().neighbors([0], k=1.5),  # type: ignore[call-overload]
    "new vectors without ids": lambda: saved().neighbors(new=np.ones((20, 3))),
    "a cosine that is text": lambda: saved().neighbors(at_least="x"),
    "way is a number": lambda: saved().clusters(way=5),
    "clusters are a fraction": lambda: saved().clusters(k=2.5),  # type: ignore[arg-type]
    "seed of clusters is negative": lambda: saved().clusters(seed=-1),
    "a slice of vectors": lambda: VECTORS[:2],  # type: ignore[index]
    "vectors of a fraction": lambda: VECTORS[2.5],  # type: ignore[index]
    "fit to nothing": lambda: NodeEmbedder().fit(ANY),
    "load nothing": lambda: NodeEmbedder.load(ANY),
    "vectors are text": lambda: Embeddings(NodeIds(["a"]), "x"),  # type: ignore[arg-type]
    "preset is a number": lambda: Settings.preset(5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_are_refused_in_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.csv").write_text("source,target\na,b\nb,c\n")
    with pytest.raises(InputError) as caught:
        CALLS[name]()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


FRAME = pd.DataFrame({"id": [0, 1], "label": ["x", "y"]})
PATH = nx.path_graph(3)

WRONG_TYPES: dict[str, Callable[[], Any]] = {
    "labels are a frame": lambda: made(labels=FRAME),
    "kinds are a frame": lambda: made(kinds=FRAME),
    "types are a frame": lambda: made(types=FRAME),
    "ids are a frame": lambda: made(ids=FRAME),
    "labels are a table of Arrow": lambda: made(labels=pa.table({"label": ["x", "y"]})),
    "labels are one number": lambda: made(labels=5),
    "labels are one text": lambda: made(labels="xy"),
    "labels are a matrix": lambda: made(labels=torch.eye(2)),
    "labels are sparse": lambda: made(labels=torch.tensor([1, 0]).to_sparse().to("meta")),
    "labels are a set": lambda: made(labels={"x", "y"}),
    "types are a mapping": lambda: made(types={0: "x"}),
    "ids are a mapping": lambda: made(ids={"a": 0, "b": 1}),
    "weights are without values": lambda: made(weights=torch.ones(1, device="meta")),
    "ends are without values": lambda: Graph.from_edges(torch.ones(1, device="meta"), [1]),  # type: ignore[arg-type]
    "notes are a number": lambda: made(notes=5),
    "notes of networkx are a text": lambda: Graph.from_networkx(PATH, notes="read"),
    "features of networkx are a matrix": lambda: Graph.from_networkx(PATH, features=np.ones((3, 2))),  # type: ignore
    "networkx has a number of nodes": lambda: Graph.from_networkx(PATH, num_nodes=9),
    "npz into nothing": lambda: GRAPH.to_npz(ANY),
    "settings to compare with are a number": lambda: compare("hard", GRAPH, settings=5),  # type: ignore[arg-type]
    "minutes to compare for are text": lambda: compare("hard", GRAPH, minutes="1"),  # type: ignore[arg-type]
    "vectors to evaluate are nothing": lambda: evaluate_embeddings(ANY, ANY),
    "vectors to probe are nothing": lambda: linear_probe(ANY, ANY, ANY),
    "vectors to probe are lists": lambda: linear_probe([[1.0, 2.0]], [0], ANY),  # type: ignore[list-item]
    "split to probe with is nothing": lambda: linear_probe(np.ones((4, 1)), [0, 0, 1, 1], ANY),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_arguments_of_another_type_have_one_code(name: str) -> None:
    with pytest.raises(InputError) as caught:
        WRONG_TYPES[name]()
    assert caught.value.code == "bad-argument"
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("which", ["labels", "kinds"])
def test_attributes_of_networkx_that_nothing_has_are_refused(which: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_networkx(PATH, **{which: 5})
    assert caught.value.code == "missing-column"


def test_tensors_are_arrays() -> None:
    learned = torch.tensor([1.0, 2.0], requires_grad=True)
    graph = Graph.from_edges(
        torch.tensor([0, 1]),  # type: ignore[arg-type]
        torch.tensor([1, 2]),  # type: ignore[arg-type]
        weights=learned,  # type: ignore[arg-type]
        ids=torch.tensor([7, 8, 9]),  # type: ignore[arg-type]
        labels=torch.tensor([1, 0, 1]),
        kinds=torch.tensor([3, 3, 4]),
        types=torch.tensor([5, 6]),
    )
    assert graph.weights is not None
    assert graph.weights.tolist() == [1, 1, 2, 2]
    assert graph.ids.to_list() == [7, 8, 9]
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 0, 1]
    assert (graph.class_names, graph.kind_names) == ((0, 1), (3, 4))


def test_numbers_of_numpy_are_numbers() -> None:
    assert len(VECTORS.neighbors("a", k=np.int64(2))) == 2  # type: ignore[arg-type]
    assert NodeEmbedder(seed=np.int64(3)).seed == 3  # type: ignore[arg-type]
    assert made(num_nodes=np.int32(4)).num_nodes == 4


@pytest.mark.parametrize("sparse", [False, True])
def test_a_graph_keeps_its_own_arrays(sparse: bool) -> None:
    features: Any = np.eye(3, dtype=np.float32)
    given = sp.csr_matrix(features) if sparse else features
    labels, train = np.array([0, 1, 0]), np.array([0])
    split = Split(train, np.array([1]), np.array([2]))
    graph = Graph.from_edges([0, 1], [1, 2], features=given, labels=labels, class_names=["x", "y"], split=split)
    (given.data if sparse else given)[...] = 7
    labels[...], train[...] = 1, 2
    assert graph.features.max() == 1
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 0]
    assert graph.split is not None
    assert graph.split.train.tolist() == [0]


def test_settings_may_be_numbers_of_numpy() -> None:
    keywords = {"steps": np.int64(2), "learning_rate": np.float64(0.5), "dpp": np.bool_(True)}
    found = NodeEmbedder(seed=np.int32(3), teleports=np.array([0.25, 0.5]), **keywords)
    assert found.settings == NodeEmbedder(teleports=[0.25, 0.5], steps=2, learning_rate=0.5, dpp=True).settings
    assert type(found.settings.training.steps) is int
    assert NodeEmbedder(learning_rate=np.float32(0.5)).settings.training.learning_rate == 0.5


def test_an_array_is_no_single_value(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    run = SmoothedFeatures(dimension=4).fit(graph).save(tmp_path / "run", graph)
    ages = np.arange(5)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: run.neighbors(1, where=ages > 2, attributes=dict.fromkeys(range(5), 1)),
        lambda: run.classify(kind=ages),
        lambda: run.clusters(np.array([2, 3])),
        lambda: run.report(projection=np.ones(2)),
        lambda: run.transform(graph, only=np.ones(2)),
        lambda: run.transform(graph, device=np.ones(2)),
        lambda: SmoothedFeatures(dimension=4).fit(graph).save(tmp_path / "run", graph, overwrite=ages > 2),
        lambda: Graph.from_edges([0], [1], directed=np.ones(2)),
    )
    for call in calls:
        with pytest.raises(InputError) as error:
            call()
        assert error.value.code in ("bad-argument", "unknown-device")
