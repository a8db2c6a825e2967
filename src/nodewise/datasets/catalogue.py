"""The named data sets: Cora, Citeseer and Pubmed with their public splits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt
from nodewise.core.progress import Progress
from nodewise.core.suggest import did_you_mean
from nodewise.datasets import bundled
from nodewise.datasets.planetoid import planetoid_graph
from nodewise.datasets.planetoid_files import absent_files, fetch_files, find_folder, read_files
from nodewise.graph.graph import Graph

DATASETS = ("cora", "citeseer", "pubmed")


def load_dataset(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
) -> Graph:
    """Return a data set, its features scaled so that each row sums to one.

    The Planetoid files are looked for in `data_dir`, the folder NODEWISE_DATA and the user's cache. Without
    them Citeseer comes from the package itself and the others are downloaded into the cache. Every file's
    SHA-256 sum is verified.
    """
    known = name.strip().lower()
    if known not in DATASETS:
        raise InputError(f"unknown data set {excerpt(name)}{did_you_mean(name[:100], DATASETS)}")
    folder = find_folder(known, _named_folders(data_dir))
    if folder is None:
        folder = cache_folder()
        if known == "citeseer" and absent_files(known, folder):
            return bundled.load_citeseer()
        fetch_files(known, folder, progress=progress)
    return planetoid_graph(known, read_files(known, folder))


def cache_folder() -> Path:
    """Return where downloads are kept: nodewise/planetoid in XDG_CACHE_HOME, by default ~/.cache."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "nodewise" / "planetoid"


def _named_folders(data_dir: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield the folders that the user named; one that does not exist is surely a slip."""
    for origin, named in (("--data-dir", data_dir), ("NODEWISE_DATA", os.environ.get("NODEWISE_DATA"))):
        if named:
            folder = Path(named).expanduser()
            if not folder.is_dir():
                raise InputError(f"{folder} is not a folder; {origin} must name one with the Planetoid files")
            yield folder
