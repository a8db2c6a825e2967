"""Where a graph is: a data set's name or files, and how to read them, now and again later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.graph.ids import NodeIds
    from nodewise.tables.table import FittedTable


@dataclass(frozen=True)
class EdgeColumns:
    """How a file of edges is written, where the guess is wrong."""

    delimiter: str | None = None
    header: bool | None = None
    source: str | None = None
    target: str | None = None
    weight_column: str | None = None
    unweighted: bool | None = None
    directed: bool | None = None
    type_column: str | None = None
    edge_types: str | None = None
    metapath: str | None = None


@dataclass(frozen=True)
class TableColumns:
    """Which columns of features and labels hold what, where the names do not say."""

    id_column: str | None = None
    label_column: str | None = None
    strict: bool | None = None
    columns: str | None = None


# What stands for columns that nothing was said about.
EDGES, TABLES = EdgeColumns(), TableColumns()


@dataclass(frozen=True)
class GraphSource:
    """Everything that is said about where a graph is."""

    graph: str
    features: Path | None = None
    labels: Path | None = None
    data_dir: Path | None = None
    edges: EdgeColumns = EDGES
    tables: TableColumns = TABLES

    @property
    def is_data_set(self) -> bool:
        """Whether the name can only be meant as a data set, known or misspelled: a bare word that is no file."""
        path = Path(self.graph)
        return path.name == self.graph and not path.suffix and not path.exists()

    def columns(self) -> dict[str, Any]:
        """Return how the files are written, as keywords of `read_graph`."""
        columns = asdict(self.edges) | asdict(self.tables)
        if columns["delimiter"] in ("\\t", "tab"):  # what a shell makes hard to type
            columns["delimiter"] = "\t"
        return columns

    def record(self) -> dict[str, Any]:
        """Return what a run keeps in order to find its graph again, whatever the folder it is looked for from."""
        found: dict[str, Any] = {"graph": self.graph if self.is_data_set else str(Path(self.graph).resolve())}
        paths = {"features": self.features, "labels": self.labels, "data_dir": self.data_dir}
        found |= {name: str(path.resolve()) for name, path in paths.items() if path is not None}
        columns = asdict(self.edges) | asdict(self.tables)
        return found | {name: value for name, value in columns.items() if value is not None}

    def feature_names(self, nodes: NodeIds) -> tuple[str, ...]:
        """Return what the file of features of these nodes calls them; nothing if it does not say."""
        from nodewise.read.feature_table import feature_names
        from nodewise.read.label_table import label_column_names

        aside: tuple[str, ...] = ()
        if self.features is not None and self.features == self.labels:
            aside = label_column_names(self.features, self.tables.label_column, self.tables.id_column, nodes)
        return feature_names(self.features, self.tables.id_column, aside, nodes)

    @classmethod
    def recorded(cls, record: Mapping[str, Any], data_dir: Path | None = None) -> GraphSource:
        """Return the source that `record` described; a folder of data sets given now comes before the one then."""
        paths = {name: Path(record[name]) for name in ("features", "labels", "data_dir") if name in record}
        if data_dir is not None or ("data_dir" in paths and not paths["data_dir"].is_dir()):
            paths.pop("data_dir", None)
        return cls(
            str(record["graph"]),
            features=paths.get("features"),
            labels=paths.get("labels"),
            data_dir=paths.get("data_dir", data_dir),
            edges=EdgeColumns(*(record.get(field.name) for field in fields(EdgeColumns))),
            tables=TableColumns(*(record.get(field.name) for field in fields(TableColumns))),
        )


def load_graph(
    source: GraphSource, quiet: bool = False, verify: bool = False, retell: bool = False, like: Any = None
) -> Graph:
    """Return the graph, telling on stderr what reading changed or assumed.

    `verify` checks the sums and contents of a store, which reads all of it; `retell` also tells what was told when
    it was made; `like` is that of `read_graph`.
    """
    from nodewise.store.layout import Manifest, is_store
    from nodewise.store.open import open_store

    told: tuple[str, ...] = ()
    if is_store(path := Path(source.graph)):
        told = () if retell else Manifest.read(path).notes
        if verify:
            open_store(path, verify=True)
    if not source.graph:
        raise InputError("the name of the graph is empty; name a data set or a file", code="missing-file")
    graph = _load_data_set(source, quiet) if source.is_data_set else _read_files(source, like)
    for note in graph.notes:
        if note not in told:
            say(note, quiet)
    return graph


def _load_data_set(source: GraphSource, quiet: bool) -> Graph:
    from nodewise.datasets.registry import DATASETS, load_dataset

    name = source.graph
    if name.lower() not in DATASETS and not DATASETS.is_own(name):
        raise InputError(
            f"{name}: no such file, nor a data set of that name{did_you_mean(name, DATASETS)}", code="missing-file"
        )
    given = {"features": source.features, "labels": source.labels, **asdict(source.edges), **asdict(source.tables)}
    for option, value in given.items():
        if value is not None:
            flag = f"--{option.replace('_', '-')}"
            raise InputError(f"{name!r} is a data set and brings its own; leave out {flag}, or name a file of edges")
    return load_dataset(name, source.data_dir, progress=for_terminal(quiet))


def _read_files(source: GraphSource, like: Any = None) -> Graph:
    from nodewise.read.read import read_graph

    return read_graph(Path(source.graph), features=source.features, labels=source.labels, like=like, **source.columns())


def with_features_like(graph: Graph, table: FittedTable | None) -> Graph:
    """Return a graph with its features made as others were, by reading its table again if it has to be.

    A model knows features by their places, and what a table of new nodes becomes by itself are others.
    """
    if graph.table == table or graph.table is None:
        return graph
    if graph.origin is None or "features" not in graph.origin:
        raise InputError(
            f"{graph.name}: its table was prepared by itself, and not as that of training; read it with "
            "read_graph(..., like=run), or give its files",
            code="other-features",
        )
    source = replace(GraphSource.recorded(graph.origin), labels=None)
    return load_graph(source, quiet=True, like=table or "numbers")


def read_ids(path: Path, nodes: NodeIds) -> NodeIds:
    """Return the ids in a file about some nodes: its column `id`, one that holds theirs, or its first."""
    from nodewise.graph.ids import NodeIds
    from nodewise.read.columns import ID_NAMES
    from nodewise.read.formats import format_of, open_columns
    from nodewise.read.keys import id_column

    if (kind := format_of(path)) not in ("text", "parquet"):
        raise InputError(f"{path}: {kind} cannot hold ids; give text or Parquet")
    file = open_columns(path, kind, (ID_NAMES,))
    column = file.settle(file.read([id_column(file, None, nodes)[0] or 0]).keys)[0]
    if not len(column):
        raise InputError(f"{path}: holds no ids, only names of columns; add some", code="empty-file")
    return NodeIds(column, str(path), file.place)
