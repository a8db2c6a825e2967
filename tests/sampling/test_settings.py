from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.encoders.convolutions import GATSettings
from nodewise.encoders.encoder import EncoderSettings
from nodewise.encoders.gcn import GCNSettings
from nodewise.methods.settings import Settings
from nodewise.sampling.adaptive import AdaptiveSampler
from nodewise.sampling.choose.all_in_batch import AllInBatch
from nodewise.sampling.choose.networks import CollisionSettings
from nodewise.sampling.choose.quantile import SimilarityQuantile
from nodewise.sampling.choose.uniform import Uniform
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.repel.debiased import Debiased
from nodewise.sampling.strategy import STRATEGIES, Strategy
from nodewise.sampling.weigh.hard import Hard
from nodewise.sampling.weigh.similarity import WeightSettings

NAN = float("nan")
EVIDENCE: dict[str, Any] = {"hops": 1, "neighbors": 4, "clusterings": 20, "directions": 8}
NETWORKS: dict[str, Any] = EVIDENCE | {
    **{"alpha": 1.5, "mixup": 4, "evidence": "consensus", "soft": False},
    **{"hidden": 0, "steps": 5, "learning_rate": 4},
}


@pytest.mark.parametrize("alpha", [0.0, -0.9, float("nan")])
def test_alpha_is_positive_and_an_example_is_given(alpha: float) -> None:
    with pytest.raises(InputError, match=rf"alpha is {alpha:g}; .* above 0, such as 0\.9"):
        CollisionSettings(alpha=alpha)
    CollisionSettings(alpha=0.1)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *((EvidenceSettings, name, 0) for name in ("hops", "neighbors", "clusterings")),
        (CollisionSettings, "hops", 0),
        (CollisionSettings, "neighbors", 0),
        (CollisionSettings, "mixup", -1),
        (CollisionSettings, "clusterings", 0),
        (CollisionSettings, "hidden", -1),
        (CollisionSettings, "steps", -1),
        (CollisionSettings, "learning_rate", 0.0),
        (WeightSettings, "temperature", 0.0),
        (Uniform, "share", 0.0),
        (Uniform, "share", 1.1),
        (Uniform, "share", NAN),
        (Hard, "concentration", -0.1),
        (Hard, "concentration", NAN),
        *((kind, "positive_prior", value) for kind in (Hard, Debiased) for value in (1.0, -0.1, NAN)),
        *((SimilarityQuantile, "quantile", value) for value in (1.0, -0.1, NAN)),
        *((CollisionSettings, name, NAN) for name in ("alpha", "learning_rate")),
        (WeightSettings, "temperature", NAN),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(kind: type, name: str, value: float) -> None:
    with pytest.raises(InputError, match=name) as caught:
        kind(**{name: value})
    assert f"is {value:g}" in str(caught.value)


def test_errors_from_a_file_name_the_section() -> None:
    with pytest.raises(InputError, match=r"^mine\.toml: \[sampling\.class_collision\] alpha is 0"):
        config.from_mapping(Settings, {"sampling": {"class_collision": {"alpha": 0.0}}}, "mine.toml")
    with pytest.raises(InputError, match=r"^mine\.toml: \[sampling\] share is 2; it must be at most 1$"):
        config.from_mapping(Settings, {"sampling": {"strategy": "uniform", "share": 2}}, "mine.toml")


def test_two_of_the_three_switches_are_on_by_default_and_all_in_the_papers_text() -> None:
    chosen, paper = AdaptiveSampler(), Settings.preset("paper").adaptive
    assert chosen == Settings().sampling
    assert (chosen.name, chosen.collision, chosen.dpp, chosen.weights) == ("adaptive", True, False, True)
    assert (paper.collision, paper.dpp, paper.weights) == (True, True, True)


def test_the_least_and_the_largest_values_are_allowed() -> None:
    CollisionSettings(alpha=1e-9, hops=1, neighbors=1, mixup=0, clusterings=1, hidden=0, steps=0, learning_rate=1e-9)
    WeightSettings(temperature=1e-9)
    Uniform(share=1e-9)
    Uniform(share=1.0)
    Hard(concentration=0.0, positive_prior=0.0)
    Debiased(positive_prior=0.0)
    SimilarityQuantile(quantile=0.0)


def test_the_defaults_are_those_that_were_chosen() -> None:
    assert CollisionSettings() == CollisionSettings(
        alpha=1.5, hops=1, neighbors=4, mixup=4, evidence="consensus", clusterings=20, hidden=0, steps=5,
        learning_rate=4.0,
    )  # fmt: skip
    assert WeightSettings() == WeightSettings(temperature=2.0, form="softplus")
    assert Uniform() == Uniform(share=0.5)
    assert Hard() == Hard(concentration=0.5, positive_prior=0.1)
    assert Debiased() == Debiased(positive_prior=0.1)
    assert SimilarityQuantile() == SimilarityQuantile(quantile=0.1)
    assert AdaptiveSampler().near_negatives


EARLIER = """
[encoder]
kind = "gcn"
dimension = 8
layers = 1
final_activation = false
readout = "center"
dropout = 0.0
feature_mask = 0.2
propagation = 0
teleport = 0.1

[sampling]
strategy = "adaptive"
collision = true
dpp = true
weights = true
near_negatives = true

[sampling.class_collision]
alpha = 1.5
hops = 1
neighbors = 4
mixup = 4
evidence = "consensus"
clusterings = 20
hidden = 0
steps = 5
learning_rate = 4.0

[sampling.diversity]
law = "shared"
kernel = "gaussian"
bandwidth = "none"
size = "none"
draws = 4

[sampling.weighting]
temperature = 2.0
form = "softplus"

[sampling.rivals]
share = 0.5
concentration = 0.5
positive_prior = 0.1
quantile = 0.1
"""
"""What a run was given when the settings of all strategies stood side by side."""


@pytest.mark.parametrize(
    ("changes", "sampling"),
    [
        ({}, AdaptiveSampler(dpp=True)),
        (
            {"neighbors = 4": "neighbors = 7"},
            AdaptiveSampler(dpp=True, class_collision=CollisionSettings(neighbors=7)),
        ),
        ({"dpp = true": "dpp = false", "share = 0.5": "share = 0.9"}, AdaptiveSampler(dpp=False)),
        ({'"adaptive"': '"hard"', "concentration = 0.5": "concentration = 0.9"}, Hard(concentration=0.9)),
        ({'"adaptive"': '"hard"', "dpp = true": "dpp = false"}, Hard()),
        ({'"adaptive"': '"uniform"', "share = 0.5": "share = 0.3"}, Uniform(share=0.3)),
        ({'"adaptive"': '"debiased"', "positive_prior = 0.1": "positive_prior = 0.2"}, Debiased(positive_prior=0.2)),
        ({'"adaptive"': '"quantile"', "quantile = 0.1": "quantile = 0.2"}, SimilarityQuantile(quantile=0.2)),
        ({'"adaptive"': '"all"'}, AllInBatch()),
    ],
)
@pytest.mark.parametrize("encoder", [GCNSettings(dimension=8), GATSettings(dimension=8)])
def test_settings_of_an_earlier_version_are_still_read(
    changes: dict[str, str], sampling: Strategy, encoder: EncoderSettings, tmp_path: Path
) -> None:
    text = EARLIER.replace('"gcn"', f'"{encoder.name}"')
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = tmp_path / "config.toml"
    path.write_text(text)
    found = config.load_toml(Settings, path)
    assert found == Settings(encoder=encoder, sampling=sampling)
    path.write_text(config.to_toml(found))
    assert config.load_toml(Settings, path) == found
    assert "rivals" not in path.read_text()
    assert "neighbours" not in path.read_text()


def test_an_earlier_run_with_a_class_of_ones_own_still_opens(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(EARLIER.replace('"adaptive"', '"mine:Own"'))
    found = config.load_toml(Settings, path)
    assert isinstance(found.sampling, config.Unloaded)
    assert found.sampling.name == "mine:Own"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"strategy": "hard", "rivals": 3}, "unknown key 'sampling.rivals'"),
        ({"strategy": 3, "rivals": {}}, "'sampling.strategy' must be text, not 3"),
        ({"strategy": "hrad", "rivals": {}}, "unknown strategy 'hrad'; did you mean 'hard'"),
        ({"strategy": "hard", "rivals": {"concentration": -1.0}}, r"\[sampling\] concentration is -1"),
        ({"strategy": "hard", "alpha": 1.0}, "unknown key 'sampling.alpha'"),
        ({"alpha": 1.0}, "did you mean 'sampling.class_collision.alpha'"),
        ({"strategy": "uniform", "shrae": 0.3}, "did you mean 'sampling.share'"),
    ],
)
def test_what_no_version_wrote_is_refused(section: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=f"^c.toml: .*{message}"):
        config.from_mapping(Settings, {"sampling": section}, "c.toml")


def test_a_strategy_named_anew_drops_what_was_set_for_the_one_before() -> None:
    before = config.override(Settings(), ["sampling.dpp=false", "sampling.class_collision.alpha=2"])
    after = config.override(before, ["sampling.strategy=uniform", "sampling.share=0.3"])
    assert after == Settings(sampling=Uniform(share=0.3))
    assert config.override(after, ["sampling.strategy=adaptive"]) == Settings()
    assert config.override(before, ["sampling.strategy=adaptive"]) == before
    assert config.override(before, ["sampling={strategy='uniform', share=0.3}"]) == after


def test_the_earlier_spelling_of_neighbors_is_read() -> None:
    read = config.from_mapping(Settings, {"sampling": {"class_collision": {"neighbours": 3}}}, "c.toml")
    assert read.adaptive.class_collision.neighbors == 3


DEFAULTS: dict[str, dict[str, Any]] = {
    "all": {},
    "attraction": {"share": 0.05, "aggregation": "max"},
    "bounded": {"margin": 0.6, "slope": 0.1, "strength": 1},
    "centers": {"clusters": 32, "steps": 8},
    "curriculum": {"first": 0.3, "pace": 1},
    "debiased": {"positive_prior": 0.1},
    "decorrelation": {"strength": 0.001},
    "degree": {"share": 0.5, "power": 0.75},
    "dpp": {"law": "shared", "kernel": "gaussian", "bandwidth": None, "size": None, "draws": 4},
    "elimination": {"share": 0.05, "aggregation": "max"},
    "greedy-map": {"size": 64},
    "hard": {"concentration": 0.5, "positive_prior": 0.1},
    "homophily": {"clusters": 16, "steps": 5, "temperature": 0.2},
    "k-dpp": {"size": 64},
    "local-global": {"k": 8, "clusters": 16, "clusterings": 3, "steps": 5},
    "lookalikes": EVIDENCE | {"share": 0.05, "evidence": "directions"},
    "mcns": {"alpha": 0.75, "steps": 64, "burn_in": 16, "nearest": 8},
    "mochi": {"pool": 32, "mixed": 16, "with_query": 8},
    "networks": NETWORKS,
    "no-neighbors": {"hops": 1},
    "pagerank": {"nearest": 0.05, "farthest": 0.6, "teleport": 0.15, "steps": 10},
    "progcl": {"steps": 10, "share_of_false": 0.1},
    "progcl-mix": {"steps": 10, "share_of_false": 0.1, "pool": 32, "mixed": 16},
    "quantile": {"quantile": 0.1},
    "ring": {"lower": 0.5, "upper": 0.95},
    "simans": {"share": 0.5, "sharpness": 0.5, "offset": 0},
    "similarity": {"temperature": 2, "form": "softplus"},
    "soft": EVIDENCE | {"power": 2, "evidence": "consensus"},
    "top-k": {"k": 4},
    "uncertainty": {"steps": 8, "floor": 0.05},
    "uniform": {"share": 0.5},
    "unlabeled": {"prior_of_positives": 0.1, "threshold": 0.3},
}
"""What users get who say nothing: a change of it changes their vectors, and is a line of the change log."""


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_the_defaults_are_those_that_users_have_had(name: str) -> None:
    chosen = STRATEGIES[name]()
    found = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
    if name == "adaptive":  # made of others
        assert vars(found.pop("class_collision")) == NETWORKS
        assert vars(found.pop("diversity")) == DEFAULTS["dpp"]
        assert vars(found.pop("weighting")) == DEFAULTS["similarity"]
        assert found == {"collision": True, "dpp": False, "weights": True, "near_negatives": True}
    else:
        assert found == DEFAULTS[name]
