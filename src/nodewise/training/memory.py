"""Memory: refuse beforehand what will not fit, and say what would; explain it when it runs out after all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.memory import available_memory
from nodewise.graph.cost import embedding_bytes, mapped_bytes
from nodewise.graph.graph import Graph
from nodewise.training.settings import LearnerSettings

_SMALLEST_BATCH = 16
_SMALLEST_DIMENSION = 8


def needed_bytes(graph: Graph, settings: LearnerSettings) -> int:
    """Estimate the memory that embedding a graph with these settings adds to what is in use."""
    batch, walk_nodes = settings.training.batch_size, settings.views.length + 1
    return embedding_bytes(graph, batch, walk_nodes, settings.encoder.dimension) - mapped_bytes(graph)


def require_memory(graph: Graph, settings: LearnerSettings, device: torch.device) -> None:
    """Refuse what needs more memory than there is, naming a setting that would fit."""
    available = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available_memory()
    needed = needed_bytes(graph, settings)
    if available is None or needed <= available:
        return
    where = "on the GPU" if device.type == "cuda" else "of memory"
    raise InputError(
        f"{graph.name}: embedding needs about {needed / 1e9:.1f} GB and {available / 1e9:.1f} GB {where} are free; "
        f"{_what_fits(graph, settings, available)} (--any-memory starts all the same)",
        code="too-little-memory",
    )


def _what_fits(graph: Graph, settings: LearnerSettings, available: int) -> str:
    batch = min(settings.training.batch_size, graph.num_nodes) // 2
    while batch >= _SMALLEST_BATCH:
        smaller = replace(settings, training=replace(settings.training, batch_size=batch))
        if needed_bytes(graph, smaller) <= available:
            return f"--set training.batch_size={batch} would fit"
        batch //= 2
    dimension = settings.encoder.dimension // 2
    while dimension >= _SMALLEST_DIMENSION:
        narrower = replace(settings, encoder=replace(settings.encoder, dimension=dimension))
        narrower = replace(narrower, training=replace(settings.training, batch_size=2 * _SMALLEST_BATCH))
        if needed_bytes(graph, narrower) <= available:
            return f"--set training.batch_size={2 * _SMALLEST_BATCH} --set encoder.dimension={dimension} would fit"
        dimension //= 2
    return "no batch size or dimension would fit: take a machine with more memory"


@contextmanager
def out_of_memory_in_words(settings: LearnerSettings) -> Iterator[None]:
    """Turn torch's report of exhausted memory into one line with the remedy."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)):
            raise
        batch = settings.training.batch_size
        device = "the GPU" if isinstance(error, torch.OutOfMemoryError) else "the machine"
        raise NodewiseError(
            f"{device} ran out of memory at training.batch_size={batch}; try --set training.batch_size={batch // 2}",
            code="too-little-memory",
        ) from error
