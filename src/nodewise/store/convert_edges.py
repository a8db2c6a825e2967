"""A file of edges to an adjacency on the disk, with memory bounded whatever the number of edges.

1. The file is read some rows at a time. Ids are numbered by first appearance, and each batch leaves its edges as
   pairs of numbers. What is held throughout is one copy of the ids, which grows with the nodes only.
2. Each batch becomes one sorted run of keys: both directions of every edge, row in the high half, column in the low.
3. The runs are merged into `indices` and `indptr`.

Every batch and every run is a step of the journal, so that a killed conversion goes on at the batch it was at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.core.progress import Progress
from nodewise.graph.adjacency import DIRECTED, Adjacency, Edges
from nodewise.graph.ids import NodeIds, common_type, in_one_type
from nodewise.read.columns import ColumnFile, Columns
from nodewise.read.edgelist import EdgePlan, check_ends, encode, plan_edges, suspected_names
from nodewise.store.journal import Staging
from nodewise.store.layout import write_array
from nodewise.store.open import map_array

_MOST_NODES = 2**31 - 1
_BYTES_A_ROW = 128  # of one edge while its batch is read and numbered: ids as text, hash table, numbers
_LEAST_ROWS, _MOST_ROWS = 64, 1 << 24


def number_edges(
    file: ColumnFile, staging: Staging, memory: int, progress: Progress, source: str | None, target: str | None
) -> tuple[NodeIds, int, tuple[str, ...]]:
    """Leave the edges as batches of numbered pairs.

    Returns:
        The ids by first appearance, the number of batches, and what reading changed or assumed, in words.
    """
    plan = plan_edges(file, source, target)
    size = min(max(memory // _BYTES_A_ROW, _LEAST_ROWS), _MOST_ROWS)
    notes: tuple[str, ...] = ()
    known: Any = None
    first: list[int] = []
    row, batches, weighted, absent, again = 0, 0, False, 0, 0
    with progress.stage("reading edges", file.num_rows) as bar:
        for batch in file.batches(plan.ends, plan.numbers, size):
            done = staging.step(f"edges {batches}", _numbering(file, plan, staging, known, batch, first, row, batches))
            fresh = _read_column(staging / f"ids-{batches}.arrow")
            known = fresh if known is None else pa.concat_arrays([known, fresh])
            weighted, absent = weighted or done["weighted"], absent + done["absent"]
            first, again = first or done["first"], again + done["again"]
            notes, rows = batch.notes, len(batch.keys[0])
            row, batches = row + rows, batches + 1
            bar.advance(rows)
    if row == 0:
        raise InputError(f"{file.path}: has columns but no rows; a graph needs edges", code="empty-file")
    if len(known) > _MOST_NODES:
        raise InputError(f"{count(len(known), 'node')} are too many: at most {_MOST_NODES:,} can be numbered")
    # Text is settled only now: whether all of it is written as integers, the distinct ids can tell.
    ids = in_one_type(file.settle([pa.chunked_array([known])]), str(file.path))[0].combine_chunks()
    numbered = NodeIds.from_distinct(ids)
    alone = suspected_names(file, numbered) if row > 1 and not again else ()
    return numbered, batches, (*notes, *plan.notes, *alone, DIRECTED, *_weight_notes(weighted, absent))


def sort_edges(
    path: Path,
    staging: Staging,
    batches: int,
    nodes: int,
    places: npt.NDArray[np.int64] | None,
    memory: int,
    progress: Progress,
) -> Adjacency:
    """Sort numbered pairs into `indices.bin` and `indptr.bin`; `places` gives numbers their final positions."""
    given = loops = 0
    with progress.stage("sorting edges", batches) as bar:
        for number in range(batches):
            done = staging.step(f"run {number}", lambda n=number: _write_run(staging, n, places))  # type: ignore[misc]
            staging.forget(f"pairs-{number}.bin")
            given, loops = given + done["edges"], loops + done["loops"]
            bar.advance()
    runs = [f"run-{number}.bin" for number in range(batches)]
    total = sum((staging / run).stat().st_size // 8 for run in runs) if not staging.has("merge") else 0
    with progress.stage("merging edges", total) as bar:
        entries = staging.step("merge", lambda: _merge(staging, runs, nodes, memory, bar.advance))
    staging.forget(*runs)
    if entries == 0:
        aside = f" ({count(loops, 'self-loop')} aside)" if loops else ""
        raise InputError(
            f"{path}: no edge joins two different nodes{aside}; a graph needs at least one", code="no-edges"
        )
    indices = map_array(staging / "indices.bin", np.int32, (entries,))
    indptr = map_array(staging / "indptr.bin", np.int64, (nodes + 1,))
    return Adjacency(indptr, indices, loops, given - loops - entries // 2)


def _numbering(
    file: ColumnFile,
    plan: EdgePlan,
    staging: Staging,
    known: Any,
    batch: Columns,
    first: list[int],
    row: int,
    number: int,
) -> Callable[[], dict[str, Any]]:
    """Return the step that numbers one batch, which begins at `row`, after the ids already `known`.

    `first` are the ends of the file's first edge, of which the step counts how often they come again; none are known
    when it is the first itself.
    """

    def work() -> dict[str, Any]:
        columns = batch.keys
        check_ends(file, plan, columns, row)
        # Columns of Parquet may differ in width; in one type for all batches, whatever the values of this one.
        common = common_type(columns[0].type, columns[1].type)
        columns = [column.cast(common) for column in columns]
        ids, sources, targets = encode(list(columns))
        values = ids.to_arrow()
        if known is not None:
            place = NodeIds.from_distinct(known).positions(ids)
            new = place < 0
            place[new] = len(known) + np.arange(np.count_nonzero(new))
            fresh = values.filter(pa.array(new))
        else:
            place, fresh = np.arange(len(ids)), values
        edges, weighted = Edges(ids, place[sources], place[targets]), False
        ends = first or [int(edges.sources[0]), int(edges.targets[0])]
        others = slice(0 if first else 1, None)
        again = sum(int(np.isin(column[others], ends).sum()) for column in (edges.sources, edges.targets))
        if plan.weight is not None:
            weights, name = batch.numbers[:, 0], excerpt(file.names[plan.weight])
            edges = edges.weighted(weights, lambda i: f"{file.path}, {file.place(row + i)}, {name}")
            weighted = bool((weights != 1).any())
        _write_column(staging / f"ids-{number}.arrow", fresh)
        pairs = np.stack([edges.sources, edges.targets]).astype(np.int32, copy=False)
        with (staging / f"pairs-{number}.bin").open("wb") as stream:
            write_array(stream, pairs)
        found = {"weighted": weighted, "absent": len(sources) - len(edges.sources)}
        return {**found, "first": ends, "again": again}

    return work


def _weight_notes(weighted: bool, absent: int) -> tuple[str, ...]:
    ignored = ("weights ignored: an edge is present or absent",) if weighted else ()
    return (*ignored, f"{count(absent, 'edge')} of weight zero dropped") if absent else ignored


def _write_run(staging: Staging, number: int, places: npt.NDArray[np.int64] | None) -> dict[str, int]:
    pairs = np.fromfile(staging / f"pairs-{number}.bin", np.int32).reshape(2, -1)
    ends = pairs if places is None else places[pairs]
    ends = ends[:, ends[0] != ends[1]].astype(np.int64, copy=False)
    write_run(staging / f"run-{number}.bin", np.concatenate([(ends[0] << 32) | ends[1], (ends[1] << 32) | ends[0]]))
    return {"edges": pairs.shape[1], "loops": pairs.shape[1] - ends.shape[1]}


def _merge(staging: Staging, runs: list[str], nodes: int, memory: int, advance: Callable[[int], None]) -> int:
    degrees = np.zeros(nodes + 1, np.int64)
    entries = 0
    with (staging / "indices.bin").open("wb") as stream:
        for keys in merge_runs([staging / run for run in runs], memory):
            write_array(stream, keys.astype(np.int32))  # the low half: the cast keeps the last 32 bits
            rows = keys >> 32
            first = int(rows[0])
            counts = np.bincount(rows - first)
            degrees[first + 1 : first + 1 + len(counts)] += counts
            entries += len(keys)
            advance(len(keys))
    np.cumsum(degrees, out=degrees)
    with (staging / "indptr.bin").open("wb") as stream:
        write_array(stream, degrees)
    return entries


def _write_column(path: Path, values: Any) -> None:
    table = pa.table({"id": values})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _read_column(path: Path) -> Any:
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()["id"].combine_chunks()


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
