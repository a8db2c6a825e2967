import pytest

from nodewise.core.errors import InputError
from nodewise.losses.node_infonce import LossSettings


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_temperature_is_positive(value: float) -> None:
    with pytest.raises(InputError, match=rf"loss\.temperature is {value:g}; it must be at least 1e-06"):
        LossSettings(temperature=value)


def test_any_temperature_above_zero_is_allowed() -> None:
    assert LossSettings(temperature=1e-6).temperature == 1e-6


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert LossSettings() == LossSettings(score="cosine", temperature=0.5, positives="pair")
