"""Training by several processes (ranks) on one global batch, with the loss and the gradients of a single process.

A rank embeds its share of the batch. The vectors are gathered with gradient, so every rank holds those of the whole
batch: their mean and variance, all keys, and the same diverse negatives, for a draw is a function of (seed, purpose,
step, node) and every rank draws from the same keys. It then chooses and scores the pairs of its own queries,

    L = Σ_r L_r,    L_r = Σ_{i of rank r} L_i / number of all queries with negatives.

Going back, what all ranks ask of a gathered vector is added up and handed to the rank that made it. A rank's gradient
is then that of L through its own share, and the sum over ranks is dL/dθ: one `all_reduce` of all gradients in one
buffer. DistributedDataParallel would take the mean, and watches one `forward` a step, where here the encoder is called
for two or three views.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from nodewise.core.errors import InputError, LostProcess


class Alone:
    """A single process: its share is everything, and it agrees with itself."""

    rank: int = 0
    size: int = 1

    def share(self, count: int) -> slice:
        """Return which of `count` rows are this rank's."""
        return slice(0, count)

    def mine(self, rows: Tensor) -> Tensor:
        """Return this rank's share (S, b, ...) of the rows (S, B, ...)."""
        return rows

    def gather(self, rows: Tensor, count: int) -> Tensor:
        """Return all ranks' rows (S, B, d) of the shares (S, b, d), with gradient."""
        return rows

    def mean(self, losses: Tensor, negatives: Tensor) -> Tensor:
        """Return the mean loss (S,) of all ranks' queries, with gradient.

        Args:
            losses: (S,), the mean over this rank's queries that have negatives.
            negatives: bool (S, b, M), which say which queries these are.
        """
        return losses

    def average(self, statistics: dict[str, Tensor], count: int) -> dict[str, Tensor]:
        """Return the mean over ranks of numbers (S,), each rank's about its share of `count` queries."""
        return statistics

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by its sum over ranks."""

    def agreed(self, values: Tensor) -> Tensor:
        """Return rank 0's values."""
        return values

    def largest(self, number: int) -> int:
        """Return the largest of the ranks' numbers."""
        return number

    def texts(self, text: str) -> list[str]:
        """Return every rank's text."""
        return [text]


class Together(Alone):
    """The ranks of a process group, the default one if none is given."""

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self._group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)

    def share(self, count: int) -> slice:
        """Return which of `count` rows are this rank's: shares differ by one row at most."""
        return self._shares(count)[self.rank]

    def _shares(self, count: int) -> list[slice]:
        if count < self.size:
            raise InputError(f"a batch of {count} nodes cannot be shared by {self.size} processes; start fewer")
        return [slice(rank * count // self.size, (rank + 1) * count // self.size) for rank in range(self.size)]

    def mine(self, rows: Tensor) -> Tensor:
        """Return this rank's share of the rows."""
        return rows[:, self.share(rows.shape[1])]

    def gather(self, rows: Tensor, count: int) -> Tensor:
        """Return all ranks' rows."""
        gathered: Tensor = _Gather.apply(rows, self._shares(count), self.rank, self._group)  # type: ignore[no-untyped-call]
        return gathered

    def mean(self, losses: Tensor, negatives: Tensor) -> Tensor:
        """Return the mean loss of all ranks' queries."""
        counts = negatives.any(-1).sum(-1)
        total = counts.clone()
        dist.all_reduce(total, group=self._group)
        mean: Tensor = _Sum.apply(losses * counts / total.clamp(min=1), self._group)  # type: ignore[no-untyped-call]
        return mean

    def average(self, statistics: dict[str, Tensor], count: int) -> dict[str, Tensor]:
        """Return the mean over ranks; a ratio of two sums is that of the batch only nearly."""
        if not statistics:
            return {}
        share = self.share(count)
        stacked = torch.stack(list(statistics.values())) * ((share.stop - share.start) / count)
        dist.all_reduce(stacked, group=self._group)
        return dict(zip(statistics, stacked, strict=True))

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by its sum over ranks."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat, group=self._group)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def agreed(self, values: Tensor) -> Tensor:
        """Return rank 0's values."""
        values = values.clone()
        dist.broadcast(values, group=self._group, group_src=0)
        return values

    def largest(self, number: int) -> int:
        """Return the largest of the ranks' numbers."""
        held = torch.tensor(number)
        dist.all_reduce(held, dist.ReduceOp.MAX, self._group)
        return int(held)

    def texts(self, text: str) -> list[str]:
        """Return every rank's text."""
        data = torch.tensor(list(text.encode()), dtype=torch.uint8)
        lengths = [torch.empty(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(lengths, torch.tensor([len(data)]), self._group)
        longest = max(map(int, lengths))
        parts = [torch.empty(longest, dtype=torch.uint8) for _ in lengths]
        dist.all_gather(parts, torch.cat([data, data.new_zeros(longest - len(data))]), self._group)
        return [bytes(part[: int(size)].tolist()).decode() for part, size in zip(parts, lengths, strict=True)]


class _Gather(torch.autograd.Function):
    """Everyone's rows side by side; backwards, the sum of what everyone asks of one's own rows."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, shares: list[slice], rank: int, group: dist.ProcessGroup | None) -> Tensor:
        ctx.share, ctx.group = shares[rank], group
        sizes = [share.stop - share.start for share in shares]
        padded = rows.new_zeros(len(rows), max(sizes), *rows.shape[2:])  # gloo gathers equal sizes only
        padded[:, : rows.shape[1]] = rows
        parts = [torch.empty_like(padded) for _ in shares]
        dist.all_gather(parts, padded, group)
        return torch.cat([part[:, :size] for part, size in zip(parts, sizes, strict=True)], dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        asked = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(asked, group=ctx.group)
        return asked[:, ctx.share], None, None, None


class _Sum(torch.autograd.Function):
    """The sum of everyone's part; a part's gradient is that of the sum."""

    @staticmethod
    def forward(ctx: Any, part: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        total = part.clone()
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None


def launched() -> bool:
    """Tell whether torchrun, or whatever sets the same variables, started this process as one of several."""
    return {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()


def restarted() -> bool:
    """Tell whether torchrun started this process in place of one that was lost."""
    return _restarts() > 0


def _restarts() -> int:
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


@contextmanager
def joined(device: str) -> Iterator[tuple[Alone, str]]:
    """Join the processes started with this one, if there are any; yield them and the device of this process.

    CPU tensors travel by gloo also where GPU tensors travel by NCCL, so that asking all ranks a question does not wait
    for the GPU.
    """
    if not launched():
        yield Alone(), device
        return
    from torch.distributed.rendezvous import rendezvous  # not in every build of torch

    device = _own_device(device, int(os.environ.get("LOCAL_RANK", "0")))
    with losses_in_words():
        if device.startswith("cuda"):
            torch.cuda.set_device(device)
        store, rank, size = next(rendezvous("env://"))
        # With a fixed port torchrun keeps its store over a restart, and with it the addresses of lost processes.
        store = dist.PrefixStore(f"start {_restarts()}", store)  # type: ignore[attr-defined]
        backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=size)
        yield Together(), device
        dist.destroy_process_group()


@contextmanager
def losses_in_words() -> Iterator[None]:
    """Turn the errors of talking to a process that is gone into one line with the remedy."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, dist.DistError) or "gloo" in str(error).lower()):
            raise
        raise LostProcess(
            "another of the processes was lost or cannot be reached; with 'torchrun --max-restarts=3' all are "
            f"started again and resume from the last checkpoint ({str(error).splitlines()[0].partition('. ')[0]})"
        ) from error


def _own_device(name: str, local_rank: int) -> str:
    """Return the device of the process: one GPU each where GPUs are used."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name != "cuda":
        return name
    if local_rank >= torch.cuda.device_count():
        raise InputError(
            f"process {local_rank} of this machine has no GPU of its own, there are {torch.cuda.device_count()}; "
            f"start torchrun with --nproc-per-node={max(1, torch.cuda.device_count())}, or give --device cpu"
        )
    return f"cuda:{local_rank}"
