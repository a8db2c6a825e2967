"""The examples run from start to end as a user would run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
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
