import pytest

from nodewise.core.errors import InputError
from nodewise.losses.node_infonce import LossSettings


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_temperature_is_positive(value: float) -> None:
    with pytest.raises(InputError, match=rf"loss\.temperature is {value:g}; it must be at least 1e-06"):
        LossSettings(temperature=value)


def test_temperatures_from_a_millionth_to_a_million_are_allowed() -> None:
    assert LossSettings(temperature=1e-6).temperature == 1e-6
    assert LossSettings(temperature=1e6).temperature == 1e6
    with pytest.raises(InputError, match=r"loss\.temperature"):
        LossSettings(temperature=1.1e6)


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert LossSettings() == LossSettings(score="cosine", temperature=0.5, positives="pair")
