"""Time and peak memory of `read_graph` against Arrow and scipy doing the least that could be called reading.

    python benchmarks/reading.py [--nodes 1000000] [--edges 10000000] [--repeats 3] [--json]

The peer reads the same Parquet file with pyarrow, takes the integer ids for positions and lets scipy build
the symmetric CSR matrix: no checks, no ids, no merging beyond what scipy does. Times are the best of
`--repeats`, the two taking turns in one process. Memory is the peak resident size of a fresh process for
each, above what it had before reading, over the size of the final graph (adjacency and ids). Linux only.

Aims: under 3 times the peer's time, and a peak under 6 times the graph.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from nodewise.read.read import read_graph

TIME_AIM, MEMORY_AIM = 3.0, 6.0


def write_edges(path: Path, nodes: int, edges: int) -> None:
    """Write random edges; a permutation first, so that every node has one."""
    generator = np.random.default_rng(0)
    sources, targets = generator.integers(0, nodes, (2, edges))
    sources[:nodes] = generator.permutation(nodes)[:edges]
    pq.write_table(pa.table({"source": sources, "target": targets}), path)


def read_with_nodewise(path: Path) -> int:
    """Return the bytes of the graph that was read."""
    graph = read_graph(path)
    return graph.indptr.nbytes + graph.indices.nbytes + int(graph.ids.to_arrow().nbytes)


def read_with_peer(path: Path) -> int:
    """Return the bytes of the matrix that was built."""
    table = pq.read_table(path)
    sources, targets = table["source"].to_numpy(), table["target"].to_numpy()
    nodes = int(max(sources.max(), targets.max())) + 1
    ends = (np.concatenate([sources, targets]), np.concatenate([targets, sources]))
    matrix = sp.coo_matrix((np.ones(2 * len(sources), np.int8), ends), shape=(nodes, nodes)).tocsr()
    return int(matrix.indices.nbytes + matrix.indptr.nbytes)


READERS = {"nodewise": read_with_nodewise, "pyarrow + scipy": read_with_peer}


def peak_bytes(reader: str, path: Path) -> tuple[int, int]:
    """Return the peak above the baseline of a fresh process, and the bytes of what it read."""
    command = [sys.executable, __file__, "--measure", reader, "--file", str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peak, size = json.loads(answer)
    return peak, size


def measure(reader: str, path: Path) -> None:
    before = _peak()
    size = READERS[reader](path)
    print(json.dumps([_peak() - before, size]))


def _peak() -> int:
    # Not getrusage: a new process begins with the peak of the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def run(nodes: int, edges: int, repeats: int) -> dict[str, object]:
    """Measure both readers on one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.parquet"
        write_edges(path, nodes, edges)
        seconds = {name: float("inf") for name in READERS}
        for _ in range(repeats):
            for name, reader in READERS.items():
                start = time.perf_counter()
                reader(path)
                seconds[name] = min(seconds[name], time.perf_counter() - start)
        peaks = {name: peak_bytes(name, path) for name in READERS}
    size = peaks["nodewise"][1]
    ours, peer = seconds["nodewise"], seconds["pyarrow + scipy"]
    return {
        "nodes": nodes,
        "edges": edges,
        "seconds": seconds,
        "peak_bytes": {name: peak for name, (peak, _) in peaks.items()},
        "graph_bytes": size,
        "time_ratio": ours / peer,
        "memory_ratio": peaks["nodewise"][0] / size,
        "aims_met": ours / peer < TIME_AIM and peaks["nodewise"][0] / size < MEMORY_AIM,
    }


def print_table(result: dict[str, object]) -> None:
    seconds, peaks = result["seconds"], result["peak_bytes"]
    assert isinstance(seconds, dict)
    assert isinstance(peaks, dict)
    print(f"{result['nodes']:,} nodes, {result['edges']:,} edges, graph {result['graph_bytes']:,} bytes")
    print(f"{'':18}{'seconds':>10}{'peak MB':>10}")
    for name in READERS:
        print(f"{name:18}{seconds[name]:>10.2f}{peaks[name] / 1e6:>10.0f}")
    print(f"time {result['time_ratio']:.2f} x the peer (aim: below {TIME_AIM:g})")
    print(f"peak {result['memory_ratio']:.2f} x the graph (aim: below {MEMORY_AIM:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--measure", choices=READERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.file)
        return
    result = run(arguments.nodes, arguments.edges, arguments.repeats)
    if arguments.json:
        print(json.dumps(result))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
