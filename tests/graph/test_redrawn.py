"""Redrawn splits keep sizes, classes and test nodes, and mix training with validation nodes."""

import numpy as np

from nodewise.datasets.planted import block_model
from nodewise.graph.splits import redrawn_splits

GRAPH = block_model(200, num_classes=3, num_features=10, seed=2)


def test_every_split_trains_on_as_many_of_each_class() -> None:
    split, labels = GRAPH.split, GRAPH.labels
    for drawn in redrawn_splits(split, labels, 5):
        assert np.array_equal(np.bincount(labels[drawn.train]), np.bincount(labels[split.train]))
        assert np.array_equal(np.sort(np.r_[drawn.train, drawn.val]), np.sort(np.r_[split.train, split.val]))
        assert np.array_equal(drawn.test, split.test)


def test_a_seed_names_the_draw() -> None:
    def trains(seed: int) -> np.ndarray:
        return np.stack([drawn.train for drawn in redrawn_splits(GRAPH.split, GRAPH.labels, 3, seed)])

    assert np.array_equal(trains(0), trains(0))
    assert not np.array_equal(trains(0), trains(1))
    assert len(np.unique(trains(0), axis=0)) == 3


def test_every_pooled_node_is_drawn_as_often_as_others_of_its_class() -> None:
    split, labels = GRAPH.split, GRAPH.labels
    pool = np.concatenate([split.train, split.val])
    number = 2000
    times = np.bincount(np.concatenate([d.train for d in redrawn_splits(split, labels, number)]), minlength=200)
    for label in range(3):
        members = pool[labels[pool] == label]
        share = (labels[split.train] == label).sum() / len(members)
        spread = np.sqrt(share * (1 - share) / number)
        assert np.abs(times[members] / number - share).max() < 5 * spread


def test_a_class_that_training_lacks_stays_out_of_it() -> None:
    labels = GRAPH.labels.copy()
    labels[GRAPH.split.val[:4]] = 3
    for drawn in redrawn_splits(GRAPH.split, labels, 3):
        assert (labels[drawn.train] < 3).all()
