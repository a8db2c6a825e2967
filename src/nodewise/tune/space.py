"""The settings a search draws from, for the full method and for the plain loss alike.

A trial draws an encoder and one value of every key. One training also answers for several values of
`training.steps`, at which the encoder is looked at on the way, and for several ways to embed with it, which cost next
to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from nodewise.core import config, rng
from nodewise.methods.settings import Settings

VARIANTS = ("full", "plain")

PLAIN = ("sampling.collision=false", "sampling.dpp=false", "sampling.weights=false")

LOOKS = (20, 40, 80, 160, 320)

EMBEDDINGS = tuple(product((2, 4, 10), (0.1, 0.3, 1.0)))
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
        key = rng.key(search_seed, f"tune.{variant}", number)
        drawn = list(PLAIN) if variant == "plain" else []

        def one_of(values: Sequence[Any], place: int) -> Any:
            return values[(rng.fold(key, place) & 0xFFFFFFFF) % len(values)]

        encoder = one_of(tuple(self.encoders), 0)
        drawn.append(f"encoder.kind={encoder!r}")
        keys = self.common | self.encoders[encoder] | (self.sampler if variant == "full" else {})
        for place, (name, values) in enumerate(keys.items(), start=1):
            drawn.append(f"{name}={json.dumps(one_of(values, place))}")
        return config.override(Settings(), [*drawn, f"training.steps={self.steps}", "training.patience=0"])


WIDE = Space(
    common={
        "views.length": (10, 25, 25, 40),
        "encoder.feature_mask": (0.0, 0.2, 0.4),
        "loss.score": ("cosine", "centred", "standardised"),
        "loss.temperature": (0.1, 0.2, 0.3, 0.5, 0.7, 1.0),
        "training.learning_rate": (0.0003, 0.0005, 0.001, 0.002),
        "training.weight_decay": (0.0, 0.0, 1e-5, 1e-4),
        "training.batch_size": (500, 1000),
        "embedding.teleport": (0.1, 0.2, 0.3),
    },
    encoders={
        "smoothing": {
            "features.idf": (0.0, 0.5, 1.0),
            "encoder.propagation": (4, 10),
        },
        "gcn": {
            "encoder.layers": (1, 2),
            "encoder.readout": ("center", "mean"),
            "encoder.dropout": (0.0, 0.0, 0.4, 0.7),
            "encoder.propagation": (0, 0, 0, 4, 8),
            "encoder.teleport": (0.1, 0.2),
        },
    },
    sampler={
        "loss.positives": ("pair", "pair", "set"),
        "sampling.class_collision.alpha": (0.9, 1.2, 1.5, 2.0, 3.0),
        "sampling.class_collision.neighbors": (2, 4, 8),
        "sampling.class_collision.mixup": (0, 4),
        "sampling.class_collision.steps": (3, 5, 10),
        "sampling.class_collision.clusterings": (20, 40),
        "sampling.diversity.kernel": ("gaussian", "gaussian", "linear"),
        "sampling.weighting.temperature": (0.25, 0.5, 1.0, 2.0),
        "sampling.dpp": (False, True),
    },
    steps=320,
)

NARROW = Space(
    common={
        "views.length": (10, 25, 40),
        "encoder.feature_mask": (0.2, 0.4, 0.6),
        "loss.score": ("cosine", "standardised"),
        "loss.temperature": (0.3, 0.5, 0.7, 1.0),
        "training.learning_rate": (0.0005, 0.001, 0.002),
        "training.batch_size": (500, 1000),
        "embedding.teleport": (0.1, 0.2, 0.3),
    },
    encoders={
        "smoothing": {},
        "gcn": {"encoder.layers": (1, 1, 1, 2), "encoder.readout": ("center", "mean")},
    },
    sampler={
        "loss.positives": ("pair", "set"),
        "sampling.class_collision.alpha": (0.6, 0.8, 1.0, 1.5, 2.0),
        "sampling.class_collision.neighbors": (4, 8),
        "sampling.class_collision.steps": (3, 5),
        "sampling.class_collision.clusterings": (20, 40),
        "sampling.diversity.kernel": ("gaussian", "linear"),
        "sampling.weighting.temperature": (1.0, 2.0),
        "sampling.dpp": (False, True),
    },
    steps=320,
)
"""What did well in wide searches on citation graphs: mostly one layer, hidden features, no dropout."""

SPACES = {"wide": WIDE, "narrow": NARROW}
