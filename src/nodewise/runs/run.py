"""A run: the folder that a trained method leaves, and everything that can be done with it, whatever the method.

What does it is imported when asked for: training a graph of 34 nodes should not wait for what draws pages.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from nodewise.core.errors import InputError, require_type, seen
from nodewise.core.files import atomic_write
from nodewise.core.folder import RunFolder
from nodewise.core.registry import name_in_files
from nodewise.core.staging import staged_run
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.read.frames import as_files
from nodewise.read.interop import as_graph
from nodewise.runs.labels import write_labels
from nodewise.runs.source import GraphSource
from nodewise.runs.together import find_graph, method_of, read_runs, read_vectors
from nodewise.tables.table import FittedTable
from nodewise.vectors.collapse import collapse_warnings
from nodewise.vectors.embedding_files import read_parquet_ids
from nodewise.vectors.embeddings import Embeddings

if TYPE_CHECKING:
    from nodewise.methods.estimator import Embedder
    from nodewise.runs.classify import Kinds, Predictions
    from nodewise.runs.clusters import Clusters
    from nodewise.runs.evaluate import Evaluation
    from nodewise.runs.neighbors import Conditions
    from nodewise.runs.page import Page
    from nodewise.vectors.search import NeighborTable

PathLike = str | Path
Table = Any
"""The name of a file, a pandas or polars frame or series, an Arrow table, or a mapping from ids."""


class Run:
    """The run in a folder, made by `nodewise embed` or by `save` of any method.

    >>> run = Run("runs/first")  # doctest: +SKIP
    >>> run.evaluate(labels="labels.csv", split="random:10x20x50")  # doctest: +SKIP
    >>> run.report()  # doctest: +SKIP
    """

    def __init__(self, path: PathLike) -> None:
        self.folder = RunFolder.open(path)
        self._graph: Graph | None = None  # what it was saved with, if no file can tell

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @cached_property
    def about(self) -> dict[str, Any]:
        """What was written down about the run: versions, hardware, method, seed, graph."""
        return self.folder.read_environment()

    @property
    def method(self) -> type[Embedder]:
        """The method that made it."""
        return method_of(self.path)

    @property
    def settings(self) -> Any:
        """The method's settings."""
        return self.folder.read_config(self.method.settings_class)

    @property
    def seed(self) -> int:
        """The seed of the training."""
        return self.folder.read_seed()

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The records of the training, in order."""
        return self.folder.read_metrics()

    @cached_property
    def embeddings(self) -> Embeddings:
        """The vectors, keyed by the user's ids."""
        return read_vectors(self.path)

    @cached_property
    def table(self) -> FittedTable | None:
        """How the columns of a table became the features, for `read_graph(..., like=run)`; None if they were none."""
        return FittedTable.read(self.folder.features)

    @property
    def structural(self) -> bool:
        """Whether it is known that the nodes had no features of their own, so that structural ones were computed."""
        return bool(self.about.get("graph", {}).get("structural", False))

    def model(self, device: str = "auto") -> Embedder:
        """Return the trained method, without its embeddings."""
        return self.method.load(self.path, device=device, embeddings=False)

    def graph(self) -> Graph:
        """Return the graph that the run was made from: read again, or the one it was just saved with."""
        if self._graph is not None:
            return self._graph
        found, missing = find_graph(read_runs([self.path]), None, None, quiet=True)
        if found is None:
            raise InputError(f"{self.path}: the graph cannot be read: {missing}")
        return found

    def neighbors(
        self,
        node: int | str | Sequence[int | str] | NodeIds | None = None,
        k: int = 10,
        *,
        new: Embeddings | PathLike | None = None,
        at_least: float | None = None,
        where: Conditions = (),
        kind: str | None = None,
        attributes: Table | None = None,
        id_column: str | None = None,
        approximate: bool | None = None,
    ) -> NeighborTable:
        """Return the k nodes nearest to a node, to each of a list of nodes or to all, by cosine similarity.

        Of one node it is gone through as a list of (neighbor, similarity), of several of (node, neighbor, similarity);
        `to_pandas` makes a frame of it. What else can be said, such as ``new=run.transform(graph)`` (or the file of
        such vectors), ``kind="product"``, ``at_least=0.9`` and ``where="country=DE", attributes="people.csv"``, is
        that of `nodewise.runs.neighbors.find_neighbors`.
        """
        from nodewise.runs.neighbors import find_neighbors
        from nodewise.vectors.search import NeighborTable

        require_type("new", new, str | os.PathLike | Embeddings | None, "Embeddings, or the name of a file of them")
        require_type("at_least", at_least, Real | None, "a number")
        require_type("where", where, str | Sequence | Mapping, "text such as 'age>=30', a list of such, or a mapping")
        one = int(node) if isinstance(node, np.integer) else node if isinstance(node, int | str) else None
        said = (new, at_least, kind, attributes, id_column, approximate)
        if one is not None and not where and all(each is None for each in said):
            return NeighborTable.of_one(one, self.embeddings.neighbors(one, k))
        nodes = [one] if one is not None else cast("Sequence[int | str] | NodeIds | None", node)
        vectors = new if new is None or isinstance(new, Embeddings) else Path(new)
        with as_files(self._ids, attributes=attributes) as files:
            found = find_neighbors(
                self.path,
                nodes,
                k,
                new=vectors,
                at_least=at_least,
                where=where,
                kind=kind,
                id_column=id_column,
                approximate=approximate,
                **files,
            )
        return found if one is None else found.alone()

    def clusters(self, k: int | str = "auto", attributes: Table | None = None, **options: Any) -> Clusters:
        """Return groups of similar nodes, with names; see `nodewise.runs.clusters.find_clusters`."""
        from nodewise.runs.clusters import find_clusters

        with as_files(self._ids, attributes=attributes) as files:
            return find_clusters(self.path, k, **{"source": self._graph} | options | files)

    def evaluate(
        self, labels: Table | None = None, graph: PathLike | Graph | None = None, **options: Any
    ) -> Evaluation:
        """Score the vectors beside raw features and an untrained encoder; see `nodewise.runs.evaluate.evaluate`."""
        from nodewise.runs.evaluate import evaluate

        with as_files(labels=labels) as files:
            return evaluate([self.path], self._source(graph), labels_file=files["labels"], **options)

    def classify(
        self,
        labels: Table | None = None,
        *,
        new: Embeddings | Graph | PathLike | None = None,
        kind: Kinds = (),
        attributes: Table | None = None,
    ) -> Predictions:
        """Label the unlabeled nodes by a linear classifier of the labeled ones.

        Args:
            labels: labels of some nodes; else those beside the run.
            new: nodes that came later, which alone are labeled then: their vectors, as `transform` makes them, or the
                file of these; or a graph that has them, of which those are embedded that the run does not have.
            kind: the types of nodes to label, such as "product"; if not given, those of which some nodes have labels.
            attributes: a table whose column `type` says of which type nodes are, where the run does not know.
        """
        from nodewise.runs.classify import classify_run

        require_type("kind", kind, str | Integral | Sequence, "the name of a type, or a list of names")
        if new is not None and not isinstance(new, str | os.PathLike | Embeddings):
            new = self.transform(new, only="new")
        vectors = new if new is None or isinstance(new, Embeddings) else Path(new)
        with as_files(self._ids, labels=labels, attributes=attributes) as files:
            return classify_run(self.path, files["labels"], new=vectors, kind=kind, attributes=files["attributes"])

    def report(
        self,
        output: PathLike | None = None,
        labels: Table | None = None,
        attributes: Table | None = None,
        graph: PathLike | Graph | None = None,
        **options: Any,
    ) -> Page:
        """Write an interactive page of the run, which a notebook shows; see `nodewise.runs.page.write_report`."""
        from nodewise.runs.page import write_report

        require_type("output", output, str | os.PathLike | None, "the name of a file")
        page = None if output is None else Path(output)
        with as_files(self._ids, labels=labels, attributes=attributes) as files:
            tables = {f"{name}_file": file for name, file in files.items()}
            return write_report(self.path, page, self._source(graph), **tables, **options)

    def _ids(self) -> NodeIds:
        return self.embeddings.ids

    def _source(self, given: PathLike | Graph | None) -> GraphSource | Graph | None:
        if given is None or isinstance(given, Graph):
            return given or self._graph
        return GraphSource(str(given))

    def transform(
        self, graph: Graph, nodes: NodeIds | None = None, only: Literal["new"] | None = None, device: str = "auto"
    ) -> Embeddings:
        """Embed the nodes of a graph with the trained method: all, some, or those the run has no vectors for.

        Args:
            graph: the graph, old and new nodes together.
            nodes: the nodes to embed; all if None.
            only: "new" for the nodes that the run has no vectors for; None for no such limit.
            device: `cpu`, `cuda` or `auto`.
        """
        require_type("only", only, str | None, "'new' or None")
        if only is not None and only != "new":  # else a misspelled wish would be answered with all nodes
            hint = "for some nodes give nodes=" if not isinstance(only, str) else "did you mean 'new'?"
            raise InputError(f"only must be 'new' or None, not {seen(only)}; {hint}", code="bad-argument")
        graph = as_graph(graph)
        if isinstance(nodes, str | Integral):  # a text would be taken letter by letter
            nodes = NodeIds([nodes])
        if only == "new" and nodes is not None:
            raise InputError("nodes and only='new' exclude each other; give one of them")
        if only == "new":
            nodes = self.new_nodes(graph)
        return self.model(device).transform(graph, nodes)

    def new_nodes(self, graph: Graph) -> NodeIds:
        """Return the nodes of a graph that the run has no vectors for; that there are none is an error."""
        require_type("the graph", graph, Graph, "a Graph")
        self.folder.refuse_changed(self.folder.embeddings)  # nodes of another run would be new, or old, here
        seen = read_parquet_ids(self.folder.embeddings)
        fresh = graph.ids.to_arrow().filter(seen.positions(graph.ids, graph.name) < 0)
        if len(fresh) == 0:
            raise InputError(
                f"{self.path}: has a vector for every node of {graph.name}; there is nothing new to embed",
                code="nothing-to-do",
            )
        return NodeIds.from_distinct(fresh)

    @classmethod
    def write(cls, model: Embedder, path: PathLike, graph: Graph | None = None, overwrite: bool = False) -> Run:
        """Leave a fitted method in a new or empty folder, or in place of an earlier run.

        A finished run of another graph or another method is replaced only with `overwrite`.
        """
        require_type("the folder of the run", path, str | os.PathLike, "the name of a folder")
        if "\0" in os.fspath(path):
            raise InputError(f"{path}: no name of a folder can hold a null character", code="bad-argument")
        require_type("the graph", graph, Graph | None, "what the method was fitted to, as a Graph")
        require_type("overwrite", overwrite, bool, "True or False")
        if graph is not None and not _same_nodes(graph.ids, model.embeddings_.ids):
            raise InputError(
                f"{graph.name} has other nodes than the graph that {model.name} was fitted to; give that one, or none",
                code="other-nodes",
            )
        with staged_run(path) as folder:
            if not overwrite:
                refuse_another_run(RunFolder(Path(path)), model, graph, None, "overwrite=True")
            for record in model.history_:
                folder.append_metrics(record)
            write_run(folder, model, graph)
        run = cls(path)
        run._graph = graph if graph is not None and graph.origin is None else None
        return run

    def __repr__(self) -> str:
        facts = self.about.get("embeddings", {})
        size = f"{facts['nodes']:,} nodes, {facts['dimensions']} dimensions" if "nodes" in facts else "unfinished"
        return f"Run({str(self.path)!r}: {self.about.get('method', 'nodewise')}, {size})"

    def _repr_html_(self) -> str:
        from nodewise.runs.page import Page

        shown = self.folder.report
        page = Page(shown)._repr_html_() if shown.is_file() else "<p>report() makes a page of it.</p>"
        return f"<p><b>{escape(repr(self))}</b></p>{page}"


def _same_nodes(some: NodeIds, others: NodeIds) -> bool:
    if some == others or some.kind != others.kind or len(some) != len(others):
        return some == others
    return bool((some.positions(others) >= 0).all())


def refuse_another_run(run: RunFolder, model: Embedder, graph: Graph | None, whole: str | None, remedy: str) -> None:
    """Refuse to replace a finished run of another graph or method, which a mistyped name would cost somebody.

    A graph is what it holds and not where it was read: a file of the same name may be another graph, and what is read
    of one file depends on the options. Settings are there to be changed: a command with others can be repeated.

    Args:
        run: where the new run is to be.
        model: its method.
        graph: what it is of, if that is known.
        whole: the fingerprint of the graph before edges were held out, if some were.
        remedy: how the user would replace it all the same.
    """
    if not run.config.is_file():
        return
    about = run.read_environment()
    of, method = about.get("graph", {}), about.get("method")
    earlier = of.get("whole_sha256", of.get("sha256"))
    if method is not None and method != name_in_files(type(model)):
        there = f"of the method {method!r}"
    elif graph is not None and earlier is not None and earlier != (whole or fingerprint(graph)):
        name = of.get("name") or "one without a name"
        there = f"of another graph, {name!r}"
        there += " with other edges, features or ids" if name == graph.name else ""
    else:
        return
    raise InputError(
        f"{run.path}: holds a finished run {there}; name another folder, or replace it with {remedy}",
        code="other-run",
    )


def write_run(
    folder: RunFolder,
    model: Embedder,
    graph: Graph | None,
    source: GraphSource | None = None,
    whole: str | None = None,
) -> None:
    """Write everything that makes a run whole into a folder that is being made, metrics excepted.

    Args:
        folder: see `nodewise.core.staging.staged_run`.
        model: the fitted method.
        graph: what it was fitted to, if that is to be remembered; with its labels, which are kept for evaluation.
        source: where the graph can be read again.
        whole: the fingerprint of that graph where edges were held out of the one fitted.
    """
    folder.write_config(model.settings)
    model.write_weights(folder)
    # The same vectors are the same model, whatever it is; transform marks what it makes in the same way.
    mark = hashlib.blake2b(model.embeddings_.vectors.data, digest_size=16).hexdigest()
    replace(model.embeddings_, mark=mark).to_parquet(folder.embeddings)
    if model.table_ is not None:
        with atomic_write(folder.features) as temporary:
            temporary.write_text(model.table_.to_json(), encoding="utf-8")
    nodes, dimensions = model.embeddings_.vectors.shape
    found: dict[str, Any] = {"nodes": nodes, "dimensions": dimensions}
    if warnings := collapse_warnings(model.embeddings_.vectors):
        found["warnings"] = warnings
    facts: dict[str, Any] = {"method": name_in_files(type(model)), "seed": model.seed, "mark": mark}
    if graph is not None:
        if source is None and graph.origin is not None:
            source = GraphSource.recorded(graph.origin)
        facts["graph"] = {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "structural": graph.structural,
            "sha256": fingerprint(graph),
            "feature_names": graph.table.names if graph.table else _feature_names(source, graph.ids),
        }
        if whole is not None:
            facts["graph"]["whole_sha256"] = whole
        if source is not None:
            facts["graph"]["source"] = source.record()
    folder.write_environment(**facts, embeddings=found)
    if graph is not None and graph.labels is not None:
        write_labels(graph, folder.labels)


def _feature_names(source: GraphSource | None, nodes: NodeIds) -> tuple[str, ...]:
    """Return what the file of features calls them; nothing if there is none, or if it has changed since."""
    try:
        return () if source is None else source.feature_names(nodes)
    except InputError:
        return ()
