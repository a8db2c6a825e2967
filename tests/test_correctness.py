"""Does it work? On graphs with planted classes the method beats everything that it is built from.

Three graphs of four classes, three seeds each, so that a claim rests on nine runs; classes are read off by a linear
probe trained on 20 labels a class. The encoder is the paper's two layers and nodes are embedded by it alone: what
smoothing the embeddings adds would blur the comparison.
"""

import numpy as np
import pytest
import torch

from nodewise.core import config
from nodewise.datasets.planted import block_model
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.loop import prepare, train
from nodewise.tune.space import PLAIN

SEEDS = [0, 1, 2]
SMALL = (
    "encoder.kind=gcn",
    "encoder.layers=2",
    "encoder.dimension=64",
    "encoder.feature_mask=0.0",
    "views.length=10",
    "sampling.class_collision.clusterings=10",
    "training.steps=30",
    "training.batch_size=200",
    "training.learning_rate=0.002",
    "embedding.propagation=0",
    "embedding.length=1.0",
)


def planted(seed: int) -> Graph:
    """400 nodes; words are four fifths noise and a quarter of the edges join two classes."""
    return block_model(
        400, num_classes=4, homophily=0.75, noise=0.8, average_degree=6, words_per_node=20, num_features=300, seed=seed
    )


GRAPHS = [planted(seed) for seed in range(3)]


def probe(vectors: torch.Tensor, graph: Graph, seeds: list[int]) -> np.ndarray:
    return linear_probe(vectors, graph.labels, graph.split, "mvgrl", seed=seeds).test_accuracy[:, 0, 0]


def accuracy(*changes: str, graphs: list[Graph] = GRAPHS) -> np.ndarray:
    """Test accuracy of every graph and seed."""
    settings = config.override(Settings(), [*SMALL, *changes])
    scores = []
    for graph in graphs:
        learner = prepare(graph, settings, SEEDS, torch.device("cpu"))
        train(learner)
        vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
        scores.append(probe(vectors, graph, SEEDS))
    return np.stack(scores)


@pytest.fixture(scope="module")
def full() -> np.ndarray:
    return accuracy()


@pytest.fixture(scope="module")
def plain() -> np.ndarray:
    return accuracy(*PLAIN)


def test_the_full_method_beats_raw_features(full: np.ndarray) -> None:
    raw = [probe(torch.as_tensor(graph.features.toarray()).unsqueeze(0), graph, [0])[0] for graph in GRAPHS]
    assert full.mean() > np.mean(raw) + 0.3


def test_the_full_method_beats_a_random_encoder(full: np.ndarray) -> None:
    untrained = accuracy("training.steps=0")
    assert full.mean() > untrained.mean() + 0.1
    assert (full > untrained).all()


def test_the_full_method_beats_the_plain_loss(full: np.ndarray, plain: np.ndarray) -> None:
    assert full.mean() > plain.mean() + 0.01
    assert (full.mean(1) > plain.mean(1)).all()


def test_suspected_positives_taken_as_positives_help_further(plain: np.ndarray) -> None:
    with_sets = accuracy("loss.positives=set", graphs=GRAPHS[:1])
    assert with_sets.mean() > plain[0].mean() + 0.04


def test_it_is_the_collision_stage_that_helps(full: np.ndarray) -> None:
    without = accuracy("sampling.collision=false")
    assert full.mean() > without.mean() + 0.01
