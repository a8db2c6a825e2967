"""Is the estimate before a run an upper bound? Twenty graphs and settings, each embedded in a process of its own.

    python benchmarks/estimates.py [--case NAME] [--stages]

Prints, for each, the processor seconds (of one thread) and the peak of memory (above what the process held when it
began) that embedding took, what was estimated, and how many of the estimates were upper bounds. Takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")


class Case(NamedTuple):
    """A random graph and the settings it is embedded with."""

    nodes: int
    edges: int
    columns: int = 0
    density: float = 1.0
    changes: tuple[str, ...] = ()


CASES = {
    "words, small": Case(800, 2000, 500, 0.02),
    "words": Case(3300, 4700, 3700, 0.009),
    "words, many": Case(20_000, 60_000, 2000, 0.01),
    "words, many steps": Case(3000, 6000, 1000, 0.02, ("training.steps=300",)),
    "words, wide batch": Case(8000, 30_000, 800, 0.02, ("training.batch_size=1500", "training.steps=20")),
    "words, diverse draw": Case(3000, 9000, 1500, 0.01, ("sampling.dpp=true",)),
    "words, large graph": Case(90_000, 300_000, 600, 0.02),
    "numbers, small": Case(1500, 4500, 12),
    "numbers": Case(10_000, 40_000, 64),
    "numbers, wide": Case(15_000, 60_000, 400),
    "numbers, many nodes": Case(120_000, 350_000, 16),
    "numbers, few dimensions": Case(10_000, 50_000, 64, 1.0, ("encoder.dimension=32",)),
    "numbers, many dimensions": Case(8000, 30_000, 300, 1.0, ("encoder.dimension=1024",)),
    "numbers, dense graph": Case(3000, 250_000, 50),
    "edges only, small": Case(400, 1200),
    "edges only": Case(20_000, 80_000),
    "edges only, many": Case(150_000, 500_000),
    "convolutions": Case(5000, 15_000, 200, 1.0, ("encoder.kind=gcn",)),
    "no evidence": Case(20_000, 60_000, 100, 1.0, ("sampling.collision=false",)),
    "many clusterings": Case(10_000, 40_000, 100, 1.0, ("sampling.class_collision.clusterings=60",)),
}


def graph_of(case: Case) -> Any:
    """Return the random graph of a case."""
    import numpy as np
    import scipy.sparse as sp

    from nodewise.graph.graph import Graph

    draw = np.random.default_rng(0)
    features: Any = None
    if case.columns and case.density < 1:
        features = sp.random_array((case.nodes, case.columns), density=case.density, rng=draw, dtype=np.float32)
        features = sp.csr_matrix(features)
    elif case.columns:
        features = draw.normal(size=(case.nodes, case.columns)).astype(np.float32)
    ends = draw.integers(0, case.nodes, (2, case.edges))
    ends[1] = np.where(draw.random(case.edges) < 0.5, (ends[0] + 1 + ends[1] % 40) % case.nodes, ends[1])
    return Graph.from_edges(*ends, num_nodes=case.nodes, features=features)


def used() -> float:
    """Return the processor seconds of this process."""
    return time.process_time()


class Stages:
    """Progress that notes how much processor time each stage took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stages]:
        """Time a stage."""
        begun = used()
        yield self
        self.seconds[description] = self.seconds.get(description, 0) + used() - begun

    def advance(self, steps: int = 1, **values: float) -> None:
        """Do nothing."""


def measure(case: Case) -> dict[str, Any]:
    """Embed the graph of a case in this process."""
    import torch

    from nodewise.core import config
    from nodewise.methods.node_embedder import NodeEmbedder
    from nodewise.methods.settings import Settings
    from nodewise.training.estimate import estimate

    torch.set_num_threads(1)
    settings = config.override(Settings(), case.changes)
    NodeEmbedder(settings, device="cpu").fit(graph_of(Case(60, 120, 8)))  # what is loaded once is no part of a graph's
    graph, stages = graph_of(case), Stages()
    promised = estimate(graph, settings, threads=1)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, begun = memory("VmRSS"), used()
    NodeEmbedder(settings, device="cpu").fit(graph, progress=stages)
    seconds, peak = used() - begun, memory("VmHWM")
    return {
        "seconds": seconds,
        "bytes": peak - before,
        "promised": [promised.seconds, promised.bytes],
        "stages": {name: round(value, 2) for name, value in stages.seconds.items()},
        "promised_stages": {name: round(value, 2) for name, value in promised.stages.items()},
    }


def memory(what: str) -> int:
    """Return the bytes that this process holds now (VmRSS) or has held at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


def main() -> None:
    """Measure all cases, or one of them, and print a table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--case", choices=CASES)
    options.add_argument("--stages", action="store_true", help="also what each stage took")
    chosen = options.parse_args()
    if chosen.case:
        print(json.dumps(measure(CASES[chosen.case])))
        return
    print(f"{platform.processor() or platform.machine()}, one thread")
    print(f"{'case':26} {'seconds':>8} {'estimate':>9} {'ratio':>6} {'MB':>8} {'estimate':>9} {'ratio':>6}")
    ratios: dict[str, list[float]] = {"time": [], "memory": []}
    for name in CASES:
        run = subprocess.run([sys.executable, __file__, "--case", name], check=True, capture_output=True, text=True)
        found = json.loads(run.stdout)
        seconds, memory = found["promised"]
        ratios["time"].append(seconds / found["seconds"])
        ratios["memory"].append(memory / found["bytes"])
        print(
            f"{name:26} {found['seconds']:8.1f} {seconds:9.1f} {ratios['time'][-1]:6.2f} "
            f"{found['bytes'] / 1e6:8.0f} {memory / 1e6:9.0f} {ratios['memory'][-1]:6.2f}",
            flush=True,
        )
        if chosen.stages:
            print("   ", found["stages"], found["promised_stages"])
    for what, each in ratios.items():
        print(f"{what}: an upper bound in {sum(r >= 1 for r in each)} of {len(each)}, lowest {min(each):.2f}")


if __name__ == "__main__":
    main()
