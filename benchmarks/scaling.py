"""A graph store of a million nodes: converting, training steps and embedding, against a graph of ten thousand.

    python benchmarks/scaling.py [--nodes 1000000] [--edges 10000000] [--features 128] [--folder DIR] [--json]

A block model is written as two Parquet files. Then, each in a fresh process:

convert   the files become a store, by the command line.
steps     training steps on the store and on a block model of `--small` nodes take turns in one process; medians of
          their times are compared. Evidence is prepared from `--clusterings` clusterings, which steps do not feel.
embed     every node is embedded from the store into Parquet shards, with the default settings and untrained weights.

Private memory is the peak of RssAnon, mapped pages apart, looked at every 10 ms. Seconds of the processor are
printed beside those of the clock: on a machine with other work the two differ. Linux only.

Aims: convert under 180 s, a step within 1.3 times the small graph's, embedding under 4 GB of private memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONVERT_AIM, STEP_AIM, MEMORY_AIM = 180.0, 1.3, 4e9


def private_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


def watched(work: Callable[[], object]) -> dict[str, float]:
    """Do the work; return its seconds, the processor's, and the peak of private memory."""
    peak, over = private_bytes(), threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.01):
            peak = max(peak, private_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start, busy = time.perf_counter(), time.process_time()
    work()
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    over.set()
    watcher.join()
    return {"seconds": seconds, "processor_seconds": processor, "private_bytes": peak}


def generate(args: argparse.Namespace) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    graph = model(args, args.nodes)
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    half = sources < graph.indices
    order = np.random.default_rng(0).permutation(np.count_nonzero(half))
    columns = {"source": sources[half][order], "target": graph.indices[half][order]}
    pq.write_table(pa.table(columns), args.folder / "edges.parquet")
    rows = pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(graph.features).reshape(-1)), graph.num_features)
    table = pa.table({"id": np.arange(graph.num_nodes), "x": rows})
    pq.write_table(table, args.folder / "nodes.parquet", row_group_size=1 << 16)
    return {"edges": graph.num_edges}


def model(args: argparse.Namespace, nodes: int) -> Any:
    from nodewise.datasets.planted import block_model

    degree = 2 * args.edges / args.nodes
    return block_model(nodes, average_degree=degree, num_features=args.features, dense=True)


def convert(args: argparse.Namespace) -> dict[str, Any]:
    from nodewise.cli.main import main

    files = (str(args.folder / "edges.parquet"), "--features", str(args.folder / "nodes.parquet"))
    found = watched(lambda: main(["convert", *files, "-o", str(args.folder / "graph.store"), "--quiet"]))
    size = sum(path.stat().st_size for path in (args.folder / "graph.store").iterdir())
    return {**found, "store_bytes": size}


def steps(args: argparse.Namespace) -> dict[str, Any]:
    import torch

    from nodewise.core import config
    from nodewise.methods.settings import Settings
    from nodewise.read.read import read_graph
    from nodewise.training.batches import Batches
    from nodewise.training.loop import prepare
    from nodewise.training.stepper import Stepper

    settings = config.override(Settings(), [f"sampling.class_collision.clusterings={args.clusterings}"])
    graphs = {"large": read_graph(args.folder / "graph.store"), "small": model(args, args.small)}
    steppers, times, prepared = {}, {name: [] for name in graphs}, {}
    for name, graph in graphs.items():
        start = time.perf_counter()
        learner = prepare(graph, settings, [0], torch.device("cpu"))
        prepared[name] = time.perf_counter() - start
        batches = Batches(learner.seeds, graph.num_nodes, settings.training.batch_size)
        steppers[name] = (Stepper(learner), batches)
    for step in range(args.steps):
        for name, (stepper, batches) in steppers.items():
            nodes = batches.at(step)
            start, busy = time.perf_counter(), time.process_time()
            stepper(nodes, step)
            times[name].append((time.perf_counter() - start, time.process_time() - busy))
    clock, busy = ({name: statistics.median(t[i] for t in times[name]) for name in times} for i in (0, 1))
    return {
        "seconds": clock["large"],
        "small_seconds": clock["small"],
        "processor_seconds": busy["large"],
        "small_processor_seconds": busy["small"],
        "prepare_seconds": prepared["large"],
        "private_bytes": private_bytes(),
        "ratio": clock["large"] / clock["small"],
        "processor_ratio": busy["large"] / busy["small"],
    }


def embed(args: argparse.Namespace) -> dict[str, Any]:
    import torch

    from nodewise.methods.settings import Settings
    from nodewise.methods.sharded import embed_to_shards
    from nodewise.read.read import read_graph

    graph, settings, seeds = read_graph(args.folder / "graph.store"), Settings(), torch.tensor([0])
    encoder = settings.encoder.build(graph.num_features, seeds)
    found = watched(lambda: embed_to_shards(encoder, graph, settings, seeds, args.folder / "vectors"))
    written = sum(path.stat().st_size for path in (args.folder / "vectors").iterdir())
    return {**found, "nodes_per_second": graph.num_nodes / found["seconds"], "written_bytes": written}


PARTS = {"generate": generate, "convert": convert, "steps": steps, "embed": embed}


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure every part in a process of its own, in one folder."""
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        found: dict[str, Any] = {}
        for part in PARTS:
            options = ["nodes", "edges", "features", "small", "steps", "clusterings"]
            given = [text for name in options for text in (f"--{name}", str(getattr(args, name)))]
            command = [sys.executable, __file__, "--part", part, "--folder", folder, *given]
            answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found[part] = json.loads(answer.splitlines()[-1])
            print(f"{part}: {json.dumps(found[part])}", file=sys.stderr)
    found["convert_ratio"] = found["convert"]["seconds"] / CONVERT_AIM
    found["step_ratio"] = found["steps"]["ratio"]
    found["memory_ratio"] = found["embed"]["private_bytes"] / MEMORY_AIM
    met = found["convert_ratio"] < 1 and found["step_ratio"] < STEP_AIM and found["memory_ratio"] < 1
    sizes = {name: getattr(args, name) for name in ("nodes", "features", "small")}
    return {**sizes, "edges": found["generate"]["edges"], **found, "aims_met": met}


def print_table(result: dict[str, Any]) -> None:
    print(f"{result['nodes']:,} nodes, {result['edges']:,} edges, {result['features']} features")
    print(f"{'':22}{'seconds':>10}{'processor':>11}{'private MB':>12}")
    for part in ("convert", "steps", "embed"):
        each = result[part]
        name = f"one step (small {each['small_seconds']:.2f})" if part == "steps" else part
        row = (each["seconds"], each["processor_seconds"], each["private_bytes"] / 1e6)
        print(f"{name:22}{row[0]:>10.2f}{row[1]:>11.2f}{row[2]:>12.0f}")
    print(f"convert takes {result['convert']['seconds']:.0f} s (aim: below {CONVERT_AIM:.0f})")
    step = f"{result['step_ratio']:.2f} x a step on {result['small']:,} nodes"
    print(
        f"a step takes {step}, {result['steps']['processor_ratio']:.2f} x its processor time (aim: below {STEP_AIM:g})"
    )
    print(f"embedding peaks at {result['embed']['private_bytes'] / 1e9:.2f} GB of private memory (aim: below 4)")
    print(f"embedding makes {result['embed']['nodes_per_second']:,.0f} vectors a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--small", type=int, default=10_000, help="nodes of the graph to compare steps with")
    parser.add_argument("--steps", type=int, default=15, help="training steps on each graph")
    parser.add_argument("--clusterings", type=int, default=1, help="clusterings of the evidence")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        print(json.dumps(PARTS[args.part](args)))
        return
    result = run(args)
    if args.json:
        print(json.dumps(result))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
