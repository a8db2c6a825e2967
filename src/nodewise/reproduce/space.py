"""The settings a search draws from, for the full method and for the plain loss alike.

A trial draws one value of every key below. One training also answers for several values of `training.steps`, at
which the encoder is looked at on the way, and for several ways to embed with it, which cost next to nothing.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from nodewise.core import config, rng
from nodewise.methods.settings import Settings

VARIANTS = ("full", "plain")

COMMON: dict[str, tuple[Any, ...]] = {
    "views.length": (10, 25, 25, 40),
    "encoder.layers": (1, 2),
    "encoder.readout": ("center", "mean"),
    "encoder.dropout": (0.0, 0.0, 0.4, 0.7),
    "encoder.feature_mask": (0.0, 0.2, 0.4),
    "encoder.propagation": (0, 0, 0, 4, 8),
    "encoder.teleport": (0.1, 0.2),
    "loss.score": ("cosine", "centred", "standardised"),
    "loss.temperature": (0.1, 0.2, 0.3, 0.5, 0.7, 1.0),
    "training.learning_rate": (0.0003, 0.0005, 0.001, 0.002),
    "training.weight_decay": (0.0, 0.0, 1e-5, 1e-4),
    "training.batch_size": (500, 1000),
    "embedding.teleport": (0.1, 0.2, 0.3),
}
"""Keys that both variants have; a value listed twice is drawn twice as often."""

SAMPLER: dict[str, tuple[Any, ...]] = {
    "loss.positives": ("pair", "pair", "set"),
    "sampling.class_collision.alpha": (0.9, 1.2, 1.5, 2.0, 3.0),
    "sampling.class_collision.neighbours": (2, 4, 8),
    "sampling.class_collision.mixup": (0, 4),
    "sampling.class_collision.steps": (3, 5, 10),
    "sampling.class_collision.clusterings": (20, 40),
    "sampling.diversity.kernel": ("gaussian", "gaussian", "linear"),
    "sampling.weighting.temperature": (0.25, 0.5, 1.0, 2.0),
}
"""Keys that only the full method has."""

PLAIN = ("sampling.collision=false", "sampling.dpp=false", "sampling.weights=false")

LOOKS = (10, 20, 40, 70, 110)
EMBEDDINGS = tuple(product((0, 4, 10), (True, False)))
"""Pairs (embedding.propagation, embedding.unit_length) that every look tries."""


def draw_trial(base: Settings, variant: str, number: int, search_seed: int) -> Settings:
    """Return the settings of trial `number`: a function of the search's seed, the variant and the number."""
    key = rng.key(search_seed, f"tune.{variant}", number)
    keys = COMMON | (SAMPLER if variant == "full" else {})
    drawn = list(PLAIN) if variant == "plain" else []
    for place, (name, values) in enumerate(keys.items()):
        value = values[(rng.fold(key, place) & 0xFFFFFFFF) % len(values)]
        drawn.append(f"{name}={value!r}")
    return config.override(base, [*drawn, f"training.steps={max(LOOKS)}", "training.patience=0"])
