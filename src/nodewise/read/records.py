"""Rows of text that run over several lines, because a quoted value holds line breaks, as rows of one line each.

Comments, padding, names of columns and the place of a mistake are all matters of lines. So a line break within a quoted
value becomes a carriage return, which lines have nowhere else (`nodewise.read.text` refuses it), until the value is cut
out of its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nodewise.read import text
from nodewise.read.text import Block

BREAK = "\r"
"""What stands for a line break within a quoted value."""

# A comment, which may hold any quotes, or a quoted value: one that ends, or one whose end is not in sight. A quote
# within a value that does not begin with one means itself.
_PASSED = (
    rb"(?<![^\n])[ \t]*[#%%][^\n]*"
    rb'|(?<![^\n%(delimiters)s])[ \t]*"[^"]*+(?:""[^"]*+)*+(?:"(?=[ \t]*(?:[\n%(delimiters)s]|\Z))|(?P<open>\Z))'
)


def records(path: Path, delimiters: str) -> Iterator[Block]:
    """Yield the file in blocks of whole rows; `delimiters` are the characters of which one separates values."""
    rest = Block(1, b"")
    for block in text.blocks(path):
        whole, rest = _joined(Block(rest.first_line, rest.data + block.data) if rest.data else block, delimiters)
        if len(rest.data) > text.BLOCK:  # not the value of a table, but a quote that nobody closed, and reading says so
            whole, rest = Block(whole.first_line, whole.data + rest.data), Block(1, b"")
        if whole.data:
            yield whole
    if rest.data:
        yield rest


def numbered(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of a block, each with the number of the line where it begins."""
    number = block.first_line
    for row in block.data.removesuffix(b"\n").split(b"\n"):
        yield number, row
        number += 1 + row.count(BREAK.encode())


def filled(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the same without the rows that are empty."""
    return ((number, row) for number, row in numbered(block) if row)


def _joined(block: Block, delimiters: str) -> tuple[Block, Block]:
    """Return the rows that are whole, and the last one if its end is still to come."""
    data = block.data
    if not _runs_over_lines(data):
        return block, Block(1, b"")
    cut = len(data)

    def in_one_line(match: re.Match[bytes]) -> bytes:
        nonlocal cut
        if match["open"] is not None:
            cut = match.start()
            return match[0]
        return match[0].replace(b"\n", BREAK.encode())

    joined = re.sub(_PASSED % {b"delimiters": re.escape(delimiters.encode())}, in_one_line, data)
    if cut < len(data):  # the row may have begun lines before its open value; no byte has moved
        cut = joined.rfind(b"\n", 0, cut) + 1
    return Block(block.first_line, joined[:cut]), Block(block.first_line + data.count(b"\n", 0, cut), data[cut:])


def _runs_over_lines(data: bytes) -> bool:
    """Tell whether some value may: whether at the end of some line the number of quotes so far is odd."""
    if b'"' not in data:
        return False
    each = np.frombuffer(data, np.uint8)
    quotes = np.cumsum(each == ord('"'), dtype=np.uint8)  # that it starts again after 255 leaves odd numbers odd
    return bool((quotes[each == ord("\n")] & 1).any())
