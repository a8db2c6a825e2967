"""Write a graph store: from a graph in memory, or from files in bounded memory."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.files import file_sum, refuse_inputs
from nodewise.core.messages import count
from nodewise.core.progress import Progress, SilentProgress, track
from nodewise.core.staging import Say, Staging, refuse_foreign, staged
from nodewise.core.version import __version__
from nodewise.graph.edge_types import names_of
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.graph.structural import num_structural
from nodewise.read.assemble import encode_kinds, feature_rows, join_labels, refuse_untouched
from nodewise.read.columns import SOURCE_NAMES, TARGET_NAMES
from nodewise.read.edge_columns import NamedColumns, plan_edges
from nodewise.read.feature_table import TableOptions
from nodewise.read.formats import format_of, open_columns, refuse_options
from nodewise.read.label_table import label_column_names, read_labels
from nodewise.read.read import read_graph
from nodewise.store.convert_edges import number_edges, sort_edges
from nodewise.store.convert_features import FEATURES, SPARSE_FEATURES, spill_features, write_features
from nodewise.store.convert_types import write_types
from nodewise.store.layout import (
    FORMAT,
    IDS,
    MANIFEST,
    PARTS,
    STORED,
    TABLE,
    VERSION,
    Manifest,
    StoredFile,
    check_sums,
    write_array,
)
from nodewise.tables.kinds import parse_overrides
from nodewise.tables.table import FittedTable

PathLike = str | os.PathLike[str]
MEMORY = 2 * 10**9
LEAST_MEMORY = 10**4
_WHAT = "this store"


@dataclass(frozen=True)
class Conversion:
    """What to convert, and how; the columns are those of `read_graph`.

    Attributes:
        path: the file of edges.
        features: the file of features, if there is one.
        labels: the file of labels, if there is one.
        memory: about how many bytes to hold beside the ids and labels, which grow with the nodes only.
        half: whether to keep dense features in half precision.
        columns: how the files are written, as keywords of `read_graph`.
    """

    path: Path
    features: Path | None = None
    labels: Path | None = None
    memory: int = MEMORY
    half: bool = False
    columns: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.memory < LEAST_MEMORY:
            raise InputError(f"{self.memory} bytes of memory are too few; allow at least {LEAST_MEMORY:,}")

    def column(self, name: str) -> Any:
        """Return one of the columns' keywords, None where it is not given."""
        return dict(self.columns).get(name)

    def edges_task(self) -> dict[str, Any]:
        """Return, by names to be told, what decides all of the work: the edges as they are now, and the options."""
        names = ("delimiter", "header", "source", "target", "weight_column", "unweighted", "directed")
        columns = [self.column(name) for name in (*names, "type_column", "edge_types")]
        version = f"nodewise {__version__}, store {VERSION}"
        return {"edges": _identity(self.path), "columns": columns, "--memory": self.memory, "version": version}

    def features_task(self) -> list[Any]:
        """Return what also decides the features, and by their ids the order of the nodes."""
        if self.features is None:
            return []
        shared = [self.column("label_column")] if self.labels == self.features else []
        told = [self.column("columns")] if self.column("columns") else []
        return [_identity(self.features), self.half, self.column("id_column"), shared, *told]


def write_store(graph: Graph, store: PathLike, *, half: bool = False, progress: Progress | None = None) -> Manifest:
    """Write a graph that is in memory; `half` keeps dense features in half precision."""
    target, progress = _target(store), progress or SilentProgress()
    # A graph in memory cannot be told from another, so work on it that was killed is never continued.
    with staged(target, {"version": VERSION, "unique": os.urandom(8).hex()}, _WHAT) as staging:
        arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights, "bounds": graph.bounds}
        arrays |= {"kinds": graph.kinds}
        arrays |= (
            {} if graph.faces is None else {f"faces_{name}": array for name, array in graph.faces._asdict().items()}
        )
        if graph.typed is not None:
            arrays |= {f"typed_{name}": each for name, each in graph.typed._asdict().items() if name != "names"}
        files = _write_arrays(staging, {name: array for name, array in arrays.items() if array is not None})
        if not graph.structural:
            files |= write_features(staging.path, graph.features, half, MEMORY, progress)
            files |= _write_table(staging, graph.table)
        files |= _write_labels(staging, graph.labels, graph.split)
        _write_ids(staging / IDS, graph.ids)
        facts = {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": len(graph.indices) // 2,
            "features": None if graph.structural else graph.num_features,
            "notes": graph.notes,
            "class_names": graph.class_names,
            "kind_names": graph.kind_names,
            "edge_types": () if graph.typed is None else graph.typed.names,
        }
        return _finish(staging, target, files, facts, progress)


def convert(
    task: Conversion, store: PathLike, progress: Progress | None = None, say: Say = lambda message: None
) -> Manifest:
    """Write the store of the graph that `read_graph` would read.

    An edge list in text or Parquet is converted in bounded memory and, after a kill, resumes where it was when
    called again in the same way; `say` is told so, and Ctrl-C is `Paused` once there is something to resume from. Other
    files are read as a whole, as their formats ask for, and so are those whose edges a metapath is to be made of. A
    store is checked by its sums first: the new one would vouch for what was altered.
    """
    refuse_inputs(Path(store), task.path, task.features, task.labels)
    kind = format_of(task.path)
    if kind == "store":
        check_sums(task.path, Manifest.read(task.path))
    if kind not in ("text", "parquet") or task.column("metapath") is not None:
        graph = read_graph(task.path, features=task.features, labels=task.labels, **dict(task.columns))
        return write_store(graph, store, half=task.half, progress=progress)
    refuse_options(task.path, kind, delimiter=task.column("delimiter"), header=task.column("header"))
    target, progress = _target(store), progress or SilentProgress()
    for given in (task.features, task.labels):
        if given is not None:
            format_of(given)  # a name that is wrong is better found before the edges are read than after
    later = {"features": task.features_task()}
    with staged(target, task.edges_task(), _WHAT, later=later, say=say) as staging:
        known = (SOURCE_NAMES, TARGET_NAMES)
        named = NamedColumns(*map(task.column, ("source", "target", "weight_column", "type_column")))
        file = open_columns(task.path, kind, known, task.column("delimiter"), task.column("header"), named=named)
        chosen = task.column("edge_types") is not None  # along a metapath, the graph was read as a whole
        plan = plan_edges(file, named, task.column("unweighted"), task.column("directed"), chosen)
        ids, batches, found, types = number_edges(file, plan, staging, task.memory, progress)
        types = types.chosen(task.path, names_of(task.column("edge_types")))
        # Before the edges are sorted, for features and labels are often wrong at first. What was done stays then, but
        # for a single batch of edges, which is soon read again.
        with staging.correctable() if batches > 1 else nullcontext():
            done = staging.step("features", lambda: _convert_features(task, ids, staging, progress))
            ids = _read_ids(staging / IDS)
            labeled = _convert_labels(task, ids, staging)
            _refuse_untouched(task, ids, staging, done)
        places = None if task.features is None else np.fromfile(staging / "places.bin", np.int64)
        files = done["files"] | labeled["files"]
        if types.names:
            typed = staging.step("types", lambda: write_types(staging, types, places, plan.weighted))
            files, found = files | typed["files"], (*found, *typed["notes"])
        directed = None
        for faces in (True, False) if plan.directed else (False,):
            adjacency = sort_edges(
                task.path, staging, batches, len(ids), places, task.memory, progress, plan.weighted, faces, types
            )
            directed = len(adjacency.indices) // 2 if faces else directed
            prefix = "faces_" if faces else ""
            for name in ("indptr", "indices", "weights"):
                if (array := getattr(adjacency, name)) is not None:
                    files[f"{prefix}{name}.bin"] = [array.dtype.str, list(array.shape)]
            if adjacency.weights is not None:
                files[f"{prefix}bounds.bin"] = ["<i4", [len(adjacency.weights)]]
        notes = (*found, *done["notes"], *labeled["notes"], *adjacency.notes(directed))
        facts = {
            "name": task.path.name.split(".")[0] or task.path.name,
            "nodes": len(ids),
            "edges": len(adjacency.indices) // 2,
            "features": done["width"],
            "notes": tuple(dict.fromkeys(notes)),  # a file may serve twice
            "class_names": labeled["class_names"],
            "kind_names": tuple(done.get("kind_names", ())),
            "edge_types": types.names,
        }
        return _finish(staging, target, files, facts, progress)


def _convert_features(task: Conversion, named: NodeIds, staging: Staging, progress: Progress) -> dict[str, Any]:
    """Write the nodes' ids, which are the features' if there are any, and then the features and each named id's row."""
    features = task.features
    if features is None:
        _write_ids(staging / IDS, named)
        number = num_structural(bool(task.column("directed")))
        note = f"no features: {number} structural ones are computed from the edges when needed"
        return {"files": {}, "notes": [note], "width": None}
    for name in (FEATURES, *SPARSE_FEATURES):
        staging.forget(name)  # what was refused before may have left some
    key, label = task.column("id_column"), task.column("label_column")
    aside = label_column_names(features, label, key, named) if task.labels == features else ()
    options = TableOptions(key, aside, parse_overrides(task.column("columns")))
    table = spill_features(features, named, staging.path, task.memory, progress, options)
    _write_arrays(staging, {"places": feature_rows(task.path, named, table)})
    _write_ids(staging / IDS, table.ids)
    files = write_features(staging.path, table.features, task.half, task.memory, progress)
    files |= _write_table(staging, table.table)
    kinds, kind_names = encode_kinds(table)
    files |= {} if kinds is None else _write_arrays(staging, {"kinds": kinds})
    pa.default_memory_pool().release_unused()  # hash tables of all ids
    only = len(table.ids) - len(named)
    extra = [f"{count(only, 'node')} only in {features.name} kept, without edges"] if only else []
    width = int(table.features.shape[1])
    return {"files": files, "notes": [*table.notes, *extra], "width": width, "kind_names": kind_names}


def _refuse_untouched(task: Conversion, ids: NodeIds, staging: Staging, done: dict[str, Any]) -> None:
    if "kinds.bin" in done["files"]:
        kinds = np.fromfile(staging / "kinds.bin", np.int64)
        touched = np.zeros(len(kinds), np.bool_)
        touched[np.fromfile(staging / "places.bin", np.int64)] = True
        refuse_untouched(task.path, ids, kinds, done["kind_names"], touched)


def _convert_labels(task: Conversion, ids: NodeIds, staging: Staging) -> dict[str, Any]:
    """Write the labels and the split, if there are any; no step of the journal, for it takes a moment only."""
    if task.labels is None:
        return {"files": {}, "notes": (), "class_names": ()}
    names = {"key_name": task.column("id_column"), "label_name": task.column("label_column")}
    table = read_labels(task.labels, ids, **names)
    labels, class_names, split, notes = join_labels(task.path, ids, table, bool(task.column("strict")))
    return {"files": _write_labels(staging, labels, split), "notes": notes, "class_names": class_names}


def _target(store: PathLike) -> Path:
    target = Path(os.path.realpath(store))
    refuse_foreign(target, MANIFEST, FORMAT, {MANIFEST, *STORED}.__contains__, "a graph store")
    return target


def _identity(file: Path) -> list[Any]:
    """Return what tells whether a file is still the same: where it is, how long, and when last written."""
    try:
        about = file.stat()
    except OSError:
        raise InputError(f"{file}: no such file; check the name", code="missing-file") from None
    return [str(file.resolve()), about.st_size, about.st_mtime_ns]


def _write_arrays(staging: Staging, arrays: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    files = {}
    for name, array in arrays.items():
        with (staging / f"{name}.bin").open("wb") as stream:
            write_array(stream, array)
        files[f"{name}.bin"] = [array.dtype.str, list(array.shape)]
    return files


def _write_labels(staging: Staging, labels: npt.NDArray[np.int64] | None, split: Split | None) -> dict[str, Any]:
    arrays: dict[str, npt.NDArray[Any]] = {} if labels is None else {"labels": labels}
    arrays |= {} if split is None else {f"split_{part}": getattr(split, part) for part in PARTS}
    return _write_arrays(staging, arrays)


def _write_table(staging: Staging, table: FittedTable | None) -> dict[str, Any]:
    """Write how the columns of a table became the features, if they did."""
    if table is None:
        return {}
    (staging / TABLE).write_text(table.to_json(), encoding="utf-8")
    return {TABLE: ["", []]}


def _write_ids(path: Path, ids: NodeIds) -> None:
    table = pa.table({"id": ids.to_arrow()})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _read_ids(path: Path) -> NodeIds:
    with pa.OSFile(str(path)) as source:
        return NodeIds.from_distinct(pa.ipc.open_file(source).read_all()["id"].combine_chunks())


def _finish(
    staging: Staging, target: Path, files: dict[str, Any], facts: dict[str, Any], progress: Progress
) -> Manifest:
    """Add up every file, write the manifest, and let the store take its name."""
    entries = {}
    for name in track([IDS, *files], "adding up", progress):
        dtype, shape = files.get(name, ("", ()))
        entries[name] = StoredFile((staging / name).stat().st_size, file_sum(staging / name), dtype, tuple(shape))
    manifest = Manifest(files=entries, **facts)
    manifest.write(staging.path)
    staging.finish(target, lambda name: name == MANIFEST or name in entries)
    return manifest
