"""A file of edges to an adjacency on the disk, with memory bounded whatever the number of edges.

1. The file is read some rows at a time. Ids are numbered by first appearance, and each batch leaves its edges as
   pairs of numbers. What is held throughout is one copy of the ids, which grows with the nodes only.
2. Each batch becomes one sorted run of keys: both directions of every edge, row in the high half, column in the low;
   where edges have weights, of pairs of a key and a weight.
3. The runs are merged into `indices`, `indptr` and `weights`; weights of one key are added up.

Every batch and every run is a step of the journal, so that a killed conversion resumes at the batch it was at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.core.progress import Progress
from nodewise.core.staging import Staging
from nodewise.graph.adjacency import DIRECTED, UNWEIGHTED, Adjacency, Edges, add_up, checked
from nodewise.graph.edge_types import EdgeTypes
from nodewise.graph.ids import NodeIds, common_type, in_one_type
from nodewise.graph.weights import bounds_in_pieces
from nodewise.read.columns import ColumnFile, Columns
from nodewise.read.edge_columns import EdgePlan
from nodewise.read.edgelist import check_ends, suspected_names, with_weights
from nodewise.read.encode import encode
from nodewise.store.convert_types import BatchedTypes, write_codes
from nodewise.store.layout import write_array
from nodewise.store.open import map_array

_MOST_NODES = 2**31 - 1
_BYTES_A_ROW = 128  # of one edge while its batch is read and numbered: ids as text, hash table, numbers
_LEAST_ROWS, _MOST_ROWS = 64, 1 << 24


def number_edges(
    file: ColumnFile, plan: EdgePlan, staging: Staging, memory: int, progress: Progress
) -> tuple[NodeIds, int, tuple[str, ...], BatchedTypes]:
    """Leave the edges as batches of numbered pairs.

    Returns:
        The ids by first appearance, the number of batches, what reading changed or assumed, in words, and the types of
        the edges.
    """
    size = min(max(memory // _BYTES_A_ROW, _LEAST_ROWS), _MOST_ROWS)
    notes: tuple[str, ...] = ()
    known: Any = None
    first: list[int] = []
    types: list[list[str]] = []
    said: list[str] = []
    row, batches, weighted, absent, again = 0, 0, False, 0, 0
    with progress.stage("reading edges", file.num_rows) as bar:
        for batch in file.batches(plan.keys, plan.numbers, size, gaps=True):
            done = staging.step(f"edges {batches}", _numbering(file, plan, staging, known, batch, first, row, batches))
            fresh = _read_column(staging / f"ids-{batches}.arrow")
            known = fresh if known is None else pa.concat_arrays([known, fresh])
            weighted, absent = weighted or done["weighted"], absent + done["absent"]
            first, again = first or done["first"], again + done["again"]
            types, said = [*types, done["types"]], [*said, *done["said"]]
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
    ignored, directed = weighted and not plan.weighted, () if plan.directed else (DIRECTED,)
    known_types, too_many = BatchedTypes.together(types, str(file.path), plan.named)
    said = [note for note in dict.fromkeys(said) if not too_many]
    told = (*notes, *plan.notes, *said, *too_many, *alone, *directed, *_weight_notes(ignored, absent))
    return numbered, batches, told, known_types


def sort_edges(
    path: Path,
    staging: Staging,
    batches: int,
    nodes: int,
    places: npt.NDArray[np.int64] | None,
    memory: int,
    progress: Progress,
    weighted: bool = False,
    faces: bool = False,
    types: BatchedTypes = BatchedTypes(),  # noqa: B008  # a tuple, which nothing changes
) -> Adjacency:
    """Sort numbered pairs into `indices.bin` and `indptr.bin`; `places` gives numbers their final positions.

    Where edges have weights that are not all the same, `weights.bin` and `bounds.bin` hold them too. With `faces`, the
    graph of the faces (`nodewise.graph.directions`) is left in files whose names begin so, and the pairs are kept.
    """
    name = "faces_" if faces else ""
    given = loops = 0
    with progress.stage("sorting edges", batches) as bar:
        for number in range(batches):
            done = staging.step(
                f"{name}run {number}",
                lambda n=number: _write_run(staging, n, places, weighted, name, types),  # type: ignore[misc]
            )
            if not faces:
                staging.forget(f"pairs-{number}.bin", f"masses-{number}.bin", f"codes-{number}.bin")
            given, loops = given + done["edges"], loops + done["loops"]
            bar.advance()
    runs = [f"{name}run-{number}.bin" for number in range(batches)]
    size = (_WEIGHTED if weighted else _PLAIN).itemsize
    total = sum((staging / run).stat().st_size // size for run in runs) if not staging.has(f"{name}merge") else 0
    nodes = 2 * nodes if faces else nodes
    with progress.stage("merging edges", total) as bar:
        entries = staging.step(
            f"{name}merge", lambda: _merge(staging, runs, nodes, memory, bar.advance, weighted, name)
        )
    staging.forget(*runs)
    if entries == 0:
        aside = f" ({count(loops, 'self-loop')} aside)" if loops else ""
        raise InputError(
            f"{path}: no edge joins two different nodes{aside}; a graph needs at least one", code="no-edges"
        )
    indices = map_array(staging / f"{name}indices.bin", np.int32, (entries,))
    indptr = map_array(staging / f"{name}indptr.bin", np.int64, (nodes + 1,))
    unlike = weighted and staging.step(f"{name}bounds", lambda: _write_bounds(staging, indptr, entries, name))
    weights = map_array(staging / f"{name}weights.bin", np.float32, (entries,)) if unlike else None
    return Adjacency(indptr, indices, loops, given - loops - entries // 2, weights)


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
        columns = list(batch.keys)
        types, said = plan.types_of(columns.pop(), file) if plan.type is not None else (None, ())
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
        edges, weighted = Edges(ids, place[sources], place[targets], types=types), False
        ends = first or [int(edges.sources[0]), int(edges.targets[0])]
        others = slice(0 if first else 1, None)
        again = sum(int(np.isin(column[others], ends).sum()) for column in (edges.sources, edges.targets))
        if plan.weight is not None:
            weights = batch.numbers[:, 0]
            edges = with_weights(edges, weights, file, plan, row)
            weighted = bool((weights != 1).any())
        _write_column(staging / f"ids-{number}.arrow", fresh)
        pairs = np.stack([edges.sources, edges.targets]).astype(np.int32, copy=False)
        with (staging / f"pairs-{number}.bin").open("wb") as stream:
            write_array(stream, pairs)
        if plan.weighted:
            with (staging / f"masses-{number}.bin").open("wb") as stream:
                write_array(stream, np.empty(0, np.float32) if edges.weights is None else edges.weights)
        if plan.type is not None:
            types = edges.types or EdgeTypes(np.full(len(edges.sources), -1, np.int16), ())
            write_codes(staging, number, types)
        found = {"weighted": weighted, "absent": len(sources) - len(edges.sources)}
        names = () if types is None else types.names
        return {**found, "first": ends, "again": again, "types": names, "said": said}

    return work


def _weight_notes(ignored_some: bool, absent: int) -> tuple[str, ...]:
    ignored = (UNWEIGHTED,) if ignored_some else ()
    return (*ignored, f"{count(absent, 'edge')} of weight zero dropped") if absent else ignored


def _write_run(
    staging: Staging,
    number: int,
    places: npt.NDArray[np.int64] | None,
    weighted: bool,
    name: str,
    types: BatchedTypes,
) -> dict[str, int]:
    pairs = np.fromfile(staging / f"pairs-{number}.bin", np.int32).reshape(2, -1)
    used = types.of_batch(staging, number)[1] if types.some else slice(None)
    pairs = pairs[:, used]
    ends = pairs if places is None else places[pairs]
    apart = ends[0] != ends[1]
    ends = ends[:, apart].astype(np.int64, copy=False)
    if name:  # of the faces
        ends = np.stack([2 * ends[0], 2 * ends[1] + 1])
    keys = np.concatenate([(ends[0] << 32) | ends[1], (ends[1] << 32) | ends[0]])
    if weighted:
        masses = np.fromfile(staging / f"masses-{number}.bin", np.float32)[used][apart]
        # Summed before they are mirrored: both directions of an edge then have the same weight to the bit.
        low, sums = add_up((ends.min(axis=0) << 32) | ends.max(axis=0), masses)
        keys = np.concatenate([low, (low << 32) | (low >> 32)])
        keys = _records(keys, np.tile(sums, 2))
    write_run(staging / f"{name}run-{number}.bin", keys)
    return {"edges": pairs.shape[1], "loops": pairs.shape[1] - ends.shape[1]}


def _write_bounds(staging: Staging, indptr: npt.NDArray[np.int64], entries: int, name: str) -> bool:
    """Write the bounds of walks; weights that are all the same are left out instead, and the answer is False."""
    weights = map_array(staging / f"{name}weights.bin", np.float32, (entries,))
    if weights.min() == weights.max():
        staging.forget(f"{name}weights.bin")
        return False
    with (staging / f"{name}bounds.bin").open("wb") as stream:
        for _, bounds in bounds_in_pieces(indptr, weights):
            write_array(stream, bounds)
    return True


def _merge(
    staging: Staging,
    runs: list[str],
    nodes: int,
    memory: int,
    advance: Callable[[int], None],
    weighted: bool,
    name: str,
) -> int:
    degrees = np.zeros(nodes + 1, np.int64)
    entries = 0
    weights = (staging / f"{name}weights.bin").open("wb") if weighted else nullcontext()
    with (staging / f"{name}indices.bin").open("wb") as stream, weights as other:
        for part in merge_runs([staging / run for run in runs], memory, _WEIGHTED if weighted else _PLAIN):
            keys = _keys(part)
            if other is not None:
                write_array(other, checked(part["mass"]))
            write_array(stream, keys.astype(np.int32))  # the low half: the cast keeps the last 32 bits
            rows = keys >> 32
            first = int(rows[0])
            counts = np.bincount(rows - first)
            degrees[first + 1 : first + 1 + len(counts)] += counts
            entries += len(keys)
            advance(len(keys))
    np.cumsum(degrees, out=degrees)
    with (staging / f"{name}indptr.bin").open("wb") as stream:
        write_array(stream, degrees)
    return entries


def _write_column(path: Path, values: Any) -> None:
    table = pa.table({"id": values})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _read_column(path: Path) -> Any:
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()["id"].combine_chunks()


Keys = npt.NDArray[Any]
"""Numbers of int64 or, with weights, records of a key and a mass."""
_PLAIN = np.dtype(np.int64)
_WEIGHTED = np.dtype([("key", np.int64), ("mass", np.float64)])
_LEAST_CHUNK = 1 << 10


def _records(keys: npt.NDArray[np.int64], masses: npt.NDArray[np.float64]) -> Keys:
    found = np.empty(len(keys), _WEIGHTED)
    found["key"], found["mass"] = keys, masses
    return found


def _keys(part: Keys) -> npt.NDArray[np.int64]:
    return part["key"] if part.dtype == _WEIGHTED else part


def write_run(path: Path, keys: Keys) -> int:
    """Write keys sorted and without repeats, whose masses are added up; return how many there are."""
    distinct = _in_order(keys)
    with path.open("wb") as stream:
        write_array(stream, distinct)
    return len(distinct)


def merge_runs(runs: Sequence[Path], memory: int, dtype: np.dtype[Any] = _PLAIN) -> Iterator[Keys]:
    """Yield all keys of sorted runs, ascending and each once, in pieces that take about `memory` bytes in all.

    Of every run a chunk is held. What is not above the least of the chunks' last keys is complete: no run can
    still bring a key below that. So it is sorted together and given out, and the chunk with that least key is
    used up: every round finishes at least one chunk.
    """
    # A round holds the chunks, their parts put together, and the sorted copy without repeats.
    size = max(memory // (dtype.itemsize * 4 * max(len(runs), 1)), _LEAST_CHUNK)
    streams = [_chunks(run, size, dtype) for run in runs]
    heads: list[Keys] = [np.empty(0, dtype)] * len(runs)
    while True:
        heads = [head if len(head) else next(stream) for head, stream in zip(heads, streams, strict=True)]
        unfinished = [i for i, head in enumerate(heads) if len(head)]
        if not unfinished:
            return
        heads, streams = [heads[i] for i in unfinished], [streams[i] for i in unfinished]
        last = min(int(_keys(head)[-1]) for head in heads)
        cuts = [int(np.searchsorted(_keys(head), last, "right")) for head in heads]
        ready = np.concatenate([head[:cut] for head, cut in zip(heads, cuts, strict=True)])
        heads = [head[cut:] for head, cut in zip(heads, cuts, strict=True)]
        yield _in_order(ready)


def _chunks(path: Path, size: int, dtype: np.dtype[Any]) -> Iterator[Keys]:
    """Yield a run in chunks, and then an empty one for ever."""
    with path.open("rb") as stream:
        while True:
            yield np.fromfile(stream, dtype, size)


def _in_order(keys: Keys) -> Keys:
    """Return keys sorted, which may be done in place, and without repeats."""
    if keys.dtype == _WEIGHTED:
        return _records(*add_up(keys["key"], keys["mass"]))
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
