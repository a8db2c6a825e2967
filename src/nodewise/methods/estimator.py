"""The contract of every method, ours and the rivals: one constructor, `fit`, `transform`, `save` and `load`.

torch_geometric's layers draw from torch's own generator, so a rival seeds a fork of it: what the caller draws
before and after is untouched, and the same seed gives the same result.
"""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from nodewise.core.config import to_mapping
from nodewise.core.errors import InputError, NodewiseError, NotFitted, require_type, seen
from nodewise.core.folder import RunFolder
from nodewise.core.keywords import keyword_values, with_keywords
from nodewise.core.progress import Progress, SilentProgress, shown_by
from nodewise.core.registry import FileText, Registry, is_own, name_in_files, told_as_own
from nodewise.core.rng import checked_seed
from nodewise.core.tracking import Listener, told
from nodewise.encoders.preparation import units_warning
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.graph.validate import require_features
from nodewise.methods.inputs import Inputs, Scaling, suitable
from nodewise.read.interop import as_graph
from nodewise.runs.source import with_features_like
from nodewise.tables.table import FittedTable
from nodewise.training.checkpoint import CheckpointPlan, write_tensors
from nodewise.training.device import choose_device
from nodewise.training.settings import MOST_RATE
from nodewise.training.team import Alone
from nodewise.vectors.collapse import collapse_warnings
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.kinds import NodeKinds

if TYPE_CHECKING:
    from nodewise.methods.sharded import Sharded
    from nodewise.runs.run import Run

Say = Callable[[str], None]
_MOSTLY = 0.95


class Methods(Registry["type[Estimator]"]):
    """The methods by name: ours, then those without labels, then those with, each by year."""

    remedy = "import its module in Python and open the run there (nodewise.Run); 'neighbors' and 'report' need no code"

    def __getitem__(self, name: str) -> type[Estimator]:
        """Return the method of a name; what is none, though there is such a name, is refused."""
        found: object = super().__getitem__(name)
        if not (isinstance(found, type) and issubclass(found, Estimator)):
            raise InputError(
                f"{name} is no method: it is not a class derived from nodewise.Embedder, but {seen(found)}",
                code="own-code-failed",
            )
        return found

    def names(self) -> tuple[str, ...]:
        """Return all names, importing every method."""
        return tuple(sorted(super().names(), key=lambda name: self._place(self[name])))

    def _import_namesake(self, name: str) -> None:
        super()._import_namesake("node-embedder" if name == "nodewise" else name)

    @staticmethod
    def _place(method: type[Estimator]) -> tuple[bool, bool, str, str]:
        return method.name != "nodewise", method.needs_labels(), method.paper[-4:], method.name

    def find(self, name: str, *, with_labels: bool) -> type[Any]:
        """Return a method that needs labels, or one that does not; another one is refused with its command."""
        found = self[name]
        _require_whole(found)
        if found.needs_labels() != with_labels:
            kind, command = ("needs labels", "classify") if found.needs_labels() else ("uses no labels", "embed")
            raise InputError(
                f"{name} {kind}: run it with 'nodewise {command} GRAPH --method {name}'", code="wrong-command"
            )
        return found


METHODS = Methods("method", "nodewise.methods", "nodewise.methods.rivals", "nodewise.methods.classifiers")
method = METHODS.register


def _require_whole(found: type[Estimator]) -> None:
    """Refuse a class that lacks what a method must define."""
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if not is_dataclass(getattr(found, "settings_class", None)):
        missing.append("settings_class, a frozen dataclass of its settings")
    if missing:
        told = f"method {name_in_files(found)} must define {' and '.join(missing)}"
        raise InputError(told, code="own-code-failed")


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from torch's generator as if nothing had been drawn before, and leave it as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Watch:
    """Who watches the training, and what over.

    Attributes:
        progress: bars.
        log: called with a record every so many epochs.
        run: where checkpoints go, if anywhere.
        checkpoints: when to save them, and whether to resume from the newest one.
        check_memory: refuse beforehand what will not fit into memory.
        team: the processes that train together.
    """

    progress: Progress = field(default_factory=SilentProgress)
    log: Callable[[dict[str, Any]], None] = lambda record: None
    run: RunFolder | None = None
    checkpoints: CheckpointPlan | None = None
    check_memory: bool = True
    team: Alone = field(default_factory=Alone)


class Estimator(ABC):
    """A method with settings, a seed and a device.

    The constructor only stores: settings as one object, or as keywords by their names. Scikit-learn's `clone` and
    `set_params` understand it. A subclass names its settings, a frozen dataclass whose defaults are its own paper's;
    settings that the paper gives for one data set are an entry of `tuned`. It registers itself with the decorator
    `method`; a method of your own may also be named as ``module:Class``.

    Attributes:
        name: on the command line.
        title: in tables.
        paper: authors, venue and year.
        uses: some of X (features), A (edges), S (diffusion of the edges), Y (labels).
        probe: the preset of `nodewise.evaluation.presets` by which its authors score it, or the nearest one there is.
        cost: time and memory of training, in N nodes, E edges, F features, d dimensions, B nodes of a batch.
        inductive: whether it embeds nodes that training has not seen.
        resumable: whether it saves checkpoints, and several processes can train it together.
        partial: whether it embeds some nodes, or a graph in shards, without embedding all of it at once.
        directions: whether it sees the directions of edges; others take edges to go both ways.
        history_: the records of training, in order.
        table_: how the columns of a table became the features, where they were one.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    uses: ClassVar[str] = "X A"
    cost: ClassVar[str] = ""
    inductive: ClassVar[bool] = False
    resumable: ClassVar[bool] = False
    partial: ClassVar[bool] = False
    directions: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    probe: ClassVar[str] = "mvgrl"
    settings_class: ClassVar[type[Any]]
    tuned: ClassVar[dict[str, dict[str, Any]]] = {}
    history_: list[dict[str, Any]]
    table_: FittedTable | None = None

    def __init_subclass__(cls) -> None:
        cls.name = f"{cls.__module__}:{cls.__qualname__}"  # until it is registered under a shorter one

    def __init__(self, settings: Any = None, *, seed: int = 0, device: str = "auto", **changes: Any) -> None:
        _require_whole(type(self))
        require_type("settings", settings, self.settings_class | None, self.settings_class.__name__)
        start = settings if settings is not None else self.settings_class()
        self.settings = with_keywords(start, changes, type(self).__name__) if changes else start
        self.seed = checked_seed(seed)
        self.device = device
        if not (rate := getattr(self.settings, "learning_rate", 0.0)) <= MOST_RATE:
            raise InputError(f"learning_rate is {rate:g}; it must be at most {MOST_RATE:g}", code="bad-setting")

    @classmethod
    def needs_labels(cls) -> bool:
        """Whether it learns from labels, and so classifies instead of embedding."""
        return "Y" in cls.uses

    @classmethod
    def measured(cls) -> dict[str, dict[str, float | None]]:
        """Return our test accuracy in percent by data set: its mean, standard deviation and n; {} if not measured."""
        text = (files("nodewise.methods") / "accuracy.json").read_text(encoding="utf-8")
        found: dict[str, dict[str, dict[str, float | None]]] = json.loads(text)
        return found.get(cls.name, {})

    @classmethod
    def settings_for(cls, dataset: str) -> Any:
        """Return the settings that the method's paper gives for a data set, or else its defaults."""
        return cls.settings_class(**cls.tuned.get(dataset.lower(), {}))

    def overlooked(self, graph: Graph) -> str | None:
        """Return in words what a graph has and the method does not see, or None."""
        if graph.directed and not self.directions and not {"A", "S"}.isdisjoint(self.uses.split()):
            return f"{self.name} sees no directions, so edges go both ways"
        return None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what the constructor takes; with `deep`, every setting by its keyword as well."""
        own = {"settings": self.settings, "seed": self.seed, "device": self.device}
        return own | (keyword_values(self.settings) if deep else {})

    def set_params(self, **params: Any) -> Self:
        """Change what the constructor takes, settings by their keywords."""
        start = {name: params.pop(name, getattr(self, name)) for name in ("settings", "seed", "device")}
        Estimator.__init__(self, **start, **params)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __repr__(self) -> str:
        usual = keyword_values(self.settings_class())
        changed = {name: value for name, value in keyword_values(self.settings).items() if usual.get(name) != value}
        changed |= {"seed": self.seed} if self.seed else {}
        changed |= {"device": self.device} if self.device != "auto" else {}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there. What training gives ends in "_", as scikit-learn has it.
        given_by_fit = name.endswith("_") and not name.startswith("_")
        if given_by_fit and (name == "embeddings_" or "history_" not in vars(self)):
            raise self._not_fitted()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _not_fitted(self) -> NotFitted:
        return NotFitted(f"this {type(self).__name__} is not fitted yet; call fit(graph) first")

    def _repr_html_(self) -> str:
        from html import escape

        fitted = "fitted" if hasattr(self, "history_") else "not fitted yet"
        return f"<b>{escape(self.title or type(self).__name__)}</b> ({fitted})<br><code>{escape(repr(self))}</code>"

    def fit(
        self,
        graph: Graph,
        y: object = None,
        *,
        run: RunFolder | None = None,
        progress: Progress | None = None,
        checkpoints: CheckpointPlan | None = None,
        check_memory: bool = True,
        team: Alone | None = None,
        callbacks: Iterable[Listener] = (),
    ) -> Self:
        """Train on a graph.

        Args:
            graph: the graph; methods without labels do not read them.
            y: ignored; scikit-learn's pipelines hand it over.
            run: where metrics and checkpoints go, if anywhere.
            progress: bars.
            checkpoints: when to save checkpoints in `run`, and whether to resume from the newest one there; only
                methods that are `resumable` make them.
            check_memory: refuse beforehand what will not fit into memory, where that can be known.
            team: the processes that train together, for methods that are `resumable`.
            callbacks: told of the training as it goes: functions of a record, or `nodewise.Callback` objects.
        """
        graph = as_graph(graph)
        if team is not None and team.size > 1 and not self.resumable:
            raise InputError(f"{self.name} trains in a single process; start it without torchrun")
        self.history_, self.table_ = [], graph.table
        of_callbacks: list[Exception] = []

        def log(record: dict[str, Any]) -> None:
            kept = {name: value if isinstance(value, int) else float(value) for name, value in record.items()}
            self.history_.append(kept)
            if run is not None:
                run.append_metrics(kept)
            for callback in everybody:
                try:
                    callback.record(dict(kept))  # theirs to change
                except Exception as error:  # which is not the method's
                    of_callbacks.append(error)
                    raise

        about = {"method": self.name, "seed": self.seed, "graph": graph.name, "settings": to_mapping(self.settings)}
        watch = Watch(progress or SilentProgress(), log, run, checkpoints, check_memory, team or Alone())
        mine = told_as_own("method", type(self), of_callbacks)
        with shown_by(watch.progress), told(callbacks, about) as everybody, mine:
            self._learn(graph, watch)
        return self

    def _learn(self, graph: Graph, watch: Watch) -> None:
        """Check the graph, and train on it."""
        if self.needs_features and graph.structural:
            raise InputError(
                f"{graph.name} has no features, which this method needs; give them with --features, or choose a "
                "method that uses edges only",
                code="no-features",
            )
        if graph.num_edges == 0:
            raise InputError(f"{graph.name} has no edges to learn from", code="no-edges")
        device = choose_device(self.device)
        with seeded(self.seed, device):
            self._fit(Inputs(graph, device), watch)

    @abstractmethod
    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        """Train, and set what was learned."""


class Embedder(Estimator):
    """A method that gives every node a vector, without labels.

    Attributes:
        embeddings_: vectors of the nodes fitted, keyed by their ids.
        mark_: of a model read back from a run, what tells its vectors from those of other models.
    """

    embeddings_: Embeddings
    mark_: str | None = None
    _fitted_with: tuple[Any, int] | None = None

    def fit(self, graph: Graph, y: object = None, *, run: RunFolder | None = None, **options: Any) -> Self:
        """Train on a graph; see `Estimator.fit`. What makes the vectors doubtful is logged as a warning."""
        graph = as_graph(graph)
        super().fit(graph, y, run=run, **options)
        self.mark_, self._fitted_with = None, (self.settings, self.seed)
        if run is None and hasattr(self, "embeddings_"):  # runs tell it themselves; processes that assist have none
            for message in (*self.doubts_about(graph), *self.doubts()):
                logging.getLogger("nodewise").warning("%s: %s", self.name, message)
        return self

    def doubts_about(self, graph: Graph) -> list[str]:
        """Return in words what of a graph the method will not do justice to."""
        return [each for each in (self.overlooked(graph), units_warning(graph, self.settings)) if each is not None]

    def doubts(self) -> list[str]:
        """Return in words why the vectors of the graph fitted may be worth little."""
        empty = [record["empty"] for record in self.history_ if record.get("empty") is not None]
        share = sum(empty) / len(empty) if empty else 0.0  # which neither the loss nor the vectors show
        words = f"{share:.0%} of the queries had no negatives, so training learned next to nothing; see sampling.*"
        return [*([words] if share > _MOSTLY else ()), *collapse_warnings(self.embeddings_.vectors)]

    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        given: Any = self._embed(inputs, watch)
        found = torch.from_numpy(given) if isinstance(given, np.ndarray) and given.dtype.kind in "fiu" else given
        wrong = ""
        if not isinstance(found, Tensor) or found.ndim != 2 or len(found) != inputs.graph.num_nodes:
            wrong = f"the shape {tuple(found.shape)}" if isinstance(found, Tensor) else seen(given)
        elif found.layout != torch.strided:
            wrong = "a sparse tensor"
        elif found.is_complex():
            wrong = "complex numbers"  # whose imaginary part would be lost
        elif is_own(type(self)) and not found.isfinite().all():
            wrong = "vectors that are not all finite"
        if wrong:
            raise InputError(
                f"method {name_in_files(type(self))}: _embed returned {wrong}; return a tensor of numbers, a row per "
                f"node, ({inputs.graph.num_nodes}, d)",
                code="own-code-failed",
            )
        vectors = found.detach().to("cpu", torch.float32).contiguous()
        if not vectors.isfinite().all():
            remedy = "; lower learning_rate" if hasattr(self.settings, "learning_rate") else ""
            raise NodewiseError(f"training went astray: the vectors are not finite{remedy}", code="training-diverged")
        self.embeddings_ = Embeddings(inputs.graph.ids, vectors.numpy(), NodeKinds.of(inputs.graph))

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        """Train and return the vectors (N, d)."""
        raise TypeError(f"{type(self).__name__} must say how it embeds: define _embed(self, inputs, watch)")

    def fit_transform(self, graph: Graph, y: object = None) -> Embeddings:
        """Fit and return the embeddings."""
        return self.fit(graph).embeddings_

    def neighbors(self, node: int | str, k: int = 10) -> list[tuple[int | str, float]]:
        """Return the k nodes nearest to a node by cosine similarity, with the similarity."""
        return self.embeddings_.neighbors(node, k)

    def transform(self, graph: Graph, nodes: NodeIds | None = None, progress: Progress | None = None) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not; with `nodes`, only those."""
        raise InputError(
            f"{self.name} has vectors for the nodes it was trained on only; "
            f"fit it to {graph.name}, or choose an inductive method",
            code="not-inductive",
        )

    def transform_to_shards(self, graph: Graph, folder: str | Path, *rest: Any, **options: Any) -> Sharded:
        """Embed all nodes of a graph, or some, into a folder of Parquet files; only methods that are `partial` can."""
        raise InputError(f"{self.name} embeds a graph as a whole; leave out --shards")

    def save(self, folder: str | Path, graph: Graph | None = None, *, overwrite: bool = False) -> Run:
        """Write the run folder that `nodewise embed` writes, and return it; with the graph, the run knows it.

        A finished run of another graph or another method is replaced only with `overwrite`.
        """
        from nodewise.runs.run import Run

        self._require_fit()
        return Run.write(self, folder, graph, overwrite)

    def write_weights(self, run: RunFolder) -> None:
        """Write what `transform` needs to the run, if there is such a thing."""

    def read_weights(self, run: RunFolder) -> None:
        """Read back what `write_weights` wrote."""

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto", embeddings: bool = True) -> Self:
        """Read back what `save` wrote; without `embeddings`, which may be large, only what `transform` needs."""
        run = RunFolder.open(folder)
        name = run.read_environment().get("method", cls.name)
        made_by = cls if METHODS.is_own(name) else METHODS[FileText(name)]  # of one's own, the weights tell
        if not issubclass(made_by, cls) and not issubclass(cls, made_by):
            raise InputError(
                f"{run.path}: a run of the method {name!r}, not {cls.name!r}; give one of {cls.name}, or open it with "
                f"nodewise.Run({str(run.path)!r}).model()"
            )
        seed = run.read_seed()
        model = cls(run.read_config(cls.settings_class), seed=max(seed, 0), device=device)
        model.seed = seed  # which could be negative before
        model.read_weights(run)
        model.table_ = FittedTable.read(run.features)
        run.refuse_changed(run.config, run.weights, run.features)
        model.history_ = run.read_metrics()
        if embeddings:
            model.embeddings_ = Embeddings.from_parquet(run.embeddings)
        model.mark_ = run.read_environment().get("mark")
        model._fitted_with = (model.settings, model.seed)
        return model

    def _require_fit(self, learned: str = "embeddings_") -> None:
        """Refuse what needs the trained model before training, and where the settings are no longer those of it."""
        if not hasattr(self, learned):
            raise self._not_fitted()
        if self._fitted_with not in (None, (self.settings, self.seed)):
            raise NotFitted(
                f"the settings or the seed of this {type(self).__name__} were changed after fit; call fit(graph) again"
            )


METHODS.base = Estimator


class InductiveEmbedder(Embedder):
    """An embedder whose vectors are computed by a network from features and edges, of any graph.

    A subclass builds the network and trains it; `_encode` must need nothing but the network and the graph.

    Attributes:
        scaling: how rows of features are scaled before the network sees them (see `nodewise.methods.inputs.scaled`).
        earlier_scaling: how they were when runs did not yet say it.
        scaling_: how they are in this model.
    """

    inductive = True
    scaling: ClassVar[Scaling] = "raw"
    earlier_scaling: ClassVar[Scaling] = "raw"
    scaling_: Scaling
    network_: nn.Module

    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        self.scaling_ = suitable(inputs.graph.features, self._scaling())
        super()._fit(Inputs(inputs.graph, inputs.device, self.scaling_), watch)

    def _scaling(self) -> Scaling:
        """Return how to scale features; for a method whose authors do so graph by graph it is a setting."""
        return self.scaling

    @abstractmethod
    def _build(self, num_features: int) -> nn.Module:
        """Return the untrained network."""

    @abstractmethod
    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        """Train the network in place."""

    @abstractmethod
    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        """Embed every node with a trained network: (N, d)."""

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        self.num_features_ = inputs.num_features
        self.network_ = self._build(inputs.num_features).to(inputs.device)
        self._train(self.network_, inputs, watch)
        return self._vectors(inputs)

    def _vectors(self, inputs: Inputs) -> Tensor:
        self.network_.eval()
        with torch.no_grad():
            return self._encode(self.network_, inputs)

    def transform(self, graph: Graph, nodes: NodeIds | None = None, progress: Progress | None = None) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not; with `nodes`, only those."""
        self._require_fit("network_")
        nodes = NodeIds([nodes]) if isinstance(nodes, str) else nodes
        graph = with_features_like(graph, self.table_)
        require_features(graph, self.num_features_, structural=False)
        device = choose_device(self.device)
        self.network_.to(device)
        with seeded(self.seed, device):
            vectors = self._vectors(Inputs(graph, device, self.scaling_))
        rows = vectors.to("cpu", torch.float32).contiguous().numpy()
        embeddings = Embeddings(graph.ids, rows, NodeKinds.of(graph), self.mark_)
        return embeddings if nodes is None else embeddings.of(nodes)

    def write_weights(self, run: RunFolder) -> None:
        """Write the network."""
        about = {"num_features": str(self.num_features_), "seed": str(self.seed), "method": type(self).__name__}
        about["features"] = self.scaling_
        write_tensors(run.weights, self.network_.state_dict(), about)

    def read_weights(self, run: RunFolder) -> None:
        """Read the network."""
        try:
            with safe_open(run.weights, framework="pt") as file:
                about: Mapping[str, str] = file.metadata() or {}
            self.seed, self.num_features_ = int(about["seed"]), int(about["num_features"])
            self.scaling_ = cast(Scaling, about.get("features", self.earlier_scaling))
            self.network_ = self._build(self.num_features_)
            self.network_.load_state_dict(load_file(run.weights))
        except (SafetensorError, OSError, KeyError, RuntimeError, ValueError) as error:
            raise InputError(
                f"{run.weights}: not the weights of this run: {str(error).splitlines()[0]}", code="damaged-run"
            ) from None
