"""Diverse negatives: determinantal draws (Section 4.3; `dpp.laws` says what is drawn)."""

from __future__ import annotations

from typing import Annotated, Literal

from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Range
from nodewise.fast.lanes import beside, join
from nodewise.sampling.dpp import deal, draw_for_all, effective_rank, log_determinant_gap, sample_negatives, similarity
from nodewise.sampling.dpp.settings import DppSettings
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import Strategy, strategy

_DIAGNOSED = 4  # queries whose draws are compared with uniform ones


@strategy("dpp")
class DiverseDraw(DppSettings, Strategy):
    """Draw diverse negatives from a determinantal point process: the paper's second part."""

    stackable = True

    @property
    def static(self) -> bool:
        """Whether draws are of one size whatever they hold."""
        return self.law in ("shared", "literal") and self.size is None

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        queries, items = batch.query_nodes, batch.key_nodes
        if self.law == "per_node":
            name = rng.fold(batch.draw, 2)
            return sample_negatives(batch.key, batch.negatives, name, self, items=items, queries=queries)
        # The draw need not wait for what is found out about its items: only for the keys. So its name is made inside.
        with beside("draw", batch.encoded):
            name = rng.fold(batch.draw, 2)
            drawn = draw_for_all(batch.key, name, self, items=items)
        join("draw", batch.encoded)
        return deal(drawn, batch.negatives, name, queries=queries)

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Say whether the draw differs from a uniform one: effective rank, log-determinant gap."""
        likelihood = similarity(candidates.key, self)
        drawn = pairs.negatives[..., :_DIAGNOSED, :]
        return {
            "effective_rank": effective_rank(likelihood),
            "logdet_gap": log_determinant_gap(likelihood, drawn, rng.fold(0, 3)),
        }


class _Sized(Strategy):
    stackable = True

    size: Annotated[int, Range(1, 100_000)] = 64

    def settings_for(self, batch: Candidates, law: Literal["fixed", "greedy"]) -> DiverseDraw:
        """Return the law for as many items as there are."""
        return DiverseDraw(law=law, size=min(self.size, batch.key.shape[-2]))


@strategy("k-dpp")
class FixedSizeDraw(_Sized):
    """Draw exactly `size` diverse candidates of the batch (k-DPP), of which each query meets its negatives."""

    paper = "Kulesza & Taskar 2011"

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        return self.settings_for(batch, "fixed").choose(batch)


@strategy("greedy-map")
class MostDiverse(_Sized):
    """Keep the `size` most diverse candidates of the batch, chosen greedily; nothing is drawn."""

    paper = "Chen et al. 2018"

    @property
    def static(self) -> bool:
        """Whether a GPU can replay its step: yes."""
        return True

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        return self.settings_for(batch, "greedy").choose(batch)
