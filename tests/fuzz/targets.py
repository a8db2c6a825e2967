"""One fuzz target a parser: what to feed it, and how it is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from hypothesis import strategies as st
from tests.fuzz import seeds, strategies

from nodewise.core import config
from nodewise.core.folder import RunFolder
from nodewise.datasets import planetoid
from nodewise.datasets.planetoid_pickle import read_array, read_lists, read_matrix
from nodewise.graph.ids import NodeIds
from nodewise.graph.splits import parse_split
from nodewise.methods.node_embedder import _read_weights
from nodewise.methods.settings import Settings
from nodewise.read.feature_table import read_features
from nodewise.read.label_table import read_labels
from nodewise.read.npz import load_graph
from nodewise.read.read import read_graph
from nodewise.store.open import open_store
from nodewise.tune.folder import claimed
from nodewise.vectors.embeddings import read_embeddings

NAMED = NodeIds(["a", "b", "c", "d"])
NUMBERED = NodeIds.range(4)


class Target(NamedTuple):
    """A reader, the name of the file it is given, and a strategy for that file's content."""

    file: str
    content: st.SearchStrategy[bytes]
    read: Callable[[Path], Any]


def _any(*kinds: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(*kinds, st.binary(max_size=64))


def _features(path: Path) -> None:
    read_features(path, NUMBERED if path.suffix in (".npy", ".npz") else NAMED)


def _labels(path: Path) -> None:
    table = read_labels(path, NUMBERED if path.suffix == ".npy" else NAMED)
    from nodewise.graph.labels import encode_labels

    encode_labels(table.classes, table.source)


def _graph(path: Path) -> None:
    graph = read_graph(path)
    assert graph.num_edges > 0
    assert len(graph.indices) == graph.indptr[-1]


def _store(path: Path) -> None:
    """Read the store whose files are packed in `path`; what damage makes of the packing is its manifest."""
    folder = path.parent / "g.store"
    folder.mkdir(exist_ok=True)
    for entry in folder.iterdir():
        entry.unlink()
    packed = path.read_bytes()
    try:
        files = {name: content.encode("latin1") for name, content in json.loads(packed).items()}
        # Signed again, or damage to the manifest would never be seen for the wrong checksum.
        files["manifest.json"] = seeds.signed(json.loads(files["manifest.json"]))
    except (ValueError, KeyError, AttributeError, RecursionError):
        files = seeds.store() | {"manifest.json": packed}
    for name, content in files.items():
        if name in seeds.store(True) or name in seeds.store(False):
            (folder / name).write_bytes(content)
    if (folder / "manifest.json").exists():
        graph = open_store(folder)
        # What would read out of bounds, were it let through.
        (graph.adjacency() @ graph.features).sum()
        graph.ids.to_list()


def _beside(path: Path) -> Path:
    """Return a run folder whose one odd file is `path`."""
    config_file = path.parent / "config.toml"
    if not config_file.exists():
        config_file.write_bytes(seeds.config()[2])
    return path.parent


def _environment(path: Path) -> None:
    run = RunFolder.open(_beside(path))
    run.read_environment()


def _metrics(path: Path) -> None:
    RunFolder.open(_beside(path)).read_metrics()


def _search(path: Path) -> None:
    with claimed(path.parent, {"graph": "g", "nodes": 4}):
        pass


def _trials(path: Path) -> None:
    from nodewise.tune.folder import ranking, read_trials

    ranking(read_trials(path.parent, "trials"), "full")


def _assignment(path: Path) -> None:
    config.override(Settings(), [path.read_bytes().decode("utf-8", "surrogateescape")])


def _planetoid(part: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        with mock.patch.object(planetoid, "NUM_VALIDATION", 1):  # the small set has six nodes, not thousands
            planetoid.planetoid_graph("fuzz", seeds.planetoid() | {part: path.read_bytes()})

    return read


def _pickle(path: Path) -> None:
    data = path.read_bytes()
    from nodewise.core.errors import InputError

    refusals = []
    for reader in (read_array, read_matrix, read_lists):
        try:
            reader(data, str(path))
        except InputError as error:
            refusals.append(error)
    if len(refusals) == 3:
        raise refusals[0]


_VECTORS = {
    "parquet": ("v.parquet", _any(strategies.mutated(seeds.vectors_parquet()), strategies.parquet_files())),
    "npy": ("v.npy", _any(strategies.mutated(seeds.features()["npy"]), strategies.npy_files())),
    "text": ("v.csv", _any(strategies.mutated([seeds.VECTORS_CSV]), strategies.tables())),
    "word2vec": ("v.vec", _any(strategies.mutated([seeds.WORD2VEC]), strategies.tables())),
}
_TABLES = {
    "text": strategies.tables(),
    "parquet": strategies.parquet_files(),
    "npy": strategies.npy_files(),
    "npz": strategies.npz_files(),
}
_ENDINGS = {"text": "csv"}

TARGETS: dict[str, Target] = {
    "edges text": Target("e.csv", _any(strategies.mutated(seeds.edges()), strategies.tables()), _graph),
    "edges parquet": Target(
        "e.parquet", _any(strategies.mutated(seeds.edges_parquet()), strategies.parquet_files()), _graph
    ),
    "edges npz": Target("e.npz", _any(strategies.mutated(seeds.edges_npz()), strategies.npz_files()), _graph),
    "edges npy": Target("e.npy", _any(strategies.mutated(seeds.edges_npy()), strategies.npy_files()), _graph),
    "graph npz": Target(
        "g.npz",
        _any(strategies.mutated([seeds.graph_npz(), seeds.graph_npz(False)]), strategies.own_npz_files()),
        load_graph,
    ),
    "store manifest": Target(
        "packed.json", strategies.stores([seeds.store(), seeds.store(False)], seeds.signed), _store
    ),
    "graphml": Target("e.graphml", _any(strategies.mutated([seeds.GRAPHML]), strategies.xml_files()), _graph),
    "gml": Target("e.gml", _any(strategies.mutated([seeds.GML]), strategies.gml_files()), _graph),
    **{
        f"features {kind}": Target(
            f"f.{_ENDINGS.get(kind, kind)}", _any(strategies.mutated(found), _TABLES[kind]), _features
        )
        for kind, found in seeds.features().items()
    },
    **{
        f"labels {kind}": Target(
            f"l.{_ENDINGS.get(kind, kind)}", _any(strategies.mutated(found), _TABLES[kind]), _labels
        )
        for kind, found in seeds.labels().items()
    },
    **{f"vectors {kind}": Target(file, content, read_embeddings) for kind, (file, content) in _VECTORS.items()},
    "planetoid pickle": Target("ind.fuzz.x", _any(strategies.mutated(list(seeds.planetoid().values()))), _pickle),
    **{
        f"planetoid {part}": Target(
            f"ind.fuzz.{part}", _any(strategies.mutated([seeds.planetoid()[part]])), _planetoid(part)
        )
        for part in ("allx", "ty", "graph", "test.index")
    },
    "config": Target(
        "config.toml",
        _any(strategies.mutated(seeds.config()), strategies.toml_files()),
        lambda path: config.load_toml(Settings, path),
    ),
    "set option": Target(
        "set", strategies.assignments().map(lambda text: text.encode("utf-8", "surrogatepass")), _assignment
    ),
    "split option": Target(
        "split",
        _any(strategies.mutated([b"random:20x500x1000", b"public"])),
        lambda path: parse_split(path.read_bytes().decode("utf-8", "replace")),
    ),
    "weights": Target(
        "weights.safetensors",
        _any(strategies.mutated([seeds.weights()]), strategies.safetensors_files()),
        _read_weights,
    ),
    "environment.json": Target(
        "environment.json", _any(strategies.mutated([seeds.ENVIRONMENT]), strategies.json_files()), _environment
    ),
    "metrics.jsonl": Target(
        "metrics.jsonl", _any(strategies.mutated([seeds.METRICS]), strategies.json_files()), _metrics
    ),
    "search.json": Target(
        "search.json", _any(strategies.mutated([b'{"graph": "g"}']), strategies.json_files()), _search
    ),
    "trials.jsonl": Target(
        "trials-0.jsonl", _any(strategies.mutated([seeds.TRIALS]), strategies.json_files()), _trials
    ),
}
