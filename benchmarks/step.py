"""A training step against Algorithm 2 node by node, and against the plain loss: `python benchmarks/step.py [--json]`.

The naive peer (`shared/naive.py`) shares nothing between nodes. Its encoding of the batch is timed whole; its choice
of pairs is timed on a sample of the nodes and scaled up to the batch. Settings are the defaults, batch 500.
Then the full step against the step without collision, diversity and weights, batch 1000, under the defaults and under
the committed settings of the data set, whose walks are shorter and whose networks see more.

Aims: 100 times faster than the naive step on 2 cores; the full step at most twice the plain one, on an H200 1.5 times.
"""

from __future__ import annotations

import statistics

import torch
from shared.naive import NaiveStep
from shared.timing import arguments, committed_settings, fastest_calls, graph_or_citeseer, seconds, show

from nodewise.core import config
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.training.batches import Batches
from nodewise.training.loop import prepare
from nodewise.training.stepper import Stepper, build_stepper
from nodewise.tune.space import PLAIN

SAMPLE = 3


def stepper_of(graph: Graph, settings: Settings, device: torch.device) -> tuple[Stepper, torch.Tensor]:
    """Return a stepper and a batch for it."""
    learner = prepare(graph, settings, [0], device)
    batches = Batches(learner.seeds, graph.num_nodes, settings.training.batch_size, 0)
    return build_stepper(learner), batches.at(0)


def naive_seconds(graph: Graph, settings: Settings, batch: list[int]) -> tuple[float, float]:
    """Return the seconds of the naive step's encoding, both directions, and of one node's pairs."""
    evidence = torch.randn(graph.num_nodes, 64)  # of the size of ours; its values do not change the time
    naive, loss = NaiveStep(graph, settings, evidence), torch.zeros(())

    def encode() -> None:
        nonlocal loss
        query, key = naive.encode(batch)
        loss = (query * key).sum()
        loss.backward()
        naive.optimizer.step()

    encoding = seconds(encode)
    with torch.no_grad():
        query, key = naive.encode(batch)
    pairs = [seconds(lambda n=number: naive.node_loss(n, batch, query, key)) for number in range(SAMPLE)]
    return encoding, statistics.median(pairs)


def full_over_plain(
    graph: Graph, settings: Settings, prefix: str, device: torch.device, rounds: int
) -> dict[str, float]:
    """Time the full and the plain step of batch 1000, by turns."""
    full = config.override(settings, ["training.batch_size=1000"])
    prepared = {
        "full": stepper_of(graph, full, device),
        "plain": stepper_of(graph, config.override(full, PLAIN), device),
    }
    times = fastest_calls({name: lambda p=pair: p[0](p[1], 0) for name, pair in prepared.items()}, rounds)
    return {
        f"{prefix}full_step_batch_1000_ms": 1e3 * times["full"],
        f"{prefix}plain_step_batch_1000_ms": 1e3 * times["plain"],
        f"{prefix}full_over_plain": times["full"] / times["plain"],
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    graph = graph_or_citeseer("cora", args.data_dir)

    settings, committed = Settings(), committed_settings(graph)
    take, batch = stepper_of(graph, settings, device)
    ours = fastest_calls({"full": lambda: take(batch, 0)}, args.rounds)["full"]
    encoding, pairs = naive_seconds(graph, settings, batch[0].tolist())
    naive = encoding + batch.shape[1] * pairs

    result: dict[str, float | int | str] = {
        "graph": graph.name,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "full_step_batch_500_ms": 1e3 * ours,
        "naive_encoding_ms": 1e3 * encoding,
        "naive_pairs_of_a_node_ms": 1e3 * pairs,
        "naive_ratio": naive / ours,
        **full_over_plain(graph, settings, "", device, args.rounds),
        **full_over_plain(graph, committed, "committed_", device, args.rounds),
    }
    show(f"A training step on {graph.name}", result, args.json)


if __name__ == "__main__":
    main()
