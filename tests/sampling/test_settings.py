import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.methods.settings import Settings
from nodewise.sampling.adaptive import AdaptiveSampler, CollisionSettings, WeightSettings
from nodewise.sampling.debiased import Debiased
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.hard import Hard
from nodewise.sampling.quantile import SimilarityQuantile
from nodewise.sampling.uniform import Uniform

NAN = float("nan")


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
    with pytest.raises(InputError, match=r"^mine\.toml: \[sampling\] share is 2; it must be in \(0, 1\]$"):
        config.from_mapping(Settings, {"sampling": {"strategy": "uniform", "share": 2}}, "mine.toml")


def test_the_three_switches_are_on_by_default() -> None:
    chosen = AdaptiveSampler()
    assert chosen == Settings().sampling
    assert (chosen.name, chosen.collision, chosen.dpp, chosen.weights) == ("adaptive", True, True, True)


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
