"""The estimator: node-wise contrastive learning with adaptive negative sampling."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.folder import RunFolder
from nodewise.core.interrupt import deferred
from nodewise.core.progress import Progress
from nodewise.encoders.encoder import Encoder, built
from nodewise.encoders.features import Features
from nodewise.encoders.preparation import Preparation
from nodewise.graph.graph import Graph, having_walked, without_directions
from nodewise.graph.ids import NodeIds
from nodewise.graph.structural import STEPS_BEFORE
from nodewise.graph.validate import require_features, require_kinds
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import Embedder, Say, Watch, method
from nodewise.methods.incremental import embed_some, places_of
from nodewise.methods.settings import Settings
from nodewise.methods.sharded import Sharded, embed_to_shards
from nodewise.read.feature_table import MOST_KINDS
from nodewise.runs.source import with_features_like
from nodewise.training.checkpoint import FileCheckpoints, identity, write_tensors
from nodewise.training.device import choose_device, out_of_memory_in_words, require_memory
from nodewise.training.health import GoneAstray
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.shared_checkpoints import SharedCheckpoints, require_same, stopping_together
from nodewise.training.step import Learner
from nodewise.training.team import Alone
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.kinds import NodeKinds
from nodewise.views.topology import Topology

_ABOUT = ("num_features", "seed", "steps")

_SMALLEST_FEATURE, _LARGEST_FEATURE = torch.finfo(torch.float32).tiny, 1e15


@method("nodewise")
class NodeEmbedder(Embedder):
    """Learn a vector for every node of a graph from its edges and features, without labels.

    >>> from nodewise import NodeEmbedder, load_dataset
    >>> model = NodeEmbedder(seed=0).fit(load_dataset("citeseer"))  # doctest: +SKIP
    >>> model.neighbors(17, k=5)  # doctest: +SKIP
    >>> NodeEmbedder(steps=80, dpp=True)
    NodeEmbedder(dpp=True, steps=80)

    Args:
        settings: what to compute; the defaults suit an unknown graph.
        seed: the same seed gives the same embeddings.
        device: `cpu`, `cuda` or `auto`.
        changes: settings by their names, such as `steps=80`, and parts as objects, such as `strategy=Hard()`.

    Attributes:
        embeddings_: vectors of the nodes fitted, keyed by their ids.
        encoder_: the trained graph neural network.
        steps_: optimizer steps taken.
    """

    title = "node-wise, adaptive negatives"
    paper = "Chen et al. 2021"
    uses = "X A"
    cost = "O(B k² d + B² d) per step"
    inductive = True
    resumable = True
    partial = True
    directions = True
    needs_features = False
    settings_class: ClassVar[type[Settings]] = Settings
    settings: Settings
    steps_: int
    directed_: bool = False
    kinds_: tuple[str | int, ...] = ()
    walked_: int = STEPS_BEFORE
    structural_: bool | None = None  # None for runs that do not say whether features were given

    def _learn(self, graph: Graph, watch: Watch) -> None:
        refuse_hopeless(graph)
        team = watch.team
        if team.size > 1:
            require_same(team, identity(type(self).__name__, self.settings, self.seed, graph))
        device = choose_device(self.device)
        if watch.check_memory:
            require_memory(graph, self.settings, device)
        with out_of_memory_in_words(self.settings):
            learner = prepare(graph, self.settings, [self.seed], device, team=team)
            self.steps_ = self._train(learner, graph, watch)
            self.encoder_, self.preparation_ = learner.encoder, learner.features.preparation
            self._remember(graph)
            if team.rank > 0:
                return
            vectors = embed_nodes(
                learner.encoder, learner.features, learner.topology, self.settings, learner.seeds, watch.progress
            )
        self.embeddings_ = Embeddings(graph.ids, vectors[0].cpu().numpy(), NodeKinds.of(graph))

    def _remember(self, graph: Graph) -> None:
        self.num_features_, self.directed_, self.kinds_ = graph.num_features, graph.directed, graph.kind_names
        self.walked_, self.structural_ = graph.steps_walked, graph.structural

    def doubts(self) -> list[str]:
        """Return in words why the vectors may be worth little, or are of something else than expected."""
        chosen = getattr(self.settings.encoder, "teleports", ()) is None
        alone = chosen and getattr(self.encoder_, "teleports", None) == (1.0,)
        words = "neighbors tell little of a node's features, so vectors are of its own features and not of the edges; "
        words += "encoder.teleports=[0.2] uses both"
        return [*([words] if alone else ()), *super().doubts()]

    def _train(self, learner: Learner, graph: Graph, watch: Watch) -> int:
        run, plan = watch.run, watch.checkpoints
        if plan is None or (run is None and learner.team.size == 1):
            return train(learner, Callbacks(watch.progress, watch.log))
        named = identity(type(self).__name__, self.settings, self.seed, graph)
        with deferred() as stop_if_asked:
            stop = stopping_together(learner.team, stop_if_asked)
            files = FileCheckpoints(run, named, plan, stop) if run is not None else None
            checkpoints = SharedCheckpoints(learner.team, files, stop)
            try:
                return train(learner, Callbacks(watch.progress, watch.log, None, checkpoints))
            except GoneAstray as error:
                if files is None:
                    raise
                good = files.last_good(error.step)
                raise NodewiseError(
                    f"{error}; {f'what was learned before is in {good}' if good else 'no checkpoint is older'}",
                    code=error.code,
                ) from None

    def transform(self, graph: Graph, nodes: NodeIds | None = None, progress: Progress | None = None) -> Embeddings:
        """Embed the nodes of any graph with the same features, seen in training or not.

        With `nodes`, only those: what they see of the graph is all that is computed.
        """
        nodes = NodeIds([nodes]) if isinstance(nodes, str) else nodes  # which would be taken letter by letter
        graph, encoder, seeds = self._applied_to(graph)
        features, topology = Features(graph, seeds.device, self.preparation_), Topology.of(graph, seeds.device)
        if nodes is None:
            vectors = embed_nodes(encoder, features, topology, self.settings, seeds, progress)[0]
            return Embeddings(graph.ids, vectors.cpu().numpy(), NodeKinds.of(graph), self.mark_)
        places = places_of(nodes, graph).to(seeds.device)
        vectors = embed_some(encoder, features, topology, self.settings, seeds, places)
        kinds = NodeKinds.of(graph)
        kinds = None if kinds is None else kinds.take(places.cpu().numpy())
        return Embeddings(nodes, vectors.cpu().numpy(), kinds, self.mark_)

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

        After a kill the same call resumes where it was; Ctrl-C is `Paused` once there is something to resume from. The
        processes of a team share the work.
        """
        graph, encoder, seeds = self._applied_to(graph)
        return embed_to_shards(
            encoder,
            graph,
            self.settings,
            seeds,
            Path(folder),
            progress,
            team,
            nodes,
            say,
            self.preparation_,
            self.mark_,
        )

    def _applied_to(self, graph: Graph) -> tuple[Graph, Encoder, torch.Tensor]:
        """Return the graph, with the features of training, and the encoder and the seeds on the device.

        A model that was trained without directions sees none here either.
        """
        self._require_fit("encoder_")
        graph = with_features_like(graph, self.table_)
        if self.directed_ and not graph.directed:
            raise InputError(
                f"{graph.name}: edges without directions, and the model was trained on directed ones; read them with "
                "--directed, or in Python with directed=True",
                code="no-directions",
            )
        if graph.directed and not self.directed_:
            graph = without_directions(graph)
        require_features(graph, self.num_features_, self.structural_)
        if graph.structural and self.walked_:
            graph = having_walked(graph, self.walked_)
        graph = require_kinds(graph, self.kinds_)
        device = choose_device(self.device)
        return graph, self.encoder_.to(device), torch.tensor([self.seed], device=device)

    def write_weights(self, run: RunFolder) -> None:
        """Write the encoder."""
        about = {"num_features": str(self.num_features_), "seed": str(self.seed), "steps": str(self.steps_)}
        about |= {"directed": "1"} if self.directed_ else {}
        about |= {"walked": str(self.walked_)}  # none where features were given
        about |= {"kinds": json.dumps(self.kinds_)} if self.kinds_ else {}
        kept: dict[str, torch.Tensor] = dict(self.encoder_.state_dict())
        if self.preparation_ is not None:
            kept, about = kept | self.preparation_.tensors(), about | self.preparation_.facts()
        write_tensors(run.weights, kept, about)

    def read_weights(self, run: RunFolder) -> None:
        """Read the encoder."""
        about, weights, facts = _read_weights(run.weights)
        self.preparation_ = Preparation.kept(weights, facts, about["num_features"])
        self.seed, self.num_features_, self.steps_ = about["seed"], about["num_features"], about["steps"]
        self.directed_, self.kinds_ = facts.get("directed") == "1", _kinds(run.weights, facts)
        self.walked_ = _walked(run.weights, facts)
        self.structural_ = self.walked_ > 0 if "walked" in facts else None
        _require_fit_for(run, self.num_features_, self.settings, weights)
        width = self.num_features_ * max(1, len(self.kinds_))
        self.encoder_ = built(self.settings.encoder, width, torch.tensor([self.seed]))
        try:
            self.encoder_.load_state_dict(weights)
        except RuntimeError:
            raise InputError(
                f"{run.weights}: the weights do not fit the settings in {run.config.name}", code="damaged-run"
            ) from None


def _walked(path: Path, facts: dict[str, str]) -> int:
    said = facts.get("walked", str(STEPS_BEFORE))
    if re.fullmatch(r"[0-9]{1,3}", said, re.ASCII):
        return int(said)
    raise InputError(f"{path}: how far structural features walk is no number of steps", code="damaged-run")


def _kinds(path: Path, facts: dict[str, str]) -> tuple[str | int, ...]:
    try:
        names = json.loads(facts.get("kinds", "[]"))
        if isinstance(names, list) and len(names) <= MOST_KINDS and all(isinstance(name, str | int) for name in names):
            return tuple(names)
    except ValueError:
        pass
    raise InputError(f"{path}: the types of nodes are no list of names", code="damaged-run")


def _require_fit_for(run: RunFolder, num_features: int, settings: Settings, weights: dict[str, torch.Tensor]) -> None:
    """Refuse sizes that the weights cannot have before anything of those sizes is made."""
    stored = sum(tensor.numel() for tensor in weights.values())
    encoder = settings.encoder
    if not 0 <= num_features * encoder.dimension <= stored:
        raise InputError(f"{run.weights}: the weights do not fit the settings in {run.config.name}", code="damaged-run")


def _read_weights(path: Path) -> tuple[dict[str, int], dict[str, torch.Tensor], dict[str, str]]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
        weights = load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: the run has no weights", code="damaged-run") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a readable weights file: {error}", code="damaged-run") from None
    missing = [name for name in _ABOUT if name not in about]
    if missing:
        raise InputError(
            f"{path}: not a nodewise weights file: it does not say its {', '.join(missing)}", code="damaged-run"
        )
    if not all(re.fullmatch(r"-?[0-9]{1,18}", about[name], re.ASCII) for name in _ABOUT):
        raise InputError(
            f"{path}: not a nodewise weights file: {', '.join(_ABOUT)} should be whole numbers", code="damaged-run"
        )
    return {name: int(about[name]) for name in _ABOUT}, weights, about


def refuse_hopeless(graph: Graph) -> None:
    """Refuse graphs from which nothing can be learned, in words."""
    if graph.num_nodes < 3:
        raise InputError(f"{graph.name} has {graph.num_nodes} node(s); contrastive learning needs at least 3")
    if graph.num_edges == 0:
        raise InputError(f"{graph.name} has no edges, so every walk stays at its node; add edges", code="no-edges")
    low, high = (float(graph.features.min()), float(graph.features.max())) if graph.num_features else (0.0, 0.0)
    if low == high == 0:
        raise InputError(f"{graph.name}: all features are zero; leave them out to use structural features")
    if not _SMALLEST_FEATURE <= (size := max(-low, high)) <= _LARGEST_FEATURE:
        what = "too large to be squared" if size > 1 else "too small for single precision"
        raise InputError(f"{graph.name}: features reach {size:.2g}, {what}; scale them to about 1")
