import pytest

from nodewise.core.errors import InputError
from nodewise.evaluation.presets import PRESETS, Preset, get_preset
from nodewise.methods.estimator import METHODS


@pytest.mark.parametrize(
    ("name", "steps", "taken", "general", "citeseer"),
    [
        ("dgi", 100, "last step", 0.0, 0.0),
        ("mvgrl", 300, "last step", 0.0, 0.01),
        ("graphmae", 300, "best validation step", 1e-4, 0.01),
        ("cca", 2000, "first best validation step", 1e-4, 0.01),
    ],
)
def test_table(name: str, steps: int, taken: str, general: float, citeseer: float) -> None:
    preset = get_preset(name)
    assert (preset.steps, preset.taken, preset.learning_rate, preset.solver) == (steps, taken, 0.01, "adam")
    assert preset.weight_decay_for("cora") == preset.weight_decay_for("") == general
    assert preset.weight_decay_for("citeseer") == preset.weight_decay_for("CiteSeer") == citeseer


def test_protocol_names_a_data_set_only_where_its_own_weight_decay_is_in_use() -> None:
    assert get_preset("mvgrl").protocol("citeseer") == (
        "linear classifier (probe mvgrl): Adam 0.01, Xavier, weight decay 0.01 (that of Citeseer), 300 steps, last step"
    )
    assert "Xavier, weight decay 0.0001, 2000 steps" in get_preset("cca").protocol("my graph")
    assert "weight decay 0 or 0.5, set by hand" in get_preset("cca").protocol("cora", (0.0, 0.5))
    assert "lbfgs, C=1, at most 100 iterations" in get_preset("sklearn").protocol("cora")


def test_own_preset_passes_through() -> None:
    own = Preset("own", 7)
    assert get_preset(own) is own
    ours = {"dgi", "mvgrl", "graphmae", "cca", "sklearn"}
    others = {"sugrl", "graphacl", "maskgae", "afgrl", "ggd", "grace", "homogcl", "sp-gcl"}
    assert set(PRESETS) == ours | others


def test_steps_rates_and_decays_that_authors_give_for_one_data_set() -> None:
    sugrl, graphacl = get_preset("sugrl"), get_preset("graphacl")
    names = ("cora", "Citeseer", "pubmed", "mine")
    assert [sugrl.on(name).steps for name in names] == [100, 100, 200, 200]
    assert [sugrl.weight_decay_for(name) for name in names] == [0.005, 0.05, 0.01, 0]
    assert [graphacl.on(name).learning_rate for name in names] == [1e-3, 1e-2, 1e-2, 1e-2]
    assert [get_preset("ggd").on(name).steps for name in names] == [100, 80, 250, 100]
    assert "Adam 0.001" in graphacl.on("cora").protocol("cora")
    assert "liblinear" in get_preset("grace").protocol("cora")


def test_every_method_names_the_probe_of_its_paper() -> None:
    assert {METHODS[name].probe for name in METHODS} <= set(PRESETS)
    assert (METHODS["sugrl"].probe, METHODS["grace"].probe, METHODS["nodewise"].probe) == ("sugrl", "grace", "mvgrl")


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown probe preset 'mvgr'; did you mean 'mvgrl'\?"):
        get_preset("mvgr")
    with pytest.raises(InputError, match="unknown probe preset 'zzz'; choose from dgi, mvgrl"):
        get_preset("zzz")
