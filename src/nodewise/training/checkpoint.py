"""What is written while training so that it can resume after a kill, and end with the same bits.

A checkpoint after s steps holds the weights, Adam's moments, what early stopping remembers, and how long metrics.jsonl
was. Every draw is a function of (seed, purpose, step), so there is no generator to save, and what `prepare` computes
is computed again. When to save is a matter of time, and changes nothing of the result.

The two newest are kept. Each is written under another name, flushed and renamed, and carries a checksum: one that is
cut off or damaged is passed over for the one before.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, json_object
from nodewise.core.folder import RunFolder
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph

_FORMAT = "nodewise checkpoint 1"
_KEPT = 2
_SHARE = 20
_FACTS = {"step": int, "identity": dict, "metrics_length": int}


class Resumable(Protocol):
    """Something whose whole state is a dictionary of tensors."""

    def tensors(self) -> dict[str, Tensor]:
        """Return the state."""

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Become what the state describes."""


class Checkpoints(Protocol):
    """Where a training begins, and what happens between two of its steps."""

    def restore(self, state: Resumable) -> int:
        """Bring the state to where an earlier process left it; return the number of steps taken by then."""

    def between_steps(self, taken: int, state: Resumable) -> None:
        """Save the state if it is time to."""


class NoCheckpoints:
    """Begin at the beginning and save nothing."""

    def restore(self, state: Resumable) -> int:
        """Leave the state as it is."""
        return 0

    def between_steps(self, taken: int, state: Resumable) -> None:
        """Carry on with the next step."""


@dataclass(frozen=True)
class CheckpointPlan:
    """What the user wants.

    Attributes:
        every: seconds between two checkpoints; longer if saving would take more than a twentieth of the time.
        resume: whether to resume from the newest checkpoint instead of removing it.
        say: tells the user where the training resumes.
    """

    every: float = 30.0
    resume: bool = False
    say: Callable[[str], None] = lambda message: None


class FileCheckpoints:
    """Checkpoints in a run's folder.

    Args:
        run: the folder; its metrics are cut back to the checkpoint that is resumed from.
        identity: what the training is a function of, from `nodewise.training.checkpoint`.
        plan: when to save and whether to resume.
        stop_if_asked: raises if the process was asked to stop, from `nodewise.core.interrupt.deferred`.
    """

    def __init__(
        self, run: RunFolder, identity: Mapping[str, Any], plan: CheckpointPlan, stop_if_asked: Callable[[], None]
    ) -> None:
        self._run, self._identity, self._plan, self._stop_if_asked = run, identity, plan, stop_if_asked
        self._due = time.monotonic() + plan.every
        self._saved = -1

    def restore(self, state: Resumable) -> int:
        """Load the newest checkpoint that can be read, if resuming; one of another training is refused."""
        for path in reversed(self._run.checkpoints()) if self._plan.resume else ():
            try:
                about, tensors = read_checkpoint(path)
            except InputError as error:
                self._plan.say(f"{error}; looking for the one before")
                continue
            if changed := difference(about["identity"], self._identity):
                raise InputError(
                    f"{path}: the interrupted run has {changed}; resume it as it was begun, or start again without "
                    "--resume",
                    code="other-settings",
                )
            if not self._run.cut_metrics(about["metrics_length"]):
                self._plan.say(f"{self._run.metrics}: lacks records of {path.name}; looking for the one before")
                continue
            try:
                state.load(tensors)
            except (KeyError, RuntimeError, ValueError) as error:
                raise InputError(f"{path}: does not fit the settings: {str(error).splitlines()[0]}") from None
            self._saved = int(about["step"])
            self._plan.say(f"resuming after step {self._saved}")
            return self._saved
        if self._plan.resume:
            self._plan.say("there is no checkpoint to resume from: starting at the beginning")
        for path in self._run.checkpoints():
            path.unlink()
        self._run.cut_metrics(0)
        return 0

    def between_steps(self, taken: int, state: Resumable) -> None:
        """Save when it is time, and when the process is asked to stop, which then it does."""
        try:
            self._stop_if_asked()
        except KeyboardInterrupt:
            self._save(taken, state)
            raise
        if time.monotonic() >= self._due:
            self._save(taken, state)

    def last_good(self, astray: int) -> Path | None:
        """Remove the checkpoints from which training goes astray, at that step; return the newest that is left."""
        for path in self._run.checkpoints():
            if path >= self._run.checkpoint(astray):
                path.unlink()
        return next(reversed(self._run.checkpoints()), None)

    def _save(self, taken: int, state: Resumable) -> None:
        if taken == self._saved:
            return
        began = time.monotonic()
        about = {"step": taken, "identity": self._identity, "metrics_length": self._run.metrics_length()}
        write_checkpoint(self._run.checkpoint(taken), about, state.tensors())
        for path in self._run.checkpoints()[:-_KEPT]:
            path.unlink()
        self._saved = taken
        now = time.monotonic()
        self._due = now + max(self._plan.every, _SHARE * (now - began) if self._plan.every else 0)


def write_checkpoint(path: Path, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors and facts with a checksum over both."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(about)
    write_tensors(path, held, {"format": _FORMAT, "about": text, "sha256": _checksum(text, held)})


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return facts and tensors; a file that is not exactly what was written is refused."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # Copies: what lies in the mapped file is aligned otherwise, and sums over it may round otherwise.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118  # not a dict
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a readable checkpoint: {error}") from None
    text = metadata.get("about", "")
    if metadata.get("format") != _FORMAT or metadata.get("sha256") != _checksum(text, tensors):
        raise InputError(f"{path}: a damaged checkpoint, or none of this version")
    about = json_object(text, str(path))
    if {name: type(value) for name, value in about.items()} != _FACTS:
        raise InputError(f"{path}: a checkpoint that does not say what it is of")
    return about, tensors


def _checksum(text: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> None:
    """Write tensors, from any device, and some texts about them as a safetensors file, whole or not at all."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # Not save_file: what it writes is private to its owner, and its errors do not say that a disk is full.
    data = memoryview(save(held, metadata=dict(about)))
    size = int.from_bytes(data[:8], "little")
    header = json.loads(bytes(data[8 : 8 + size]))
    # The library writes the texts in a random order, but the same content should be the same bytes.
    header["__metadata__"] = dict(sorted(about.items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text = text.ljust(-(-len(text) // 8) * 8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        for part in (len(text).to_bytes(8, "little"), text, data[8 + size :]):
            file.write(part)


def identity(method: str, settings: object, seed: int, graph: Graph) -> dict[str, Any]:
    """Return everything that decides the outcome, under names a user knows, as JSON can hold it."""
    return {"method": method, "seed": seed, "graph": fingerprint(graph), **_flat(config.to_mapping(settings))}


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return in words the first thing in which two trainings differ, None if they are the same."""
    for name in {**earlier, **now}:
        if earlier.get(name) != now.get(name):
            if name == "graph":
                return "another graph (other edges, features or ids)"
            return f"{name} {earlier.get(name)!r}, not {now.get(name)!r}"
    return None


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat
