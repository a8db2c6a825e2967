"""Files that vanish, shrink or change between two looks at them: read or refused in one line, never a crash."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.fuzz import seeds

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.methods.settings import Settings
from nodewise.read.read import read_graph
from nodewise.vectors.embeddings import read_embeddings

Action = Callable[[Path], None]

READERS: dict[str, tuple[str, bytes, Callable[[Path], object]]] = {
    "text": ("e.csv", seeds.EDGES_CSV, read_graph),
    "text in error": ("e.csv", b"source,target,weight\na,b,1\nb,c,-1\n", read_graph),
    "gzip": ("e.csv.gz", seeds.gzipped(seeds.EDGES_CSV), read_graph),
    "parquet": ("e.parquet", seeds.edges_parquet()[0], read_graph),
    "npz": ("e.npz", seeds.edges_npz()[0], read_graph),
    "our npz": ("e.npz", seeds.graph_npz(), read_graph),
    "npy": ("e.npy", seeds.edges_npy()[0], read_graph),
    "graphml": ("e.graphml", seeds.GRAPHML, read_graph),
    "gml": ("e.gml", seeds.GML, read_graph),
    "vectors": ("v.parquet", seeds.vectors_parquet()[0], read_embeddings),
    "word2vec": ("v.vec", seeds.WORD2VEC, read_embeddings),
    "settings": ("config.toml", b'[sampling]\nstrategy = "adaptive"\n', lambda path: config.load_toml(Settings, path)),
    "facts of a run": ("environment.json", seeds.ENVIRONMENT, lambda path: RunFolder(path.parent).read_environment()),
}

ACTIONS: dict[str, Action] = {
    "vanishes": lambda path: path.unlink(missing_ok=True),
    "is emptied": lambda path: write(path, b""),
    "is cut in half": lambda path: os.truncate(path, path.stat().st_size // 2) if path.exists() else None,
    "becomes a folder": lambda path: become_folder(path),
    "becomes another file": lambda path: write(path, b"\xff\0 nonsense \x01"),
}


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def become_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


class _Watch:
    """Acts on a file just before its n-th opening, by whatever part of Python opens it."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.left, self.opened = 0, 0
        self.action: Action = lambda path: None

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self.path is not None and str(arguments[0]) == str(self.path):
            self.look()

    def look(self) -> None:
        assert self.path is not None
        path, self.path = self.path, None  # the action opens the file too
        self.opened += 1
        self.left -= 1
        if self.left == 0:
            self.action(path)
        self.path = path


WATCH = _Watch()
sys.addaudithook(WATCH)


@contextmanager
def before_opening(path: Path, number: int, action: Action, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Watch]:
    """Act before the n-th opening; Arrow's own openings, which Python does not see, are counted by hand."""

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if WATCH.path is not None:
                WATCH.look()
            return original(*arguments, **options)

        return call

    WATCH.path, WATCH.left, WATCH.opened, WATCH.action = path, number, 0, action
    with monkeypatch.context() as patched:
        for name in ("read_schema", "ParquetFile"):
            patched.setattr(pq, name, counted(getattr(pq, name)))
        try:
            yield WATCH
        finally:
            WATCH.path = None


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_changes_between_two_openings(
    reader: str, action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, content, read = READERS[reader]
    path = tmp_path / name
    refusals: list[str] = []
    number = 1
    while True:
        if path.is_dir():
            path.rmdir()
        path.write_bytes(content)
        with before_opening(path, number, ACTIONS[action], monkeypatch) as watch:
            try:
                read(path)
            except InputError as error:
                refusals.append(str(error))
        if watch.opened < number:
            break
        number += 1
    assert number > 1, "the file was never opened"
    assert refusals or (reader, action) == ("settings", "is emptied")  # no settings at all are the defaults
    assert all("\n" not in message and name in message for message in refusals)


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(seeds.EDGES_CSV)
    read_graph(path)
    path.chmod(0)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.name.startswith(("test_", "pytest-", "popen-")):  # pytest's own, which are private
            parent.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match=r"e\.csv.*Permission denied"):
            read_graph(path)
    finally:
        if root:
            os.seteuid(0)
