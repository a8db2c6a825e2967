"""Drop the candidates that independent evidence finds most alike: `quantile`, but not by the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nodewise.sampling.choose.draws import top
from nodewise.sampling.evidence import EvidenceSettings, resemblance
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import NotAll, StackedStrategy, strategy


@dataclass(frozen=True)
class LookalikeSettings(EvidenceSettings):
    """Whom to drop.

    Attributes:
        share: how many of the candidates of each query.
        evidence: what tells likeness, `consensus` or `directions`.
    """

    share: NotAll = 0.05
    evidence: Literal["consensus", "directions"] = "directions"


@strategy("lookalikes")
class Lookalikes(LookalikeSettings, StackedStrategy):
    """Take out the candidates whose features on the leading directions are most like the query's."""

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered."""
        return self

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        alike = resemblance(batch.seen, batch.members)
        found = top(alike, ~batch.own, round(self.share * (batch.own.shape[-1] - 1)))
        return PairSets(batch.negatives & ~found, found)
