"""The settings a search draws from, for the full method and for the plain loss alike.

A trial draws an encoder and one value of every key. One training also answers for several values of
`training.steps`, at which the encoder is looked at on the way, and for several ways to embed with it, which cost next
to nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from nodewise.core import config, rng
from nodewise.methods.settings import Settings

VARIANTS = ("full", "plain")

PLAIN = ("sampling.collision=false", "sampling.dpp=false", "sampling.weights=false")

LOOKS = (20, 40, 80, 160, 320)

LENGTHS = (None, 0.03, 0.06, 0.1, 0.3, 1.0)

EMBEDDINGS = tuple(product((0, 2, 5), LENGTHS))
"""Pairs (embedding.propagation, embedding.length) that every look tries."""


@dataclass(frozen=True)
class Space:
    """What is drawn; a value listed twice is drawn twice as often.

    Attributes:
        common: values of the keys that both variants have.
        encoders: values of the keys of each encoder, by its name.
        sampler: values of the keys that only the full method has.
        steps: length of a training; it is looked at at every one of `LOOKS` up to there.
    """

    common: dict[str, tuple[Any, ...]]
    encoders: dict[str, dict[str, tuple[Any, ...]]]
    sampler: dict[str, tuple[Any, ...]]
    steps: int

    def draw(self, variant: str, number: int, search_seed: int) -> Settings:
        """Return the settings of trial `number`: a function of the search's seed, the variant and the number."""
        key, places = rng.key(search_seed, f"tune.{variant}", number), itertools.count()
        return self.chosen(variant, lambda _, values: values[(rng.fold(key, next(places)) & 0xFFFFFFFF) % len(values)])

    def chosen(self, variant: str, choose: Callable[[str, Sequence[Any]], Any]) -> Settings:
        """Return the settings that somebody chooses, told of every key and its values."""
        drawn = list(PLAIN) if variant == "plain" else []
        encoder = choose("encoder.kind", tuple(self.encoders))
        drawn.append(f"encoder.kind={encoder!r}")
        keys = self.common | self.encoders[encoder] | (self.sampler if variant == "full" else {})
        drawn += [f"{name}={json.dumps(choose(name, values))}" for name, values in keys.items()]
        return config.override(Settings(), [*drawn, f"training.steps={self.steps}", "training.patience=0"])


_OF_SMOOTHING = {
    "features.idf": (0.0, 0.5, 1.0),
    "encoder.teleports": ([0.05], [0.1], [0.2], [0.3]),
    "encoder.feature_mask": (0.1, 0.3, 0.5),
    "training.learning_rate": (0.005, 0.015, 0.03),
}

_COMMON = {
    "loss.temperature": (0.2, 0.3, 0.5, 0.7, 1.0),
    "training.batch_size": (512, 1024),
    "embedding.teleport": (0.1, 0.2),
}

_SAMPLER = {
    "sampling.class_collision.alpha": (0.8, 1.0, 1.5, 2.0, 3.0),
    "sampling.class_collision.neighbors": (4, 8),
    "sampling.class_collision.steps": (3, 5, 10),
    "sampling.class_collision.clusterings": (20, 40),
    "sampling.weighting.temperature": (0.5, 1.0, 2.0),
    "sampling.dpp": (False, True),
}

QUICK = Space(_COMMON, {"smoothing": _OF_SMOOTHING}, _SAMPLER, steps=80)
"""The usual encoder, trained hardly longer than usual: a search of some minutes."""

NARROW = replace(QUICK, steps=320)
"""The usual encoder, trained up to six times as long."""

WIDE = Space(
    common=_COMMON
    | {
        "views.length": (10, 25, 40),
        "loss.score": ("cosine", "centered", "standardized"),
        "training.weight_decay": (0.0, 0.0, 1e-5, 1e-4),
    },
    encoders={
        "smoothing": _OF_SMOOTHING | {"encoder.propagation": (4, 10)},
        "gcn": {
            "encoder.feature_mask": (0.0, 0.2, 0.4),
            "training.learning_rate": (0.0003, 0.0005, 0.001, 0.002),
            "encoder.layers": (1, 2),
            "encoder.readout": ("center", "mean"),
            "encoder.dropout": (0.0, 0.0, 0.4, 0.7),
            "encoder.propagation": (0, 0, 0, 4, 8),
            "encoder.teleport": (0.1, 0.2),
        },
    },
    sampler=_SAMPLER
    | {
        "loss.positives": ("pair", "pair", "set"),
        "sampling.class_collision.mixup": (0, 4),
        "sampling.diversity.kernel": ("gaussian", "gaussian", "linear"),
    },
    steps=320,
)
"""Graph convolutions as well, and settings that rarely matter."""

SPACES = {"quick": QUICK, "narrow": NARROW, "wide": WIDE}
