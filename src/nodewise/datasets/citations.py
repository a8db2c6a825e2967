"""Cora, Citeseer and Pubmed with their public splits: papers, their words, and who cites whom.

Features are scaled so that each row sums to one. Without the Planetoid files Citeseer comes from the package itself and
the others are downloaded into the cache.
"""

from __future__ import annotations

import os

from nodewise.core.progress import Progress
from nodewise.datasets import bundled
from nodewise.datasets.planetoid import planetoid_graph
from nodewise.datasets.planetoid_files import absent_files, fetch_files, find_folder, read_files
from nodewise.datasets.registry import cache_folder, dataset, named_folders
from nodewise.graph.graph import Graph

PathLike = str | os.PathLike[str]


@dataset("cora")
def cora(data_dir: PathLike | None = None, progress: Progress | None = None) -> Graph:
    """Papers on machine learning in seven fields."""
    return _load("cora", data_dir, progress)


@dataset("citeseer")
def citeseer(data_dir: PathLike | None = None, progress: Progress | None = None) -> Graph:
    """Papers on computer science in six fields."""
    return _load("citeseer", data_dir, progress)


@dataset("pubmed")
def pubmed(data_dir: PathLike | None = None, progress: Progress | None = None) -> Graph:
    """Papers on three kinds of diabetes."""
    return _load("pubmed", data_dir, progress)


def _load(name: str, data_dir: PathLike | None, progress: Progress | None) -> Graph:
    folder = find_folder(name, named_folders(data_dir))
    if folder is None:
        folder = cache_folder()
        if name == "citeseer" and absent_files(name, folder):
            return bundled.load_citeseer()
        fetch_files(name, folder, progress=progress)
    return planetoid_graph(name, read_files(name, folder))
