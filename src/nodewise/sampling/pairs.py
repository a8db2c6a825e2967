"""What passes between the encoder, a sampling strategy and the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from nodewise.fast.lanes import Mark
from nodewise.sampling.descriptions import Descriptions
from nodewise.sampling.settings import SamplingSettings
from nodewise.views.topology import Topology

Evidence = Literal["none", "embedding", "consensus"]


@dataclass(frozen=True)
class Candidates:
    """Everything a strategy may look at: B queries of each of S stacked runs, and M candidates for them.

    All tensors are detached; labels are not among them.

    Attributes:
        query: (S, B, d), the embeddings h_i^q as the loss scores them.
        key: (S, M, d), the embeddings h_j^k. A query's positive is the candidate of its own node.
        query_nodes: int64 (S, B).
        key_nodes: int64 (S, M).
        temperature: τ of the loss; scores are query . key / τ.
        topology: the graph.
        draw: the name of this step's random draws, int or (S, 1).
        seen: what discriminators see of each of (S, M) candidates; None unless the strategy asks for evidence. The
            embedding is a tensor (S, M, r); the consensus `Descriptions`, of which `descriptions.vectors` makes one.
        members: the same of (S, B, P) nodes: the query's own view and nodes within K hops, wherever they are.
        begun: on a GPU, the moment from which on nodes and, unless it is embeddings, evidence are there.
        encoded: the moment from which on `key` is there. A strategy may ignore both (`core.lanes`). They hold for one
            call: who calls a strategy again, or replaces what they speak of, sets both to None.
    """

    query: Tensor
    key: Tensor
    query_nodes: Tensor
    key_nodes: Tensor
    temperature: float
    topology: Topology
    draw: int | Tensor
    seen: Tensor | Descriptions | None = None
    members: Tensor | Descriptions | None = None
    begun: Mark | None = None
    encoded: Mark | None = None

    @property
    def own(self) -> Tensor:
        """Bool (S, B, M): the candidate is the query's own node, however often it was drawn."""
        return self.query_nodes.unsqueeze(-1) == self.key_nodes.unsqueeze(-2)

    @property
    def scores(self) -> Tensor:
        """(S, B, M): f(h_i^q, h_j^k) / τ."""
        return self.query @ self.key.transpose(-1, -2) / self.temperature


@dataclass(frozen=True)
class PairSets:
    """The outcome of a strategy.

    Attributes:
        negatives: bool (S, B, M), the sets S_i-.
        positives: bool (S, B, M), members of S_i+ among the candidates, beside the query's own view.
        log_weights: (S, B, M), log w_ij of the negatives, or None for equal weights.
        positive_prior: τ+, the share of negatives presumed to be positives, for the debiased estimator.
        statistics: (S,) numbers worth logging, by name.
    """

    negatives: Tensor
    positives: Tensor | None = None
    log_weights: Tensor | None = None
    positive_prior: float = 0.0
    statistics: dict[str, Tensor] = field(default_factory=dict)

    def with_counts(self) -> PairSets:
        """Add the statistics every strategy has: negatives kept per query and the share of empty sets."""
        kept = self.negatives.sum(-1)
        counts = {
            "negatives": kept.to(torch.float32).mean(-1),
            "empty": (kept == 0).to(torch.float32).mean(-1),
        }
        return PairSets(self.negatives, self.positives, self.log_weights, self.positive_prior, counts | self.statistics)


class Strategy:
    """A negative-sampling idea: from candidates to pair sets, without gradient and without labels.

    A strategy of your own is a subclass, selected as `module:Class`. It is built with the sampling settings.
    """

    evidence: Evidence = "none"
    """Whether `Candidates.seen` and `.members` are wanted, and from where: they cost extra work."""

    def __init__(self, settings: SamplingSettings) -> None:
        self.settings = settings

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step; on a GPU, without waiting for it."""
        raise TypeError(f"{type(self).__name__} must say how it chooses: define __call__(self, candidates)")

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return (S,) numbers for the log that are too slow for every step."""
        return {}
