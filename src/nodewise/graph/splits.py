"""Which labeled nodes train a probe, which choose its settings and which test it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph, Split


@dataclass(frozen=True)
class RandomSplit:
    """Draw `per_class` training nodes of each class, then validation and test nodes from the rest."""

    per_class: int
    num_val: int
    num_test: int

    def __str__(self) -> str:
        return f"random:{self.per_class}x{self.num_val}x{self.num_test}"


def parse_split(text: str, others: str = "") -> RandomSplit | None:
    """Return the random split that `text` describes, or None for "public", the split that came with the data.

    `others` names what else could have been written, for the message.

    >>> parse_split("random:20x500x1000")
    RandomSplit(per_class=20, num_val=500, num_test=1000)
    """
    if text == "public":
        return None
    numbers = re.fullmatch(r"random:([0-9]{1,12})x([0-9]{1,12})x([0-9]{1,12})", text, re.ASCII)
    if numbers is None:
        raise InputError(
            f"unknown split {text!r:.60}; write public{others}, or random:20x500x1000 for 20 training nodes per class, "
            "500 validation and 1000 test nodes"
        )
    split = RandomSplit(*map(int, numbers.groups()))
    if split.per_class == 0 or split.num_test == 0:
        raise InputError(f"split {text!r} has no training or no test nodes; write for example random:20x500x1000")
    return split


def choose_split(graph: Graph, split: RandomSplit | None, seed: int = 0) -> Split:
    """Return the graph's own split for None, a random one otherwise."""
    if split is None:
        if graph.split is None:
            raise InputError(
                f"{graph.name} came without a split; ask for a random one, such as random:20x500x1000", code="no-split"
            )
        return graph.split
    if graph.labels is None:
        raise InputError(
            f"{graph.name} has no labels to draw the split {split} from; give them with --labels", code="no-labels"
        )
    return random_split(
        graph.labels, split.per_class, split.num_val, split.num_test, seed, class_names=graph.class_names
    )


def random_split(
    labels: npt.NDArray[np.int64],
    per_class: int,
    num_val: int,
    num_test: int,
    seed: int,
    *,
    class_names: Sequence[str | int] = (),
) -> Split:
    """Draw a split of the nodes whose label is known, that is not negative; each part is in ascending order.

    All choices are uniform and depend only on the labels, the numbers and the seed.
    """
    generator = np.random.Generator(np.random.Philox(seed))
    shuffled = generator.permutation(np.flatnonzero(labels >= 0))
    # A stable sort by class keeps each class in random order; its first `per_class` nodes train.
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    classes, starts, sizes = np.unique(labels[by_class], return_index=True, return_counts=True)
    if len(classes) < 2:
        seen = f"all {len(by_class)} labels are the same" if len(by_class) else "no label is known"
        raise InputError(f"cannot draw a split: {seen}; at least two classes are needed", code="too-few-labels")
    if sizes.min() < per_class:
        poorest = int(classes[sizes.argmin()])
        name = class_names[poorest] if class_names else poorest
        raise InputError(
            f"cannot draw {per_class} training nodes per class: class {name} has only {sizes.min()} labeled "
            "nodes; ask for fewer",
            code="too-few-labels",
        )
    rank = np.arange(len(by_class)) - np.repeat(starts, sizes)
    train = by_class[rank < per_class]
    rest = generator.permutation(by_class[rank >= per_class])
    if num_val + num_test > len(rest):
        raise InputError(
            f"cannot draw {num_val} validation and {num_test} test nodes: only {len(rest)} labeled nodes "
            f"are left after {len(train)} for training; ask for fewer",
            code="too-few-labels",
        )
    return Split(np.sort(train), np.sort(rest[:num_val]), np.sort(rest[num_val : num_val + num_test]))


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
