"""Walks and induced subgraphs on a CPU by compiled loops, for machines that have numba.

`walk` is the fast twin of `walks.walks_in_torch`, and `induce` of `subgraphs.subgraphs_in_torch`: same nodes, same
mask, and the same bits in the adjacency, whose entries are products of two inverse roots that torch itself computes.
The slow twins serve other devices, few walks, and machines without numba (`native.worthwhile`).

Every walk is worked on by itself, so results do not depend on the number of threads, which is torch's. They are
Python's threads, as the loops do not hold its lock: numba's own would bring a second OpenMP beside torch's, twice the
compilation, and a process that must not fork.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.graph.weights import BITS
from nodewise.views.loop_cache import compile_loop
from nodewise.views.topology import Topology

Array = npt.NDArray[Any]

# A thread is started for no fewer walks than these: it takes about as long as they do.
_WALKED, _INDUCED = 1024, 128
_SPARE = 32 - BITS  # of the 32 bits of a draw
_LONG = 8  # a row so many times longer than the list of what is looked for in it is searched, not read


def walk(
    topology: Topology, starts: Tensor, length: int, key: int | Tensor, *, restart: float = 0.0, lazy: float = 0.0
) -> Tensor:
    """Walk from every start, as `walks.random_walks` says: int64 (..., B) -> (..., B, length + 1)."""
    _check_range(starts, topology)
    walks = torch.empty((*starts.shape, length + 1), dtype=torch.int64)
    walks[..., 0] = starts
    streams = rng.fold(key, starts).expand(starts.shape).flatten().numpy().view(np.uint64)
    graph = (topology.indptr.numpy(), topology.indices.numpy(), _numbers(topology.bounds, np.int32))
    chances = (_draws_below(restart), _draws_below(lazy))
    _share(_walk, (*graph, *chances), (streams, walks.view(-1, length + 1).numpy()), _WALKED)
    return walks


def induce(topology: Topology, walks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return nodes, mask and adjacency of the walks' subgraphs, as `subgraphs.Subgraphs` says; walks (..., B, L).

    Where edges have weights, the adjacency is A_s + L, still to be normalized: sums of floating-point numbers are left
    to torch, whose order nobody else could follow to the bit.
    """
    _check_range(walks, topology)
    slots = walks.shape[-1]
    walked = walks.reshape(-1, slots).contiguous()
    nodes, mask = torch.empty_like(walked), torch.empty_like(walked, dtype=torch.bool)
    adjacency = torch.empty((*walked.shape, slots), dtype=torch.float32)
    inverse_roots = torch.arange(slots + 1, dtype=torch.float32).rsqrt()
    loops = None if topology.weights is None else topology.loops
    weights = (_numbers(topology.weights, np.float32), _numbers(loops, np.float32))
    common = (topology.indptr.numpy(), topology.indices.numpy(), *weights, inverse_roots.numpy())
    _share(_induce, common, [part.numpy() for part in (walked, nodes, mask, adjacency)], _INDUCED)
    return nodes.view(walks.shape), mask.view(walks.shape), adjacency.view(*walks.shape, slots)


def _numbers(tensor: Tensor | None, dtype: type[np.generic]) -> Array:
    return np.empty(0, dtype) if tensor is None else tensor.numpy()


def _check_range(nodes: Tensor, topology: Topology) -> None:
    """Refuse nodes that are not in the graph: compiled loops would read whatever lies there."""
    if nodes.numel():
        lowest, highest = nodes.aminmax()
        if lowest < 0 or highest >= topology.num_nodes:
            raise IndexError(f"nodes {int(lowest)} to {int(highest)} of a graph with {topology.num_nodes} nodes")


def _draws_below(probability: float) -> np.uint64:
    """Count the draws of 24 bits that `rng.uniform` puts below a probability, which torch takes as float32."""
    return np.uint64(ceil(float(np.float32(probability)) * 2**24))


def _share(loop: Callable[..., Any], common: Sequence[Any], by_walk: Sequence[Array], least: int) -> None:
    """Run a loop over all walks, on as many threads as have at least so many walks each."""
    count = len(by_walk[0])
    threads = max(1, min(torch.get_num_threads(), count // least))
    bounds = [count * number // threads for number in range(threads + 1)]
    parts = [[array[first:end] for array in by_walk] for first, end in pairwise(bounds)]
    if threads == 1:
        loop(*common, *parts[0])
        return
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(loop, *common, *part) for part in parts[1:]]
        loop(*common, *parts[0])
        for other in others:
            other.result()


@compile_loop
def _fold(key: Any, value: Any) -> Any:
    """Be `rng.fold` for numbers of uint64."""
    x = key + (value + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compile_loop
def _part_of(bounds: Array, first: Any, end: Any, drawn: Any) -> Any:
    """Return the last place from `first` to below `end` whose bound is not above the draw."""
    while end - first > 1:
        middle = (first + end) >> 1
        if bounds[middle] <= drawn:
            first = middle
        else:
            end = middle
    return first


@compile_loop
def _walk(indptr: Array, indices: Array, bounds: Array, restart: Any, lazy: Any, streams: Array, walks: Array) -> None:
    """Fill in walks whose first node is given; without weights, there are no bounds."""
    weighted = len(bounds) > 0
    # Walks take turns, so that the memory is asked for the next nodes of many at once.
    for step in range(1, walks.shape[1]):
        for number in range(len(walks)):
            stream = _fold(streams[number], np.uint64(step))
            current = following = walks[number, step - 1]
            first = indptr[current]
            degree = indptr[current + 1] - first
            if degree > 0:
                drawn = np.int64(_fold(stream, np.uint64(0)) >> np.uint64(32))
                if weighted:
                    place = _part_of(bounds, first, first + degree, drawn >> _SPARE)
                else:
                    place = first + ((drawn * degree) >> 32)
                following = np.int64(indices[place])
            if restart > 0 and _fold(stream, np.uint64(1)) >> np.uint64(40) < restart:
                following = walks[number, 0]
            if lazy > 0 and _fold(stream, np.uint64(2)) >> np.uint64(40) < lazy:
                following = current
            walks[number, step] = following


@compile_loop
def _induce(
    indptr: Array,
    indices: Array,
    weights: Array,
    loops: Array,
    inverse_roots: Array,
    walks: Array,
    nodes: Array,
    mask: Array,
    adjacency: Array,
) -> None:
    """Fill in nodes, mask and adjacency of every walk; without weights the adjacency is normalized."""
    weighted = len(weights) > 0
    scale = np.empty(walks.shape[1], np.float32)
    for number in range(len(walks)):
        own, edges = nodes[number], adjacency[number]
        size = _distinct(walks[number], own)
        mask[number, :size] = True
        mask[number, size:] = False
        own[size:] = own[0]
        edges[:] = 0
        for slot in range(size):
            edges[slot, slot] = loops[own[slot]] if weighted else 1
            _join(indptr, indices, weights, own, slot, size, edges)
        if weighted:
            continue
        for slot in range(size):
            scale[slot] = inverse_roots[int(edges[slot, :size].sum())]
        for row in range(size):
            for column in range(size):
                edges[row, column] *= scale[row] * scale[column]


@compile_loop
def _distinct(walk: Array, nodes: Array) -> int:
    """Put the start of a walk and then, ascending, the others it visited into `nodes`; return how many they are."""
    nodes[0] = walk[0]
    size = 1
    for node in walk[1:]:
        place = size
        while place > 1 and nodes[place - 1] > node:
            place -= 1
        if node != walk[0] and (place == 1 or nodes[place - 1] != node):
            for later in range(size, place, -1):
                nodes[later] = nodes[later - 1]
            nodes[place] = node
            size += 1
    return size


@compile_loop
def _join(indptr: Array, indices: Array, weights: Array, nodes: Array, slot: int, size: int, edges: Array) -> None:
    """Enter the edges of a slot with the slots after it, whose nodes ascend as its row of neighbors does."""
    place, end = indptr[nodes[slot]], indptr[nodes[slot] + 1]
    other = slot + 1
    search = end - place > _LONG * (size - other)
    while place < end and other < size:
        wanted = nodes[other]
        if search:
            until = end
            while place < until:
                middle = (place + until) >> 1
                if indices[middle] < wanted:
                    place = middle + 1
                else:
                    until = middle
            if place == end:
                break
        found = indices[place]
        if found == wanted:
            edges[slot, other] = edges[other, slot] = weights[place] if len(weights) else 1
        place += found <= wanted
        other += wanted <= found
