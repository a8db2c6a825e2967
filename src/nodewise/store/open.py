"""Open a graph store: the graph's arrays are views of the files, read from the disk when they are touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import first_line
from nodewise.graph.directions import Faces
from nodewise.graph.edge_types import TypedEdges
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds, as_id_array, first_missing
from nodewise.graph.validate import check_contents
from nodewise.store.layout import IDS, PARTS, TABLE, Manifest, check_sizes, check_sums
from nodewise.tables.table import FittedTable


def open_store(folder: Path, *, verify: bool = False) -> Graph:
    """Return the graph of a store, whose arrays stay on the disk; `verify` reads all of it, and checks the sums.

    A store may be anybody's: whatever compiled code will trust, such as the range of indices, is checked every time.
    What takes more than the edges' ends is checked with the sums, since whoever alters a store can make these fit: that
    features are finite, edges there in both directions, and ids distinct.
    """
    manifest = Manifest.read(folder)
    (check_sums if verify else check_sizes)(folder, manifest)
    try:
        graph = Graph(
            indptr=_array(folder, manifest, "indptr"),
            indices=_array(folder, manifest, "indices"),
            features=_features(folder, manifest),
            ids=NodeIds.from_distinct(_read_ids(folder / IDS)),
            labels=_optional(folder, manifest, "labels"),
            class_names=manifest.class_names,
            kinds=_optional(folder, manifest, "kinds"),
            kind_names=manifest.kind_names,
            split=_split(folder, manifest),
            name=manifest.name,
            notes=manifest.notes,
            weights=_optional(folder, manifest, "weights"),
            bounds=_optional(folder, manifest, "bounds"),
            faces=_faces(folder, manifest),
            typed=_typed(folder, manifest),
            table=_table(folder, manifest),
        )
    except (ValueError, KeyError, TypeError, OverflowError, OSError, MemoryError, pa.ArrowException) as error:
        raise InputError(
            f"{folder}: a damaged store ({first_line(error)}); convert the graph again", code="damaged-store"
        ) from error
    if verify:
        check_contents(graph, str(folder))
    return graph


def map_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return the array of a file without reading it.

    Mapped copy-on-write: nothing ever reaches the file, and yet torch, which knows no read-only tensors, takes it.
    """
    if 0 in shape:
        return np.empty(shape, dtype)  # nothing can be mapped to an empty file
    return np.memmap(path, dtype, "c", shape=shape)


def _array(folder: Path, manifest: Manifest, name: str) -> npt.NDArray[Any]:
    entry = manifest.files[f"{name}.bin"]
    return map_array(folder / f"{name}.bin", np.dtype(entry.dtype), entry.shape)


def _optional(folder: Path, manifest: Manifest, name: str) -> npt.NDArray[Any] | None:
    return _array(folder, manifest, name) if f"{name}.bin" in manifest.files else None


def _faces(folder: Path, manifest: Manifest) -> Faces | None:
    arrays = [_optional(folder, manifest, f"faces_{name}") for name in Faces._fields]
    return None if arrays[0] is None or arrays[1] is None else Faces(arrays[0], arrays[1], *arrays[2:])


def _typed(folder: Path, manifest: Manifest) -> TypedEdges | None:
    if "typed_codes.bin" not in manifest.files:
        return None
    sources, targets, codes = (_array(folder, manifest, f"typed_{name}") for name in ("sources", "targets", "codes"))
    return TypedEdges(sources, targets, codes, manifest.edge_types, _optional(folder, manifest, "typed_weights"))


def _features(folder: Path, manifest: Manifest) -> Any:
    if "features_data.bin" in manifest.files:
        data, indices, indptr = (_array(folder, manifest, f"features_{part}") for part in ("data", "indices", "indptr"))
        if not len(data) == len(indices) == indptr[-1]:
            raise ValueError("its sparse features do not fit together")
        matrix = sp.csr_matrix((data, indices, indptr), shape=(manifest.nodes, manifest.features or 0))
        matrix.check_format(full_check=True)
        return matrix
    return None if manifest.features is None else _array(folder, manifest, "features")


def _table(folder: Path, manifest: Manifest) -> FittedTable | None:
    table = FittedTable.read(folder / TABLE) if TABLE in manifest.files else None
    if table is not None and len(table.names) != manifest.features:
        raise ValueError("its features are not those that its table makes")
    return table


def _split(folder: Path, manifest: Manifest) -> Split | None:
    if "split_train.bin" not in manifest.files:
        return None
    return Split(*(_array(folder, manifest, f"split_{part}") for part in PARTS))


def _read_ids(path: Path) -> Any:
    """Return the ids, in the file's own pages where Arrow can leave them there."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    table.validate(full=True)  # offsets that lead out of the file, text that is not UTF-8
    column = table["id"]
    ids = as_id_array(column.chunk(0) if column.num_chunks == 1 else column, path.name)
    if first_missing(ids) is not None:
        raise ValueError("a node has no id")
    return ids
