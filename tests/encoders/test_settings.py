import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.encoders.convolutions import GATSettings
from nodewise.encoders.encoder import ENCODERS, EncoderSettings
from nodewise.encoders.gcn import GCNSettings
from nodewise.methods.settings import Settings


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
        GCNSettings(**{name: value})  # type: ignore[arg-type]
    if name not in ("propagation", "teleport"):
        with pytest.raises(InputError, match=rf"encoder\.{name}"):
            GATSettings(**{name: value})  # type: ignore[arg-type]


def test_the_encoders_that_come_along() -> None:
    assert {"gat", "gcn", "gin", "sage"} <= set(ENCODERS.names())
    assert all(ENCODERS[name].name == name for name in ENCODERS.names())


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_smoothing_is_for_the_convolutional_network_only(kind: str) -> None:
    EncoderSettings.named(kind)()
    with pytest.raises(TypeError, match="propagation"):
        EncoderSettings.named(kind)(propagation=2)
    with pytest.raises(InputError, match=r"unknown key 'encoder\.propagation'; .*") as caught:
        config.override(Settings(), [f"encoder.kind={kind}", "encoder.propagation=2"])
    assert "did you mean 'encoder.propagation'" not in str(caught.value)


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_settings_from_when_every_encoder_had_those_of_the_convolutional_network(kind: str) -> None:
    written = {"kind": kind, "dimension": 8, "propagation": 0, "teleport": 0.1}
    found = config.from_mapping(Settings, {"encoder": written}, "config.toml").encoder
    assert found == EncoderSettings.named(kind)(dimension=8)


def test_an_encoder_must_say_what_it_builds() -> None:
    import torch

    with pytest.raises(TypeError, match="define build"):
        EncoderSettings().build(3, torch.tensor([0]))
