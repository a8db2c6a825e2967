"""Run folders that are damaged, planted or another's: a command refuses them in one line, or does not need the file.

In `make test` each is shown to the commands that have to refuse it; in `make fuzz` to all.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import SMALL, Nodewise
from tests.fuzz import seeds

from nodewise.cli.main import main
from nodewise.core.folder import RunFolder

NODES = 30
COMMANDS = {
    "evaluate": "evaluate run",
    "links": "evaluate run --task links",
    "report": "report run",
    "neighbors": "neighbors run --node n1",
    "transform": "transform run edges.csv -f people.csv -o new.parquet",
    "inspect": "inspect run",
}
READERS = {
    "config.toml": ("evaluate", "report", "transform"),
    "embeddings.parquet": ("evaluate", "links", "report", "neighbors"),
    "weights.safetensors": ("transform",),
    "metrics.jsonl": ("report",),
    "environment.json": ("evaluate", "links", "report", "neighbors", "transform"),
    "labels.parquet": ("evaluate",),
    "held_out_edges.parquet": ("links",),
    "features.json": ("transform",),
    "report.html": ("report",),
}
"""Which commands cannot do without a file, once it is there."""
ANY = ("evaluate", "links", "report", "neighbors", "transform")
Damage = Callable[[Path], object]
CASES: dict[str, tuple[str, Damage, tuple[str, ...]]] = {}
"""Name: the file, what is done to it, and who has to refuse it."""


def case(name: str, file: str, damage: Damage, refused_by: tuple[str, ...] | None = None) -> None:
    CASES[f"{file}: {name}"] = file, damage, READERS[file] if refused_by is None else refused_by


def bytes_of(content: bytes) -> Damage:
    return lambda path: path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def in_place(make: Callable[[Path], object]) -> Damage:
    def damage(path: Path) -> None:
        path.unlink(missing_ok=True)
        make(path)

    return damage


def of_another(path: Path) -> None:
    shutil.copyfile(path.parent.parent / "other" / path.name, path)


def altered(**changes: Any) -> Damage:
    """Change what a file of JSON says; names with two underscores lead into its objects."""

    def damage(path: Path) -> None:
        facts = json.loads(path.read_text())
        for name, value in changes.items():
            *way, last = name.split("__")
            place = facts
            for step in way:
                place = place[int(step) if step.isdigit() else step]
            place[last] = value
        path.write_text(json.dumps(facts))

    return damage


def vectors(rows: Any, ids: Any = None) -> Damage:
    names = [f"n{i}" for i in range(NODES)] if ids is None else ids
    return lambda path: path.write_bytes(seeds.parquet({"id": names, "embedding": list(map(list, rows))}))


HARMLESS_EMPTY = ("metrics.jsonl", "report.html")
for each in RunFolder.NAMES:
    case("empty", each, bytes_of(b""), () if each in HARMLESS_EMPTY else READERS[each][-1:])
    case("cut off", each, cut, () if each in (*HARMLESS_EMPTY, "config.toml") else None)
    case("a folder", each, in_place(Path.mkdir), ANY)
    case("a pipe", each, in_place(os.mkfifo), ANY)
    case("a link in a circle", each, in_place(lambda path: path.symlink_to(path.name)), ANY)
for each in ("config.toml", "embeddings.parquet", "weights.safetensors", "held_out_edges.parquet"):
    case("missing", each, Path.unlink, ANY if each == "config.toml" else None)
for each in ("weights.safetensors", "held_out_edges.parquet", "features.json"):
    case("of another run", each, of_another)
case("of another run", "embeddings.parquet", of_another, ("links", "neighbors"))
case("of another run", "labels.parquet", of_another)
case("another method's", "config.toml", bytes_of(b"[embedding]\nwalks = 3\nwindow = 4\n"))
case("a dimension of eight billion", "config.toml", bytes_of(b"[encoder]\ndimension = 8000000000\n"))
case("a rate that is no number", "config.toml", bytes_of(b"[training]\nlearning_rate = nan\n"))
case("a name with an escape", "config.toml", bytes_of(b'[encoder]\n"\\u001b[31m" = 1\n'))
case("code", "config.toml", bytes_of(b'[encoder]\nkind = "os:system"\n'), ("transform",))
case("not UTF-8", "config.toml", bytes_of(b"\xff\xfe"))
for name, value in {
    "method": 3,
    "seed": "zero",
    "graph": [],
    "embeddings": "all",
    "graph__name": 3,
    "graph__nodes": "many",
    "graph__edges": 1.5,
    "graph__features": None,
    "graph__sha256": [],
    "graph__feature_names": "age",
    "embeddings__nodes": 2**70,
    "embeddings__dimensions": "\x1b[31m",
}.items():
    case(f"{name} is {value!r}", "environment.json", altered(**{name: value}))
case("a seed beyond numbers", "environment.json", lambda path: path.write_text('{"seed": 1e400}'))
case("a list", "environment.json", bytes_of(b"[]"))
case("too deep", "environment.json", bytes_of(b"[" * 100_000))
case("an unknown method", "environment.json", altered(method="\x1b[2Jmagic"), ("evaluate", "report", "transform"))
case("code for a method", "environment.json", altered(method="os:system"), ("transform",))
case("a line that is a list", "metrics.jsonl", bytes_of(b"[1]\n"))
case("a line too deep", "metrics.jsonl", bytes_of(b"[" * 100_000 + b"\n"))
case("a line in another code", "metrics.jsonl", bytes_of(b"\xff\n"))
case("of the future", "features.json", altered(version=9))
case("no columns", "features.json", altered(columns=[]))
case("a column that is a number", "features.json", altered(columns=[3]))
case("a scale of words", "features.json", altered(columns__0__scale="wide"))
case("a column nobody has", "features.json", altered(columns__0__name="\x1b[31mheight"))
case("not a number", "embeddings.parquet", vectors(np.full((NODES, 4), np.nan)))
case("infinite", "embeddings.parquet", vectors(np.full((NODES, 4), np.inf)))
case("of unlike lengths", "embeddings.parquet", vectors([[1.0] * (1 + i % 2) for i in range(NODES)]))
case("of no length", "embeddings.parquet", vectors([[] for _ in range(NODES)]))
case("one node twice", "embeddings.parquet", vectors(np.ones((NODES, 4)), ["n1"] * NODES))
case("without ids", "embeddings.parquet", bytes_of(seeds.parquet({"x": [1.0, 2.0]})))
case("without rows", "embeddings.parquet", vectors([], []))
case("a pickle", "weights.safetensors", bytes_of(b"\x80\x04cos\nsystem\n(S'true'\ntR."))
case("a header of petabytes", "weights.safetensors", bytes_of((2**62).to_bytes(8, "little") + b"{}"))
case("one end only", "held_out_edges.parquet", bytes_of(seeds.parquet({"source": ["n1"]})))
case("classes of lists", "labels.parquet", bytes_of(seeds.parquet({"id": ["n1", "n2"], "label": [[1], [2]]})))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that has every file a run may have, and another run of other nodes and columns."""
    folder = tmp_path_factory.mktemp("hostile")
    draw = np.random.default_rng(0)

    def embed(run: str, prefix: str, column: str, dimension: int) -> None:
        ends = [(i, (i + step) % NODES) for i in range(NODES) for step in (1, 3, 7)]
        Path("edges.csv").write_text("".join(f"{prefix}{a},{prefix}{b}\n" for a, b in ends))
        rows = (f"{prefix}{i},{draw.integers(90)},{'xyz'[i % 3]},{'uv'[i % 2]}\n" for i in range(NODES))
        Path("people.csv").write_text(f"id,{column},city,label\n{''.join(rows)}")
        options = ["-f", "people.csv", "-l", "people.csv", "--hold-out-edges", "0.1", "--quiet", *SMALL]
        assert main(["embed", "edges.csv", "-o", run, *options, "--set", f"encoder.dimension={dimension}"]) == 0

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        embed("other", "m", "weight", 8)
        embed("run", "n", "age", 16)
    (folder / "run" / "report.html").write_text("<html></html>")
    assert {path.name for path in (folder / "run").iterdir()} == {*RunFolder.NAMES}
    return folder


def outcome_of(command: str, name: str, folder: Path, nodewise: Nodewise) -> tuple[int, str]:
    """Damage a copy of the run and show it to a command; after a refusal all is as it was."""
    file, damage, _ = CASES[name]
    shutil.copytree(folder / "run", folder / "whole")
    try:
        damage(folder / "run" / file)
        before = {path: path.read_bytes() for path in (folder / "run").iterdir() if path.is_file()}
        outcome = nodewise(*shlex.split(COMMANDS[command]))
        errors = [line for line in outcome.err.splitlines() if "error:" in line]
        assert outcome.code in (0, 2), outcome
        assert len(errors) == (outcome.code == 2), outcome.err
        assert outcome.code == 0 or (outcome.out, outcome.err.count("\n")) == ("", 1), outcome
        assert "Traceback" not in outcome.err
        assert "Warning:" not in outcome.err
        assert "\x1b" not in outcome.out + outcome.err
        assert all(path.read_bytes() == content for path, content in before.items() if path.name != "report.html")
        return outcome.code, outcome.err
    finally:
        shutil.rmtree(folder / "run")
        (folder / "whole").rename(folder / "run")
        (folder / "new.parquet").unlink(missing_ok=True)


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", [name for name, (_, _, refused_by) in CASES.items() if refused_by])
def test_refused(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, nodewise: Nodewise) -> None:
    monkeypatch.chdir(folder)
    codes = {command: outcome_of(command, name, folder, nodewise)[0] for command in CASES[name][2]}
    assert set(codes.values()) == {2}, codes


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", CASES)
def test_every_command(
    name: str, command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, nodewise: Nodewise
) -> None:
    monkeypatch.chdir(folder)
    outcome_of(command, name, folder, nodewise)
