"""Determinantal draws against DPPy, in the same process: `python benchmarks/dpp.py [--json]`.

Single draw: a similarity kernel of M points and one exact draw from it, as every training step needs afresh.
DPPy is given our kernel, and its fastest exact sampler is timed.
Masked draws: one draw for each of B queries, each from its own subset of the M points. DPPy makes one per
query (timed on a sample of the queries); the shared law makes a few draws that serve all of them, kernel
included.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import torch
from shared.timing import arguments, fastest_calls, show
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.dpp import (
    DppSettings,
    draw_from_ensemble,
    draw_from_marginal,
    effective_rank,
    fit_scale,
    law_distance,
    marginal_kernel,
    sample_negatives,
    similarity,
)

# Of its exact samplers; the others (KuTa12, Chol, vfx) take several times as long.
PEER_MODES = ("GS_bis", "GS")
PEER_QUERIES = 3


def embeddings(items: int, dimension: int) -> Tensor:
    """Points in seven loose clusters, like node embeddings in the middle of a training. float32 (M, d)."""
    generator = torch.Generator().manual_seed(0)
    centers = torch.randn(7, dimension, generator=generator)
    members = torch.randint(7, (items,), generator=generator)
    return centers[members] + torch.randn(items, dimension, generator=generator)


def peer_draw(likelihood: Tensor, mode: str, state: np.random.RandomState) -> list[int]:
    from dppy.finite_dpps import FiniteDPP

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(FiniteDPP("likelihood", L=likelihood.numpy()).sample_exact(mode=mode, random_state=state))


def measure(args: argparse.Namespace) -> dict[str, float | int | str]:
    points = embeddings(args.items, args.dimension)
    settings = DppSettings(size=args.size, draws=args.draws)
    scale = fit_scale(points, settings)
    factor = 1.0 if scale is None else scale
    uniforms = rng.uniform64(1, torch.arange(1).unsqueeze(-1), torch.arange(args.items))
    excluded = rng.uniform64(2, torch.arange(args.queries).unsqueeze(-1), torch.arange(args.items))
    candidates = excluded > 0.05
    likelihood = factor * similarity(points, settings)
    result: dict[str, float | int | str] = {
        "items": args.items,
        "queries": args.queries,
        "dimension": args.dimension,
        "threads": torch.get_num_threads(),
        "expected_size": marginal_kernel(likelihood).trace().item(),
        "effective_rank": effective_rank(likelihood).item(),
        "law_distance": law_distance(likelihood, candidates[:8]).mean().item(),
    }

    def single(x: Tensor, u: Tensor) -> Tensor:
        return draw_from_ensemble(similarity(x, settings).mul_(factor), u)

    calls: dict[str, Callable[[], object]] = {
        "kernel": lambda: similarity(points, settings),
        "single_draw": lambda: single(points, uniforms),
        "single_draw_through_marginal_kernel": lambda: draw_from_marginal(
            marginal_kernel(similarity(points, settings).mul_(factor)), uniforms
        ),
        "masked_draws": lambda: sample_negatives(points, candidates, 3, settings, scale=scale),
    }
    if find_spec("dppy"):
        calls |= peer_calls(likelihood, candidates)
    times = fastest_calls(calls, args.rounds)
    result |= {f"{name}_ms": 1e3 * value for name, value in times.items()}
    if find_spec("dppy"):
        peer = times["kernel"] + min(times[f"peer_single_draw_{mode}"] for mode in PEER_MODES)
        query = statistics.mean(value for name, value in times.items() if name.startswith("peer_query"))
        result |= {
            "single_draw_ratio": peer / times["single_draw"],
            "masked_draws_ratio": query * args.queries / times["masked_draws"],
        }
    if torch.cuda.is_available():
        result |= on_cuda(points, uniforms, candidates, settings, scale, args.rounds, single)
    return result


def peer_calls(likelihood: Tensor, candidates: Tensor) -> dict[str, Callable[[], object]]:
    """Return DPPy's draws from the whole likelihood, and from its part for each of a few queries."""
    state = np.random.RandomState(0)
    calls: dict[str, Callable[[], object]] = {
        f"peer_single_draw_{mode}": lambda m=mode: peer_draw(likelihood, m, state) for mode in PEER_MODES
    }
    for query, mask in enumerate(candidates[:PEER_QUERIES]):
        rows = torch.nonzero(mask).flatten()
        calls[f"peer_query_{query}"] = lambda s=rows: peer_draw(likelihood[s][:, s], PEER_MODES[0], state)
    return calls


def on_cuda(
    points: Tensor,
    uniforms: Tensor,
    candidates: Tensor,
    settings: DppSettings,
    scale: Tensor | None,
    rounds: int,
    single: Callable[[Tensor, Tensor], Tensor],
) -> dict[str, float | str]:
    """Time the same draws on the CUDA device."""
    x, u, mask = points.cuda(), uniforms.cuda(), candidates.cuda()
    scale = None if scale is None else scale.cuda()
    start = time.perf_counter()
    single(x, u)
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    likelihood = similarity(x, settings)
    kernel = marginal_kernel(likelihood)
    times = fastest_calls(
        {
            "single_draw": lambda: single(x, u),
            "single_draw_captured": captured(lambda: single(x, u)),
            "masked_draws": lambda: sample_negatives(x, mask, 3, settings, scale=scale),
            "kernel": lambda: similarity(x, settings),
            "marginal_kernel": lambda: marginal_kernel(likelihood),
            "elimination": lambda: draw_from_marginal(kernel, u),
        },
        rounds,
    )
    device: dict[str, float | str] = {
        "cuda_device": torch.cuda.get_device_name(),
        "cuda_first_call_ms": 1e3 * first,
    }
    return device | {f"cuda_{name}_ms": 1e3 * value for name, value in times.items()}


def captured(call: Callable[[], object]) -> Callable[[], object]:
    """Return the replay of a call that is recorded as a CUDA graph, the way training makes it."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, default=1000, help="candidates M")
    parser.add_argument("--queries", type=int, default=1000, help="queries B, each with its own mask")
    parser.add_argument("--dimension", type=int, default=512, help="embedding size")
    parser.add_argument("--size", type=float, default=None, help="expected size; default: the kernel as it is")
    parser.add_argument("--draws", type=int, default=4, help="draws shared by the queries")
    parser.add_argument("--rounds", type=int, default=6, help="turns of three runs, of which the fastest counts")
    args = parser.parse_args()
    show(f"Determinantal draws of {args.items} items, against DPPy", measure(args), args.json)


if __name__ == "__main__":
    main()
