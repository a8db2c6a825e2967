import json
from collections import Counter

import pytest

from nodewise.core import config
from nodewise.methods.settings import Settings
from nodewise.tune.space import EMBEDDINGS, LOOKS, PLAIN, SPACES, VARIANTS, Space

TINY = Space(
    common={"loss.temperature": (0.1, 0.2, 0.2)},
    encoders={"gcn": {"encoder.readout": ("center", "mean")}},
    sampler={"sampling.class_collision.alpha": (0.9, 2.0)},
    steps=7,
)


@pytest.mark.parametrize("name", SPACES)
def test_every_value_is_a_setting_that_exists(name: str) -> None:
    space = SPACES[name]
    for encoder, own in space.encoders.items():
        for key, values in (space.common | own | space.sampler).items():
            for value in values:
                chosen = config.to_mapping(
                    config.override(Settings(), [f"encoder.kind={encoder}", f"{key}={json.dumps(value)}"])
                )
                for part in key.split("."):
                    chosen = chosen[part]
                assert chosen == value
        assert len({*space.common, *own, *space.sampler}) == len(space.common) + len(own) + len(space.sampler)
    assert space.steps in LOOKS


@pytest.mark.parametrize("name", SPACES)
def test_every_encoder_is_drawn_also_the_usual_one(name: str) -> None:
    drawn = Counter(SPACES[name].draw("full", number, 0).encoder.name for number in range(200))
    assert set(drawn) == set(SPACES[name].encoders)
    assert min(drawn.values()) > 0.35 * 200, "at least one of two, within four standard deviations"
    assert Settings().encoder.name in drawn


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trial_is_a_function_of_seed_variant_and_number(name: str, variant: str) -> None:
    space = SPACES[name]
    drawn = [space.draw(variant, number, 0) for number in range(40)]
    assert drawn[7] == space.draw(variant, 7, 0)
    assert drawn[7] != space.draw(variant, 7, 1)
    assert len({config.to_toml(one) for one in drawn}) > 30
    assert {one.training.steps for one in drawn} == {space.steps}
    assert {one.training.patience for one in drawn} == {0}


def test_the_plain_variant_is_the_plain_loss_with_the_samplers_defaults() -> None:
    defaults = config.override(Settings(), PLAIN)
    for number in range(20):
        plain, full = TINY.draw("plain", number, 0), TINY.draw("full", number, 0)
        assert plain.sampling == defaults.sampling
        assert (full.sampling.collision, full.sampling.dpp, full.sampling.weights) == (True, False, True)


def test_values_are_drawn_as_often_as_they_are_listed() -> None:
    drawn = [TINY.draw("full", number, 0) for number in range(900)]
    temperatures = Counter(one.loss.temperature for one in drawn)
    assert set(temperatures) == {0.1, 0.2}
    # Five standard deviations of a binomial with n = 900, p = 2/3.
    assert abs(temperatures[0.2] - 600) < 71
    pairs = Counter((one.loss.temperature, one.encoder.readout) for one in drawn)
    assert abs(pairs[0.1, "mean"] - 150) < 56, "keys must be drawn independently of each other"


def test_every_look_tries_every_way_to_embed() -> None:
    assert len(set(EMBEDDINGS)) == len(EMBEDDINGS) == 18
    assert {length for _, length in EMBEDDINGS} == {None, 0.03, 0.06, 0.1, 0.3, 1.0}
    assert list(LOOKS) == sorted(set(LOOKS))
