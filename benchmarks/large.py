"""One epoch of training and a full embedding of a large graph on one device, and time per node as it grows.

    python benchmarks/large.py [--nodes 10000000] [--edges 100000000] [--features 64] [--small 10000] [--json]

A block model is generated in memory. Then the evidence is gathered, every node is visited once by the full method with
its default settings, and every node is embedded; the same on a graph of `--small` nodes of equal degree says what a
node costs there. Epochs of a small graph are short, so they are repeated until they have as many steps as `--least`
says, and the mean is taken. By default the graph has 10 million nodes on a GPU and 20,000 elsewhere.

Aims on an H200: 10 million nodes, 100 million edges and 64 features inside 10 minutes; time per node within 1.3.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace

import torch
from shared.timing import show

from nodewise.datasets.planted import block_model
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.loop import prepare, train


def measure(nodes: int, args: argparse.Namespace, device: torch.device, degree: float) -> dict[str, float]:
    """Return the seconds of each stage."""
    began = time.perf_counter()
    times: dict[str, float] = {}

    def lap(name: str) -> None:
        nonlocal began
        if device.type == "cuda":
            torch.cuda.synchronize()
        times[name], began = time.perf_counter() - began, time.perf_counter()

    graph = block_model(nodes, average_degree=degree, num_features=args.features, dense=True)
    lap("generate_s")
    settings = Settings()
    batches = math.ceil(nodes / settings.training.batch_size)
    passes = math.ceil(args.least / batches)
    settings = replace(settings, training=replace(settings.training, steps=batches * passes, patience=0))
    learner = prepare(graph, settings, [0], device)
    lap("evidence_s")
    train(learner)
    lap("epoch_s")
    times["epoch_s"] /= passes
    embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
    lap("embed_s")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--nodes", type=int, default=10_000_000 if device.type == "cuda" else 20_000)
    parser.add_argument("--edges", type=int, default=None, help="default: ten a node")
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--least", type=int, default=40, help="steps of the small graph")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    degree = 2 * (args.edges or 10 * args.nodes) / args.nodes
    small, found = (measure(nodes, args, device, degree) for nodes in (args.small, args.nodes))
    each, each_small = (
        1e6 * (times["epoch_s"] + times["embed_s"]) / nodes
        for times, nodes in ((found, args.nodes), (small, args.small))
    )
    result: dict[str, float | int | str] = {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "nodes": args.nodes,
        "edges": args.edges or 10 * args.nodes,
        "features": args.features,
        **found,
        "all_but_generate_s": sum(found.values()) - found["generate_s"],
        "us_per_node": each,
        "us_per_node_small": each_small,
        "growth": each / each_small,
    }
    if device.type == "cuda":
        result["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    show(f"One epoch and an embedding of {args.nodes:,} nodes", result, args.json)


if __name__ == "__main__":
    main()
