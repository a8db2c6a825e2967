"""Everything that writes a file, on a small graph, and everything that reads one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodewise.core.folder import RunFolder
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.runs.labels import write_labels
from nodewise.vectors.embeddings import Embeddings

Writer = Callable[[Path], None]

_VECTORS = Embeddings(NodeIds.range(2000), np.random.default_rng(0).random((2000, 16), dtype=np.float32))
_GRAPH: Graph = block_model(300, num_classes=2, num_features=64)


def _save_model(path: Path) -> None:
    import torch

    model = NodeEmbedder(device="cpu")
    model.encoder_ = model.settings.encoder.build(64, torch.tensor([0]))
    model.num_features_, model.steps_, model.embeddings_ = 64, 1, _VECTORS
    model.preparation_, model.history_ = model.settings.features.fit(_GRAPH), [{"step": 0, "loss": 1.0}]
    model.save(path.parent)


WRITERS: dict[str, tuple[str, Writer]] = {
    "vectors as Parquet": ("v.parquet", _VECTORS.to_parquet),
    "vectors as npy": ("v.npy", _VECTORS.to_npy),
    "vectors as word2vec": ("v.vec", _VECTORS.to_word2vec),
    "a graph as npz": ("g.npz", _GRAPH.to_npz),
    "labels of a run": ("labels.parquet", lambda path: write_labels(_GRAPH, path)),
    "settings of a run": ("config.toml", lambda path: RunFolder(path.parent).write_config(Settings())),
    # More than a disk of the tests holds, wherever and by whatever command they run.
    "facts of a run": ("environment.json", lambda path: RunFolder(path.parent).write_environment(fact="long" * 250)),
    "a model": ("weights.safetensors", _save_model),
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> tuple[str, Writer]:
    """The name of a file and the function that writes it."""
    return WRITERS[request.param]
