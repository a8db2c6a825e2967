"""Being one of several processes that torchrun started: finding the others, a device of one's own, and losing them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist

from nodewise.core.errors import InputError, LostProcess
from nodewise.training.distributed import Alone, Together


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
            f"started again and go on from the last checkpoint ({str(error).splitlines()[0].partition('. ')[0]})"
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
