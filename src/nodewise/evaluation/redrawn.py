"""Training sets drawn again among the nodes whose labels a search may read.

One training set and 500 validation nodes leave a standard error of more than a point, and a search that maximises
over hundreds of settings finds that error. Here training and validation nodes are pooled; each redrawn split trains
on as many of every class as the given one and validates on the others. The mean over some of them judges a setting
by more than the luck of one training set. Test nodes stay what they are.
"""

from __future__ import annotations

import numpy as np

from nodewise.data.graph import Split


def redrawn_splits(split: Split, labels: np.ndarray, number: int, seed: int = 0) -> list[Split]:
    """Return `number` splits of the same training and validation nodes: functions of the seed, equal sizes."""
    pool = np.concatenate([split.train, split.val])
    wanted = np.bincount(labels[split.train], minlength=labels[pool].max() + 1)
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(number):
        shuffled = generator.permutation(pool)
        # The place of a node among those of its class, in shuffled order.
        order = np.argsort(labels[shuffled], kind="stable")
        of_class = labels[shuffled][order]
        rank = np.arange(len(pool)) - np.searchsorted(of_class, of_class)
        chosen = shuffled[order][rank < wanted[of_class]]
        drawn.append(Split(train=np.sort(chosen), val=np.setdiff1d(pool, chosen), test=split.test))
    return drawn
