"""Which labelled nodes a classifier learns from, where nobody has said so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nodewise.data.graph import Split

HELD_OUT = 0.2


def hold_out(labels: npt.NDArray[np.int64], seed: int) -> Split:
    """Hold a fifth of the labelled nodes of each class out to say when to stop, rounded down; the test part is empty.

    A class of fewer than five labelled nodes therefore keeps all of them for training. The choice depends on the
    labels and the seed only.
    """
    generator = np.random.Generator(np.random.Philox(seed))
    shuffled = generator.permutation(np.flatnonzero(labels >= 0))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    _, starts, sizes = np.unique(labels[by_class], return_index=True, return_counts=True)
    rank = np.arange(len(by_class)) - np.repeat(starts, sizes)
    held = rank < np.repeat((HELD_OUT * sizes).astype(np.int64), sizes)
    return Split(np.sort(by_class[~held]), np.sort(by_class[held]), np.empty(0, np.int64))
