"""The log of a search: one line of JSON for every trial, in a file for every process that runs some.

A line that was cut off in mid-write is left out, and neither ends the search nor swallows the line after it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.methods.settings import Settings

_LOOKED_AT = ("training.steps", "embedding.propagation", "embedding.length")
"""What the outcomes of one trial differ in."""


def open_log(folder: Path, stage: str, worker: int) -> TextIO:
    """Open a process's own file of a stage, `trials` or `confirmed`, for more lines."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stage}-{worker}.jsonl"
    cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
    file = path.open("a", encoding="utf-8")
    if cut_off:
        file.write("\n")
    return file


def write_trial(file: TextIO, line: dict[str, Any]) -> None:
    """Append a trial at once, so that a process that is killed leaves it behind."""
    file.write(json.dumps(line) + "\n")
    file.flush()


def read_trials(folder: Path, stage: str) -> list[dict[str, Any]]:
    """Return the finished lines of a stage."""
    lines = []
    for path in sorted(folder.glob(f"{stage}*.jsonl")):
        for number, text in enumerate(path.read_bytes().split(b"\n"), start=1):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if not _is_trial(line):
                raise InputError(f"{path}, line {number}: not a trial of a search; remove the line")
            lines.append(line)
    return lines


def _is_trial(line: Any) -> bool:
    """Tell whether a line holds what one of ours does; its settings are checked when they are used."""
    kinds = {"variant": str, "trial": int, "seeds": list, "settings": dict, "outcomes": list}
    if not isinstance(line, dict) or not all(isinstance(line.get(name), kind) for name, kind in kinds.items()):
        return False
    if not line["seeds"] or not all(type(seed) is int for seed in line["seeds"]):
        return False
    return all(isinstance(outcome, dict) and _is_outcome(outcome) for outcome in line["outcomes"])


def _is_outcome(outcome: dict[str, Any]) -> bool:
    scores = outcome.get("scores")
    named = all(isinstance(outcome.get(key), int | float | str) for key in _LOOKED_AT)
    return named and isinstance(scores, list) and bool(scores) and all(type(score) is float for score in scores)


def ranking(lines: list[dict[str, Any]], variant: str) -> list[tuple[float, Settings]]:
    """Return every setting a variant tried with its mean score over the tuning seeds, best first."""
    ranked = []
    for line in lines:
        if line["variant"] != variant:
            continue
        base = config.from_mapping(Settings, line["settings"], "the search log")
        for outcome in line["outcomes"]:
            chosen = config.override(base, [f"{key}={json.dumps(outcome[key])}" for key in _LOOKED_AT])
            ranked.append((float(np.mean(outcome["scores"])), chosen))
    return sorted(ranked, key=lambda pair: -pair[0])
