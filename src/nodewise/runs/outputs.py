"""What a command must not write over: what it reads, the files of a run, of a store or of shards, a run's own graph."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.files import check_output
from nodewise.core.folder import RunFolder


def check_file(
    output: Path, *inputs: Path | str | None, run: Path | str | None = None, page: Path | None = None
) -> None:
    """Refuse a file that cannot or must not be written, before the work.

    Args:
        output: the file.
        inputs: what the command reads.
        run: the run, or the file of vectors, that it is made from.
        page: the file of that run which may be replaced.
    """
    from nodewise.vectors.embedding_files import ids_beside, refuse_foreign_ids

    if run is not None and Path(run).suffix.lower() == ".npy":
        inputs = (*inputs, ids_beside(Path(run)))
    _check_one(output, *inputs, run=run, page=page)
    if output.suffix.lower() == ".npy":
        _check_one(ids_beside(output), *inputs, run=run)  # which nobody named, and is written all the same
        refuse_foreign_ids(output)


def _check_one(
    output: Path, *inputs: Path | str | None, run: Path | str | None = None, page: Path | None = None
) -> None:
    from nodewise.core.staging import is_marked
    from nodewise.runs.together import recorded_files
    from nodewise.store import layout
    from nodewise.vectors import shards

    check_output(output)
    refuse_inputs(output, *inputs, run)  # which may be a file of vectors
    if run is not None:
        for path in recorded_files(Path(run)):
            if _same(output, path):
                raise InputError(
                    f"{output}: is of the graph that {run} was made from; give the output another name",
                    code="overwrites-input",
                )
    folder = RunFolder(output.parent)
    own = page is not None and output.name == page.name and _same(folder.path, page.parent)
    ours = not own and (
        folder.owns(output) or (output.name in folder.NAMES and run is not None and _same(folder.path, run))
    )
    results = ((kind.MANIFEST, kind.FORMAT) for kind in (shards, layout))
    if ours or any(is_marked(folder.path / manifest, mark) for manifest, mark in results):
        kind = "run" if ours else "store"
        raise InputError(
            f"{output}: would become a part of the {kind} in {folder.path}; give the output another name",
            code="overwrites-input",
        )


def check_run(output: Path, *inputs: Path | str | None) -> None:
    """Refuse a run folder in which one of the files that the run is made from would be replaced."""
    for name in RunFolder.NAMES:
        refuse_inputs(output / name, *inputs)


def refuse_inputs(output: Path, *inputs: Path | str | None) -> None:
    """Refuse to write a result over one of the files it is made from."""
    if any(given is not None and _same(output, given) for given in inputs):
        raise InputError(f"{output}: is one of the inputs; give the output another name", code="overwrites-input")


def _same(output: Path, other: Path | str) -> bool:
    with suppress(OSError):  # one of them is not there, or not for us to see
        return output.samefile(other)
    return False
