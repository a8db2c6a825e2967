"""Who else is told of a training: callbacks of the user's own, and the boards people already have.

A callback is a function of a record, or an object derived from `Callback`. Records are plain dictionaries: the step,
the loss, what the strategy logged, and its measures where `training.measure_every` asks for them. TensorBoard, Weights
& Biases and MLflow are callbacks too; each is imported when it is asked for, and only there.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from nodewise.core.errors import InputError, did_you_mean, require_type

Record = Mapping[str, Any]


class Callback:
    """Is told when a training begins, of every record, and when it ends, also if it fails."""

    def begin(self, about: Mapping[str, Any]) -> None:
        """Hear what is trained: method, seed, settings, graph."""

    def record(self, record: Record) -> None:
        """Hear of a step."""

    def end(self) -> None:
        """Hear that it is over."""


Listener = Callback | Callable[[Record], object]


class _Function(Callback):
    def __init__(self, function: Callable[[Record], object]) -> None:
        self._function = function

    def record(self, record: Record) -> None:
        self._function(record)


@contextmanager
def told(
    callbacks: Iterable[Callback | Callable[[Record], object]], about: Mapping[str, Any]
) -> Iterator[list[Callback]]:
    """Tell the callbacks that a training begins and, whatever happens, that it has ended; yield them as objects."""
    require_type("callbacks", callbacks, Iterable, "a list of functions of a record, or of Callback objects")
    everybody = []
    for each in callbacks:
        if isinstance(each, type):
            raise InputError(f"a callback must be an object, not the class {each.__name__}", code="bad-argument")
        require_type("a callback", each, (Callback, Callable), "a function of a record, or a Callback")
        everybody.append(each if isinstance(each, Callback) else _Function(each))
    try:
        for each in everybody:
            each.begin(about)
        yield everybody
    finally:
        for each in everybody:
            each.end()


@dataclass(frozen=True)
class Board:
    """Where trainings are logged; it can be handed to other processes.

    Attributes:
        kind: `tensorboard`, `wandb` or `mlflow`.
        folder: where files go; its name is what all these trainings are called together.
    """

    kind: str
    folder: Path

    @classmethod
    def beside(cls, kind: str | None, output: Path) -> Board | None:
        """Return the board for an output folder: in a folder named after its kind, beside the output; None for None."""
        if kind is None:
            return None
        if kind not in _KINDS:
            raise InputError(f"--log: unknown board {kind!r}{did_you_mean(kind, _KINDS)}", code="unknown-board")
        board = cls(kind, output.resolve().parent / kind / output.resolve().name)
        _KINDS[kind]("", board)  # whatever is missing is told before the work
        return board

    def run(self, name: str = "") -> Callback:
        """Return the callback that logs one training under a name."""
        return _KINDS[self.kind](re.sub(r"[^\w.+@=,/-]+", "-", name), self)

    def log(self, name: str, about: Mapping[str, Any], records: Iterable[Record]) -> None:
        """Log a training that is over."""
        with told([self.run(name)], about) as (callback,):
            for record in records:
                callback.record(record)


class _Logged(Callback):
    """A training on a board, by a package that need not be installed."""

    package: ClassVar[str]
    module: ClassVar[str]

    def __init__(self, name: str, board: Board) -> None:
        self._name, self._board = name, board
        self._close: Callable[[], object] = lambda: None  # there is nothing to close before it has begun
        logging.getLogger("tensorflow").setLevel(logging.ERROR)  # tensorboard asks for it and speaks of its absence
        try:
            self._library: Any = import_module(self.module)
        except ImportError:
            raise InputError(
                f"--log {self.package} needs the package {self.package}, which is not installed: "
                f"pip install {self.package}",
                code="missing-package",
            ) from None

    def end(self) -> None:
        self._close()


class _TensorBoard(_Logged):
    """Scalars for `tensorboard --logdir`."""

    package, module = "tensorboard", "torch.utils.tensorboard"

    def begin(self, about: Mapping[str, Any]) -> None:
        self._open = self._library.SummaryWriter(str(self._board.folder / self._name))
        self._close = self._open.close
        self._open.add_text("about", f"```\n{json.dumps(about, indent=2, default=str)}\n```")

    def record(self, record: Record) -> None:
        for name, value in _numbers(record).items():
            self._open.add_scalar(name, value, record.get("step"))


class _Wandb(_Logged):
    """A run of Weights & Biases."""

    package = module = "wandb"

    def begin(self, about: Mapping[str, Any]) -> None:
        self._board.folder.mkdir(parents=True, exist_ok=True)
        self._run = self._library.init(
            project="nodewise",
            group=self._board.folder.name,
            name=self._name or self._board.folder.name,
            dir=str(self._board.folder),
            config=json.loads(json.dumps(about, default=str)),
            reinit="create_new",
        )
        self._close = self._run.finish

    def record(self, record: Record) -> None:
        self._run.log(_numbers(record), step=record.get("step"))


class _MLflow(_Logged):
    """A run of MLflow, in the experiment named after the output."""

    package = module = "mlflow"

    def begin(self, about: Mapping[str, Any]) -> None:
        self._open, title = self._library.MlflowClient(), self._board.folder.name
        found = self._open.get_experiment_by_name(title)
        experiment = found.experiment_id if found is not None else self._open.create_experiment(title)
        self._run = self._open.create_run(experiment, run_name=self._name or title).info.run_id
        self._close = partial(self._open.set_terminated, self._run)
        for name, value in _flat(about).items():
            self._open.log_param(self._run, name, str(value)[:500])

    def record(self, record: Record) -> None:
        for name, value in _numbers(record).items():
            self._open.log_metric(self._run, name, value, step=int(record.get("step", 0)))


_KINDS: dict[str, type[_Logged]] = {each.package: each for each in (_TensorBoard, _Wandb, _MLflow)}


def _numbers(record: Record) -> dict[str, float]:
    """Return what can be drawn of a record."""
    return {
        name: float(value)
        for name, value in record.items()
        if name != "step" and isinstance(value, int | float) and not isinstance(value, bool)
    }


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return found
