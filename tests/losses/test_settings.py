import pytest

from nodewise.core.errors import InputError
from nodewise.losses.settings import LossSettings


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_temperature_is_positive(value: float) -> None:
    with pytest.raises(InputError, match=rf"loss\.temperature is {value:g}; it must be above 0"):
        LossSettings(temperature=value)
