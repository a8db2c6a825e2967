"""Every method by name: what it needs, what it can do and where it is from, without importing any of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any

from nodewise.core.errors import InputError
from nodewise.core.suggest import did_you_mean

_ACCURACY = files(__package__) / "accuracy.json"  # written by scripts/bundle_accuracy.py


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

    @property
    def accuracy(self) -> dict[str, dict[str, float | None]]:
        """Our measured test accuracy in percent by data set: its mean, standard deviation and n; {} if not measured."""
        found: dict[str, dict[str, dict[str, float | None]]] = json.loads(_ACCURACY.read_text(encoding="utf-8"))
        return found.get(self.name, {})

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
    # Walks, reconstruction and other contrasts; the untrained encoder to compare them with.
    Card(
        "random",
        "random encoder, untrained",
        "the method of this package before its first step",
        "X A",
        True,
        "O(N F d + E d), once",
        "nodewise.methods.untrained:RandomEncoder",
    ),
    Card(
        "deepwalk",
        "DeepWalk",
        "Perozzi, Al-Rfou & Skiena, KDD 2014",
        "A",
        False,
        "O(r N L² d) for r walks of L nodes; O(N d) memory",
        "nodewise.methods.rivals.deepwalk:DeepWalk",
    ),
    Card(
        "deepwalk-features",
        "DeepWalk + features",
        "Perozzi, Al-Rfou & Skiena, KDD 2014; Veličković et al., ICLR 2019",
        "X A",
        False,
        "O(r N L² d) for r walks of L nodes; O(N (d + F)) memory",
        "nodewise.methods.rivals.deepwalk:DeepWalkFeatures",
    ),
    Card(
        "node2vec",
        "node2vec",
        "Grover & Leskovec, KDD 2016",
        "A",
        False,
        "O(r N L² d) for r walks of L nodes; O(N d) memory",
        "nodewise.methods.rivals.node2vec:Node2Vec",
    ),
    Card(
        "gae",
        "GAE",
        "Kipf & Welling, NeurIPS workshop 2016",
        "X A",
        True,
        "O(N F d + E d) an epoch",
        "nodewise.methods.rivals.gae:GraphAutoEncoder",
    ),
    Card(
        "vgae",
        "VGAE",
        "Kipf & Welling, NeurIPS workshop 2016",
        "X A",
        True,
        "O(N F d + E d) an epoch",
        "nodewise.methods.rivals.gae:VariationalGraphAutoEncoder",
    ),
    Card(
        "graphsage",
        "GraphSAGE, unsupervised loss",
        "Hamilton, Ying & Leskovec, NeurIPS 2017",
        "X A",
        True,
        "O(N F d + N d² + E d) an epoch",
        "nodewise.methods.rivals.graphsage:GraphSage",
    ),
    Card(
        "grace",
        "GRACE",
        "Zhu et al., ICML workshop 2020",
        "X A",
        True,
        "O(N² d + N F d) an epoch; O(N (F + d)) memory",
        "nodewise.methods.rivals.grace:Grace",
    ),
    Card(
        "sugrl",
        "SUGRL",
        "Mo et al., AAAI 2022",
        "X A",
        True,
        "O(N F d + N d² + E d) an epoch",
        "nodewise.methods.rivals.sugrl:Sugrl",
    ),
    # Contrast with a summary, or without negatives at all.
    Card(
        "dgi",
        "DGI",
        "Veličković et al., ICLR 2019",
        "X A",
        True,
        "O(N F d + E d) an epoch",
        "nodewise.methods.rivals.dgi:DGI",
    ),
    Card(
        "dgi-s",
        "DGI on the diffusion",
        "Veličković et al., ICLR 2019; Hassani & Khasahmadi, ICML 2020",
        "X S",
        True,
        "O(N F d + |S| d) an epoch, |S| entries kept",
        "nodewise.methods.rivals.dgi:DGIS",
    ),
    Card(
        "mvgrl",
        "MVGRL",
        "Hassani & Khasahmadi, ICML 2020",
        "X A S",
        True,
        "O(N F d + (E + |S|) d) an epoch, |S| entries kept",
        "nodewise.methods.rivals.mvgrl:MVGRL",
    ),
    Card(
        "cca-ssg",
        "CCA-SSG",
        "Zhang et al., NeurIPS 2021",
        "X A",
        True,
        "O(N F d + N d² + E d) an epoch",
        "nodewise.methods.rivals.cca_ssg:CCASSG",
    ),
    Card(
        "bgrl",
        "BGRL",
        "Thakoor et al., ICLR 2022",
        "X A",
        True,
        "O(N F d + N d² + E d) an epoch",
        "nodewise.methods.rivals.bgrl:BGRL",
    ),
    Card(
        "graphmae",
        "GraphMAE",
        "Hou et al., KDD 2022",
        "X A",
        True,
        "O(N F d + N d² + E d) an epoch; E d of memory",
        "nodewise.methods.rivals.graphmae:GraphMAE",
    ),
    # with labels
    Card(
        "raw",
        "raw features, logistic regression",
        "the linear probe of Hassani & Khasahmadi, ICML 2020",
        "X Y",
        True,
        "O(N F) time, O(N F) memory an epoch",
        "nodewise.methods.classifiers.raw:RawFeatures",
    ),
    Card(
        "mlp",
        "raw features, multilayer perceptron",
        "Kipf & Welling, ICLR 2017",
        "X Y",
        True,
        "O(N F d) time, O(N (F + d)) memory an epoch",
        "nodewise.methods.classifiers.gcn:MLP",
    ),
    Card(
        "lp",
        "label propagation",
        "Zhu, Ghahramani & Lafferty, ICML 2003",
        "A Y",
        False,
        "O(E C) time, O(E C) memory a step, C classes",
        "nodewise.methods.classifiers.label_propagation:LabelPropagation",
    ),
    Card(
        "gcn",
        "GCN",
        "Kipf & Welling, ICLR 2017",
        "X A Y",
        True,
        "O(N F d + E d) time, O(N (F + d) + E) memory an epoch",
        "nodewise.methods.classifiers.gcn:GCN",
    ),
    Card(
        "chebyshev",
        "Chebyshev filters",
        "Defferrard, Bresson & Vandergheynst, NeurIPS 2016",
        "X A Y",
        True,
        "O(K (N F d + E d)) time, O(N (F + K d) + E) memory an epoch, order K",
        "nodewise.methods.classifiers.chebyshev:Chebyshev",
    ),
    Card(
        "gat",
        "GAT",
        "Velickovic et al., ICLR 2018",
        "X A Y",
        True,
        "O(N F d + E d) time, O(N F + E d) memory an epoch",
        "nodewise.methods.classifiers.gat:GAT",
    ),
    Card(
        "geniepath",
        "GeniePath",
        "Liu et al., AAAI 2019",
        "X A Y",
        True,
        "O(N F d + N d² + E d) time, O(N F + E d) memory an epoch",
        "nodewise.methods.classifiers.geniepath:GeniePath",
    ),
    Card(
        "jknet",
        "JK-Net",
        "Xu et al., ICML 2018",
        "X A Y",
        True,
        "O(N F d + E d) time, O(N (F + d) + E) memory an epoch",
        "nodewise.methods.classifiers.jknet:JKNet",
    ),
    Card(
        "mixhop",
        "MixHop",
        "Abu-El-Haija et al., ICML 2019",
        "X A Y",
        True,
        "O(N F d + E d) time, O(N (F + d) + E) memory an epoch",
        "nodewise.methods.classifiers.mixhop:MixHop",
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
