"""Every method by name: what it needs, what it can do and where it is from, without importing any of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nodewise.core.errors import InputError
from nodewise.core.suggest import did_you_mean


@dataclass(frozen=True)
class Card:
    """What a user wants to know of a method before choosing it.

    Attributes:
        name: on the command line.
        title: in tables.
        paper: authors, venue and year.
        uses: some of X (features), A (edges), S (diffusion of the edges), Y (labels).
        inductive: whether it embeds nodes that training has not seen.
        cost: time and memory of training, in N nodes, E edges, F features, d dimensions, B nodes of a batch.
        target: "module:Class" of the estimator.
    """

    name: str
    title: str
    paper: str
    uses: str
    inductive: bool
    cost: str
    target: str

    @property
    def needs_labels(self) -> bool:
        """Whether it learns from labels, and so classifies instead of embedding."""
        return "Y" in self.uses

    def load(self) -> Any:
        """Import and return the estimator's class."""
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)


_ALL = (
    Card(
        "nodewise",
        "node-wise, adaptive negatives",
        "the method of this package",
        "X A",
        True,
        "O(B k² d + B² d) a step",
        "nodewise.methods.node_embedder:NodeEmbedder",
    ),
)
METHODS: dict[str, Card] = {card.name: card for card in _ALL}


def find(name: str, *, with_labels: bool | None = None) -> Card:
    """Return the card of a method; with `with_labels`, only of one that needs labels or of one that does not."""
    fitting = [card.name for card in _ALL if with_labels in (None, card.needs_labels)]
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}{did_you_mean(name, fitting)}; 'nodewise methods' lists them")
    if name not in fitting:
        kind, command = ("needs labels", "classify") if METHODS[name].needs_labels else ("uses no labels", "embed")
        raise InputError(f"{name} {kind}: run it with 'nodewise {command} GRAPH --method {name}'")
    return METHODS[name]
