"""The file formats of embeddings: ids and a float32 matrix (N, d), out and back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, for_arrow
from nodewise.core.messages import excerpt, first_line, listing
from nodewise.core.version import __version__
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES, ColumnFile
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints
from nodewise.read.keys import named_id_column, row_numbers
from nodewise.read.npz import load_npy
from nodewise.read.parquet import ParquetColumns
from nodewise.vectors.kinds import NodeKinds

Vectors = npt.NDArray[Any]
Reader = Callable[[Path], tuple[NodeIds, Vectors]]
_IDS_OF = "ids of"
"""What the metadata of a file of ids call the npy file that it belongs to."""
_ROWS_AT_ONCE = 1 << 16
_ROWS_IN_A_BATCH = 1 << 13
_KINDS, _MARK = "nodewise.kinds", "nodewise.mark"


def write_parquet(
    path: Path, ids: NodeIds, vectors: Vectors, kinds: NodeKinds | None = None, mark: str | None = None
) -> None:
    """Write the columns `id` and `embedding`; the metadata have the version that wrote them, the kinds and the mark.

    Kinds are no column, since every reader of vectors, earlier versions too, takes each column beside `id` for numbers.
    """
    about = {"nodewise": __version__} | ({} if kinds is None else {_KINDS: kinds.to_text()})
    about |= {} if mark is None else {_MARK: mark}
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    table = pa.table({"id": ids.to_arrow(), "embedding": rows}, metadata=about)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, row_group_size=_ROWS_AT_ONCE, compression="zstd", use_dictionary=False)


def read_parquet(path: Path) -> tuple[NodeIds, Vectors]:
    """Read a column of ids beside a column of lists, or beside one numeric column per dimension."""
    return _from_columns(ParquetColumns.open(path))


def read_parquet_about(path: Path, rows: int) -> tuple[NodeKinds | None, str | None]:
    """Read of which kind each node is, and the mark of the model; None for what the file does not say."""
    about = ParquetColumns.open(path).schema.metadata or {}
    text, mark = about.get(_KINDS.encode()), about.get(_MARK.encode())
    kinds = None if text is None else NodeKinds.from_text(text, rows, str(path))
    return kinds, None if mark is None else mark.decode(errors="replace")


def read_parquet_ids(path: Path) -> NodeIds:
    """Read the ids alone."""
    file = ParquetColumns.open(path)
    return NodeIds(file.settle(file.read([_id_column(file)]).keys)[0], str(path), file.place)


def read_parquet_rows(path: Path, rows: npt.NDArray[np.int64]) -> Vectors:
    """Read the vectors of some rows, in increasing order, and never hold those of all."""
    file = ParquetColumns.open(path)
    key = _id_column(file)
    numbers = [column for column in range(len(file.names)) if column not in (key, *row_numbers(file))]
    parts, start = [], 0
    for columns in file.batches([], numbers, _ROWS_IN_A_BATCH):
        end = start + len(columns.numbers)
        low, high = np.searchsorted(rows, (start, end))
        parts.append(columns.numbers[rows[low:high] - start])
        start = end
    return np.concatenate(parts)


def read_text(path: Path) -> tuple[NodeIds, Vectors]:
    """Read delimited text with a column of ids and one numeric column per dimension."""
    return _from_columns(TextColumns.open(path, Hints((ID_NAMES,))))


def write_npy(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write the matrix, and the ids beside it; both are whole before either takes its name."""
    refuse_foreign_ids(path)
    with atomic_write(ids_beside(path)) as ids_temporary, atomic_write(path) as temporary:
        table = pa.table({"id": ids.to_arrow()}, metadata={"nodewise": __version__, _IDS_OF: path.name})
        pq.write_table(table, ids_temporary)
        with temporary.open("wb") as stream:
            np.lib.format.write_array(stream, vectors, allow_pickle=False)


def read_npy(path: Path) -> tuple[NodeIds, Vectors]:
    """Read the matrix, and the ids beside it where there are any; else they are the row numbers."""
    vectors = load_npy(path)
    if vectors.dtype.kind not in "fiu":
        raise InputError(f"{path}: holds {vectors.dtype} values; embeddings are numbers")
    beside = ids_beside(path)
    if not beside.is_file():
        return NodeIds.range(len(np.atleast_1d(vectors))), vectors
    file = ParquetColumns.open(beside)
    return NodeIds(file.read([_id_column(file)]).keys[0], str(beside)), vectors


def write_word2vec(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write text with nine digits per number, which is what a float32 needs to come back the same."""
    line = "%s" + " %.9g" * vectors.shape[1] + "\n"
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{len(ids)} {vectors.shape[1]}\n")
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            block = ids.to_arrow()[start : start + _ROWS_AT_ONCE].to_pylist()
            for node, vector in zip(block, vectors[start : start + _ROWS_AT_ONCE].tolist(), strict=True):
                if isinstance(node, str) and re.search(r"\s", node):
                    raise InputError(
                        f"cannot write {path}: id {excerpt(node)} contains white space, which "
                        "word2vec text cannot hold; write Parquet instead",
                        code="cannot-write",
                    )
                stream.write(line % (node, *vector))


def write_csv(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write a column `id` and one per dimension, `v0`, `v1` and so on, which Gephi and spreadsheets read."""
    import pyarrow.csv as pa_csv

    columns = {"id": ids.to_arrow()} | {f"v{i}": vectors[:, i] for i in range(vectors.shape[1])}
    with atomic_write(path) as temporary:
        pa_csv.write_csv(pa.table(columns), temporary)


def write_neo4j(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write the columns `id:ID` and `embedding:float[]`, numbers separated by semicolons, as neo4j-admin imports it."""
    import csv

    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id:ID", "embedding:float[]"])
        for node, vector in zip(ids, vectors, strict=True):
            rows.writerow([node, ";".join(f"{value:.9g}" for value in vector)])


def write_arrow(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write the columns `id` and `embedding` as an Arrow (Feather) file."""
    import pyarrow.feather as feather

    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    with atomic_write(path) as temporary:
        feather.write_feather(pa.table({"id": ids.to_arrow(), "embedding": rows}), str(temporary))


def read_arrow(path: Path) -> tuple[NodeIds, Vectors]:
    """Read what `write_arrow` wrote."""
    import pyarrow.feather as feather

    try:
        table = feather.read_table(str(for_arrow(path)))
        flat = table["embedding"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return NodeIds(table["id"], str(path)), flat.reshape(table.num_rows, -1)
    except (pa.ArrowException, OSError, KeyError, AttributeError, ValueError) as error:
        raise InputError(f"{path}: not vectors in an Arrow file ({first_line(error)}); write it again") from None


def write_safetensors(path: Path, ids: NodeIds, vectors: Vectors) -> None:
    """Write the tensors `embeddings` (N, d) and `ids`: whole numbers, or as text the bytes of a JSON list."""
    from safetensors.numpy import save

    names = ids.to_arrow().to_pylist()
    kept = np.array(names, np.int64) if ids.kind == "integer" else np.frombuffer(json.dumps(names).encode(), np.uint8)
    with atomic_write(path) as temporary:  # not save_file: what it writes is private to its owner
        temporary.write_bytes(save({"embeddings": np.ascontiguousarray(vectors, np.float32), "ids": kept.copy()}))


def read_safetensors(path: Path) -> tuple[NodeIds, Vectors]:
    """Read what `write_safetensors` wrote; without ids they are the row numbers."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(str(path))
        vectors, ids = tensors["embeddings"], tensors.get("ids")
        if ids is None:
            return NodeIds.range(len(vectors)), vectors
        return NodeIds(json.loads(ids.tobytes()) if ids.dtype == np.uint8 else ids, str(path)), vectors
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path}: holds no tensor 'embeddings' that can be read ({first_line(error)})") from None


def read_word2vec(path: Path) -> tuple[NodeIds, Vectors]:
    """Read word2vec text: ids that are all whole numbers come back as integers, others as strings."""
    nodes: list[str] = []
    rows: list[Vectors] = []
    try:
        with path.open(encoding="utf-8") as stream:
            header = stream.readline().split()
            if len(header) != 2 or not all(re.fullmatch("[0-9]{1,12}", size) for size in header):
                raise InputError(f"{path}, line 1: should hold two numbers, of rows and of dimensions")
            for number, line in enumerate(stream, start=2):
                values = line.split()
                if len(values) != int(header[1]) + 1:
                    raise InputError(f"{path}, line {number}: should hold an id and {header[1]} numbers")
                nodes.append(values[0])
                rows.append(_floats(values[1:], f"{path}, line {number}"))
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; embeddings in text are expected") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", code="unreadable-file") from error
    if len(nodes) != int(header[0]) or not nodes:
        raise InputError(f"{path}: line 1 announces {header[0]} rows, but {len(nodes)} follow; is it truncated?")
    whole = all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", node, re.ASCII) for node in nodes)
    return NodeIds([int(node) for node in nodes] if whole else nodes, str(path)), np.stack(rows)


def _floats(values: list[str], place: str) -> Vectors:
    try:
        with np.errstate(over="ignore"):  # becomes infinite, which `Embeddings` refuses
            return np.array(values, np.float32)
    except ValueError as error:
        raise InputError(f"{place}: a value is not a number ({first_line(error)})") from error


def _from_columns(file: ColumnFile) -> tuple[NodeIds, Vectors]:
    key = _id_column(file)
    numbers = [column for column in range(len(file.names)) if column not in (key, *row_numbers(file))]
    if not numbers:
        raise InputError(f"{file.path}: holds nothing but ids; a vector for each is needed")
    columns = file.read([key], numbers)
    return NodeIds(file.settle(columns.keys)[0], str(file.path), file.place), columns.numbers


def _id_column(file: ColumnFile) -> int:
    key = named_id_column(file)
    if key is None:
        raise InputError(f"{file.path}: needs a column 'id', but has {listing(file.names)}")
    return key


def ids_beside(path: Path) -> Path:
    """Return where the ids of a matrix in an npy file are."""
    return path.with_suffix(".ids.parquet")


def refuse_foreign_ids(path: Path) -> None:
    """Refuse to write an npy file whose ids would replace a file that nobody named and we did not write for it."""
    beside = ids_beside(path)
    if os.path.lexists(beside) and not _are_ids_of(beside, path):
        raise InputError(
            f"{beside}: the ids of {path.name} would replace it, and it was not written for that; move it, or give "
            "the output another name",
            code="foreign-file",
        )


def _are_ids_of(beside: Path, path: Path) -> bool:
    try:
        file = ParquetColumns.open(beside)
        about = file.schema.metadata or {}
        if about:
            return bool(about.get(_IDS_OF.encode()) == path.name.encode())
        # Earlier versions left no mark: then it holds an id for every row of the matrix beside it, and nothing else.
        return (
            file.names == ("id",)
            and path.is_file()
            and file.num_rows == len(np.load(path, mmap_mode="r", allow_pickle=False))
        )
    except (InputError, OSError, ValueError, TypeError):
        return False


READERS: dict[str, Reader] = {
    ".parquet": read_parquet,
    ".npy": read_npy,
    ".csv": read_text,
    ".csv.gz": read_text,
    ".tsv": read_text,
    ".tsv.gz": read_text,
    ".vec": read_word2vec,
    ".txt": read_word2vec,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".safetensors": read_safetensors,
}

Writer = Callable[[Path, NodeIds, Vectors], None]
WRITERS: dict[str, Writer] = {
    ".parquet": write_parquet,
    ".csv": write_csv,
    ".npy": write_npy,
    ".vec": write_word2vec,
    ".txt": write_word2vec,
    ".arrow": write_arrow,
    ".feather": write_arrow,
    ".safetensors": write_safetensors,
}
