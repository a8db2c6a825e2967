"""The features of a store: streamed from their file into one array on the disk, never held as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.progress import Progress
from nodewise.graph.features import check_finite
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES, ColumnFile, Columns
from nodewise.read.feature_table import (
    NOTHING_SAID,
    Collected,
    FeatureTable,
    TableOptions,
    features_from_columns,
    read_features,
)
from nodewise.read.formats import format_of, open_columns
from nodewise.read.keys import ROW_ORDER, row_ids
from nodewise.store.layout import write_array
from nodewise.store.open import map_array

FEATURES = "features.bin"
SPARSE_FEATURES = tuple(f"features_{part}.bin" for part in ("data", "indices", "indptr"))
# Parquet is decoded by pages: of each column one is held, and its dictionary, of some megabyte as usually written.
_BYTES_A_COLUMN = 4 << 20
_BYTES_A_NUMBER = 64  # of a list while it is decoded: itself, its levels, copies, what the allocator keeps
_LEAST_ROWS, _MOST_ROWS = 64, 1 << 16
_HALF_MOST = float(np.finfo(np.float16).max)


class SpilledColumns:
    """A file of columns whose numbers are written to the disk while they are read, and mapped.

    Args:
        file: the file.
        spill: where to write the numbers.
        memory: about how many bytes to hold.
        progress: where to show how far reading is.
        columns: how many columns of numbers to read in one go over the file; all of them if not given.
    """

    def __init__(
        self, file: ColumnFile, spill: Path, memory: int, progress: Progress, columns: int | None = None
    ) -> None:
        self._spill, self._memory, self._progress, self._columns = spill, memory, progress, columns
        # All but what is read is the file's own.
        self.path, self.names, self.has_names, self.num_rows = file.path, file.names, file.has_names, file.num_rows
        self.beginning, self.is_numeric, self.batches = file.beginning, file.is_numeric, file.batches
        self.is_grouped, self.holds_lists = file.is_grouped, file.holds_lists
        self.settle, self.place = file.settle, file.place

    def read(self, keys: Sequence[int], numbers: Sequence[int] = (), gaps: bool = False) -> Columns:
        """Read the keys into memory, which grow with the nodes only, and the numbers into a mapped file.

        Features have no `gaps`: a table with some is prepared in another way.
        """
        at_once = self._columns or max(len(numbers), 1)
        turns = [numbers[start : start + at_once] for start in range(0, len(numbers), at_once)]
        if len(turns) <= 1:
            return self._read(keys, numbers, self._spill, "reading features")
        paths = [self._spill.with_suffix(f".{turn}") for turn in range(len(turns))]
        read = [
            self._read(() if turn else keys, some, paths[turn], f"reading features, {turn + 1} of {len(turns)}")
            for turn, some in enumerate(turns)
        ]
        numbers_read = self._join([part.numbers for part in read])
        for path in paths:
            path.unlink()
        return Columns(read[0].keys, numbers_read, read[0].notes)

    def _read(self, keys: Sequence[int], numbers: Sequence[int], spill: Path, stage: str) -> Columns:
        columns: list[list[Any]] = [[] for _ in keys]
        notes: tuple[str, ...] = ()
        rows = 0
        first = next(self.batches((), numbers, 1), None)  # for the width: a column may hold lists
        width = 0 if first is None else first.numbers.shape[1]
        with spill.open("wb") as stream, self._progress.stage(stage, self.num_rows) as bar:
            for batch in self.batches(keys, numbers, self._rows_of(width)):
                for kept, column in zip(columns, batch.keys, strict=True):
                    kept.extend(column.chunks)
                if batch.numbers.shape[1] != width:
                    raise InputError(f"{self.path}: lists of features differ in length; give every node equally many")
                write_array(stream, batch.numbers)
                rows, notes = rows + len(batch.numbers), batch.notes
                bar.advance(len(batch.numbers))
        if rows == 0:
            raise InputError(f"{self.path}: has columns but no rows; give every node a row", code="empty-file")
        pa.default_memory_pool().release_unused()
        joined = [pa.chunked_array(kept) for kept in columns]
        return Columns(joined, map_array(spill, np.float32, (rows, width)), notes)

    def _join(self, parts: list[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Write matrices side by side into one."""
        rows, width = len(parts[0]), sum(part.shape[1] for part in parts)
        if any(len(part) != rows for part in parts):
            raise InputError(f"{self.path}: changed while it was read; try again when nobody writes to it")
        at_once = self._rows_of(width)
        with self._spill.open("wb") as stream, self._progress.stage("joining features", rows) as bar:
            for start in range(0, rows, at_once):
                together = np.concatenate([part[start : start + at_once] for part in parts], axis=1)
                write_array(stream, together)
                bar.advance(len(together))
        return map_array(self._spill, np.float32, (rows, width))

    def _rows_of(self, width: int) -> int:
        """Return how many rows to hold at once."""
        return min(max(self._memory // (_BYTES_A_NUMBER * max(width, 1)), _LEAST_ROWS), _MOST_ROWS)


class SpilledRows(Collected):
    """Rows of prepared features, written to the disk as they come, and mapped."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._rows, self._width, self._stored = folder, 0, 0, 0
        self._sparse = False

    def add(self, matrix: Any) -> None:
        """Write some more rows."""
        first = self._rows == 0
        self._sparse, self._width = sp.issparse(matrix), matrix.shape[1]
        ends = matrix.indptr[0 if first else 1 :].astype(np.int64) + self._stored if self._sparse else None
        parts = {FEATURES: matrix}
        if ends is not None:
            indices = matrix.indices.astype(np.int32)
            parts = dict(zip(SPARSE_FEATURES, (matrix.data, indices, ends), strict=True))
        for name, array in parts.items():
            with (self._folder / name).open("wb" if first else "ab") as stream:
                write_array(stream, array)
        self._rows += matrix.shape[0]
        self._stored += matrix.nnz if self._sparse else 0

    def whole(self) -> Any:
        """Return all of them."""
        if not self._sparse:
            return map_array(self._folder / FEATURES, np.float32, (self._rows, self._width))
        (self._folder / FEATURES).unlink(missing_ok=True)  # numbers, from before it was known that not all are
        kinds, sizes = (np.float32, np.int32, np.int64), (self._stored, self._stored, self._rows + 1)
        data, indices, indptr = (
            map_array(self._folder / name, kind, (size,))
            for name, kind, size in zip(SPARSE_FEATURES, kinds, sizes, strict=True)
        )
        return sp.csr_matrix((data, indices, indptr), shape=(self._rows, self._width), copy=False)


def spill_features(
    path: Path, nodes: NodeIds, folder: Path, memory: int, progress: Progress, options: TableOptions = NOTHING_SAID
) -> FeatureTable:
    """Return the features of a file as `read_features` would, text, Parquet and npy by way of the disk."""
    kind = format_of(path)
    if kind in ("text", "parquet"):
        named = (options.key_name, *options.overrides)
        file = open_columns(path, kind, (ID_NAMES,), named=named, nodes=nodes)
        columns = max(memory // _BYTES_A_COLUMN, 1) if kind == "parquet" else None
        spilled = SpilledColumns(file, folder / FEATURES, memory, progress, columns)
        return features_from_columns(spilled, nodes, options, SpilledRows(folder))
    if kind == "npy" and (array := _mapped_npy(path)) is not None:
        write_dense(folder / FEATURES, array, memory, progress, np.float32)
        matrix = map_array(folder / FEATURES, np.float32, array.shape)
        check_finite(matrix, lambda row: f"{path}, row {row + 1}")
        return FeatureTable(str(path), row_ids(path, len(matrix), nodes), matrix, (f"{path.name}: {ROW_ORDER}",))
    return read_features(path, nodes, options)


def write_features(folder: Path, features: Any, half: bool, memory: int, progress: Progress) -> dict[str, Any]:
    """Write features, sparse as three arrays, dense in single or half precision; return each file's type and shape."""
    if sp.issparse(features):
        matrix: Any = features
        index = np.dtype(np.int32 if matrix.nnz < 2**31 else np.int64)
        parts = {"data": np.dtype(np.float32), "indices": index, "indptr": index}
        for part, kind in parts.items():
            rewritten = folder / f"features_{part}.new"  # it may be of the very file
            with rewritten.open("wb") as stream:
                write_array(stream, getattr(matrix, part).astype(kind, copy=False))
            rewritten.replace(folder / f"features_{part}.bin")
        shapes = {part: [len(getattr(matrix, part))] for part in parts}
        return {f"features_{part}.bin": [kind.str, shapes[part]] for part, kind in parts.items()}
    precision = np.dtype(np.float16 if half else np.float32)
    path = folder / FEATURES
    if half or not path.exists():  # else it was written while it was read
        rewritten = path.with_suffix(".new")
        write_dense(rewritten, features, memory, progress, precision)
        rewritten.replace(path)
    return {FEATURES: [precision.str, list(features.shape)]}


def write_dense(path: Path, matrix: npt.NDArray[Any], memory: int, progress: Progress, kind: Any) -> None:
    """Write a matrix some rows at a time; what half precision cannot hold is refused."""
    rows = max(memory // (16 * max(matrix.shape[1], 1)), 1)
    with path.open("wb") as stream, progress.stage("writing features", len(matrix)) as bar:
        for start in range(0, len(matrix), rows):
            part = matrix[start : start + rows]
            if kind == np.float16 and np.abs(part).max(initial=0) > _HALF_MOST:
                raise InputError(f"a feature is above {_HALF_MOST:g}, the most that half precision holds; drop --half")
            with np.errstate(over="ignore"):  # becomes infinite, which is refused
                write_array(stream, part.astype(kind))
            bar.advance(len(part))


def _mapped_npy(path: Path) -> npt.NDArray[Any] | None:
    """Return the matrix of an npy file, mapped; None where there is none, which `read_features` can explain."""
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # numpy's parser of headers can fail in any way at all
        return None
    return array if array.ndim == 2 and array.dtype.kind in "buif" and array.size else None
