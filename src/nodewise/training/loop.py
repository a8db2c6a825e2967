"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.registry import name_in_files
from nodewise.encoders.encoder import Encoder, built
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.sampling.descriptions import Descriptions, Points
from nodewise.sampling.evidence import consensus, directions
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import Strategy
from nodewise.training.batches import Batches, EarlyStopping, monitored_loss
from nodewise.training.checkpoint import Checkpoints, NoCheckpoints
from nodewise.training.health import LossGuard
from nodewise.training.settings import LearnerSettings
from nodewise.training.step import Learner
from nodewise.training.stepper import FusedAdam, Stepper, build_stepper
from nodewise.training.team import Alone
from nodewise.views.topology import Topology

Observer = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Callbacks:
    """Who watches the training.

    Attributes:
        progress: bars.
        log: called with one record of tensors (S,) every `training.log_every` steps.
        look: called with the number of steps taken, before each step and once at the end.
        checkpoints: where training begins, and what is saved between steps.
    """

    progress: Progress = field(default_factory=SilentProgress)
    log: Observer | None = None
    look: Callable[[int, Learner], None] | None = None
    checkpoints: Checkpoints = field(default_factory=NoCheckpoints)

    def before_step(self, step: int, learner: Learner) -> None:
        """Let the observer look at the encoders as they are after `step` steps."""
        if self.look is not None:
            self.look(step, learner)


def untrained(graph: Graph, settings: LearnerSettings, seeds: Tensor) -> tuple[Encoder, Features, Topology]:
    """Bring a graph to the device of the seeds (S,), and give every run's encoder the weights training begins with."""
    device = seeds.device
    topology, features = Topology.of(graph, device), Features(graph, device, settings.features.fit(graph))
    encoder = built(settings.encoder, features.shape[1], seeds)
    if graph.directed and not encoder.directions:
        kind = getattr(settings.encoder, "kind", type(encoder).__name__)
        raise InputError(
            f"encoder.kind is {kind!r}, which sees no directions; choose smoothing or gcn, or leave out --directed",
            code="no-directions",
        )
    encoder.start(features, topology, seeds)
    if not any(weight.requires_grad for weight in encoder.parameters()):
        raise InputError(
            f"encoder {name_in_files(type(encoder))} has no weights to learn; make them torch.nn.Parameter",
            code="own-code-failed",
        )
    return encoder, features, topology


def prepare(
    graph: Graph,
    settings: LearnerSettings,
    seeds: list[int],
    device: torch.device,
    strategy: Strategy | None = None,
    team: Alone | None = None,
    start: tuple[Encoder, Features, Topology] | None = None,
) -> Learner:
    """Bring a graph to the device and build the untrained encoders and the strategy of every seed.

    `start` is what `untrained` returned, for who trains from it more than once: the encoders are trained in place.
    """
    stacked = torch.tensor(seeds, dtype=torch.int64, device=device)
    encoder, features, topology = start or untrained(graph, settings, stacked)
    team = team or Alone()
    with torch.no_grad():  # machines that differ do not factorize to the same bits
        for parameter in encoder.parameters():
            parameter.copy_(team.agreed(parameter))
    _ = topology.longest_search  # made once, before lanes that do not wait for each other would both want it
    sampler = Sampler(strategy or settings.sampling)
    evidence: Descriptions | Points | None = None
    chosen, how = sampler.strategy, sampler.strategy.evidence_settings
    if chosen.evidence == "consensus":
        evidence = consensus(features, topology, stacked, how.clusterings)
    elif chosen.evidence == "directions":
        evidence = directions(features, topology, stacked, how.directions)
    labels = None
    if settings.training.measure_every and graph.labels is not None:
        labels = torch.as_tensor(graph.labels, dtype=torch.int64, device=device)
    return Learner(settings, stacked, topology, features, encoder, sampler, evidence, team, labels)


def train(learner: Learner, callbacks: Callbacks | None = None) -> int:
    """Train the learner's encoders in place; return the number of steps taken, earlier processes' included."""
    chosen, callbacks = learner.settings.training, callbacks or Callbacks()
    nodes, runs, team = learner.topology.num_nodes, len(learner.seeds), learner.team
    held_out = min(chosen.held_out, nodes // 10) if chosen.patience else 0
    batches = Batches(learner.seeds, nodes, chosen.batch_size, held_out if held_out > 1 else 0)
    stopping = EarlyStopping(learner.encoder, runs, chosen.patience) if held_out > 1 else None
    take_step, guard = build_stepper(learner), LossGuard(learner)
    state = TrainingState(learner.encoder, take_step.optimizer, guard, stopping)
    taken, shown, clock = callbacks.checkpoints.restore(state), math.nan, Clock(runs, learner.seeds.device)

    def due(step: int, every: int) -> bool:
        return every > 0 and (step % every == 0 or step == chosen.steps - 1)

    with callbacks.progress.stage("training", total=chosen.steps) as bar:
        if taken:
            bar.advance(taken)
        for step in range(taken, chosen.steps):
            callbacks.checkpoints.between_steps(step, state)
            if stopping is not None and step % chosen.monitor_every == 0:
                if stopping.look(team.agreed(monitored_loss(learner, batches.held_out))):
                    break
            callbacks.before_step(step, learner)
            batch = batches.at(step)
            loss, statistics = take_step(batch, step)
            guard.note(loss, step)
            taken += 1
            measured, logged = (due(step, every) for every in (chosen.measure_every, chosen.log_every))
            if logged or measured:
                guard.check(learner.encoder)
                shown = float(loss.mean())
                if callbacks.log is not None:
                    record = {"step": step, "loss": loss} | team.average(statistics, batch.shape[1])
                    record |= take_step.diagnose(batch, step) if logged else {}
                    callbacks.log(record | (clock.measure(take_step) if measured else {}))
            bar.advance(loss=shown)
    callbacks.checkpoints.between_steps(taken, state)
    guard.check(learner.encoder)
    if stopping is not None:
        stopping.look(team.agreed(monitored_loss(learner, batches.held_out)))  # what the last steps learned counts too
        stopping.restore()
    callbacks.before_step(taken, learner)
    return taken


class Clock:
    """Seconds of training, in which looking at it does not count."""

    def __init__(self, runs: int, device: torch.device) -> None:
        self._like = torch.ones(runs, dtype=torch.float64, device=device)
        self._begun, self._looking = time.perf_counter(), 0.0

    def measure(self, stepper: Stepper) -> dict[str, Tensor]:
        """Return the measures that have a value, of a step that the device is done with, and the seconds until then."""
        now = time.perf_counter()
        found = {name: value for name, value in stepper.measure().items() if not value.isnan().all()}
        found["seconds"] = self._like * (now - self._begun - self._looking)
        self._looking += time.perf_counter() - now
        return found


@dataclass(frozen=True)
class TrainingState:
    """The parts of a training that a checkpoint holds."""

    encoder: Encoder
    optimizer: torch.optim.Optimizer | FusedAdam
    guard: LossGuard
    stopping: EarlyStopping | None = None

    def tensors(self) -> dict[str, Tensor]:
        """Return all of it under flat names; the tensors are the live ones. A training gone astray has none."""
        self.guard.check(self.encoder)
        found = {f"encoder.{name}": weight for name, weight in self.encoder.state_dict().items()}
        found |= {f"guard.{name}": value for name, value in self.guard.tensors().items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            found |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
        if self.stopping is not None:
            found |= {f"stopping.{name}": value for name, value in self.stopping.tensors().items()}
        return found

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Become what `tensors` described."""
        self.guard.load(_part(tensors, "guard"))
        self.encoder.load_state_dict(_part(tensors, "encoder"))
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "optimiser").items():
            index, _, moment = name.partition(".")
            state.setdefault(int(index), {})[moment] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        if self.stopping is not None:
            self.stopping.load(_part(tensors, "stopping"))


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{prefix}.")}
