"""What passes between the encoder, a sampling strategy and the loss.

Shapes are those of one run. A strategy that says it is `stackable` also meets them with a leading dimension S, the
runs that are trained side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from nodewise.fast.lanes import Mark
from nodewise.sampling.descriptions import Descriptions
from nodewise.views.topology import Topology

Evidence = Literal["none", "embedding", "consensus"]


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
            embedding is a tensor (M, r); the consensus `Descriptions`, of which `descriptions.vectors` makes one.
        members: the same of (B, P) nodes: the query's own view and nodes within K hops, wherever they are.
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
    begun: Mark | None = None
    encoded: Mark | None = None

    @property
    def own(self) -> Tensor:
        """Bool (B, M): the candidate is the query's own node, however often it was drawn."""
        return self.query_nodes.unsqueeze(-1) == self.key_nodes.unsqueeze(-2)

    @property
    def scores(self) -> Tensor:
        """(B, M): f(h_i^q, h_j^k) / τ."""
        return self.query @ self.key.transpose(-1, -2) / self.temperature

    def of_run(self, run: int) -> Candidates:
        """Return what one of the stacked runs sees."""

        def its(value: Any) -> Any:
            return value.of_run(run) if isinstance(value, Descriptions) else value[run]

        return Candidates(
            query=self.query[run],
            key=self.key[run],
            query_nodes=self.query_nodes[run],
            key_nodes=self.key_nodes[run],
            temperature=self.temperature,
            topology=self.topology,
            draw=self.draw[run] if isinstance(self.draw, Tensor) else self.draw,
            seen=None if self.seen is None else its(self.seen),
            members=None if self.members is None else its(self.members),
        )


@dataclass(frozen=True)
class PairSets:
    """The outcome of a strategy.

    Attributes:
        negatives: bool (B, M), the sets S_i-.
        positives: bool (B, M), members of S_i+ among the candidates, beside the query's own view.
        log_weights: (B, M), log w_ij of the negatives, or None for equal weights.
        positive_prior: τ+, the share of negatives presumed to be positives, for the debiased estimator.
        statistics: numbers worth logging, by name.
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
