"""Every file of the corpus through the command line: exit 2, one line that names it, nothing run, nothing left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.corpus import Malformed, corpus

from nodewise.cli.main import main

CORPUS = corpus()
# Through a process of its own: what a crash of compiled code or a hang at exit would show only there.
SAMPLE = (
    "edges: a zero byte",
    "edges: npz with a pickle",
    "edges: parquet with a huge footer",
    "edges: graphml with an entity bomb",
    "settings: TOML nested 50,000 deep",
)


def test_there_are_enough_of_them() -> None:
    assert len(CORPUS) >= 150
    assert set(SAMPLE) < set(CORPUS)


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def check(case: Malformed, code: int, out: str, err: str) -> None:
    assert (code, out) == (2, ""), err
    assert err.startswith("nodewise: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert len(err) < 700
    assert case.fault in err
    assert all(character.isprintable() for character in err[:-1])


@pytest.mark.parametrize("name", CORPUS)
def test_refused_in_this_process(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CORPUS[name]
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NODEWISE_DEBUG", raising=False)
    before = snapshot(tmp_path)
    code = main(list(case.arguments))
    check(case, code, *capfd.readouterr())
    assert snapshot(tmp_path) == before


def run(case: Malformed, folder: Path) -> subprocess.CompletedProcess[str]:
    case.write(folder)
    environment = {name: value for name, value in os.environ.items() if name != "NODEWISE_DEBUG"}
    command = [sys.executable, "-m", "nodewise", *case.arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", SAMPLE)
def test_refused_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    done = run(CORPUS[name], tmp_path)
    check(CORPUS[name], done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CORPUS) - set(SAMPLE)))
def test_every_other_one_is_refused_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    case = CORPUS[name]
    done = run(case, tmp_path)
    check(case, done.returncode, done.stdout, done.stderr)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == set(case.files)
