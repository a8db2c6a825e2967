"""What a command must not write over: what it reads, the files of a run, of a store or of shards, a run's own graph."""

from __future__ import annotations

from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.files import check_output, is_same, refuse_inputs
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
    from nodewise.runs.together import recorded_files

    check_output(output)
    refuse_inputs(output, *inputs, run)  # which may be a file of vectors
    if run is not None:
        for path in recorded_files(Path(run)):
            if is_same(output, path):
                raise InputError(
                    f"{output}: is of the graph that {run} was made from; give the output another name",
                    code="overwrites-input",
                )
    folder = RunFolder(output.parent)
    own = page is not None and output.name == page.name and is_same(folder.path, page.parent)
    ours = not own and (
        folder.owns(output) or (output.name in folder.NAMES and run is not None and is_same(folder.path, run))
    )
    if ours or _is_store(folder.path):
        kind = "run" if ours else "store"
        raise InputError(
            f"{output}: would become a part of the {kind} in {folder.path}; give the output another name",
            code="overwrites-input",
        )


def check_folder(output: Path) -> None:
    """Refuse a folder for further results that is itself a run or a store."""
    ours = RunFolder(output).is_ours()
    if ours or _is_store(output):
        raise InputError(f"{output}: holds a {'run' if ours else 'store'}; name another folder", code="foreign-folder")


def _is_store(folder: Path) -> bool:
    """Tell whether a folder is a store of a graph or of vectors."""
    from nodewise.core.staging import is_marked
    from nodewise.store import layout
    from nodewise.vectors import shards

    return any(is_marked(folder / kind.MANIFEST, kind.FORMAT) for kind in (shards, layout))


def check_run(output: Path, *inputs: Path | str | None) -> None:
    """Refuse a run folder in which one of the files that the run is made from would be replaced."""
    for name in RunFolder.NAMES:
        refuse_inputs(output / name, *inputs)
