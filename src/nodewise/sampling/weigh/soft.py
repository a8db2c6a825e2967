"""Soft weights by similarity: the more a candidate resembles the query, the less it is repelled.

    w_ij = (1 - r_ij)^power, scaled to mean 1,

with r_ij in [0, 1] the share of clusterings of perturbed copies of the graph that put i and j together (`consensus`),
or the positive part of the cosine of their embeddings, or of their features on the leading directions. Beside removal,
which decides, this doubts (the idea of weighing by node similarity: NodeSim).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from torch import Tensor

from nodewise.core.config import Range
from nodewise.sampling.evidence import EvidenceSettings, resemblance
from nodewise.sampling.pairs import Candidates, mean_one
from nodewise.sampling.strategy import StackedStrategy, strategy

_FLOOR = 1e-3


@dataclass(frozen=True)
class SoftSettings(EvidenceSettings):
    """How soft weights are made.

    Attributes:
        power: how steeply the weight falls with the resemblance.
        evidence: what tells it, `consensus`, `directions` or `embedding`.
    """

    power: Annotated[float, Range(0, 1000)] = 2.0
    evidence: Literal["consensus", "directions", "embedding"] = "consensus"


@strategy("soft")
class SoftWeights(SoftSettings, StackedStrategy):
    """Weigh negatives the less, the more they resemble the query: doubt instead of removal."""

    paper = "NodeSim"

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered."""
        return self

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        found = resemblance(batch.seen, batch.members)
        return mean_one(self.power * (1 - found).clamp(min=_FLOOR).log(), batch.negatives)
