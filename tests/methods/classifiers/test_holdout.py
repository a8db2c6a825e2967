from __future__ import annotations

import numpy as np

from nodewise.methods.classifiers.classifier import hold_out

LABELS = np.repeat([0, 1, 2, -1], [50, 10, 4, 30])


def test_a_fifth_of_each_class_is_held_out() -> None:
    split = hold_out(LABELS, 0)
    assert np.bincount(LABELS[split.val], minlength=3).tolist() == [10, 2, 0]
    assert np.bincount(LABELS[split.train], minlength=3).tolist() == [40, 8, 4]
    assert not len(split.test)
    assert sorted([*split.train, *split.val]) == list(range(64))


def test_the_seed_decides() -> None:
    first, again, other = (hold_out(LABELS, seed).val for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_every_node_of_a_class_is_held_out_equally_often() -> None:
    times = np.zeros(94)
    for seed in range(400):
        times[hold_out(LABELS, seed).val] += 1
    # 400 draws with probability 0.2: mean 80, standard deviation 8.
    assert (abs(times[:60] - 80) < 36).all()
    assert not times[60:].any()
