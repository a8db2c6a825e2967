"""The examples run from start to end as a user would run them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("[0-9]*.py"))
QUICK = {"01_quickstart.py": ("--steps", "2"), "03_your_own_strategy.py": ("--steps", "2")}


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(path), *QUICK.get(path.name, ())]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


def test_the_template_of_a_strategy_passes_its_own_test(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(EXAMPLES[0].parent / "own_strategy", folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert ran.returncode == 0, ran.stdout
    body = (folder / "far_away.py").read_text(encoding="utf-8").partition("@nw.strategy")[2]
    assert len([line for line in body.splitlines() if line.strip()]) <= 10
