import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.training.settings import LearnerSettings, TrainingSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", -1),
        ("batch_size", 1),
        ("patience", -1),
        ("monitor_every", 0),
        ("held_out", 1),
        ("log_every", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("learning_rate", float("inf")),
        ("learning_rate", 1e30),
        ("learning_rate", 1e39),
        ("weight_decay", -0.1),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"training\.{name}") as caught:
        TrainingSettings(**{name: value})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_least_values_are_allowed() -> None:
    TrainingSettings(steps=0, batch_size=2, patience=0, monitor_every=1, held_out=2, log_every=1)


def test_errors_from_a_file_name_the_file_and_the_key_once() -> None:
    with pytest.raises(InputError) as caught:
        config.from_mapping(LearnerSettings, {"training": {"batch_size": 1}}, "mine.toml")
    assert str(caught.value) == "mine.toml: training.batch_size is 1; it must be at least 2"


def test_a_learner_has_every_part() -> None:
    assert set(config.to_mapping(LearnerSettings())) == {"features", "views", "encoder", "sampling", "loss", "training"}
