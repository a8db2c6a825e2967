"""Diffusion of the edges: S = Σ_k θ_k T^k with T = D^-1/2 (A + I) D^-1/2 (Klicpera et al., NeurIPS 2019).

| kind | θ_k           | closed form              |
|------|---------------|--------------------------|
| ppr  | α (1 - α)^k   | α (I - (1 - α) T)^-1     |
| heat | e^-t t^k / k! | exp(t (T - I))           |

The closed form is dense, and small graphs get it. Large graphs get a push (Andersen, Chung & Lang, FOCS 2006;
Kloster & Gleich, KDD 2014), for blocks of rows at once: of each row of the k-th power of the random walk
W = D^-1 (A + I), only what is above δ d_v at node v walks on. As d W = d, what is left out at step k adds at most
δ d_v Σ_{j≥k} θ_j to a result, and the sum over k is δ d_v (1 + E[k]). S_uv = √(d_u / d_v) Σ_k θ_k (W^k)_uv, so

    0 <= S_uv - Ŝ_uv <= ε √(d_u d_v),   with d counting the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from nodewise.core.environment import available_memory
from nodewise.core.errors import InputError
from nodewise.core.progress import Progress, SilentProgress
from nodewise.graph.graph import Graph

Floats = npt.NDArray[np.float64]
_ROWS = 512
_DENSE_COPIES = 3  # the matrix, its factor or square, and the result


@dataclass(frozen=True)
class DiffusionSettings:
    """How edges are diffused, and how much of it is kept.

    Attributes:
        kind: personalized PageRank or the heat kernel.
        alpha: chance of a PageRank walk to end at each step; MVGRL takes 0.2.
        time: t of the heat kernel; MVGRL takes 5.
        threshold: entries of S below it are left out.
        rescaled: divide each column of S by its largest entry, as MVGRL's authors do on Citeseer.
        precision: ε of the push; the default is a trade of time for what a network does not notice.
        exact_up_to: graphs of at most so many nodes are diffused in closed form.
    """

    kind: Literal["ppr", "heat"] = "ppr"
    alpha: float = 0.2
    time: float = 5.0
    threshold: float = 1e-3
    rescaled: bool = False
    precision: float = 1e-3
    exact_up_to: int = 5000

    def __post_init__(self) -> None:
        for name, holds, rule in (
            ("alpha", 0 < self.alpha <= 1, "in (0, 1]"),
            ("time", 0 < self.time <= 100, "in (0, 100]"),
            ("threshold", 0 <= self.threshold < 1, "in [0, 1)"),
            ("precision", 0 < self.precision < 1, "in (0, 1)"),
            ("exact_up_to", self.exact_up_to >= 0, "at least 0"),
        ):
            if not holds:
                raise InputError(f"diffusion.{name} is {getattr(self, name):g}; it must be {rule}")


def diffuse(graph: Graph, settings: DiffusionSettings, progress: Progress | None = None) -> sp.csr_array:
    """Return S (N, N), float32, without the entries below the threshold: in closed form or by push, after its size.

    It is symmetric unless its columns are rescaled.
    """
    if graph.num_nodes <= settings.exact_up_to:
        dense = exact(graph, settings)
        dense[dense < settings.threshold] = 0
        found = sp.csr_array(sp.coo_array(dense.astype(np.float32)))
    else:
        found = push(graph, settings, progress)
    if settings.rescaled:
        largest = np.zeros(graph.num_nodes, dtype=np.float32)
        np.maximum.at(largest, found.indices, found.data)
        found.data /= largest[found.indices]
    return found


def exact(graph: Graph, settings: DiffusionSettings) -> Floats:
    """Return S (N, N) in closed form; refuse a graph whose dense matrices would not fit into memory."""
    nodes = graph.num_nodes
    needed, free = _DENSE_COPIES * 8 * nodes**2, available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{graph.name}: the dense diffusion of {nodes:,} nodes takes {needed / 1e9:,.1f} GB and {free / 1e9:,.1f} "
            f"GB are free; lower diffusion.exact_up_to below {nodes} to have it computed sparsely"
        )
    walk = transition(graph).toarray()
    if settings.kind == "heat":
        return np.asarray(scipy.linalg.expm(settings.time * (walk - np.eye(nodes))))
    # I - (1 - α) T is symmetric and positive definite.
    factor = scipy.linalg.cho_factor(np.eye(nodes) - (1 - settings.alpha) * walk, overwrite_a=True)
    return np.asarray(scipy.linalg.cho_solve(factor, settings.alpha * np.eye(nodes), overwrite_b=True))


def push(graph: Graph, settings: DiffusionSettings, progress: Progress | None = None) -> sp.csr_array:
    """Return Ŝ (N, N), float32, within ε √(d_u d_v) of S before the threshold; memory grows with what is kept."""
    weights = _series(settings, settings.precision / 10)
    tails = 1 - np.concatenate([[0], np.cumsum(weights)[:-1]])
    floor = (settings.precision - (tails[-1] - weights[-1])) / tails.sum()
    looped = _with_loops(graph)
    degrees = looped.sum(axis=1)
    walk = sp.csr_array(looped.multiply(1 / degrees[:, None]))
    blocks = []
    with (progress or SilentProgress()).stage("diffusion", total=graph.num_nodes) as bar:
        for start in range(0, graph.num_nodes, _ROWS):
            rows = np.arange(start, min(start + _ROWS, graph.num_nodes))
            spread = _walk_on(rows, walk, weights, floor * degrees)
            scaled = spread.multiply(np.sqrt(degrees[rows])[:, None]).multiply(1 / np.sqrt(degrees))
            blocks.append(_keep(sp.csr_array(scaled), np.full(graph.num_nodes, settings.threshold)).astype(np.float32))
            bar.advance(len(rows))
    found = sp.csr_array(sp.vstack(blocks, format="csr"))
    # S is symmetric and no estimate is above it, so the larger of two estimates is the better one.
    return sp.csr_array(found.maximum(found.T))


def transition(graph: Graph) -> sp.csr_array:
    """Return T = D^-1/2 (A + I) D^-1/2, float64 (N, N)."""
    looped = _with_loops(graph)
    scale = 1 / np.sqrt(looped.sum(axis=1))
    return sp.csr_array(looped.multiply(scale[:, None]).multiply(scale))


def _with_loops(graph: Graph) -> sp.csr_array:
    """Return A + I or, where edges have weights, A + L with L the mean weight of each node's edges."""
    adjacency = sp.csr_array(graph.adjacency().astype(np.float64))
    loops = np.where(graph.degrees > 0, adjacency.sum(axis=1) / np.maximum(graph.degrees, 1), 1.0)
    return sp.csr_array(adjacency + sp.diags_array(loops, format="csr"))


def _walk_on(rows: npt.NDArray[np.int64], walk: sp.csr_array, weights: Floats, floors: Floats) -> sp.csr_array:
    """Return Σ_k θ_k R_k with R_0 the unit rows and R_k+1 = (R_k where at least the floors) W."""
    nodes = walk.shape[0]
    unit = (np.ones(len(rows)), rows, np.arange(len(rows) + 1))
    moving = sp.csr_array(unit, shape=(len(rows), nodes))
    spread = weights[0] * moving
    for weight in weights[1:]:
        moving = _keep(sp.csr_array(moving @ walk), floors)
        if moving.nnz == 0:
            break
        spread = spread + weight * moving
    return sp.csr_array(spread)


def _keep(matrix: sp.csr_array, floors: Floats) -> sp.csr_array:
    """Leave out the entries below the floor of their column."""
    matrix.data[matrix.data < floors[matrix.indices]] = 0
    matrix.eliminate_zeros()
    return matrix


def _series(settings: DiffusionSettings, rest: float) -> Floats:
    """Return θ_0, θ_1, ... until what is left sums to at most `rest`."""
    weights = [settings.alpha if settings.kind == "ppr" else np.exp(-settings.time)]
    while 1 - sum(weights) > rest:
        factor = 1 - settings.alpha if settings.kind == "ppr" else settings.time / len(weights)
        weights.append(weights[-1] * factor)
    return np.array(weights)
