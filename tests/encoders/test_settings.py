import pytest

from nodewise.core.errors import InputError
from nodewise.encoders.encoder import EncoderSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dimension", 0),
        ("layers", 0),
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("feature_mask", 1.0),
        ("propagation", -1),
        ("teleport", 1.1),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"encoder\.{name}"):
        EncoderSettings(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_smoothing_is_for_the_convolutional_network_only(kind: str) -> None:
    EncoderSettings(kind=kind)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"'gcn', not '{kind}'"):
        EncoderSettings(kind=kind, propagation=2)  # type: ignore[arg-type]
