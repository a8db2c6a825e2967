"""Four more graphs to develop on, of other kinds than citations: Amazon Photo, Cora-ML, BlogCatalog and Actor.

Each is one npz file with `edges` (2, E), `labels` (N,) and the features as the parts of a CSR matrix. The files are not
downloaded: their terms were not checked. They are looked for where the Planetoid files are, and their SHA-256 sums are
verified. There is no public split.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.progress import Progress
from nodewise.datasets.registry import cache_folder, dataset, named_folders
from nodewise.graph.graph import Graph

_SUMS = {
    # products bought together, with words of their reviews
    "amazon_photo": "401b043b2248d9d393494c341e6cad4e2892a2eea9aecd60e6d131330bb2c4dd",
    # papers on machine learning, with their words
    "cora_ml": "8090fc7eaa0d698f94aff0318c8087d8afb1592bd16b7d9f3d9c2078e425c7ce",
    # bloggers, their friends and their tags
    "blogcatalog": "7e1c3807f86596a6bda4caf37d0b06f806423702493061cd90e062448c3ac797",
    # actors on one page, with words of their own pages; edges say little about classes
    "actor": "dc2a25e37dc35b2d227958bcbe6c5fcc529a56a10b73e4edd2dde66b6c0feb7b",
}

PathLike = str | os.PathLike[str]


def _named(name: str) -> None:
    @dataset(name)
    def load(data_dir: PathLike | None = None, progress: Progress | None = None) -> Graph:
        return _load(name, data_dir)


for _stem in _SUMS:
    _named(_stem.replace("_", "-"))


def _load(name: str, data_dir: PathLike | None) -> Graph:
    stem = name.replace("-", "_")
    folders = [*named_folders(data_dir), cache_folder().parent / "suite"]
    places = [
        place / f"{stem}.npz" for folder in folders for place in (folder, folder / "suite", folder.parent / "suite")
    ]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(f"{name}: there is no {stem}.npz in {folders[0]}; name its folder with --data-dir")
    if hashlib.sha256(path.read_bytes()).hexdigest() != _SUMS[stem]:
        raise InputError(f"{path}: not the file that is meant: its SHA-256 sum is another")
    with np.load(path, allow_pickle=False) as file:
        parts: dict[str, Any] = dict(file)
    features = sp.csr_matrix(
        (parts["attr_data"], parts["attr_indices"], parts["attr_indptr"]), shape=tuple(parts["attr_shape"])
    )
    return Graph.from_edges(
        *parts["edges"], num_nodes=features.shape[0], features=features, labels=parts["labels"], name=name
    )
