"""Which columns of a table of edges hold the ends, the weights and the types: as the user said, or by their names."""

from __future__ import annotations

from typing import Any, NamedTuple

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, listing
from nodewise.graph.edge_types import EdgeTypes
from nodewise.graph.ids import id_kind
from nodewise.read.columns import (
    END_NAMES,
    SOURCE_NAMES,
    TARGET_NAMES,
    TYPE_NAMES,
    WEIGHT_NAMES,
    ColumnFile,
    column_called,
    column_given,
    simplified,
)
from nodewise.read.keys import id_kinds, row_numbers
from nodewise.read.parquet import written_numbers

_ROWS = 1 << 16
_NO_ENDS = frozenset(
    ("id", "edgeid", "rowid", "row", "line", "nr", "no", "date", "time", "timestamp", "datetime", "year")
)
"""What columns beside those of the ends are often called."""


class NamedColumns(NamedTuple):
    """The columns of a file of edges that the user named, each by name or by number from 1."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    type: str | None = None


UNNAMED = NamedColumns()


class EdgePlan(NamedTuple):
    """Which columns of a file of edges hold what.

    Attributes:
        ends: the columns of the two ends.
        weight: the column of weights, if there is one.
        notes: in words, what is assumed by that.
        weighted: whether the weights are used; else they only say which edges are there.
        directed: whether edges go from the first end to the second.
        type: the column of types, if there is one.
        named: whether the user named that column, or asked for some types.
    """

    ends: tuple[int, int]
    weight: int | None
    notes: tuple[str, ...]
    weighted: bool
    directed: bool = False
    type: int | None = None
    named: bool = False

    @property
    def numbers(self) -> list[int]:
        """The columns to be read as numbers."""
        return [] if self.weight is None else [self.weight]

    @property
    def keys(self) -> list[int]:
        """The columns to be read as names: the ends, and the types if there are any."""
        return [*self.ends, *([] if self.type is None else [self.type])]

    def types_of(self, values: Any, file: ColumnFile) -> tuple[EdgeTypes | None, tuple[str, ...]]:
        """Return the types in a column, and a note where a column that nobody named cannot be one of types."""
        name = excerpt(file.names[self.keys[-1]])
        try:
            # A note names files as notes do: the path of a table from Python is one that nobody has seen.
            types = EdgeTypes.of(values, f"{file.path if self.named else file.path.name}: {name}")
        except InputError as error:
            if self.named:
                raise
            return None, (f"types of edges not used ({error})",)
        return types, () if types is None else (f"{file.path.name}: {name} read as the type of each edge",)


def plan_edges(
    file: ColumnFile,
    named: NamedColumns = UNNAMED,
    unweighted: bool | None = None,
    directed: bool | None = None,
    typed: bool = False,
) -> EdgePlan:
    """Decide which columns hold the ends, the weights and the types; `typed` edges are of no use without types.

    By default the ends are columns with usual names, else the first two that hold nothing else. A column called weight
    holds the weights, unless another one is named. The third column of a file without names may hold anything, and is
    not used. A column called type holds the types of edges.
    """
    if len(file.names) < 2:
        raise InputError(
            f"{file.path}: one column only ({file.beginning}); an edge list needs two, "
            "in text separated by a comma, tab, semicolon, | or space",
            code="missing-column",
        )
    ends = _end_columns(file, named)
    weight = _weight_column(file, ends, named.weight)
    used = weight is not None and not unweighted
    if weight is not None and file.holds_lists(weight):
        if used:
            raise InputError(
                f"{file.path}: {excerpt(file.names[weight])} holds lists; an edge has one weight, so give another "
                "column, or leave weights out with --unweighted (in Python unweighted=True)",
                code="bad-weight",
            )
        weight = None
    kind = _type_column(file, ends, weight, named.type)
    notes = (*_column_notes(file, ends, weight, kind, used, unweighted), *(_directed(file, ends) if directed else ()))
    return EdgePlan(ends, weight, notes, used, bool(directed), kind, typed or named.type is not None)


def _end_columns(file: ColumnFile, named: NamedColumns) -> tuple[int, int]:
    first = column_called(file, SOURCE_NAMES) if named.source is None else column_given(file, named.source)
    second = column_called(file, TARGET_NAMES) if named.target is None else column_given(file, named.target)
    if named.source is None and named.target is None:
        first, second = _usual_ends(file) or _first_two(file, named)
    if first is None or second is None:
        missing = "target" if second is None else "source"
        raise InputError(
            f"{file.path}: which column is the {missing}? name it ({listing(file.names)})", code="missing-column"
        )
    if first == second:
        raise InputError(f"{file.path}: both ends of edges are to be {excerpt(file.names[first])}; name two columns")
    return first, second


def _usual_ends(file: ColumnFile) -> tuple[int, int] | None:
    """Return the columns with usual names, if possible such as go together."""
    for pair in (*((frozenset((one,)), frozenset((other,))) for one, other in END_NAMES), (SOURCE_NAMES, TARGET_NAMES)):
        first, second = (column_called(file, names) for names in pair)
        if first is not None and second is not None:
            return first, second
    return None


def _first_two(file: ColumnFile, named: NamedColumns) -> tuple[int, int]:
    """Return the first two columns that hold neither weights nor types nor the numbers of the rows."""
    said = [column_given(file, name) for name in (named.weight, named.type) if name is not None]
    taken = {*said, column_called(file, WEIGHT_NAMES), column_called(file, TYPE_NAMES), *row_numbers(file)}
    free = [i for i in range(len(file.names)) if i not in taken]
    plain = [i for i in free if not file.has_names or simplified(file.names[i]) not in _NO_ENDS]
    first, second = next((each[0], each[1]) for each in (plain, free, (0, 1)) if len(each) > 1)
    # A number of the order before the customer, or a date after the sender, is no node: two kinds of ids hardly mix.
    if file.has_names and len(file.names) > 2 and len(set(id_kinds(file, [first, second]))) > 1:
        raise InputError(
            f"{file.path}: which columns are the ends of edges ({listing(file.names)})? name them with --source and "
            "--target",
            code="missing-column",
        )
    return first, second


def _weight_column(file: ColumnFile, ends: tuple[int, int], given: str | None) -> int | None:
    """Return the column of weights, if there is one."""
    if given is not None:
        column = column_given(file, given)
        if column in ends:
            seen = excerpt(file.names[column])
            raise InputError(f"{file.path}: {seen} is to be an end of edges and their weight; name two columns")
        return column
    named = column_called(file, WEIGHT_NAMES)
    if named is None or named in ends:
        return None
    return named if file.is_numeric(named, gaps=True) or _in_words(file, named) else None


def _in_words(file: ColumnFile, column: int) -> bool:
    """Tell whether a column of text holds numbers, going by its first rows, as in tables whose columns have types."""
    first = next(file.batches([column], (), _ROWS), None)
    if first is None or id_kind(first.keys[0].type) != "string":
        return False
    found = written_numbers(first.keys[0])
    return found is not None and found.null_count < len(found)


def _type_column(file: ColumnFile, ends: tuple[int, int], weight: int | None, given: str | None) -> int | None:
    """Return the column of types of edges, if there is one."""
    found = column_called(file, TYPE_NAMES) if given is None else column_given(file, given)
    if found not in (*ends, weight):
        return found
    if given is not None:
        raise InputError(f"{file.path}: {excerpt(given)} is to be an end or the weight of edges too; name two columns")
    return None


def _column_notes(
    file: ColumnFile,
    ends: tuple[int, int],
    weight: int | None,
    kind: int | None,
    used: bool,
    unweighted: bool | None,
) -> list[str]:
    notes = []
    if weight is not None and used:
        notes.append(
            f"{file.path.name}: {excerpt(file.names[weight])} read as the weights of edges; "
            "--unweighted leaves them out"
        )
    third = next((i for i in range(len(file.names)) if i not in ends), len(file.names))
    doubtful = weight is None and not file.has_names and third < len(file.names) and file.is_numeric(third)
    if doubtful and not unweighted:
        name, option = file.names[third], f"--weight-column {third + 1}"
        notes.append(f"{file.path.name}: if {name} holds weights, use them with {option}")
    if not file.has_names and len(file.names) == 3 and not file.is_numeric(2) and kind is None:
        how = "--source 1 --type-column 2 --target 3"
        notes.append(f"{file.path.name}: if column 2 holds the types of edges, as in triples, say so with {how}")
    usual = (column_called(file, SOURCE_NAMES), column_called(file, TARGET_NAMES))
    if file.has_names and ends != usual:
        first, second = (excerpt(file.names[i]) for i in ends)
        notes.append(f"{file.path.name}: {first} and {second} read as the ends of edges")
    named = column_called(file, WEIGHT_NAMES)
    if weight is None and named is not None and named not in ends and not unweighted:
        name = excerpt(file.names[named])
        notes.append(
            f"{file.path.name}: edges count equally, for not all values of {name} are numbers; --weight-column "
            f"{file.names[named]} says which is not"
        )
    used_up = (*ends, weight, kind, *([third] if doubtful else []))
    unused = [name or "''" for i, name in enumerate(file.names) if i not in used_up]
    if unused:
        notes.append(f"{file.path.name}: not used: {listing(unused)}")
    return notes


def _directed(file: ColumnFile, ends: tuple[int, int]) -> tuple[str]:
    first, second = (excerpt(file.names[i]) for i in ends)
    return (f"{file.path.name}: edges go from {first} to {second}",)
