"""One fuzz target a parser: what to feed it, and how it is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from tests.fuzz import seeds, strategies

from nodewise.comparison.run import read_comparison
from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.datasets import planetoid
from nodewise.datasets.planetoid_pickle import read_array, read_lists, read_matrix
from nodewise.graph.ids import NodeIds
from nodewise.graph.splits import parse_split
from nodewise.methods.node_embedder import _read_weights
from nodewise.methods.settings import Settings
from nodewise.read.feature_table import TableOptions, read_features
from nodewise.read.label_table import read_labels
from nodewise.read.npz import load_graph
from nodewise.read.read import read_graph
from nodewise.report.attributes import read_attributes
from nodewise.reproduce.provenance import Ledger
from nodewise.runs.clusters import name_clusters
from nodewise.runs.held_out import read_held_out
from nodewise.runs.neighbors import holds
from nodewise.runs.source import read_ids
from nodewise.runs.together import recorded_files
from nodewise.store.open import open_store
from nodewise.tables.kinds import format_overrides, parse_overrides
from nodewise.tables.table import FittedTable
from nodewise.tune.folder import claimed
from nodewise.vectors.embeddings import read_embeddings
from nodewise.vectors.shards import read_shards

NAMED = NodeIds(["a", "b", "c", "d"])
NUMBERED = NodeIds.range(4)
TABLED = NodeIds(seeds.COLUMNS["id"])


class Target(NamedTuple):
    """A reader, the name of the file it is given, and a strategy for that file's content."""

    file: str
    content: st.SearchStrategy[bytes]
    read: Callable[[Path], Any]


def _any(*kinds: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(*kinds, st.binary(max_size=64))


def _features(path: Path) -> None:
    read_features(path, NUMBERED if path.suffix in (".npy", ".npz") else NAMED)


def _mixed(path: Path) -> None:
    """Read a table, prepare its rows as new ones are, and tell what became of it."""
    found = read_features(path, TABLED)
    if found.table is not None:
        again = FittedTable.from_json(found.table.to_json(), str(path))
        read_features(path, TABLED, TableOptions(like=again))
        assert len(again.origins) == len(again.names) == found.features.shape[1]


def _like(path: Path) -> None:
    """Read the table of new nodes, prepared as an earlier one was."""
    like = FittedTable.from_json(seeds.fitted_table().decode(), "features.json")
    found = read_features(path, TABLED, TableOptions(like=like))
    assert found.features.shape[1] == len(like.names)


def _fitted(path: Path) -> None:
    """Prepare a table as a run says that it did."""
    table = FittedTable.read(path)
    assert table is not None
    (rows := path.with_name("rows.csv")).write_bytes(seeds.MIXED_CSV)
    table.describe(), table.notes("t"), table.missing_rows(2)
    found = read_features(rows, TABLED, TableOptions(like=table))
    assert found.features.shape[1] == len(table.names)


def _overrides(path: Path) -> None:
    given = parse_overrides(path.read_bytes().decode("utf-8", "surrogateescape"))
    assert parse_overrides(format_overrides(given)) == given
    (rows := path.with_name("rows.csv")).write_bytes(seeds.MIXED_CSV)
    read_features(rows, TABLED, TableOptions(overrides=given))


def _directed(path: Path) -> None:
    graph = read_graph(path, directed=True)
    assert graph.directed
    assert graph.num_edges > 0


def _weighed(path: Path) -> None:
    graph = read_graph(path, weight_column="3")
    assert graph.weights is None or bool(np.isfinite(graph.weights).all())


def _kinds(path: Path) -> None:
    """Read a graph whose nodes may be of several kinds, each with features of its own."""
    (edges := path.with_name("e.csv")).write_bytes(b"n0,n1\nn1,n2\nn2,n3\n")
    graph = read_graph(edges, features=path)
    assert graph.features.shape[0] == graph.num_nodes


def _frame(path: Path) -> None:
    """Read a table in memory as edges, as features and as labels: what one refuses another may read."""
    try:
        table = pq.read_table(path)
    except Exception:  # not what is tested here
        raise InputError("no table") from None
    refusals = []
    edges = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    frames: list[Any] = [table]
    with suppress(Exception):  # what Arrow cannot hand over, pandas will not either
        frames.append(table.to_pandas())
    for frame in frames:
        for given in ({"path": frame}, {"path": edges, "features": frame}, {"path": edges, "labels": frame}):
            try:
                read_graph(**given)
            except InputError as error:
                refusals.append(error)
    if len(refusals) == 3 * len(frames):
        raise refusals[0]


def _attributes(path: Path) -> None:
    columns, _ = read_attributes(path, TABLED)
    name_clusters(np.arange(len(TABLED)) % 3, None, (), columns)


def _condition(path: Path) -> None:
    (rows := path.with_name("rows.csv")).write_bytes(seeds.MIXED_CSV)
    columns = {column.name: column for column in read_attributes(rows, TABLED)[0]}
    holds(path.read_bytes().decode("utf-8", "surrogateescape"), columns, str(rows))


def _held_out(path: Path) -> None:
    edges = read_held_out(path.parent, NAMED)
    assert edges.shape[1] == 2
    assert edges.min(initial=0) >= 0


def _comparison(path: Path) -> None:
    found = read_comparison(path.parent)
    found.markdown(), found.page(), found.to_dict()


def _shards(path: Path) -> None:
    for name, content in seeds.shards().items():
        if name != path.name:
            path.with_name(name).write_bytes(content)
    read_shards(path.parent)


def _ids(path: Path) -> None:
    read_ids(path, NAMED)


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
        with np.errstate(over="ignore", invalid="ignore"):  # numbers at the end of float32 are numbers
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
    recorded_files(run.path)


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
    "arrow": ("v.arrow", _any(strategies.mutated([seeds.vectors_in(".arrow")]))),
    "safetensors": (
        "v.safetensors",
        _any(strategies.mutated([seeds.vectors_in(".safetensors")]), strategies.safetensors_files()),
    ),
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
    "table text": Target("t.csv", _any(strategies.mutated([seeds.MIXED_CSV]), strategies.mixed_tables()), _mixed),
    "table parquet": Target("t.parquet", _any(strategies.mutated(seeds.mixed_parquet())), _mixed),
    "table of new nodes": Target(
        "t.csv", _any(strategies.mutated([seeds.MIXED_CSV]), strategies.mixed_tables()), _like
    ),
    "table of kinds": Target("t.csv", _any(strategies.mutated([seeds.MIXED_CSV]), strategies.mixed_tables()), _kinds),
    "features.json": Target(
        "features.json",
        _any(strategies.mutated([seeds.fitted_table()]), strategies.altered_json(seeds.fitted_table())),
        _fitted,
    ),
    "columns option": Target("columns", _any(strategies.mutated(seeds.OVERRIDES), strategies.overrides()), _overrides),
    "directed edges": Target("e.csv", _any(strategies.mutated([seeds.DIRECTED_CSV]), strategies.tables()), _directed),
    "weighted edges": Target("e.csv", _any(strategies.mutated([seeds.DIRECTED_CSV]), strategies.tables()), _weighed),
    "frames": Target(
        "t.parquet",
        strategies.parquet_files() | st.sampled_from([*seeds.edges_parquet(), *seeds.mixed_parquet()]),
        _frame,
    ),
    "attributes text": Target(
        "t.csv", _any(strategies.mutated([seeds.MIXED_CSV]), strategies.mixed_tables()), _attributes
    ),
    "attributes parquet": Target("t.parquet", _any(strategies.mutated(seeds.mixed_parquet())), _attributes),
    "where option": Target("where", _any(strategies.mutated(seeds.CONDITIONS)), _condition),
    "held-out edges": Target(
        "held_out_edges.parquet", _any(strategies.mutated([seeds.HELD_OUT]), strategies.parquet_files()), _held_out
    ),
    "rows of compare": Target(
        "rows.jsonl", _any(strategies.mutated([seeds.ROWS]), strategies.altered_lines(seeds.ROWS)), _comparison
    ),
    "packed rows of compare": Target(
        "rows.jsonl.gz", _any(strategies.mutated([seeds.gzipped(seeds.ROWS)])), _comparison
    ),
    "rows of reproduce": Target(
        "rows.csv", _any(strategies.mutated([seeds.ledger()]), strategies.tables()), lambda path: Ledger(path).read()
    ),
    "list of shards": Target(
        "embeddings.json",
        _any(
            strategies.mutated([seeds.shards()["embeddings.json"]]),
            strategies.altered_json(seeds.shards()["embeddings.json"]),
        ),
        _shards,
    ),
    "file of ids": Target("i.csv", _any(strategies.mutated([seeds.LABELS_CSV]), strategies.tables()), _ids),
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
        "environment.json",
        _any(
            strategies.mutated([seeds.ENVIRONMENT]),
            strategies.altered_json(seeds.ENVIRONMENT),
            strategies.json_files(),
        ),
        _environment,
    ),
    "metrics.jsonl": Target(
        "metrics.jsonl", _any(strategies.mutated([seeds.METRICS]), strategies.json_files()), _metrics
    ),
    "search.json": Target(
        "search.json", _any(strategies.mutated([b'{"graph": "g", "nodes": 4}']), strategies.json_files()), _search
    ),
    "trials.jsonl": Target(
        "trials-0.jsonl",
        _any(
            strategies.mutated([seeds.TRIALS]),
            strategies.altered_lines(seeds.TRIALS),
            strategies.json_files().map(lambda text: text + b"\n"),  # a line without an end is not looked at
        ),
        _trials,
    ),
}
