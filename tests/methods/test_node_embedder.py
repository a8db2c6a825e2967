"""The estimator as people use it, on graphs small enough to take a second; and what it says to bad input."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tests.command_line import of_an_earlier_version
from tests.graphs import random_graph

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph, having_walked
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.vectors.embeddings import Embeddings

MODES = ("graph", "walks")
SMALL = (
    "views.length=6",
    "encoder.kind=gcn",
    "encoder.layers=2",
    "encoder.dimension=8",
    "sampling.class_collision.clusterings=3",
    "training.steps=3",
    "training.batch_size=25",
    "training.log_every=2",
)
GRAPH = random_graph(60, 150, num_features=9, sparse=True, seed=4)


def embedder(*changes: str, seed: int = 0) -> NodeEmbedder:
    return NodeEmbedder(config.override(Settings(), [*SMALL, *changes]), seed=seed, device="cpu")


def ring(num_nodes: int, features: object = None, *, edges: bool = True) -> Graph:
    nodes = np.arange(num_nodes if edges else 0)
    return Graph.from_edges(nodes, (nodes + 1) % num_nodes, num_nodes=num_nodes, features=features, name="ring")


@pytest.mark.parametrize("mode", MODES)
def test_fit_gives_every_node_a_vector_and_transform_gives_the_same(mode: str) -> None:
    model = embedder(f"embedding.mode={mode}")
    assert model.fit(GRAPH) is model
    assert model.steps_ == 3
    assert model.embeddings_.vectors.shape == (60, 8)
    assert list(model.embeddings_.ids) == list(range(60))
    assert np.array_equal(model.transform(GRAPH).vectors, model.embeddings_.vectors)
    assert np.array_equal(embedder(f"embedding.mode={mode}").fit_transform(GRAPH).vectors, model.embeddings_.vectors)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["gcn", "gat", "sage", "gin"])
def test_what_was_saved_is_what_is_loaded(kind: str, mode: str, tmp_path: Path) -> None:
    model = embedder(f"encoder.kind={kind}", f"embedding.mode={mode}", "training.steps=2", seed=7).fit(GRAPH)
    model.save(tmp_path / "run")
    loaded = NodeEmbedder.load(tmp_path / "run", device="cpu")
    assert (loaded.settings, loaded.seed, loaded.steps_) == (model.settings, 7, 2)
    other = random_graph(40, 90, num_features=9, sparse=True, seed=5)
    for graph in (GRAPH, other):
        assert np.array_equal(loaded.transform(graph).vectors, model.transform(graph).vectors)
    assert np.array_equal(loaded.embeddings_.vectors, model.embeddings_.vectors)
    assert loaded.neighbors(3, k=4) == model.neighbors(3, k=4)


def test_saving_again_replaces_the_run(tmp_path: Path) -> None:
    for seed in (0, 1):
        embedder(seed=seed).fit(GRAPH).save(tmp_path)
    assert NodeEmbedder.load(tmp_path, device="cpu").seed == 1


def test_training_changes_the_vectors_and_so_does_the_seed() -> None:
    trained = embedder().fit_transform(GRAPH).vectors
    assert not np.allclose(trained, embedder("training.steps=0").fit_transform(GRAPH).vectors, atol=1e-3)
    assert not np.allclose(trained, embedder(seed=1).fit_transform(GRAPH).vectors, atol=1e-3)


def test_the_same_seed_gives_the_same_bits_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "there.npy"
    program = (
        "import sys, numpy as np, torch\n"
        f"torch.set_num_threads({torch.get_num_threads()})\n"
        "from tests.methods.test_node_embedder import GRAPH, embedder\n"
        "np.save(sys.argv[1], embedder().fit_transform(GRAPH).vectors)\n"
    )
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (root / "src", root)))}
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, cwd=root, env=environment, timeout=120)
    assert np.array_equal(embedder().fit_transform(GRAPH).vectors, np.load(path))


def test_neighbors_are_the_nearest_by_cosine() -> None:
    model = embedder("embedding.length=none").fit(GRAPH)
    vectors = model.embeddings_.vectors.astype(np.float64)
    cosine = {
        node: float(vectors[3] @ vectors[node] / np.linalg.norm(vectors[3]) / np.linalg.norm(vectors[node]))
        for node in range(60)
        if node != 3
    }
    expected = sorted(cosine, key=lambda node: -cosine[node])[:5]
    found = model.neighbors(3, k=5)
    assert [node for node, _ in found] == expected
    assert np.allclose([similarity for _, similarity in found], [cosine[node] for node in expected], atol=1e-5)
    with pytest.raises(InputError, match="no node"):
        model.neighbors(60)


def test_nodes_keep_their_names() -> None:
    names = [f"paper {i}" for i in range(20)]
    graph = Graph.from_edges(range(20), [(i + 1) % 20 for i in range(20)], ids=names)
    model = embedder().fit(graph)
    assert list(model.embeddings_.ids) == names
    assert model.neighbors("paper 3", k=2)[0][0] in names


@pytest.mark.parametrize("mode", MODES)
def test_new_nodes_are_embedded_without_training(mode: str) -> None:
    # A copy of the graph beside itself, and one more node: what is new to the model is embedded like its twin.
    model = embedder(f"embedding.mode={mode}").fit(GRAPH)
    rows = np.repeat(np.arange(60), GRAPH.degrees)
    sources, targets = (
        np.concatenate([rows, rows + 60, [120]]),
        np.concatenate([GRAPH.indices, GRAPH.indices + 60, [0]]),
    )
    features = sp.vstack([GRAPH.features, GRAPH.features, GRAPH.features[:1]]).tocsr()
    grown = Graph.from_edges(sources, targets, num_nodes=121, features=features)
    found = model.transform(grown)
    assert found.vectors.shape == (121, 8)
    if mode == "graph":
        assert np.allclose(found.vectors[60:120], model.embeddings_.vectors, atol=1e-5)
    assert isinstance(found, Embeddings)
    assert list(model.embeddings_.ids) == list(range(60)), "transform must not replace what was fitted"


def test_metrics_go_to_the_run_folder(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    embedder("sampling.dpp=true").fit(GRAPH, run=run)
    lines = run.read_metrics()
    assert [line["step"] for line in lines] == [0, 2]
    assert set(lines[0]) == {"step", "loss", "negatives", "empty", "moved", "effective_rank", "logdet_gap"}
    assert all(isinstance(value, float) for name, value in lines[0].items() if name != "step")


def test_labels_and_order_of_calls_do_not_matter() -> None:
    labeled = Graph.from_edges(
        np.repeat(np.arange(60), GRAPH.degrees),
        GRAPH.indices,
        features=GRAPH.features,
        labels=[str(i % 3) for i in range(60)],
    )
    model = embedder()
    model.fit(random_graph(30, 60, seed=1))
    assert np.array_equal(model.fit_transform(labeled).vectors, embedder().fit_transform(GRAPH).vectors)


def test_a_batch_larger_than_the_graph_is_one_batch() -> None:
    large, exact = (embedder(f"training.batch_size={size}").fit_transform(GRAPH).vectors for size in (10_000, 60))
    assert np.array_equal(large, exact)


def test_without_features_structure_is_used() -> None:
    assert embedder().fit_transform(ring(12)).vectors.shape == (12, 8)


def test_the_papers_preset_trains() -> None:
    chosen = config.override(Settings.preset("paper"), ["encoder.dimension=8", "training.steps=2"])
    model = NodeEmbedder(chosen, device="cpu").fit(GRAPH)
    assert np.isfinite(model.embeddings_.vectors).all()


def test_every_other_model_trains_two_steps() -> None:
    for kind in ("gat", "sage", "gin"):
        start, trained = (
            embedder(f"encoder.kind={kind}", f"training.steps={steps}").fit_transform(GRAPH).vectors for steps in (0, 2)
        )
        assert np.isfinite(trained).all()
        assert not np.allclose(start, trained, atol=1e-4)


# --- bad input: one line that says what was seen and what to do ---


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_another_number_of_features_is_refused_with_both() -> None:
    model = embedder().fit(GRAPH)
    message = refusal(lambda: model.transform(random_graph(60, 150, num_features=7)))
    assert "has 7 features" in message
    assert "trained on 9" in message


@pytest.mark.parametrize("call", ["transform", "neighbors", "save"])
def test_what_is_not_fitted_says_so(call: str, tmp_path: Path) -> None:
    model = embedder()
    given = {"transform": GRAPH, "neighbors": 3, "save": tmp_path / "run"}[call]
    assert "not fitted yet; call fit(graph) first" in refusal(lambda: getattr(model, call)(given))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("num_nodes", [1, 2])
def test_one_or_two_nodes_have_nobody_to_be_told_apart_from(num_nodes: int) -> None:
    graph = Graph.from_edges([0], [num_nodes - 1], num_nodes=num_nodes, features=np.ones((num_nodes, 2)))
    assert f"has {num_nodes} node(s); contrastive learning needs at least 3" in refusal(lambda: embedder().fit(graph))


def test_a_graph_without_edges_is_refused() -> None:
    graph = ring(10, np.ones((10, 2)), edges=False)
    assert refusal(lambda: embedder().fit(graph)) == "ring has no edges, so every walk stays at its node; add edges"


@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_are_all_zero_are_refused(sparse: bool) -> None:
    zeros = sp.csr_matrix((10, 4), dtype=np.float32) if sparse else np.zeros((10, 4))
    assert "ring: all features are zero" in refusal(lambda: embedder().fit(ring(10, zeros)))
    assert "a matrix without columns" in refusal(lambda: embedder().fit(ring(10, zeros[:, :0])))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("pattern", [(1.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (0.0, 1e-30)])
def test_features_that_cancel_or_are_negative_are_not(pattern: tuple[float, float], sparse: bool) -> None:
    features = np.tile(np.array(pattern, np.float32), (10, 2))
    vectors = embedder().fit_transform(ring(10, sp.csr_matrix(features) if sparse else features)).vectors
    assert np.isfinite(vectors).all()


def test_settings_that_make_no_sense_are_refused() -> None:
    assert "did you mean 'adaptive'" in refusal(lambda: embedder("sampling.strategy=adaptve").fit(GRAPH))
    assert "alpha is 0" in refusal(lambda: embedder("sampling.class_collision.alpha=0"))
    assert "alpha is -1" in refusal(lambda: embedder("sampling.class_collision.alpha=-1"))
    assert "views.length is 0" in refusal(lambda: embedder("views.length=0"))
    assert "training.batch_size is 1" in refusal(lambda: embedder("training.batch_size=1"))


def test_a_run_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert "no such run folder" in refusal(lambda: NodeEmbedder.load(tmp_path / "none"))
    run = RunFolder(tmp_path / "run")
    embedder().fit(GRAPH).save(run.path)
    of_an_earlier_version(run.path)
    weights = run.weights.read_bytes()
    run.weights.write_bytes(weights[: len(weights) // 2])
    assert "not a readable weights file" in refusal(lambda: NodeEmbedder.load(run.path))
    run.weights.unlink()
    assert "the run has no weights" in refusal(lambda: NodeEmbedder.load(run.path))
    run.weights.write_bytes(weights)
    run.write_config(config.override(run.read_config(Settings), ["encoder.dimension=9"]))
    assert "the weights do not fit the settings in config.toml" in refusal(lambda: NodeEmbedder.load(run.path))


def test_new_nodes_walk_as_far_as_training_did(tmp_path: Path) -> None:
    """A graph that has grown dense would itself be walked less far, and its features mean something else."""
    sparse, dense = (replace(random_graph(300, edges, seed=1), features=None) for edges in (400, 9000))
    assert sparse.steps_walked > dense.steps_walked
    model = embedder().fit(sparse)
    model.save(tmp_path / "run")
    loaded = NodeEmbedder.load(tmp_path / "run")
    expected = model.transform(having_walked(dense, sparse.steps_walked)).vectors
    assert np.array_equal(loaded.transform(dense).vectors, expected)
    assert not np.array_equal(expected, embedder().fit(dense).transform(dense).vectors)


@pytest.mark.parametrize("said", [None, "far"])
def test_a_run_that_does_not_say_how_far_it_walked(tmp_path: Path, said: str | None) -> None:
    """Runs of before walked 32 steps."""
    model = embedder().fit(replace(random_graph(80, 100, seed=1), features=None))
    model.save(tmp_path / "run")
    of_an_earlier_version(tmp_path / "run")
    weights = RunFolder(tmp_path / "run").weights
    with safe_open(weights, framework="pt") as file:
        facts = {key: value for key, value in file.metadata().items() if key != "walked"}
    save_file(load_file(weights), weights, facts | ({} if said is None else {"walked": said}))
    if said is None:
        assert NodeEmbedder.load(tmp_path / "run").walked_ == 32
    else:
        with pytest.raises(InputError, match="no number of steps"):
            NodeEmbedder.load(tmp_path / "run")


@pytest.mark.parametrize(("homophily", "told"), [(0.7, False), (1 / 6, True)])
def test_edges_that_are_not_used_are_told(homophily: float, told: bool, caplog: pytest.LogCaptureFixture) -> None:
    graph = block_model(
        600, num_classes=6, num_features=90, homophily=homophily, average_degree=8, words_per_node=15, noise=0.3, seed=2
    )
    NodeEmbedder(steps=2, dimension=16, clusterings=3, device="cpu").fit(graph)
    assert ("not of the edges" in caplog.text) == told
