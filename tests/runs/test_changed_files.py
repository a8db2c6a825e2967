"""Files of a finished run that are no longer what the run was left with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import SMALL, Nodewise, of_an_earlier_version

Refused = Callable[..., str]
EMBED = ("embed", "edges.csv", "-o", "run", *SMALL, "-q")


@pytest.fixture
def two_runs(nodewise: Nodewise, folder: Path) -> None:
    """Leave two runs of one graph in `run` and `other`."""
    lines = ["source,target", *(f"n{i},n{(i + step) % 30}" for i in range(30) for step in (1, 7))]
    Path("edges.csv").write_text("\n".join(lines) + "\n")
    assert nodewise(*EMBED).code == 0
    assert nodewise(*EMBED[:3], "other", *SMALL, "-q", "--seed", "5").code == 0


@pytest.mark.parametrize("name", ["weights.safetensors", "embeddings.parquet"])
def test_a_damaged_run_is_not_finished(nodewise: Nodewise, refused: Refused, two_runs: None, name: str) -> None:
    assert nodewise(*EMBED, "--resume").code == 0
    whole = Path("run", name).read_bytes()
    Path("run", name).write_bytes(whole[: len(whole) // 2])
    assert "[damaged-run]" in refused(*EMBED, "--resume")
    assert nodewise(*EMBED).code == 0
    assert nodewise(*EMBED, "--resume").code == 0


def test_settings_that_were_emptied_are_not_the_defaults(refused: Refused, two_runs: None) -> None:
    Path("run/config.toml").write_text("")
    assert "[damaged-run]" in refused("transform", "run", "edges.csv", "-o", "new.parquet")
    assert "[damaged-run]" in refused("evaluate", "run", "--labels", "edges.csv")


def test_weights_of_another_run_embed_nothing(refused: Refused, two_runs: None) -> None:
    shutil.copy("other/weights.safetensors", "run/weights.safetensors")
    assert "run/weights.safetensors: has changed" in refused("transform", "run", "edges.csv", "-o", "new.parquet")


def test_vectors_of_another_run_are_not_those_of_this_one(refused: Refused, two_runs: None) -> None:
    shutil.copy("other/embeddings.parquet", "run/embeddings.parquet")
    assert "[damaged-run]" in refused("neighbors", "run", "--node", "n1")


@pytest.mark.parametrize("facts", [{"format": "other"}, {"version": 99}, {"version": 0}, {"format": []}])
def test_runs_of_a_later_version_are_not_guessed_at(refused: Refused, two_runs: None, facts: dict[str, object]) -> None:
    about = Path("run/environment.json")
    about.write_text(json.dumps(json.loads(about.read_text()) | facts))
    assert "[damaged-run]" in refused("neighbors", "run", "--node", "n1")


def test_runs_of_earlier_versions_have_no_sums(nodewise: Nodewise, two_runs: None) -> None:
    sums = json.loads(Path("run/environment.json").read_text())["sums"]
    assert sorted(sums) == ["config.toml", "embeddings.parquet", "weights.safetensors"]
    of_an_earlier_version(Path("run"))
    assert nodewise("transform", "run", "edges.csv", "-o", "new.parquet", "-q").code == 0
