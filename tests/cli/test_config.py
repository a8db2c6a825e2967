from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Nodewise = Callable[..., Any]
Refused = Callable[..., str]


def test_all_settings_are_printed_as_toml(nodewise: Nodewise) -> None:
    outcome = nodewise("config")
    assert outcome.code == 0
    assert {"views", "encoder", "sampling", "training", "embedding"} <= set(tomllib.loads(outcome.out))


def test_json_and_toml_say_the_same(nodewise: Nodewise) -> None:
    from_json = json.loads(nodewise("config", "--json").out)
    from_toml = tomllib.loads(nodewise("config").out)
    assert from_json["encoder"]["teleports"] is None  # which TOML has no word for
    assert from_json["encoder"]["feature_mask"] is None
    from_json["encoder"] |= {"teleports": "auto", "feature_mask": "auto"}  # chosen from the graph
    assert _without_null(from_json) == from_toml


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(each) for name, each in value.items()}
    return "none" if value is None else value


def test_a_change_shows_and_nothing_else_changes(nodewise: Nodewise) -> None:
    before, after = nodewise("config").out, nodewise("config", "--set", "sampling.dpp=true").out
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert changed == ["dpp = true"]


def test_a_preset_is_a_start(nodewise: Nodewise) -> None:
    paper = tomllib.loads(nodewise("config", "--preset", "paper", "--set", "encoder.dropout=0.5").out)
    assert paper["encoder"]["readout"] == "sigmoid_mean_max"
    assert paper["encoder"]["dropout"] == 0.5


def test_a_file_is_written_once_and_read_back(nodewise: Nodewise, refused: Refused) -> None:
    assert nodewise("config", "--init", "mine.toml", "--set", "training.steps=7").code == 0
    assert nodewise("config", "--config", "mine.toml").out == Path("mine.toml").read_text()
    assert "mine.toml: exists already" in refused("config", "--init", "mine.toml")


def test_a_file_that_cannot_be_written(refused: Refused) -> None:
    Path("file").write_text("")
    assert "file/mine.toml" in refused("config", "--init", "file/mine.toml")


def test_mistakes_name_their_source(refused: Refused) -> None:
    Path("mine.toml").write_text("[sampling]\ndppp = true\n")
    assert "mine.toml: unknown key 'sampling.dppp'; did you mean 'sampling.dpp'?" in refused(
        "config", "--config", "mine.toml"
    )
    assert "--set: unknown key 'sampling.dppp'" in refused("config", "--set", "sampling.dppp=true")
    assert "--set: there is no setting 'stpes'; did you mean 'steps'?" in refused("config", "--set", "stpes=80")
    assert "unknown preset 'papr'; did you mean 'paper'?" in refused("config", "--preset", "papr")
    assert "--config and --preset" in refused("config", "--config", "mine.toml", "--preset", "paper")


def test_what_is_chosen_from_the_graph_is_auto_and_may_be_none(nodewise: Nodewise) -> None:
    usual = nodewise("config").out
    encoder = tomllib.loads(usual)["encoder"]
    assert (encoder["teleports"], encoder["feature_mask"]) == ("auto", "auto")
    for word in ("auto", "none"):
        Path("mine.toml").write_text(f'[encoder]\nteleports = "{word}"\nfeature_mask = "{word}"\n')
        assert nodewise("config", "--config", "mine.toml").out == usual
        assert nodewise("config", "--set", f"encoder.teleports={word}").out == usual


def test_what_is_switched_off_is_none_and_not_auto(nodewise: Nodewise, refused: Refused) -> None:
    assert (
        tomllib.loads(nodewise("config", "--set", "sampling.diversity.size=none").out)["sampling"]["diversity"]["size"]
        == "none"
    )
    assert "'sampling.diversity.size' must be a number" in refused("config", "--set", "sampling.diversity.size=auto")


def test_a_file_of_settings_may_begin_with_a_byte_order_mark(nodewise: Callable[..., Any]) -> None:
    Path("s.toml").write_bytes(b"\xef\xbb\xbf[training]\nsteps = 7\n")
    outcome = nodewise("config", "--config", "s.toml")
    assert outcome.code == 0, outcome.err
    assert "steps = 7" in outcome.out
