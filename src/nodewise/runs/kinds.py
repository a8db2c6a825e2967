"""Of which kinds the nodes of a run are: by a table given now, what lies with the vectors, or the run's own table."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import simplified
from nodewise.read.feature_table import KIND_NAMES
from nodewise.report.attributes import read_attributes
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.kinds import NodeKinds


def known_kinds(
    vectors: Embeddings, run: Path, attributes: Path | None = None, id_column: str | None = None
) -> tuple[NodeKinds, str] | None:
    """Return the kinds of nodes and where they are from, for messages; None if nothing says them.

    Args:
        vectors: whose nodes.
        run: where the vectors are from. Runs from before kinds were kept with vectors name their table.
        attributes: a table, keyed by id, whose column `type` comes before all else.
        id_column: its column of ids, where the names do not say.
    """
    if attributes is not None and (found := _in_table(attributes, vectors.ids, id_column)) is not None:
        return found, str(attributes)
    if vectors.kinds is not None:
        return vectors.kinds, str(run)
    if attributes is None and RunFolder(run).environment.is_file():
        source = RunFolder(run).read_environment().get("graph", {}).get("source", {})
        if isinstance(source, dict) and isinstance(table := source.get("features"), str):
            with suppress(InputError):  # it may be gone, or be of another format
                found = _in_table(Path(table), vectors.ids, id_column or source.get("id_column"))
                return None if found is None else (found, table)
    return None


def require_kinds_known(found: tuple[NodeKinds, str] | None, asked: str, run: Path) -> tuple[NodeKinds, str]:
    """Return the kinds; refuse to look for one where nothing says which nodes are of it."""
    if found is None:
        raise InputError(
            f"kind {asked!r}: {run} does not say of which kind its nodes are; name a table with a column 'type' "
            "(--attributes FILE, or attributes= in Python)",
            code="missing-column",
        )
    return found


def _in_table(table: Path, ids: NodeIds, id_column: str | None) -> NodeKinds | None:
    columns = {simplified(column.name): column for column in read_attributes(table, ids, id_column)[0]}
    column = next((columns[name] for name in sorted(KIND_NAMES) if name in columns), None)
    if column is None or column.kind == "number":
        return None
    return NodeKinds(np.asarray(column.values, np.int64), tuple(column.names))
