"""A run: the folder that a trained method leaves, and everything that can be done with it, whatever the method."""

from __future__ import annotations

from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.registry import name_in_files
from nodewise.core.staging import staged
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods.estimator import Embedder
from nodewise.runs.classify import Predictions, classify_run
from nodewise.runs.evaluate import Evaluation, evaluate
from nodewise.runs.labels import write_labels
from nodewise.runs.page import Page, write_report
from nodewise.runs.source import GraphSource
from nodewise.runs.together import find_graph, method_of, read_runs, read_vectors
from nodewise.vectors.embedding_files import read_parquet_ids
from nodewise.vectors.embeddings import Embeddings

PathLike = str | Path


class Run:
    """The run in a folder, made by `nodewise embed` or by `save` of any method.

    >>> run = Run("runs/first")  # doctest: +SKIP
    >>> run.evaluate(labels="labels.csv", split="random:10x20x50")  # doctest: +SKIP
    >>> run.report()  # doctest: +SKIP
    """

    def __init__(self, path: PathLike) -> None:
        self.folder = RunFolder.open(path)

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

    def model(self, device: str = "auto") -> Embedder:
        """Return the trained method, without its embeddings."""
        return self.method.load(self.path, device=device, embeddings=False)

    def graph(self) -> Graph:
        """Read the graph that the run was made from again."""
        found, missing = find_graph(read_runs([self.path]), None, None, quiet=True)
        if found is None:
            raise InputError(f"{self.path}: the graph cannot be read: {missing}")
        return found

    def neighbors(self, node: int | str, k: int = 10) -> list[tuple[int | str, float]]:
        """Return the k nodes nearest to a node by cosine similarity, with the similarity."""
        return self.embeddings.neighbors(node, k)

    def evaluate(self, labels: PathLike | None = None, graph: PathLike | None = None, **options: Any) -> Evaluation:
        """Score the vectors beside raw features and an untrained encoder; see `nodewise.runs.evaluate.evaluate`."""
        return evaluate([self.path], _source(graph), labels_file=_path(labels), **options)

    def classify(self, labels: PathLike | None = None) -> Predictions:
        """Label the unlabelled nodes by a linear classifier of the labelled ones."""
        return classify_run(self.path, _path(labels))

    def report(
        self,
        output: PathLike | None = None,
        labels: PathLike | None = None,
        attributes: PathLike | None = None,
        graph: PathLike | None = None,
        **options: Any,
    ) -> Page:
        """Write an interactive page of the run, which a notebook shows; see `nodewise.runs.page.write_report`."""
        return write_report(
            self.path,
            _path(output),
            _source(graph),
            labels_file=_path(labels),
            attributes_file=_path(attributes),
            **options,
        )

    def transform(
        self,
        graph: Graph,
        nodes: NodeIds | None = None,
        only: Literal["new"] | None = None,
        device: str = "auto",
    ) -> Embeddings:
        """Embed the nodes of a graph with the trained method: all, some, or those the run has no vectors for."""
        if only == "new" and nodes is not None:
            raise InputError("nodes and only='new' exclude each other; give one of them")
        if only == "new":
            nodes = self.new_nodes(graph)
        return self.model(device).transform(graph, nodes)

    def new_nodes(self, graph: Graph) -> NodeIds:
        """Return the nodes of a graph that the run has no vectors for; that there are none is an error."""
        seen = read_parquet_ids(self.folder.embeddings)
        fresh = graph.ids.to_arrow().filter(seen.positions(graph.ids, graph.name) < 0)
        if len(fresh) == 0:
            raise InputError(
                f"{self.path}: has a vector for every node of {graph.name}; there is nothing new to embed",
                code="nothing-to-do",
            )
        return NodeIds.from_distinct(fresh)

    @classmethod
    def write(cls, model: Embedder, path: PathLike, graph: Graph | None = None) -> Run:
        """Leave a fitted method in a new or empty folder, or in place of an earlier run."""
        with staged(path) as folder:
            for record in model.history_:
                folder.append_metrics(record)
            write_run(folder, model, graph)
        return cls(path)

    def __repr__(self) -> str:
        facts = self.about.get("embeddings", {})
        size = f"{facts['nodes']:,} nodes, {facts['dimensions']} dimensions" if "nodes" in facts else "unfinished"
        return f"Run({str(self.path)!r}: {self.about.get('method', 'nodewise')}, {size})"

    def _repr_html_(self) -> str:
        shown = self.folder.report
        page = Page(shown)._repr_html_() if shown.is_file() else "<p>report() makes a page of it.</p>"
        return f"<p><b>{escape(repr(self))}</b></p>{page}"


def write_run(folder: RunFolder, model: Embedder, graph: Graph | None, source: GraphSource | None = None) -> None:
    """Write everything that makes a run whole into a folder that is being made, metrics excepted.

    Args:
        folder: see `nodewise.core.staging.staged`.
        model: the fitted method.
        graph: what it was fitted to, if that is to be remembered; with its labels, which are kept for evaluation.
        source: where the graph can be read again.
    """
    folder.write_config(model.settings)
    model.write_weights(folder)
    model.embeddings_.to_parquet(folder.embeddings)
    nodes, dimensions = model.embeddings_.vectors.shape
    facts: dict[str, Any] = {"method": name_in_files(type(model)), "seed": model.seed}
    if graph is not None:
        facts["graph"] = {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "sha256": fingerprint(graph),
            "feature_names": () if source is None else source.feature_names(),
        }
        if source is not None:
            facts["graph"]["source"] = source.record()
        elif graph.origin is not None:
            facts["graph"]["source"] = dict(graph.origin)
    folder.write_environment(**facts, embeddings={"nodes": nodes, "dimensions": dimensions})
    if graph is not None and graph.labels is not None:
        write_labels(graph, folder.labels)


def _path(given: PathLike | None) -> Path | None:
    return None if given is None else Path(given)


def _source(given: PathLike | None) -> GraphSource | None:
    return None if given is None else GraphSource(str(given))
