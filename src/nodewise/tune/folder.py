"""The folder of a search: whose it is, and the best settings found in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, content_of, json_object, locked_append, write_all
from nodewise.core.lock import LOCK, FolderLock

if TYPE_CHECKING:
    from nodewise.methods.settings import Settings

CHOSEN_BY = {
    "validation": "validation accuracy (mvgrl probe)",
    "crossval": "accuracy over redrawn training sets among training and validation nodes (mvgrl probe)",
    "links": "AUC of the graph's own edges",
}
"""The objectives, in words."""

_IDENTITY = "search.json"
CONTENT = "content"
"""The key of a number for all that the graph holds; searches of before it was kept have none."""
_OF_GRAPH = ("graph", "nodes", "edges")


@contextmanager
def claimed(folder: Path, identity: dict[str, Any]) -> Iterator[None]:
    """Make the folder this search's own, or find that it is; trials of different searches must not mix.

    While the block runs, no other process may enter one of the same folder.
    """
    path = folder / _IDENTITY
    earlier = begun_before(folder, identity)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder, what="this search")
    except OSError as error:
        raise _unfit(folder, error) from None
    with lock:
        if not earlier:
            with atomic_write(path) as temporary:
                temporary.write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")
        yield


def begun_before(folder: Path, identity: dict[str, Any]) -> bool:
    """Tell whether this very search was begun there before; refuse a folder that holds anything else."""
    path = folder / _IDENTITY
    try:
        if not folder.exists() or not {entry.name for entry in folder.iterdir()} - {LOCK}:
            return False
        found = path.is_file()
    except OSError as error:
        raise _unfit(folder, error) from None
    if not found:
        raise InputError(
            f"{folder}: holds files that are not a search's; name a new or empty folder", code="foreign-folder"
        )
    earlier = json_object(content_of(path), str(path))
    for name, value in identity.items():
        if name != CONTENT and earlier.get(name) != value:
            raise InputError(
                f"{folder}: holds a search with {name} {earlier.get(name)!r}, not {value!r}; name another folder",
                code="other-run" if name in _OF_GRAPH else "other-settings",
            )
    # Last: a split drawn with another seed leaves other labels to read.
    if CONTENT in identity and earlier.get(CONTENT, identity[CONTENT]) != identity[CONTENT]:
        raise InputError(
            f"{folder}: holds a search on other edges, features or labels; name another folder", code="other-run"
        )
    return True


def _unfit(folder: Path, error: OSError) -> InputError:
    return InputError(f"{folder}: cannot be the folder of a search: {error.strerror}", code="cannot-write")


def write_best(folder: Path, variant: str, graph: str, objective: str) -> dict[str, Any] | None:
    """Write a variant's best confirmed settings, and above them what chose them; None if none is confirmed yet."""
    tried, confirmed = _lines(folder, "trials", variant), _lines(folder, "confirmed", variant)
    if not (ranked := ranking(confirmed, variant)):
        return None
    score, settings = ranked[0]
    path = folder / f"best-{variant}.toml"
    header = (
        f"# The best settings of the {variant} variant for {graph}, found by 'nodewise tune'.\n"
        f"# Chosen by {CHOSEN_BY[objective]}: {score:.4f}, the mean over the tuning seed(s) {_seeds(confirmed)},\n"
        f"# among {len(confirmed)} confirmed of {len(tried)} trials, which had the tuning seed(s) {_seeds(tried)}.\n"
        "# Labels of test nodes were never read.\n"
    )
    with atomic_write(path) as temporary:
        temporary.write_text(header + config.to_toml(settings), encoding="utf-8")
    return {"file": str(path), "score": score, "trials": len(tried), "confirmed": len(confirmed)}


def _lines(folder: Path, stage: str, variant: str) -> list[dict[str, Any]]:
    """Return the lines in the order of trials, so that of equals the first wins however many processes there were."""
    found = [line for line in read_trials(folder, stage) if line["variant"] == variant]
    return sorted(found, key=lambda line: int(line["trial"]))


def _seeds(lines: list[dict[str, Any]]) -> str:
    seeds = lines[0]["seeds"]
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


_LOOKED_AT = ("training.steps", "embedding.propagation", "embedding.length")
"""What the outcomes of one trial differ in."""


def append_trial(folder: Path, stage: str, worker: int, line: dict[str, Any]) -> None:
    """Append a trial to a process's own file of a stage, `trials` or `confirmed`; then it is on the disk."""
    with locked_append(folder / f"{stage}-{worker}.jsonl") as (descriptor, _):
        write_all(descriptor, f"{json.dumps(line)}\n".encode())


def read_trials(folder: Path, stage: str) -> list[dict[str, Any]]:
    """Return the finished lines of a stage; one that a kill cut off is not, and its trial is run again."""
    lines = []
    for path in sorted(folder.glob(f"{stage}*.jsonl")):
        for number, text in enumerate(content_of(path).split(b"\n")[:-1], start=1):
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
    from nodewise.methods.settings import Settings  # takes a second, which `nodewise --help` need not wait

    ranked = []
    for line in lines:
        if line["variant"] != variant:
            continue
        base = config.from_mapping(Settings, line["settings"], "the search log")
        for outcome in line["outcomes"]:
            chosen = config.override(base, [f"{key}={json.dumps(outcome[key])}" for key in _LOOKED_AT])
            ranked.append((fmean(outcome["scores"]), chosen))
    return sorted(ranked, key=lambda pair: -pair[0])
