"""Sort more numbers than fit in memory: sorted runs on the disk, merged in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodewise.store.layout import write_array

Keys = npt.NDArray[np.int64]
_LEAST_CHUNK = 1 << 10


def write_run(path: Path, keys: Keys) -> int:
    """Sort keys in place and write them without repeats; return how many there are."""
    keys.sort()
    distinct = _without_repeats(keys)
    with path.open("wb") as stream:
        write_array(stream, distinct)
    return len(distinct)


def merge_runs(runs: Sequence[Path], memory: int) -> Iterator[Keys]:
    """Yield all keys of sorted runs, ascending and each once, in pieces that take about `memory` bytes in all.

    Of every run a chunk is held. What is not above the least of the chunks' last keys is complete: no run can
    still bring a key below that. So it is sorted together and given out, and the chunk with that least key is
    used up: every round finishes at least one chunk.
    """
    # A round holds the chunks, their parts put together, and the sorted copy without repeats.
    size = max(memory // (8 * 4 * max(len(runs), 1)), _LEAST_CHUNK)
    streams = [_chunks(run, size) for run in runs]
    heads: list[Keys] = [np.empty(0, np.int64)] * len(runs)
    while True:
        heads = [head if len(head) else next(stream) for head, stream in zip(heads, streams, strict=True)]
        unfinished = [i for i, head in enumerate(heads) if len(head)]
        if not unfinished:
            return
        heads, streams = [heads[i] for i in unfinished], [streams[i] for i in unfinished]
        last = min(int(head[-1]) for head in heads)
        cuts = [int(np.searchsorted(head, last, "right")) for head in heads]
        ready = np.concatenate([head[:cut] for head, cut in zip(heads, cuts, strict=True)])
        heads = [head[cut:] for head, cut in zip(heads, cuts, strict=True)]
        ready.sort()
        yield _without_repeats(ready)


def _chunks(path: Path, size: int) -> Iterator[Keys]:
    """Yield a run in chunks, and then an empty one for ever."""
    with path.open("rb") as stream:
        while True:
            yield np.fromfile(stream, np.int64, size)


def _without_repeats(ordered: Keys) -> Keys:
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
