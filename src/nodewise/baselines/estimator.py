"""The contract of every baseline: the same constructor, `fit`, `save`, `load` and, where it can, `transform`.

torch_geometric's layers draw from torch's own generator, so a baseline seeds a fork of it: what the caller draws
before and after is untouched, and the same seed gives the same result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from nodewise.baselines.inputs import Inputs
from nodewise.core.errors import InputError, NodewiseError, require_type
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.rng import checked_seed
from nodewise.core.runs import RunFolder
from nodewise.data.embeddings import Embeddings
from nodewise.data.graph import Graph
from nodewise.data.validate import require_features
from nodewise.training.device import choose_device
from nodewise.training.settings import MOST_RATE
from nodewise.training.tensorfile import write_tensors


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from torch's generator as if nothing had been drawn before, and leave it as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Watch:
    """Who watches the training: bars, and a record every so many epochs."""

    progress: Progress = field(default_factory=SilentProgress)
    log: Callable[[dict[str, Any]], None] = lambda record: None


class Baseline(ABC):
    """A method with settings, a seed and a device.

    A subclass names its settings, a frozen dataclass whose defaults are its own paper's; settings that the paper
    gives for one data set are an entry of `tuned`.
    """

    settings_class: ClassVar[type[Any]]
    tuned: ClassVar[dict[str, dict[str, Any]]] = {}
    needs_features: ClassVar[bool] = True

    def __init__(self, settings: Any = None, *, seed: int = 0, device: str = "auto") -> None:
        require_type("settings", settings, self.settings_class | None, self.settings_class.__name__)
        self.settings = settings if settings is not None else self.settings_class()
        self.seed = checked_seed(seed)
        self.device = device
        if not (rate := getattr(self.settings, "learning_rate", 0.0)) <= MOST_RATE:
            raise InputError(f"learning_rate is {rate:g}; it must be at most {MOST_RATE:g}")

    @classmethod
    def settings_for(cls, dataset: str) -> Any:
        """Return the settings that the method's paper gives for a data set, or else its defaults."""
        return cls.settings_class(**cls.tuned.get(dataset.lower(), {}))

    def fit(self, graph: Graph, *, run: RunFolder | None = None, progress: Progress | None = None) -> Self:
        """Train on a graph; metrics go to the run folder, if one is given."""
        require_type("graph", graph, Graph, "a Graph")
        if self.needs_features and graph.structural:
            raise InputError(
                f"{graph.name} has no features, which this method needs; give them with --features, or choose a "
                "method that uses edges only"
            )
        if graph.num_edges == 0:
            raise InputError(f"{graph.name} has no edges to learn from")
        device = choose_device(self.device)
        watch = Watch(progress or SilentProgress(), run.append_metrics if run is not None else lambda record: None)
        with seeded(self.seed, device):
            self._fit(Inputs(graph, device), watch)
        return self

    @abstractmethod
    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        """Train, and set what was learnt."""


class Embedder(Baseline):
    """A method that gives every node a vector, without labels.

    Attributes:
        embeddings_: vectors of the nodes fitted, keyed by their ids.
    """

    embeddings_: Embeddings

    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        vectors = self._embed(inputs, watch).detach().to("cpu", torch.float32).contiguous()
        if not vectors.isfinite().all():
            raise NodewiseError("training went astray: the vectors are not finite; lower learning_rate")
        self.embeddings_ = Embeddings(inputs.graph.ids, vectors.numpy())

    @abstractmethod
    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        """Train and return the vectors (N, d)."""

    def fit_transform(self, graph: Graph) -> Embeddings:
        """Fit and return the embeddings."""
        return self.fit(graph).embeddings_

    def neighbors(self, node: int | str, k: int = 10) -> list[tuple[int | str, float]]:
        """Return the k nodes nearest to a node by cosine similarity, with the similarity."""
        self._require_fit()
        return self.embeddings_.neighbors(node, k)

    def transform(self, graph: Graph) -> Embeddings:
        """Refuse: a vector of this method belongs to a node of the training graph."""
        raise InputError(
            f"{type(self).__name__} learns one vector for each node it is trained on and cannot embed others; "
            f"fit it to {graph.name}, or choose an inductive method"
        )

    def save(self, folder: str | Path) -> None:
        """Write settings and embeddings to a run folder."""
        self._require_fit()
        run = RunFolder(Path(folder))
        run.path.mkdir(parents=True, exist_ok=True)
        run.write_config(self.settings)
        self.embeddings_.to_parquet(run.embeddings)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> Self:
        """Read back what `save` wrote."""
        run = RunFolder.open(folder)
        model = cls(run.read_config(cls.settings_class), device=device)
        model.embeddings_ = Embeddings.from_parquet(run.embeddings)
        return model

    def _require_fit(self) -> None:
        if not hasattr(self, "embeddings_"):
            raise InputError(f"this {type(self).__name__} is not fitted yet; call fit(graph) first")


class InductiveEmbedder(Embedder):
    """An embedder whose vectors are computed by a network from features and edges, of any graph.

    A subclass builds the network and trains it; `_encode` must need nothing but the network and the graph.
    """

    network_: nn.Module

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

    def transform(self, graph: Graph) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not."""
        self._require_fit()
        require_features(graph, self.num_features_)
        device = choose_device(self.device)
        self.network_.to(device)
        with seeded(self.seed, device):
            vectors = self._vectors(Inputs(graph, device))
        return Embeddings(graph.ids, vectors.to("cpu", torch.float32).contiguous().numpy())

    def save(self, folder: str | Path) -> None:
        """Write settings, weights and embeddings to a run folder."""
        super().save(folder)
        about = {"num_features": str(self.num_features_), "seed": str(self.seed), "method": type(self).__name__}
        write_tensors(RunFolder(Path(folder)).weights, self.network_.state_dict(), about)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> Self:
        """Read back what `save` wrote."""
        model, path = super().load(folder, device=device), RunFolder(Path(folder)).weights
        try:
            with safe_open(path, framework="pt") as file:
                about = file.metadata() or {}
            model.seed, model.num_features_ = int(about["seed"]), int(about["num_features"])
            model.network_ = model._build(model.num_features_)
            model.network_.load_state_dict(load_file(path))
        except (SafetensorError, OSError, KeyError, RuntimeError) as error:
            raise InputError(f"{path}: not the weights of this run: {str(error).splitlines()[0]}") from None
        return model
