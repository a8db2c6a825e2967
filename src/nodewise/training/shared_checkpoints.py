"""Checkpoints of several processes: rank 0 has the files, the others begin where it does, and all stop together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.core.interrupt import Stopped
from nodewise.core.version import __version__
from nodewise.training.checkpoint import Checkpoints, NoCheckpoints, Resumable, difference
from nodewise.training.team import Alone


def require_same(team: Alone, identity: Mapping[str, Any]) -> None:
    """Refuse, on every rank and in the same words, a training whose ranks differ in graph, settings or versions."""
    mine = {"nodewise": __version__, "torch": torch.__version__, **identity}
    first, *others = [json.loads(text) for text in team.texts(json.dumps(mine))]
    for rank, other in enumerate(others, start=1):
        if changed := difference(other, first):
            raise InputError(
                f"process {rank} differs from process 0: it has {changed}; start all with the same arguments"
            )


def stopping_together(team: Alone, stop_if_asked: Callable[[], None]) -> Callable[[], None]:
    """Return a function, to be called by all ranks, that raises on all of them if any was asked to stop."""

    def stop_if_any_is_asked() -> None:
        number = 0
        try:
            stop_if_asked()
        except Stopped as asked:
            number = asked.number
        if number := team.largest(number):
            raise Stopped(number)

    return stop_if_any_is_asked


class SharedCheckpoints:
    """What every rank calls where a single process calls its checkpoints.

    Args:
        team: all ranks.
        files: the checkpoints of rank 0, which ask `stop` themselves; None on other ranks.
        stop: from `stopping_together`.
    """

    def __init__(self, team: Alone, files: Checkpoints | None, stop: Callable[[], None]) -> None:
        self._team, self._files, self._stop = team, files, stop

    def restore(self, state: Resumable) -> int:
        """Begin where rank 0 begins; what it cannot begin from is refused by all."""
        taken, refusal = 0, ""
        try:
            taken = (self._files or NoCheckpoints()).restore(state)
        except InputError as error:
            refusal = json.dumps([str(error), error.code])
        if refusal := self._team.texts(refusal)[0]:
            message, code = json.loads(refusal)
            raise InputError(message, code=code)
        taken = self._team.largest(taken)
        if taken and self._team.size > 1:
            state.load(_sent(self._team, state))
        return taken

    def between_steps(self, taken: int, state: Resumable) -> None:
        """Let rank 0 save if it is time to; stop if any rank was asked to."""
        if self._files is None:
            self._stop()
        else:
            self._files.between_steps(taken, state)


def _sent(team: Alone, state: Resumable) -> dict[str, Tensor]:
    """Return rank 0's state."""
    held = {name: tensor.cpu().contiguous() for name, tensor in state.tensors().items()} if team.rank == 0 else {}
    about = [(name, str(tensor.dtype), list(tensor.shape)) for name, tensor in held.items()]
    sent = {}
    for name, kind, shape in json.loads(team.texts(json.dumps(about))[0]):
        empty = torch.empty(shape, dtype=getattr(torch, kind.removeprefix("torch.")))
        sent[name] = team.agreed(held.get(name, empty))
    return sent
