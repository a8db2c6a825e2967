"""Text files, compressed or not, as blocks of whole lines whose numbers are known."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt

BLOCK = 1 << 22
"""Bytes read at once; also the longest line accepted, so that no file can ask for unbounded memory."""

UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading from `open_binary` may raise."""

_COMPRESSED: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_UTF8_MARK = b"\xef\xbb\xbf"
# That of UTF-32 begins like one of UTF-16.
_OTHER_MARKS = {b"\xff\xfe\0\0": 32, b"\0\0\xfe\xff": 32, b"\xff\xfe": 16, b"\xfe\xff": 16}
_NO_TABLE = {(b"<!doctype html", b"<html"): "a web page (was the download refused?)", (b'{"', b"[{", b"[["): "JSON"}
_COMMENT = re.compile(rb"(?m)^[ \t]*[#%][^\n]*")
_SPACES_ONLY = re.compile(rb"(?m)^ +$")


class Block(NamedTuple):
    """Some whole lines of a file and the number, from 1, of the first of them."""

    first_line: int
    data: bytes


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed where its content is gzip, bzip2 or xz, whatever its name."""
    try:
        with path.open("rb") as stream:
            head = stream.read(8)
        if head.startswith(_ZSTANDARD):
            raise InputError(
                f"{path}: compressed with Zstandard; unpack it first (zstd -d), or use gzip, bzip2 or xz",
                code="unsupported-format",
            )
        unpacked = next((opener for magic, opener in _COMPRESSED.items() if head.startswith(magic)), None)
        opened: BinaryIO = path.open("rb") if unpacked is None else unpacked(path)
        return opened
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", code="unreadable-file") from error


def blocks(path: Path) -> Iterator[Block]:
    """Yield the file in blocks of whole lines; refuse what is not text or has a line too long to be a row.

    Windows line ends become plain ones and a UTF-8 byte order mark is left out.
    """
    line, rest = 1, b""
    with open_binary(path) as stream:
        while True:
            try:
                chunk = stream.read(BLOCK)
            except UNREADABLE as error:
                raise InputError(
                    f"{path}: damaged or truncated compressed file: {error}; make it again", code="damaged-file"
                ) from error
            if not chunk:
                break
            if line == 1 and not rest:
                chunk = _without_mark(path, chunk)
            _refuse_binary(path, chunk, line)
            data = rest + chunk
            cut = data.rfind(b"\n") + 1
            if cut:
                yield _block(path, line, data[:cut])
                line += data.count(b"\n", 0, cut)
            rest = data[cut:]
            if len(rest) > BLOCK:
                raise InputError(
                    f"{path}, line {line}: longer than {BLOCK:,} characters, beginning {excerpt(rest)}; "
                    "put every row on its own line, or use Parquet or npz"
                )
    if rest:
        yield _block(path, line, rest)


def without_comments(data: bytes) -> tuple[bytes, int]:
    """Return the data with comment lines (# or %) and lines of spaces blank, and the number of comments."""
    comments = 0
    if b"#" in data or b"%" in data:
        data, comments = _COMMENT.subn(b"", data)
    if b"\n " in data or data.startswith(b" "):
        data = _SPACES_ONLY.sub(b"", data)
    return data, comments


def _block(path: Path, line: int, data: bytes) -> Block:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if (bare := data.removesuffix(b"\r").find(b"\r")) >= 0:
            line += data.count(b"\n", 0, bare)
            raise InputError(
                f"{path}, line {line}: a carriage return within the line, so this is not text, or text with "
                "old line ends; save it as UTF-8 with line feeds",
                code="not-text",
            )
        data = data.removesuffix(b"\r")
    return Block(line, data)


def _without_mark(path: Path, chunk: bytes) -> bytes:
    bits = next((bits for mark, bits in _OTHER_MARKS.items() if chunk.startswith(mark)), None)
    if bits is not None:
        raise InputError(f"{path}: the text is encoded as UTF-{bits}; save it as UTF-8", code="not-text")
    chunk = chunk.removeprefix(_UTF8_MARK)
    head = chunk[:4096].lstrip().lower()
    for marks, what in _NO_TABLE.items():
        if head.startswith(marks):
            raise InputError(f"{path}: {what}, not a table; give csv, tsv or txt", code="not-text")
    return chunk


def _refuse_binary(path: Path, chunk: bytes, line: int) -> None:
    if b"\0" in chunk:
        line += chunk.count(b"\n", 0, chunk.index(b"\0"))
        raise InputError(
            f"{path}, line {line}: a zero byte, so this is not a text file "
            "(a binary file, or text encoded as UTF-16 or UTF-32); give csv, tsv or txt in UTF-8",
            code="not-text",
        )
