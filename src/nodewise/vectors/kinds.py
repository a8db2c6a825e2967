"""Of which kind each node is, such as customer or product: it travels with the vectors, in memory and in files."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.messages import excerpt, listing

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

UNKNOWN = -1
_STORED = np.dtype("<i4")


@dataclass(frozen=True, eq=False)
class NodeKinds:
    """The kind of each node.

    Attributes:
        codes: int64 (N,), -1 where unknown.
        names: what the user calls each kind; ``names[codes[i]]``.
    """

    codes: npt.NDArray[np.int64]
    names: tuple[str | int, ...]

    @classmethod
    def of(cls, graph: Graph) -> NodeKinds | None:
        """Return the kinds of a graph's nodes; None where there is only one."""
        return None if graph.kinds is None else cls(graph.kinds, graph.kind_names)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> NodeKinds:
        """Return the kinds of some nodes; unknown where the row is negative."""
        return NodeKinds(np.where(rows < 0, UNKNOWN, self.codes[rows]).astype(np.int64), self.names)

    def renamed(self, names: tuple[str | int, ...]) -> NodeKinds:
        """Return the same kinds under the numbers that `names`, which has all of theirs, gives them."""
        places = np.array([*(names.index(name) for name in self.names), UNKNOWN])
        return NodeKinds(places[self.codes], names)

    def which(self, kind: str | int, source: str) -> npt.NDArray[np.bool_]:
        """Return which nodes are of a kind, bool (N,); `source` says in messages where the kinds are from."""
        known = [str(name) for name in self.names]
        if str(kind) not in known:
            raise InputError(
                f"kind {excerpt(kind)}: {source} has no such type{did_you_mean(str(kind), known)}",
                code="unknown-type",
            )
        return np.asarray(self.codes == known.index(str(kind)))

    def with_labels(self, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which nodes are of a kind that has labels, -1 being none; of an unknown kind may be one that has."""
        return np.asarray((self.codes == UNKNOWN) | np.isin(self.codes, np.unique(self.codes[labels >= 0])))

    def counted(self, rows: npt.NDArray[np.bool_]) -> str:
        """Say how many of some nodes are of each kind; nothing where there are none."""
        sizes = np.bincount(self.codes[rows], minlength=len(self.names)).tolist()
        return listing([f"{size:,} of type {excerpt(self.names[code])}" for code, size in enumerate(sizes) if size])

    def to_text(self) -> str:
        """Return it as a text for the metadata of a file: the names, and the codes packed."""
        packed = zlib.compress(self.codes.astype(_STORED).tobytes())
        return json.dumps({"names": self.names, "codes": b64encode(packed).decode()})

    @classmethod
    def from_text(cls, text: bytes, rows: int, source: str) -> NodeKinds:
        """Read what `to_text` wrote for so many nodes; it may be anybody's, so all of it is checked."""
        try:
            facts = json.loads(text)
            names = facts["names"]
            size = rows * _STORED.itemsize
            # One byte more than there should be is unpacked at most, whatever the file claims to hold.
            unpacked = zlib.decompressobj().decompress(b64decode(facts["codes"], validate=True), size + 1)
            codes = np.frombuffer(unpacked, _STORED).astype(np.int64)
            if not isinstance(names, list) or not all(type(name) in (str, int) for name in names):
                raise ValueError("its names are no names")
            if len(codes) != rows or (rows and not (codes.min() >= -1 and codes.max() < len(names))):
                raise ValueError("its numbers do not fit")
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            raise InputError(
                f"{source}: what it says about the kinds of nodes is damaged; write it again", code="damaged-file"
            ) from None
        return cls(codes, tuple(names))


def joined(first: NodeKinds | None, second: NodeKinds | None, sizes: tuple[int, int]) -> NodeKinds | None:
    """Return the kinds of two lots of nodes, one after the other; None where neither knows any."""
    if first is None and second is None:
        return None
    names = tuple(dict.fromkeys((*(first.names if first else ()), *(second.names if second else ()))))
    parts = [
        np.full(size, UNKNOWN) if each is None else each.renamed(names).codes
        for each, size in zip((first, second), sizes, strict=True)
    ]
    return NodeKinds(np.concatenate(parts).astype(np.int64), names)
