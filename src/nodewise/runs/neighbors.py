"""Who is like whom: the nodes near to some, among old and new vectors, under conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from nodewise.core.errors import InputError, did_you_mean, require_type
from nodewise.core.messages import excerpt
from nodewise.graph.ids import NodeIds, as_id_array
from nodewise.report.attributes import read_attributes
from nodewise.report.columns import Column
from nodewise.runs.kinds import known_kinds, require_kinds_known
from nodewise.runs.together import read_vectors
from nodewise.vectors.embeddings import Embeddings, require_comparable
from nodewise.vectors.search import NeighborTable, nearest, similar_pairs

Conditions = str | Sequence[str] | Mapping[str, object]


def find_neighbors(
    run: Path,
    nodes: Sequence[int | str] | NodeIds | None = None,
    k: int = 10,
    *,
    new: Path | Embeddings | None = None,
    at_least: float | None = None,
    where: Conditions = (),
    kind: str | None = None,
    attributes: Path | None = None,
    id_column: str | None = None,
    approximate: bool | None = None,
) -> NeighborTable:
    """Return the nodes of a run that are most similar to some nodes, by cosine.

    Args:
        run: the run, or a file of vectors, whose nodes are looked among.
        nodes: the nodes asked about, of the run or of `new`; if None, all of `new`, or else of the run.
        k: how many for each.
        new: vectors of nodes that came later, such as `transform` wrote.
        at_least: instead of `k` for each, all pairs of at least this cosine.
        where: conditions on who may be found, such as "country=DE" or "age>=30"; one, or a list of which all must
            hold, or a mapping such as {"country": "DE"}.
        kind: of which type they must be, such as "product": as the run knows, or the column `type` of `attributes`.
        attributes: the table, keyed by id, that the conditions are about.
        id_column: its column of ids, where the names do not say.
        approximate: see `nodewise.vectors.search.nearest`.
    """
    wanted = conditions(where)
    if not (wanted or kind) and (attributes is not None or id_column is not None):
        raise InputError(
            "attributes tell which nodes a condition (--where) or a type (--kind) means, and there is neither; give "
            "one, or leave them out",
            code="usage",
        )
    known = read_vectors(run)
    fresh = read_vectors(new) if isinstance(new, Path) else new
    if fresh is not None:
        require_comparable(fresh, known)
    queries = _asked(known, fresh, nodes)
    allowed = _allowed(known.ids, wanted, attributes, id_column) if wanted else None
    if kind is not None:
        kinds, source = require_kinds_known(known_kinds(known, run, attributes, id_column), kind, run)
        found = kinds.which(kind, source)
        allowed = found if allowed is None else allowed & found
    if at_least is not None:
        if not -1 <= at_least <= 1:
            raise InputError(f"a cosine of at least {at_least:g} is asked for; cosines lie between -1 and 1")
        return similar_pairs(queries, known, at_least, allowed=allowed)
    return nearest(queries, known, k, allowed=allowed, approximate=approximate)


def _asked(known: Embeddings, fresh: Embeddings | None, nodes: Sequence[int | str] | NodeIds | None) -> Embeddings:
    if nodes is None:
        return known if fresh is None else fresh
    said = "the nodes asked for"
    wanted = nodes if isinstance(nodes, NodeIds) else NodeIds(as_id_array(nodes, said).unique(), said)
    rows = [] if fresh is None else [fresh]
    found = np.empty((len(wanted), known.num_dimensions), np.float32)
    missing = np.ones(len(wanted), bool)
    for vectors in (*rows, known):
        places = vectors.ids.positions(wanted, said)
        here = missing & (places >= 0)
        found[here], missing = vectors.vectors[places[here]], missing & (places < 0)
    if missing.any():
        known.position(wanted[int(missing.argmax())])  # says which id is spelled most like it
    return Embeddings(wanted, found)


def conditions(where: Conditions) -> list[str]:
    """Return conditions as a list: one text, several, or a mapping from columns to what they must be.

    >>> conditions({"country": "DE"}), conditions("age>=30")
    (['country=DE'], ['age>=30'])
    """
    if isinstance(where, Mapping):
        where = [f"{column}={value}" for column, value in where.items()]
    require_type("where", where, str | Iterable, "a condition such as country=DE, or a list of them")
    found = [where] if isinstance(where, str) else list(where)
    for condition in found:
        require_type("a condition", condition, str, "a text such as country=DE")
    return found


def _allowed(ids: NodeIds, where: Sequence[str], attributes: Path | None, id_column: str | None) -> np.ndarray:
    if attributes is None:
        raise InputError(
            f"condition {excerpt(where[0])}: name the table that it is about (--attributes FILE, or attributes= in "
            "Python)"
        )
    columns = {column.name: column for column in read_attributes(attributes, ids, id_column)[0]}
    kept = np.ones(len(ids), bool)
    for condition in where:
        kept &= holds(condition, columns, str(attributes))
    return kept


def _as_numbers(column: Column) -> Column:
    """Return a column of few different numbers, which a page takes for categories, as the numbers they are."""
    try:
        values = np.array([*map(float, column.names), np.nan])
    except ValueError:
        return column
    return replace(column, kind="number", values=values[column.values]) if column.kind == "category" else column


def _day(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_ORDER = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def holds(condition: str, columns: dict[str, Column], source: str) -> np.ndarray:
    """Return for which nodes a condition such as "age>=30" or "country=DE" holds; not where the value is missing."""
    match = re.fullmatch(r"\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*", condition)
    if match is None:
        raise InputError(f"condition {excerpt(condition)}: write COLUMN=VALUE, or !=, <, <=, > or >=")
    name, sign, text = match.groups()
    if name not in columns:
        raise InputError(f"{source}: no column {excerpt(name)}{did_you_mean(name, columns)}", code="missing-column")
    column = _as_numbers(columns[name])
    if column.kind == "number":
        try:
            value = _day(text) if column.dates else float(text)
        except ValueError:
            holds_what = "dates, and {} is none such as 2024-12-31" if column.dates else "numbers, and {} is none"
            raise InputError(
                f"condition {excerpt(condition)}: {name} holds {holds_what.format(excerpt(text))}"
            ) from None
        known = ~np.isnan(column.values)
        same = np.isclose(column.values, value, rtol=1e-9, atol=0)
        right = _ORDER[sign](column.values, value) if sign in _ORDER else same == (sign == "=")
        return np.asarray(known & right)
    if sign in _ORDER:
        raise InputError(f"condition {excerpt(condition)}: {name} can be asked for as a category only, by = or !=")
    here = column.names.index(text) if text in column.names else None
    if here is None:
        raise InputError(
            f"condition {excerpt(condition)}: {name} is never {excerpt(text)}{did_you_mean(text, column.names)}"
        )
    return np.asarray((column.values >= 0) & ((column.values == here) == (sign == "=")))
