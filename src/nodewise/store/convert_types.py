"""Types of edges while their file is converted: each batch has its own numbers for them until all are known."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.core.staging import Staging
from nodewise.graph.edge_types import MOST_TYPES, Codes, EdgeTypes, no_types, number_of, too_many, used_of
from nodewise.store.layout import write_array


class BatchedTypes(NamedTuple):
    """The types of edges in all batches.

    Attributes:
        batches: the names in each batch, by its own numbers.
        names: those of all batches that are used, in order; none where edges have no types.
        some: whether only edges of these types are used, and not all.
    """

    batches: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    some: bool = False

    @classmethod
    def together(cls, batches: list[list[str]], source: str, required: bool) -> tuple[BatchedTypes, tuple[str, ...]]:
        """Return the types of some batches, and a note where they are too many; an error if they are required."""
        names = sorted({name for each in batches for name in each})
        if len(names) > MOST_TYPES:
            if required:
                raise too_many(source, len(names))
            return cls(), (f"types of edges not used ({too_many(source, len(names))})",)
        return cls(tuple(map(tuple, batches)), tuple(names)), ()

    def chosen(self, path: Path, wanted: list[str] | None) -> BatchedTypes:
        """Return the same with only some types used."""
        if wanted is None:
            return self
        if not self.names:
            raise no_types(str(path))
        kept = {number_of(name, self.names) for name in wanted}
        return self._replace(names=tuple(self.names[i] for i in sorted(kept)), some=True)

    def of_batch(self, staging: Staging, number: int) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """Return the type of each edge of a batch, and whether it is used."""
        places = np.array([*(_place(name, self.names) for name in self.batches[number]), -1], np.int16)
        codes = places[np.fromfile(staging / f"codes-{number}.bin", np.int16)]
        return codes, codes >= 0 if self.some else np.ones(len(codes), np.bool_)


def write_codes(staging: Staging, number: int, types: EdgeTypes) -> None:
    """Write the types of a batch by its own numbers."""
    with (staging / f"codes-{number}.bin").open("wb") as stream:
        write_array(stream, types.codes)


def write_types(
    staging: Staging, types: BatchedTypes, places: npt.NDArray[np.int64] | None, weighted: bool
) -> dict[str, Any]:
    """Write the edges in use with their types, in the order they were given; return their files, and what to say."""
    parts = {"sources": "<i4", "targets": "<i4", "codes": "<i2"} | ({"weights": "<f4"} if weighted else {})
    given = used = 0
    with ExitStack() as stack:
        streams = {name: stack.enter_context((staging / f"typed_{name}.bin").open("wb")) for name in parts}
        for number in range(len(types.batches)):
            pairs = np.fromfile(staging / f"pairs-{number}.bin", np.int32).reshape(2, -1)
            ends = pairs if places is None else places[pairs].astype(np.int32)
            (codes, kept), apart = types.of_batch(staging, number), ends[0] != ends[1]
            kept &= apart
            given, used = given + int(apart.sum()), used + int(kept.sum())
            arrays = {"sources": ends[0, kept], "targets": ends[1, kept], "codes": codes[kept]}
            if weighted:
                arrays["weights"] = np.fromfile(staging / f"masses-{number}.bin", np.float32)[kept]
            for name, array in arrays.items():
                write_array(streams[name], array)
    files = {f"typed_{name}.bin": [dtype, [used]] for name, dtype in parts.items()}
    return {"files": files, "notes": [used_of(types.names, used, given)] if types.some else []}


def _place(name: str, names: tuple[str, ...]) -> int:
    return names.index(name) if name in names else -1
