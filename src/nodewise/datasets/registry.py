"""The named data sets: each registers a function that loads it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from nodewise.core.errors import InputError, require_type, seen
from nodewise.core.progress import Progress
from nodewise.core.registry import Registry, told_as_own
from nodewise.graph.graph import Graph

Loader = Callable[[str | os.PathLike[str] | None, Progress | None], Graph]

DATASETS: Registry[Loader] = Registry("data set", "nodewise.datasets")
_OWN_FAILED = "own-code-failed"
dataset = DATASETS.register
"""Decorates a function (data_dir, progress) -> Graph with the name of its data set."""


def load_dataset(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
) -> Graph:
    """Return a data set by name.

    Its files are looked for in `data_dir`, the folder NODEWISE_DATA and the user's cache, and their SHA-256 sums are
    verified.
    """
    require_type("the name of a data set", name, str, "text")
    known = name if DATASETS.is_own(name) else name.strip().lower()
    loader: object = DATASETS[known]
    if not callable(loader):
        raise InputError(f"data set {known} is no function that returns a graph, but {seen(loader)}", code=_OWN_FAILED)
    with told_as_own("data set", loader):
        graph = loader(data_dir, progress)
    if not isinstance(graph, Graph):
        raise InputError(f"data set {known} returned {seen(graph)}; return a nodewise.Graph", code=_OWN_FAILED)
    folder = {} if data_dir is None else {"data_dir": str(Path(data_dir).resolve())}
    object.__setattr__(graph, "origin", {"graph": known, **folder})
    return graph


def cache_folder() -> Path:
    """Return where downloads are kept: nodewise/planetoid in XDG_CACHE_HOME, by default ~/.cache."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "nodewise" / "planetoid"


def named_folders(data_dir: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield the folders that the user named; one that does not exist is surely a slip."""
    for origin, named in (("--data-dir", data_dir), ("NODEWISE_DATA", os.environ.get("NODEWISE_DATA"))):
        if named:
            folder = Path(named).expanduser()
            if not folder.is_dir():
                raise InputError(f"{folder} is not a folder; {origin} must name one with the files of data sets")
            yield folder
