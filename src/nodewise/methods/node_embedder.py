"""The estimator: node-wise contrastive learning with adaptive negative sampling."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from nodewise.core.errors import InputError, NodewiseError, require_type
from nodewise.core.interrupt import deferred
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.rng import checked_seed
from nodewise.core.runs import RunFolder
from nodewise.data.embeddings import Embeddings
from nodewise.data.graph import Graph
from nodewise.data.ids import NodeIds
from nodewise.data.store_journal import Say
from nodewise.data.validate import require_features
from nodewise.encoders.build import build_encoder
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.methods.embed import embed_nodes
from nodewise.methods.incremental import embed_some, places_of
from nodewise.methods.settings import Settings
from nodewise.methods.sharded import Sharded, embed_to_shards
from nodewise.training.checkpoint import CheckpointPlan, FileCheckpoints
from nodewise.training.device import choose_device
from nodewise.training.distributed import Alone
from nodewise.training.health import GoneAstray
from nodewise.training.identity import identity
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.memory import out_of_memory_in_words, require_memory
from nodewise.training.shared_checkpoints import SharedCheckpoints, require_same, stopping_together
from nodewise.training.step import Learner
from nodewise.training.tensorfile import write_tensors
from nodewise.views.topology import Topology

_ABOUT = ("num_features", "seed", "steps")

_LARGEST_FEATURE = 1e15


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
    resumable: ClassVar[bool] = True
    embeddings_: Embeddings
    steps_: int

    def __init__(self, settings: Settings | None = None, *, seed: int = 0, device: str = "auto") -> None:
        require_type("settings", settings, Settings | None, "Settings")
        self.settings = settings if settings is not None else Settings()
        self.seed = checked_seed(seed)
        self.device = device

    @classmethod
    def settings_for(cls, dataset: str) -> Settings:
        """Return the settings to use where none are given: the defaults, whatever the data set."""
        return Settings()

    def fit(
        self,
        graph: Graph,
        *,
        run: RunFolder | None = None,
        progress: Progress | None = None,
        checkpoints: CheckpointPlan | None = None,
        check_memory: bool = True,
        team: Alone | None = None,
    ) -> NodeEmbedder:
        """Train on a graph and embed its nodes.

        Args:
            graph: the graph; labels are not read.
            run: where metrics and checkpoints go, if anywhere.
            progress: bars.
            checkpoints: when to save checkpoints in `run`, and whether to go on from the newest one there.
            check_memory: refuse beforehand what will not fit into memory.
            team: the processes that train together, each of which calls this; `run` is rank 0's, and so is the
                embedding of the nodes.
        """
        require_type("graph", graph, Graph, "a Graph")
        refuse_hopeless(graph)
        team = team or Alone()
        if team.size > 1:
            require_same(team, identity(type(self).__name__, self.settings, self.seed, graph))
        device = choose_device(self.device)
        if check_memory:
            require_memory(graph, self.settings, device)
        with out_of_memory_in_words(self.settings):
            learner = prepare(graph, self.settings, [self.seed], device, team=team)
            self.steps_ = self._train(learner, graph, run, progress or SilentProgress(), checkpoints)
            self.encoder_ = learner.encoder
            self.num_features_ = graph.num_features
            if team.rank > 0:
                return self
            vectors = embed_nodes(
                learner.encoder, learner.features, learner.topology, self.settings, learner.seeds, progress
            )
        self.embeddings_ = Embeddings(graph.ids, vectors[0].cpu().numpy())
        return self

    def _train(
        self,
        learner: Learner,
        graph: Graph,
        run: RunFolder | None,
        progress: Progress,
        plan: CheckpointPlan | None,
    ) -> int:
        def log(record: dict[str, Any]) -> None:
            if run is not None:
                run.append_metrics(
                    {name: value if isinstance(value, int) else float(value) for name, value in record.items()}
                )

        if plan is None or (run is None and learner.team.size == 1):
            return train(learner, Callbacks(progress, log))
        named = identity(type(self).__name__, self.settings, self.seed, graph)
        with deferred() as stop_if_asked:
            stop = stopping_together(learner.team, stop_if_asked)
            files = FileCheckpoints(run, named, plan, stop) if run is not None else None
            try:
                return train(learner, Callbacks(progress, log, None, SharedCheckpoints(learner.team, files, stop)))
            except GoneAstray as error:
                if files is None:
                    raise
                good = files.last_good(error.step)
                raise NodewiseError(
                    f"{error}; {f'what was learnt before is in {good}' if good else 'no checkpoint is older'}"
                ) from None

    def transform(self, graph: Graph, nodes: NodeIds | None = None, progress: Progress | None = None) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not.

        With `nodes`, only those: what they see of the graph is all that is computed.
        """
        encoder, seeds = self._applied_to(graph)
        features, topology = Features(graph, seeds.device), Topology.of(graph, seeds.device)
        if nodes is None:
            vectors = embed_nodes(encoder, features, topology, self.settings, seeds, progress)[0]
            return Embeddings(graph.ids, vectors.cpu().numpy())
        places = places_of(nodes, graph).to(seeds.device)
        vectors = embed_some(encoder, features, topology, self.settings, seeds, places)
        return Embeddings(nodes, vectors.cpu().numpy())

    def transform_to_shards(
        self,
        graph: Graph,
        folder: str | Path,
        progress: Progress | None = None,
        team: Alone | None = None,
        nodes: NodeIds | None = None,
        say: Say = lambda message: None,
    ) -> Sharded:
        """Embed all nodes of a graph, whatever its size, or some, into a folder of Parquet files, in bounded memory.

        After a kill the same call goes on where it was; Ctrl-C is `Paused` once there is something to go on from. The
        processes of a team share the work.
        """
        encoder, seeds = self._applied_to(graph)
        return embed_to_shards(encoder, graph, self.settings, seeds, Path(folder), progress, team, nodes, say)

    def _applied_to(self, graph: Graph) -> tuple[Encoder, torch.Tensor]:
        """Return the encoder and the seeds on the device, once it is sure that they can embed the graph."""
        self._require_fit()
        require_features(graph, self.num_features_)
        device = choose_device(self.device)
        return self.encoder_.to(device), torch.tensor([self.seed], device=device)

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
        about = {"num_features": str(self.num_features_), "seed": str(self.seed), "steps": str(self.steps_)}
        write_tensors(run.weights, self.encoder_.state_dict(), about)
        self.embeddings_.to_parquet(run.embeddings)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto", embeddings: bool = True) -> NodeEmbedder:
        """Read back what `save` wrote; without `embeddings`, which may be large, only what `transform` needs."""
        run = RunFolder.open(folder)
        settings = run.read_config(Settings)
        about, weights = _read_weights(run.weights)
        model = cls(settings, seed=about["seed"], device=device)
        model.num_features_, model.steps_ = about["num_features"], about["steps"]
        _require_fit_for(run, about["num_features"], settings, weights)
        model.encoder_ = build_encoder(model.num_features_, settings.encoder, torch.tensor([model.seed]))
        try:
            model.encoder_.load_state_dict(weights)
        except RuntimeError:
            raise InputError(f"{run.weights}: the weights do not fit the settings in {run.config.name}") from None
        if embeddings:
            model.embeddings_ = Embeddings.from_parquet(run.embeddings)
        return model

    def _require_fit(self) -> None:
        if not hasattr(self, "encoder_"):
            raise InputError("this NodeEmbedder is not fitted yet; call fit(graph) first")


def _require_fit_for(run: RunFolder, num_features: int, settings: Settings, weights: dict[str, torch.Tensor]) -> None:
    """Refuse sizes that the weights cannot have before anything of those sizes is made."""
    stored = sum(tensor.numel() for tensor in weights.values())
    encoder = settings.encoder
    if not 0 <= num_features * encoder.dimension <= stored or encoder.layers > stored:
        raise InputError(f"{run.weights}: the weights do not fit the settings in {run.config.name}")


def _read_weights(path: Path) -> tuple[dict[str, int], dict[str, torch.Tensor]]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
        weights = load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the run has no weights") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a readable weights file: {error}") from None
    missing = [name for name in _ABOUT if name not in about]
    if missing:
        raise InputError(f"{path}: not a nodewise weights file: it does not say its {', '.join(missing)}")
    if not all(re.fullmatch(r"-?[0-9]{1,18}", about[name], re.ASCII) for name in _ABOUT):
        raise InputError(f"{path}: not a nodewise weights file: {', '.join(_ABOUT)} should be whole numbers")
    return {name: int(about[name]) for name in _ABOUT}, weights


def refuse_hopeless(graph: Graph) -> None:
    """Refuse graphs from which nothing can be learnt, in words."""
    if graph.num_nodes < 3:
        raise InputError(f"{graph.name} has {graph.num_nodes} node(s); contrastive learning needs at least 3")
    if graph.num_edges == 0:
        raise InputError(f"{graph.name} has no edges, so every walk stays at its node; add edges")
    low, high = (float(graph.features.min()), float(graph.features.max())) if graph.num_features else (0.0, 0.0)
    if low == high == 0:
        raise InputError(f"{graph.name}: all features are zero; leave them out to use structural features")
    if max(-low, high) > _LARGEST_FEATURE:
        size = f"{max(-low, high):.2g}"
        raise InputError(f"{graph.name}: features reach {size}, too large to be squared; scale them to about 1")
