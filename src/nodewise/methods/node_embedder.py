"""The estimator: node-wise contrastive learning with adaptive negative sampling."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.runs import RunFolder
from nodewise.data.embeddings import Embeddings
from nodewise.data.graph import Graph
from nodewise.encoders.build import build_encoder
from nodewise.encoders.features import Features
from nodewise.methods.embed import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.device import choose_device
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.views.topology import Topology


class NodeEmbedder:
    """Learn a vector for every node of a graph from its edges and features, without labels.

    >>> from nodewise import NodeEmbedder, load_dataset
    >>> model = NodeEmbedder(seed=0).fit(load_dataset("citeseer"))  # doctest: +SKIP
    >>> model.neighbors(17, k=5)  # doctest: +SKIP

    Args:
        settings: what to compute; the defaults suit an unknown graph.
        seed: the same seed gives the same embeddings.
        device: `cpu`, `cuda` or `auto`.

    Attributes:
        embeddings_: vectors of the nodes fitted, keyed by their ids.
        encoder_: the trained graph neural network.
        steps_: optimiser steps taken.
    """

    settings_class: ClassVar[type[Settings]] = Settings
    embeddings_: Embeddings
    steps_: int

    def __init__(self, settings: Settings | None = None, *, seed: int = 0, device: str = "auto") -> None:
        self.settings = settings if settings is not None else Settings()
        self.seed = seed
        self.device = device

    @classmethod
    def settings_for(cls, dataset: str) -> Settings:
        """Return the settings to use where none are given: the defaults, whatever the data set."""
        return Settings()

    def fit(self, graph: Graph, *, run: RunFolder | None = None, progress: Progress | None = None) -> NodeEmbedder:
        """Train on a graph and embed its nodes; metrics go to the run folder, if one is given."""
        _refuse_hopeless(graph)
        device = choose_device(self.device)
        learner = prepare(graph, self.settings, [self.seed], device)

        def log(record: dict[str, Any]) -> None:
            if run is not None:
                run.append_metrics(
                    {name: value if isinstance(value, int) else float(value) for name, value in record.items()}
                )

        self.steps_ = train(learner, Callbacks(progress or SilentProgress(), log))
        self.encoder_ = learner.encoder
        self.num_features_ = graph.num_features
        vectors = embed_nodes(learner.encoder, learner.features, learner.topology, self.settings, learner.seeds)
        self.embeddings_ = Embeddings(graph.ids, vectors[0].cpu().numpy())
        return self

    def transform(self, graph: Graph) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not."""
        self._require_fit()
        if graph.num_features != self.num_features_:
            raise InputError(
                f"{graph.name} has {graph.num_features} features, but the model was trained on {self.num_features_}; "
                "give the new nodes the same features in the same order"
            )
        device = choose_device(self.device)
        features, topology = Features(graph, device), Topology.of(graph, device)
        seeds = torch.tensor([self.seed], device=device)
        vectors = embed_nodes(self.encoder_.to(device), features, topology, self.settings, seeds)
        return Embeddings(graph.ids, vectors[0].cpu().numpy())

    def fit_transform(self, graph: Graph) -> Embeddings:
        """Fit and return the embeddings."""
        return self.fit(graph).embeddings_

    def neighbors(self, node: int | str, k: int = 10) -> list[tuple[int | str, float]]:
        """Return the k nodes nearest to a node by cosine similarity, with the similarity."""
        self._require_fit()
        return self.embeddings_.neighbors(node, k)

    def save(self, folder: str | Path) -> None:
        """Write settings, weights and embeddings to a run folder."""
        self._require_fit()
        run = RunFolder(Path(folder))
        run.path.mkdir(parents=True, exist_ok=True)
        run.write_config(self.settings)
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.encoder_.state_dict().items()}
        about = {"num_features": str(self.num_features_), "seed": str(self.seed), "steps": str(self.steps_)}
        with atomic_write(run.weights) as temporary:
            save_file(weights, temporary, metadata=about)
        self.embeddings_.to_parquet(run.embeddings)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> NodeEmbedder:
        """Read back what `save` wrote."""
        run = RunFolder.open(folder)
        settings = run.read_config(Settings)
        about, weights = _read_weights(run.weights)
        model = cls(settings, seed=int(about["seed"]), device=device)
        model.num_features_, model.steps_ = int(about["num_features"]), int(about["steps"])
        model.encoder_ = build_encoder(model.num_features_, settings.encoder, torch.tensor([model.seed]))
        try:
            model.encoder_.load_state_dict(weights)
        except RuntimeError:
            raise InputError(f"{run.weights}: the weights do not fit the settings in {run.config.name}") from None
        model.embeddings_ = Embeddings.from_parquet(run.embeddings)
        return model

    def _require_fit(self) -> None:
        if not hasattr(self, "encoder_"):
            raise InputError("this NodeEmbedder is not fitted yet; call fit(graph) first")


def _read_weights(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
        weights = load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the run has no weights") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a readable weights file: {error}") from None
    missing = {"num_features", "seed", "steps"} - set(about)
    if missing:
        raise InputError(f"{path}: not a nodewise weights file: it does not say its {', '.join(sorted(missing))}")
    return about, weights


def _refuse_hopeless(graph: Graph) -> None:
    """Refuse graphs from which nothing can be learnt, in words."""
    if graph.num_nodes < 3:
        raise InputError(f"{graph.name} has {graph.num_nodes} node(s); contrastive learning needs at least 3")
    if graph.num_edges == 0:
        raise InputError(f"{graph.name} has no edges, so every walk stays at its node; add edges")
    if graph.num_features == 0 or (graph.features.max() == 0 and graph.features.min() == 0):
        raise InputError(f"{graph.name}: all features are zero; leave them out to use structural features")
