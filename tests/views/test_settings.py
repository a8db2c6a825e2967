import pytest

from nodewise.core.errors import InputError
from nodewise.views.walks import ViewSettings


def test_a_walk_has_at_least_one_step() -> None:
    with pytest.raises(InputError, match=r"views\.length is 0; a walk needs at least 1 step \(the paper takes 25\)"):
        ViewSettings(length=0)
    assert ViewSettings().length == 10


@pytest.mark.parametrize("name", ["restart", "lazy"])
@pytest.mark.parametrize("value", [-0.1, 1.0])
def test_probabilities_are_below_one(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"views\.{name} is {value:g}"):
        ViewSettings(**{name: value})
