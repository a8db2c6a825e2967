"""What a command line run by a test gives, and settings that make it quick."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodewise as package


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Nodewise = Callable[..., Outcome]

SMALL = (
    *("--set", "training.steps=2"),
    *("--set", "training.batch_size=16"),
    *("--set", "encoder.dimension=16"),
)


def of_an_earlier_version(run: Path) -> None:
    """Let a run forget the sums of its files, which earlier versions did not write down: they may be edited then."""
    about = run / "environment.json"
    facts = json.loads(about.read_text())
    facts.pop("sums", None)
    about.write_text(json.dumps(facts))


def python(*arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), **options.pop("env", {})}
    command = [sys.executable, "-m", "nodewise", *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, text=True, env=environment, timeout=120, check=False, **options)
