"""What passes between the encoder, a sampling strategy and the loss.

Shapes are those of one run. A strategy that says it is `stackable` also meets them with a leading dimension S, the
runs that are trained side by side.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NoReturn

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.fast.lanes import Mark
from nodewise.sampling.descriptions import Descriptions
from nodewise.views.topology import Topology

Evidence = Literal["none", "embedding", "consensus", "directions"]

Repulsion = Callable[[Tensor, Tensor, Tensor, "PairSets", float], Tensor]
"""(query (B, d), its positive (B, d), key (M, d), pairs, temperature) -> the loss of each query (B,), with gradient."""


class LabelsAreHidden(AttributeError):
    """A strategy asked for labels."""


@dataclass(frozen=True)
class Candidates:
    """Everything a strategy may look at: B queries and M candidates for them.

    All tensors are detached; labels are not among them.

    Attributes:
        query: (B, d), the embeddings h_i^q as the loss scores them.
        key: (M, d), the embeddings h_j^k. A query's positive is the candidate of its own node.
        query_nodes: int64 (B,).
        key_nodes: int64 (M,).
        temperature: τ of the loss; scores are query . key / τ.
        topology: the graph.
        draw: the name of this step's random draws: an int, or a tensor of one number.
        seen: what discriminators see of each of M candidates; None unless the strategy asks for evidence. The
            embedding and directions are a tensor (M, r); the consensus `Descriptions`, of which `descriptions.vectors`
            makes one.
        members: the same of (B, P) nodes: the query's own view and nodes within K hops, wherever they are.
        progress: how much of the training is over, from 0 to 1; on a GPU it may be a tensor.
        begun: on a GPU, the moment from which on nodes and, unless it is embeddings, evidence are there.
        encoded: the moment from which on `key` is there. A strategy may ignore both (`fast.lanes`). They hold for one
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
    progress: float | Tensor = 0.0
    begun: Mark | None = None
    encoded: Mark | None = None

    @cached_property
    def own(self) -> Tensor:
        """Bool (B, M): the candidate is the query's own node, however often it was drawn."""
        return self.query_nodes.unsqueeze(-1) == self.key_nodes.unsqueeze(-2)

    @cached_property
    def scores(self) -> Tensor:
        """(B, M): f(h_i^q, h_j^k) / τ."""
        return self.query @ self.key.transpose(-1, -2) / self.temperature

    @cached_property
    def negatives(self) -> Tensor:
        """Bool (B, M): who is still a negative: all but the own node, less what earlier parts took out."""
        return ~self.own

    @cached_property
    def places(self) -> Tensor:
        """int64 (B,): where among the candidates the query's own node is."""
        return self.own.to(torch.int8).argmax(-1)

    @cached_property
    def positive(self) -> Tensor:
        """(B, d): the query's positive, the key of its own node."""
        return self.key.gather(-2, self.places.unsqueeze(-1).expand(*self.places.shape, self.key.shape[-1]))

    @cached_property
    def joined(self) -> Tensor:
        """Bool (B, M): whether an edge joins the query and the candidate."""
        return self.topology.has_edge(self.query_nodes.unsqueeze(-1), self.key_nodes.unsqueeze(-2))

    def stream(self, number: int) -> Tensor:
        """Return the name of one of this step's draws of each run, int64 (S,)."""
        return torch.as_tensor(rng.fold(self.draw, number), device=self.key.device).reshape(-1)

    def leaving(self, negatives: Tensor) -> Candidates:
        """Return the same candidates, of which these are still negatives."""
        left = copy.copy(self)
        left.__dict__["negatives"] = negatives  # as its cached property would
        return left

    def of_run(self, run: int) -> Candidates:
        """Return what one of the stacked runs sees."""

        def its(value: Any) -> Any:
            return value.of_run(run) if isinstance(value, Descriptions) else value[run]

        single = Candidates(
            query=self.query[run],
            key=self.key[run],
            query_nodes=self.query_nodes[run],
            key_nodes=self.key_nodes[run],
            temperature=self.temperature,
            topology=self.topology,
            draw=self.draw[run] if isinstance(self.draw, Tensor) else self.draw,
            seen=None if self.seen is None else its(self.seen),
            members=None if self.members is None else its(self.members),
            progress=self.progress,
        )
        return single.leaving(self.negatives[run])

    @property
    def labels(self) -> NoReturn:
        """Refused: what a strategy does must not depend on them."""
        raise LabelsAreHidden("a strategy sees no labels; what they would change is measured, or asked of an `Oracle`")

    y = labels


@dataclass(frozen=True)
class PairSets:
    """The outcome of a strategy.

    Attributes:
        negatives: bool (B, M), the sets S_i-.
        positives: bool (B, M), candidates that were taken for members of S_i+, beside the query's own view. They are
            no negatives, and attracted where `loss.positives` is `set`.
        log_weights: (B, M), log w_ij of the negatives, or None for equal weights.
        positive_prior: τ+, the share of negatives presumed to be positives, for the debiased estimator.
        statistics: numbers worth logging, by name.
        attracted: (B, M), how much each candidate is attracted beside the own view, which counts 1; 0 for most.
        synthetic: (B, T, d), further negatives that are no candidates, each of weight 1.
        repel: another form of the loss than the log-sum-exp over negatives; see `Strategy.repel`.
    """

    negatives: Tensor
    positives: Tensor | None = None
    log_weights: Tensor | None = None
    positive_prior: float = 0.0
    statistics: dict[str, Tensor] = field(default_factory=dict)
    attracted: Tensor | None = None
    synthetic: Tensor | None = None
    repel: Repulsion | None = None

    def counts(self) -> dict[str, Tensor]:
        """Return the statistics every strategy has: negatives kept per query and the share of empty sets."""
        kept = self.negatives.sum(-1)
        return {"negatives": kept.to(torch.float32).mean(-1), "empty": (kept == 0).to(torch.float32).mean(-1)}


def mean_one(log_weights: Tensor, negatives: Tensor) -> Tensor:
    """Scale weights, given by their logarithms (..., B, M), to mean 1 over each query's negatives; 0 elsewhere.

    So they change the balance among negatives, not the weight of negatives against the positive.
    """
    counts = negatives.sum(-1, keepdim=True).clamp(min=1).to(log_weights.dtype)
    log_mean = log_weights.masked_fill(~negatives, -torch.inf).logsumexp(-1, keepdim=True) - counts.log()
    return (log_weights - log_mean).masked_fill(~negatives, 0)
