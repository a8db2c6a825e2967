"""Strategies joined by plus signs: what each part does, in which order, and what a composition is called."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import torch
from tests.sampling.test_strategy import candidates
from torch import Tensor

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.keywords import with_keywords
from nodewise.core.parts import Unloaded
from nodewise.losses.node_infonce import node_infonce
from nodewise.methods.settings import Settings
from nodewise.sampling.choose.quantile import SimilarityQuantile
from nodewise.sampling.choose.uniform import Uniform
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.repel.debiased import Debiased
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import STRATEGIES, Strategy
from nodewise.sampling.weigh.hard import Hard
from nodewise.sampling.weigh.similarity import SimilarityWeights


class Closest(Strategy):
    """Attracts the closest candidate, for one run."""

    weight: float = 0.5

    def attract(self, batch: Candidates) -> Tensor:
        assert batch.scores.dim() == 2
        scores = batch.scores.masked_fill(batch.own, -torch.inf)
        return self.weight * (scores == scores.amax(-1, keepdim=True)).float()


class Middles(Strategy):
    """Mixes the query with the center, for one run."""

    def mix(self, batch: Candidates) -> Tensor:
        return (batch.query + batch.key.mean(0)).unsqueeze(1) / 2


class Squares(Strategy):
    """A form of its own, for one run."""

    def repel(self, query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        return (query - positive).square().sum(-1) + ((query @ key.T) * pairs.negatives).square().mean(-1)


def test_each_part_chooses_from_what_the_one_before_it_left() -> None:
    batch = candidates()
    pairs = Sampler(Uniform(share=0.6) + SimilarityQuantile(quantile=0.2))(batch)
    left = Sampler(Uniform(share=0.6))(batch).negatives
    expected = Sampler(SimilarityQuantile(quantile=0.2))(batch.leaving(left))
    assert torch.equal(pairs.negatives, expected.negatives)
    assert not torch.equal(pairs.negatives, left & Sampler(SimilarityQuantile(quantile=0.2))(batch).negatives)


def test_weights_multiply_and_see_the_negatives_that_are_left() -> None:
    batch = candidates()
    pairs = Sampler(SimilarityWeights() + Hard(positive_prior=0) + Uniform())(batch)
    left = batch.leaving(Sampler(Uniform())(batch).negatives)
    first, second = SimilarityWeights().weigh(left), Hard().weigh(left)
    assert torch.allclose(pairs.log_weights, first + second)


def test_what_is_attracted_is_no_negative_and_joins_the_mean() -> None:
    batch = candidates()
    pairs = Sampler(Uniform(share=0.9) + Closest(weight=0.25))(batch)
    assert pairs.attracted.count_nonzero() == 24
    assert not (pairs.negatives & (pairs.attracted > 0)).any()
    loss = node_infonce(batch.query, batch.key, pairs, temperature=0.5)
    for run in range(2):
        terms = []
        for i in range(12):
            scores = batch.query[run, i] @ batch.key[run].T / 0.5
            total = scores[pairs.negatives[run, i]].exp().sum()
            (other,) = pairs.attracted[run, i].nonzero()[0].tolist()
            mean = [-torch.log(scores[j].exp() / (scores[j].exp() + total)) for j in (i, other)]
            terms.append((mean[0] + 0.25 * mean[1]) / 1.25)
        assert torch.allclose(loss[run], torch.stack(terms).mean(), atol=1e-6)


def test_mixtures_are_further_negatives() -> None:
    batch = candidates()
    pairs = Sampler(Middles())(batch)
    loss = node_infonce(batch.query, batch.key, pairs, temperature=0.5)
    terms = []
    for i in range(12):
        scores = (batch.query[0, i] @ batch.key[0].T / 0.5).exp()
        mixed = (batch.query[0, i] @ (batch.query[0, i] + batch.key[0].mean(0)) / 2 / 0.5).exp()
        terms.append(-torch.log(scores[i] / (scores.sum() + mixed)))
    assert torch.allclose(loss[0], torch.stack(terms).mean(), atol=1e-6)


def test_a_form_of_ones_own_replaces_the_loss_and_has_a_gradient() -> None:
    batch = candidates()
    pairs = Sampler(Uniform() + Squares())(batch)
    query = batch.query.clone().requires_grad_()
    loss = node_infonce(query, batch.key, pairs, temperature=0.5)
    alone = torch.stack(
        [Squares().repel(batch.query[r], batch.key[r], batch.key[r], PairSets(pairs.negatives[r]), 0.5) for r in (0, 1)]
    )
    assert torch.allclose(loss, alone.mean(-1))
    assert torch.autograd.grad(loss.sum(), query)[0].abs().sum() > 0


@pytest.mark.parametrize("made", [lambda: Squares() + Debiased(), lambda: Hard() + Debiased()])
def test_there_is_one_form_of_the_loss(made: Any) -> None:
    with pytest.raises(InputError) as caught:
        made()
    assert caught.value.code == "bad-setting"


def test_a_strategy_is_not_joined_with_itself() -> None:
    with pytest.raises(InputError) as caught:
        Uniform() + Uniform()
    assert caught.value.code == "bad-setting"


def test_a_composition_has_a_name_and_a_section_for_each_part() -> None:
    changes = ["sampling.strategy=uniform+hard", "sampling.uniform.share=0.25", "sampling.hard.concentration=2"]
    settings = config.override(Settings(), changes)
    assert settings.sampling == Uniform(share=0.25) + Hard(concentration=2.0)
    assert settings.sampling.name == "uniform+hard"
    assert settings.sampling.kinds == ("choose", "weigh", "repel")
    text = config.to_toml(settings)
    assert 'strategy = "uniform+hard"' in text
    assert "[sampling.uniform]\nshare = 0.25" in text
    mapping = config.to_mapping(settings)
    assert config.from_mapping(Settings, mapping, "c.toml") == settings
    assert config.override(settings, ["sampling.strategy=hard+uniform"]).sampling == Hard() + Uniform()
    assert pickle.loads(pickle.dumps(settings)) == settings  # made here
    assert "uniform+hard" not in STRATEGIES.names()


def test_keywords_reach_the_settings_of_parts() -> None:
    settings = with_keywords(Settings(), {"strategy": "uniform+hard", "share": 0.25}, "keywords")
    assert settings.sampling == Uniform(share=0.25) + Hard()
    given = with_keywords(Settings(), {"strategy": Uniform(share=0.75) + Hard()}, "keywords")
    assert given.sampling == Uniform(share=0.75) + Hard()


@pytest.mark.parametrize("name", ["uniform+hadr", "uniform+", "uniform+hard+uniform", "hard+debiased"])
def test_what_is_no_composition_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        config.override(Settings(), [f"sampling.strategy={name}"])
    assert caught.value.code in ("unknown-strategy", "bad-setting")


def test_ones_own_in_a_composition_is_loaded_from_the_command_line_only() -> None:
    settings = config.override(Settings(), [f"sampling.strategy=uniform+{__name__}:Closest"])
    assert settings.sampling == Uniform() + Closest()
    assert settings.sampling.name == f"uniform+{__name__}:Closest"
    read = config.from_mapping(Settings, config.to_mapping(settings), "c.toml")
    assert isinstance(read.sampling, Unloaded)
    with pytest.raises(InputError) as caught:
        Sampler(read.sampling)
    assert caught.value.code == "own-code"


def test_parts_that_want_different_evidence_are_refused() -> None:
    class Sees(Closest):
        evidence = "embedding"

    from nodewise.sampling.adaptive import AdaptiveSampler

    with pytest.raises(InputError, match="different evidence"):
        Sampler(AdaptiveSampler() + Sees())
    assert (Uniform() + Sees()).evidence == "embedding"
