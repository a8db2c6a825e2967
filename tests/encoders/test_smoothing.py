"""The smoothing encoder: what it computes for a graph, for views and for some nodes, against formulas in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.encoders.test_teleport import CLASSES, mixtures, planted
from tests.graphs import random_graph

from nodewise.core import config, rng
from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.encoders.features import Features
from nodewise.encoders.smoothing import Smoothing, SmoothingSettings
from nodewise.graph.graph import Graph
from nodewise.methods import layerwise
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.incremental import embed_some
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.training.loop import untrained
from nodewise.views.topology import Topology
from nodewise.views.walks import ViewSettings

SEEDS = torch.tensor([3, 8])
TELEPORTS: tuple[tuple[float, ...], ...] = ((0.2,), (1.0,), (0.1, 0.5))


def settings(*changes: str) -> Settings:
    return config.override(Settings(), ["encoder.dimension=6", "encoder.propagation=4", *changes])


def normalized(graph: Graph) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2, dense."""
    looped = graph.adjacency().toarray().astype(np.float64) + np.eye(graph.num_nodes)
    scale = looped.sum(1) ** -0.5
    return looped * scale[:, None] * scale


def smoothed(graph: Graph, rows: np.ndarray, steps: int, teleport: float) -> np.ndarray:
    """Personalised PageRank as a sum of powers, a Σ_t<T (1 - a)^t S^t + (1 - a)^T S^T."""
    walk, power, total = normalized(graph), np.eye(graph.num_nodes), np.zeros((graph.num_nodes,) * 2)
    for _ in range(steps):
        total += teleport * power
        power = (1 - teleport) * walk @ power
    return (total + power) @ rows


def prepared(graph: Graph, chosen: Settings) -> np.ndarray:
    """Features as counts weighed by idf^p, or standardized, with rows of length one."""
    features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    rows = features.astype(np.float64)
    if np.count_nonzero(rows) <= rows.size / 2:
        present = (rows > 0).sum(0)
        rows = rows * (np.log((1 + len(rows)) / (1 + present)) + 1) ** chosen.features.idf
    else:
        rows = (rows - rows.mean(0)) / rows.std(0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def slow(graph: Graph, chosen: Settings, encoder: Smoothing, run: int) -> np.ndarray:
    """The vectors of one run, block by block."""
    weight, blocks, start = encoder.weight.detach()[run].double().numpy(), [], 0
    for teleport, size in zip(encoder.teleports, encoder.settings.sizes, strict=True):
        rows = prepared(graph, chosen) @ weight[:, start : start + size]
        blocks.append(smoothed(graph, rows, encoder.settings.propagation, teleport))
        start += size
    if len(blocks) == 1:
        return blocks[0] / np.sqrt(graph.num_features)
    lengths = [np.linalg.norm(block, axis=1, keepdims=True).clip(1e-12) for block in blocks]
    return np.concatenate([block / each for block, each in zip(blocks, lengths, strict=True)], 1) / np.sqrt(len(blocks))


def built(graph: Graph, chosen: Settings) -> tuple[Smoothing, Features, Topology]:
    encoder, features, topology = untrained(graph, chosen, SEEDS)
    assert isinstance(encoder, Smoothing)
    return encoder, features, topology


@pytest.mark.parametrize("teleports", TELEPORTS)
@pytest.mark.parametrize("start", ["singular", "random"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_graph_is_embedded_by_the_formula(sparse: bool, start: str, teleports: tuple[float, ...]) -> None:
    graph, chosen = (
        random_graph(40, 70, sparse=sparse),
        settings(f"encoder.teleports={list(teleports)}", f"encoder.start={start}"),
    )
    encoder, features, topology = built(graph, chosen)
    found = encoder.finish(encoder.graph(features, topology))
    assert found.shape == (2, 40, 6)
    for run in range(2):
        np.testing.assert_allclose(found[run], slow(graph, chosen, encoder, run), atol=1e-5)


@pytest.mark.parametrize("teleports", TELEPORTS)
@pytest.mark.parametrize("rows", [7, 1 << 16])
@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("most", [0, 1 << 28])
def test_in_passes_and_for_some_nodes_it_is_the_same(
    teleports: tuple[float, ...], rows: int, columns: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layerwise, "ROWS", rows)
    monkeypatch.setattr(layerwise, "IN_MEMORY", most)
    graph = random_graph(50, 90, num_features=columns, sparse=True)
    chosen = settings(f"encoder.teleports={list(teleports)}")
    encoder, features, topology = built(graph, chosen)
    whole = encoder.finish(encoder.graph(features, topology))
    assert torch.allclose(embed_nodes(encoder, features, topology, chosen, SEEDS), whole, atol=1e-6)
    nodes = torch.tensor([41, 0, 41, 7])
    assert torch.allclose(embed_some(encoder, features, topology, chosen, SEEDS, nodes), whole[0][nodes], atol=1e-6)


def circulant(nodes: int = 24) -> Graph:
    """A graph in which every node has four neighbors."""
    ends = np.arange(nodes)
    features = np.random.default_rng(0).normal(size=(nodes, 10)).astype(np.float32)
    return Graph.from_edges(np.tile(ends, 2), np.concatenate([ends + 1, ends + 3]) % nodes, features=features)


def mean_of_views(encoder: Smoothing, features: Features, topology: Topology, length: int, count: int) -> torch.Tensor:
    starts, total = torch.arange(topology.num_nodes).expand(2, -1), torch.zeros(())
    with torch.no_grad():
        for number in range(count):
            key = rng.key(SEEDS, "test", number).unsqueeze(-1)
            total = total + encoder.views(features, topology, starts, ViewSettings(length=length), key) / count
    return total


def test_views_are_the_mean_over_the_visits_of_restarting_walks() -> None:
    graph, chosen, length = random_graph(30, 60, seed=2), settings("encoder.teleports=[0.3]"), 5
    encoder, features, topology = built(graph, chosen)
    found = mean_of_views(encoder, features, topology, length, 1000)
    adjacency = graph.adjacency().toarray().astype(np.float64)
    degrees = adjacency.sum(1)
    walk = np.where(degrees[:, None] > 0, adjacency / degrees.clip(1)[:, None], np.eye(30))
    place, visits = np.eye(30), np.eye(30)
    for _ in range(length):
        place = 0.3 * np.eye(30) + 0.7 * place @ walk
        visits += place
    for run in range(2):
        rows = prepared(graph, chosen) @ encoder.weight.detach()[run].double().numpy() / np.sqrt(7)
        expected = visits / (length + 1) @ rows
        assert np.linalg.norm(found[run].numpy() - expected) < 0.03 * np.linalg.norm(expected)


def test_long_views_approach_what_the_graph_gives_but_for_self_loops() -> None:
    # Where all have k neighbors, (A + I) / (k + 1) stays at a node with probability 1 / (k + 1) and walks do not: the
    # smoothing with teleport a is that of a walk that restarts with probability a (k + 1) / (k + a).
    graph, a, k = circulant(), 0.2, 4
    deep = settings(f"encoder.teleports=[{a}]", "encoder.propagation=100")
    walked = settings(f"encoder.teleports=[{a * (k + 1) / (k + a)}]", "encoder.propagation=100")
    encoder, features, topology = built(graph, deep)
    walker, *_ = built(graph, walked)
    assert torch.equal(walker.weight, encoder.weight)
    found = mean_of_views(walker, features, topology, 1000, 40)
    same, other = (one.finish(one.graph(features, topology)) for one in (encoder, walker))
    error, bias = ((found - each).norm() / each.norm() for each in (same, other))
    assert error < 0.025
    assert bias > 4 * error, "the self-loops make a difference that this test can see"


@pytest.mark.parametrize(
    ("nodes", "columns", "dimension", "sparse"),
    [(40, 7, 8, False), (40, 7, 8, True), (12, 60, 16, False), (40, 5, 64, True)],
)
def test_inner_products_start_at_those_of_smoothed_features(
    nodes: int, columns: int, dimension: int, sparse: bool
) -> None:
    # The dimension is at least the rank, also where there are fewer features or nodes than dimensions.
    graph = random_graph(nodes, 2 * nodes, num_features=columns, sparse=sparse)
    chosen = settings(f"encoder.dimension={dimension}", "encoder.teleports=[0.2]")
    encoder, features, topology = built(graph, chosen)
    target = smoothed(graph, prepared(graph, chosen), 4, 0.2)
    found = encoder.finish(encoder.graph(features, topology)).double().numpy()
    for run in range(2):
        np.testing.assert_allclose(found[run] @ found[run].T, target @ target.T, atol=2e-5)
    assert not np.allclose(found[0], found[1], atol=1e-2), "every seed has a rotation of its own"


def test_fewer_dimensions_keep_the_strongest_directions() -> None:
    graph, chosen = random_graph(60, 100, num_features=30), settings("encoder.dimension=4", "encoder.teleports=[1.0]")
    encoder, features, topology = built(graph, chosen)
    found = encoder.finish(encoder.graph(features, topology))[0].double().numpy()
    left, values, _ = np.linalg.svd(prepared(graph, chosen))
    best = left[:, :4] * values[:4]
    missed = np.linalg.norm(found @ found.T - best @ best.T) / np.linalg.norm(best @ best.T)
    assert missed < 0.05
    spread = np.linalg.norm(encoder.weight.detach()[0].numpy(), axis=0)
    assert spread.max() < 3 * spread.min(), "no coordinate weighs much more than another"


def test_features_that_are_zero_once_prepared_are_refused() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], features=np.ones((3, 4), np.float32))
    with pytest.raises(InputError, match="all features are zero once prepared"):
        built(graph, settings("features.scaling=standard"))


def test_a_run_prepares_and_smooths_new_nodes_as_the_old_ones(tmp_path: Path) -> None:
    model = NodeEmbedder(dimension=8, steps=2, clusterings=2, seed=1, device="cpu").fit(planted(1 / CLASSES))
    model.save(tmp_path / "run")
    again: Any = NodeEmbedder.load(tmp_path / "run", device="cpu")
    assert again.encoder_.teleports == model.encoder_.teleports == (1.0,), "not the usual one, which would go unnoticed"
    new = block_model(80, num_classes=CLASSES, num_features=90, seed=5)
    assert not np.allclose(model.settings.features.fit(new).scale, model.preparation_.scale, atol=0.05)
    found = again.transform(new).vectors
    np.testing.assert_array_equal(found, model.transform(new).vectors)
    rows = new.features.toarray().astype(np.float64) * model.preparation_.scale
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weight = model.encoder_.weight.detach()[0].double().numpy()
    np.testing.assert_allclose(found, rows @ weight / np.sqrt(90), atol=1e-5)


@pytest.mark.parametrize(
    "state", [torch.tensor([0.2, 0.3]), torch.tensor([0.0]), torch.tensor([torch.nan]), torch.tensor([7.0])]
)
def test_teleports_that_cannot_be_are_not_taken_from_a_file(state: torch.Tensor) -> None:
    encoder = SmoothingSettings(dimension=4).build(5, SEEDS)
    with pytest.raises(RuntimeError, match="teleports do not fit"):
        encoder.set_extra_state(state.double())
    assert encoder.teleports == (0.2,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"teleports": ()}, "one or more numbers in"),
        ({"teleports": (0.0,)}, "one or more numbers in"),
        ({"teleports": (1.5, 0.1)}, "one or more numbers in"),
        ({"teleports": (0.1, 0.2), "dimension": 1}, "2 teleports need as many"),
        ({"start": "other"}, "must be 'singular' or 'random'"),
        ({"propagation": -1}, "at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        SmoothingSettings(**change)


def test_blocks_share_the_dimension() -> None:
    assert SmoothingSettings(dimension=7, teleports=(0.1, 0.2, 0.5)).sizes == [3, 2, 2]
    assert SmoothingSettings(dimension=7).sizes == [7]


def test_a_hidden_column_is_hidden_from_all_of_a_view() -> None:
    features = sp.csr_matrix(np.eye(12, 10, dtype=np.float32) + np.eye(12, 10, -1, dtype=np.float32))
    ends = np.arange(12)
    graph = Graph.from_edges(ends, (ends + 1) % 12, features=features)
    encoder, rows, topology = built(graph, settings("encoder.feature_mask=0.5", "encoder.teleports=[1.0]"))
    starts, key = torch.arange(12).expand(2, -1), rng.key(SEEDS, "walk").unsqueeze(-1)
    noise = rng.key(SEEDS, "noise").unsqueeze(-1)
    masked = encoder.views(rows, topology, starts, ViewSettings(), key, noise).detach()
    kept = rng.uniform(rng.fold(noise, 0), torch.arange(10)) >= 0.5
    assert not torch.equal(kept[0], kept[1])
    for run in range(2):
        dense = rows.rows(torch.arange(12)) * kept[run]
        assert torch.allclose(masked[run], dense @ encoder.weight.detach()[run] / 10**0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("dense", "chosen", "mask"),
    [
        (False, (), 0.3),
        (True, (), 0.1),
        (True, ("encoder.teleports=[1.0]",), 0.3),
        (True, ("encoder.feature_mask=0.25",), 0.25),
    ],
)
def test_how_much_is_hidden_follows_the_features(dense: bool, chosen: tuple[str, ...], mask: float) -> None:
    graph = mixtures(0.7) if dense else planted(0.7)
    assert built(graph, settings(*chosen))[0].mask == mask
