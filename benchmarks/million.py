"""A million nodes from a text file, as a user has them: inspect, embed and report, each in a process of its own.

    python benchmarks/million.py --nodes 1000000 --edges 5000000 [--threads 2] [--folder DIR]

Edges join nodes of one of a thousand groups, or any two; ids are texts, and there are no features. For each command the
seconds of the clock and of the processor, and the peak memory of the process, are printed as a table. On Linux the
processes are kept to as many cores as threads. By default there are a tenth as many nodes.

Aims on two idle cores: embed under 240 s, report under 90 s and 2.5 GB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_GROUPS, _INSIDE, _LINES = 1000, 0.7, 500_000


def write_edges(path: Path, nodes: int, edges: int) -> None:
    """Write a graph of groups, most edges inside one."""
    random = np.random.default_rng(0)
    source, other = random.integers(0, nodes, (2, edges))
    near = source // _GROUPS * _GROUPS + random.integers(0, _GROUPS, edges)
    target = np.where(random.random(edges) < _INSIDE, near % nodes, other)
    with path.open("w") as file:
        file.write("source,target\n")
        for first in range(0, edges, _LINES):
            some = zip(source[first : first + _LINES], target[first : first + _LINES], strict=True)
            file.writelines(f"user{one},user{two}\n" for one, two in some)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    edges, run = folder / "edges.csv", folder / "run"
    write_edges(edges, given.nodes, given.edges)
    cores = set(sorted(os.sched_getaffinity(0))[: given.threads]) if hasattr(os, "sched_setaffinity") else None
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    print("| command | seconds | processor seconds | GB |\n|---|---:|---:|---:|")
    for command in (["inspect", edges], ["embed", edges, "-o", run, "--threads", given.threads], ["report", run]):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "nodewise", *map(str, command), "--quiet"],
            env=environment,
            stdout=subprocess.DEVNULL,
            preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
        )
        _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"nodewise {command[0]} failed")
        seconds, spent = time.perf_counter() - began, used.ru_utime + used.ru_stime
        print(f"| {command[0]} | {seconds:.0f} | {spent:.0f} | {used.ru_maxrss / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
