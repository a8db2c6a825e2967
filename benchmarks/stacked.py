"""Runs side by side against one at a time: `python benchmarks/stacked.py [--json] [--data-dir DIR] [--runs S]`.

The full method on Cora under its committed settings, evidence, training and embedding included, once for a single seed
and once for S seeds in one stack. On a GPU both are captured; the first, compiling run is timed apart.

Aims on an H200: a single run under 1 s; 50 stacked runs at 4 times the runs per second.
"""

from __future__ import annotations

import torch
from shared.timing import arguments, committed_settings, graph_or_citeseer, seconds, show

from nodewise.methods.embedding import embed_nodes
from nodewise.training.loop import prepare, train


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, help="seeds in the stack; default: 50 on a GPU, else 4")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    graph = graph_or_citeseer("cora", args.data_dir)
    settings = committed_settings(graph)
    runs = args.runs or (50 if device.type == "cuda" else 4)

    def run(seeds: range) -> None:
        learner = prepare(graph, settings, list(seeds), device)
        train(learner)
        embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
        if device.type == "cuda":
            torch.cuda.synchronize()

    first = seconds(lambda: run(range(1)))
    alone, together = seconds(lambda: run(range(1))), seconds(lambda: run(range(runs)))
    result: dict[str, float | int | str] = {
        "graph": graph.name,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "steps": settings.training.steps,
        "batch": settings.training.batch_size,
        "runs": runs,
        "first_run_s": first,
        "single_run_s": alone,
        "stacked_run_s": together / runs,
        "stacked_ratio": runs * alone / together,
    }
    show(f"{runs} runs side by side, {graph.name}", result, args.json)


if __name__ == "__main__":
    main()
