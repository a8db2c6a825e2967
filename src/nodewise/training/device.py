"""Where to compute."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from nodewise.core.environment import available_memory, own_limit
from nodewise.core.errors import InputError, NodewiseError, seen
from nodewise.core.messages import first_line
from nodewise.graph.graph import Graph
from nodewise.training.estimate import estimate
from nodewise.training.settings import LearnerSettings


def choose_device(name: str) -> torch.device:
    """Return the device of a name: `auto` is a GPU where there is one."""
    if isinstance(name, str) and name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()  # "meta" has no numbers at all
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        if isinstance(error, RuntimeError) and _is_out_of_gpu_memory(error):
            raise InputError(
                f"device {seen(name)} has no memory left: wait for the processes that hold it, or choose cpu",
                code="too-little-memory",
            ) from None
        there = "cpu, cuda or auto" if torch.cuda.is_available() else "cpu or auto"
        raise InputError(
            f"device {seen(name)} cannot be used here: {first_line(error)}; choose {there}",
            code="unknown-device",
        ) from None
    return device


def be_deterministic() -> None:
    """Let torch use deterministic algorithms only, from now on in this process.

    On a CPU the same seed and number of threads give the same bits without this. On a GPU sums by atomic addition
    depend on the order in which threads finish, and this avoids them; an operation that has no deterministic form
    raises an error.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS is first used
    torch.use_deterministic_algorithms(True)


_SMALLEST_BATCH = 16
_SMALLEST_DIMENSION = 8
_LARGER = "take a machine with more memory"


def needed_bytes(graph: Graph, settings: LearnerSettings, device: torch.device) -> int:
    """Estimate the memory that embedding a graph with these settings adds to what is in use."""
    return estimate(graph, settings, on_gpu=device.type == "cuda").bytes


def require_memory(graph: Graph, settings: LearnerSettings, device: torch.device) -> None:
    """Refuse what needs more memory than there is, naming a setting that would fit."""
    available = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available_memory()
    needed = needed_bytes(graph, settings, device)
    if available is None or needed <= available:
        return
    if limited := device.type != "cuda" and available == own_limit():
        there = f"--max-memory allows {available / 1e9:.1f} GB"
    else:
        there = f"{available / 1e9:.1f} GB {'on the GPU' if device.type == 'cuda' else 'of memory'} are free"
    fits = _what_fits(graph, settings, available, device)
    remedy = fits or f"no batch size or dimension would fit: {'raise it' if limited else _LARGER}"
    raise InputError(
        f"{graph.name}: embedding needs about {needed / 1e9:.1f} GB and {there}; {remedy} "
        "(--any-memory starts all the same)",
        code="too-little-memory",
    )


def _what_fits(graph: Graph, settings: LearnerSettings, available: int, device: torch.device) -> str:
    """Return what would fit, in words; nothing where no smaller batch or dimension would."""
    batch = min(settings.training.batch_size, graph.num_nodes) // 2
    while batch >= _SMALLEST_BATCH:
        smaller = replace(settings, training=replace(settings.training, batch_size=batch))
        if needed_bytes(graph, smaller, device) <= available:
            return f"--set training.batch_size={batch} would fit"
        batch //= 2
    dimension = settings.encoder.dimension // 2
    while dimension >= _SMALLEST_DIMENSION:
        narrower = replace(settings, encoder=replace(settings.encoder, dimension=dimension))
        narrower = replace(narrower, training=replace(settings.training, batch_size=2 * _SMALLEST_BATCH))
        if needed_bytes(graph, narrower, device) <= available:
            return f"--set training.batch_size={2 * _SMALLEST_BATCH} --set encoder.dimension={dimension} would fit"
        dimension //= 2
    return ""


@contextmanager
def out_of_memory_in_words(settings: LearnerSettings) -> Iterator[None]:
    """Turn torch's report of exhausted memory into one line with the remedy."""
    try:
        yield
    except RuntimeError as error:
        device = _exhausted(error)
        if device is None:
            raise
        batch = settings.training.batch_size
        raise NodewiseError(
            f"{device} ran out of memory at training.batch_size={batch}; try --set training.batch_size={batch // 2}",
            code="too-little-memory",
        ) from error


_OF_CUDA = ("CUBLAS_STATUS", "CUSOLVER_STATUS", "CUSPARSE_STATUS")
_HARDLY_ANY = 1 << 29


def _exhausted(error: RuntimeError) -> str | None:
    """Return whose memory ran out, in words; None for another error.

    CUDA's libraries do not say what went wrong: without memory for their own workspace they fail to allocate,
    to initialize, or "internally". So their errors count where hardly any memory is free.
    """
    said = str(error)
    if _is_out_of_gpu_memory(error):
        return "the GPU"
    if any(name in said for name in _OF_CUDA) and torch.cuda.mem_get_info()[0] < _HARDLY_ANY:
        return "the GPU"
    return "the machine" if "DefaultCPUAllocator" in said else None


def _is_out_of_gpu_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "CUDA error: out of memory" in str(error)
