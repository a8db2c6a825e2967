"""Tell what a file is, by its content before its name, and open it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ColumnFile
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints
from nodewise.read.parquet import ParquetColumns
from nodewise.read.text import UNREADABLE, open_binary
from nodewise.store.layout import is_store, unfinished

Format = Literal["text", "parquet", "npz", "npy", "graphml", "gml", "store"]

_MAGIC: dict[bytes, Format] = {b"PAR1": "parquet", b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"\x93NUMPY": "npy"}
_POINTER = b"version https://git-lfs.github.com/"
_ARROW = (b"ARROW1", b"FEA1")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".npy": "npy",
    ".graphml": "graphml",
    ".gml": "gml",
}


_WORDS = {"parquet": "Parquet", "graphml": "GraphML", "gml": "GML", "store": "a graph store"}


def format_of(path: Path) -> Format:
    """Return what a file is, or say why there is nothing to read."""
    if is_store(path):  # from here on, whatever is on the way to it is open to us
        return "store"
    if path.is_dir():
        if why := unfinished(path):
            raise InputError(f"{path}: {why}")
        raise InputError(f"{path}: is a folder; give a file", code="not-a-plain-file")
    if not path.exists():
        raise InputError(f"{path}: no such file; check the name", code="missing-file")
    if not path.is_file():
        raise InputError(
            f"{path}: not a plain file, and reading takes several passes; save it as one", code="not-a-plain-file"
        )
    with open_binary(path) as stream:
        try:
            head = stream.read(1024)
        except UNREADABLE as error:
            raise InputError(
                f"{path}: cannot be read ({error}); check or make it again", code="damaged-file"
            ) from error
    if not head:
        raise InputError(f"{path}: the file is empty", code="empty-file")
    if head.startswith(_POINTER):
        raise InputError(
            f"{path}: a pointer of git LFS, not the file itself; fetch it with 'git lfs pull'", code="damaged-file"
        )
    if (other := _unsupported(path, head)) is not None:
        raise InputError(f"{path}: {other}", code="unsupported-format")
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    name = re.sub(r"\.(gz|bz2|xz)$", "", path.name.lower())
    kind = next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), "text")
    if kind in ("parquet", "npz", "npy"):
        raise InputError(
            f"{path}: named like {kind} but its content is not; check how it was written", code="damaged-file"
        )
    if head.startswith(b"%%MatrixMarket"):
        raise InputError(
            f"{path}: a Matrix Market file; load it with scipy.io.mmread and use Graph.from_scipy",
            code="unsupported-format",
        )
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return "graphml" if kind == "text" and text.startswith((b"<?xml", b"<graphml")) else kind


def _unsupported(path: Path, head: bytes) -> str | None:
    """Say what a file of another program is, or an archive that holds no arrays as npz files do, and what to do."""
    save = "save the sheet as csv"
    if head.startswith(_OLD_OFFICE):
        return f"an Excel file (.xls); {save}"
    if head.startswith(_ARROW):
        return "an Arrow or Feather file; write it as Parquet"
    if b"<gexf" in head:
        return "a GEXF file; export the graph as GraphML"
    if not head.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        if path.suffix.lower() == ".npz":
            return None  # which whoever reads it can say better
        what = "an Excel file" if path.suffix.lower().startswith(".xls") else "a zip archive"
        raise InputError(
            f"{path}: {what} that is cut short or damaged; write it again as csv", code="damaged-file"
        ) from None
    if "[Content_Types].xml" in names:
        return f"an {'Excel' if any(name.startswith('xl/') for name in names) else 'Office'} file; {save}"
    if {"mimetype", "content.xml"} <= names:
        return f"an OpenDocument file; {save}"
    if names and not any(name.endswith(".npy") for name in names):
        return "a zip archive; unpack it, or compress its file with gzip, bzip2 or xz"
    return None


def refuse_options(path: Path, kind: Format, **options: Any) -> None:
    """Refuse what is said about the columns of text where a file has none, or names its own."""
    text_only = ("delimiter", "header")
    for name, value in options.items():
        if value is None or kind == "text" or (kind == "parquet" and name not in text_only):
            continue
        flag = "--no-header" if value is False else f"--{name}"
        why = f"is not text, so {flag} means nothing" if name in text_only else f"has no columns for {flag} to name"
        raise InputError(f"{path}: {_WORDS.get(kind, kind)} {why}; leave it out", code="usage")


def open_columns(
    path: Path,
    kind: Format,
    known: tuple[frozenset[str], ...],
    delimiter: str | None = None,
    header: bool | None = None,
    *,
    named: Iterable[str | None] = (),
    nodes: NodeIds | None = None,
) -> ColumnFile:
    """Open a file of columns; `known` are the names a first line would hold in its first places.

    `named` are columns by the names that the user gave. Where every row is to name one of some `nodes`, a first line
    that names none of them holds the names of columns.
    """
    if kind == "parquet":
        return ParquetColumns.open(path)
    hints = Hints(known, delimiter, header, [name for name in named if name is not None])
    file = TextColumns.open(path, hints)
    if header is None and nodes is not None and not file.has_names and not file.begins_with_one_of(nodes):
        return TextColumns.open(path, hints._replace(header=True))
    return file
