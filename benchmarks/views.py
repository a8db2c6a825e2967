"""Walks and induced subgraphs against loops over nodes: `python benchmarks/views.py [--json] [--data-dir DIR]`.

Ours walks, finds the distinct nodes, looks up all edges among them and normalizes, for a batch of nodes at once: in
torch, and by compiled loops where numba is there. The peers are handed the distinct nodes of every walk and do no more
than cut out the subgraph, node by node: with torch_geometric's `subgraph`, and by slicing a scipy matrix. They are
timed on a sample of the batch. Compilation, which a machine pays for once, is timed apart.

Aim: 200 times faster per subgraph than torch_geometric's loop on Pubmed, on 2 cores.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import torch
from shared.timing import arguments, fastest_calls, graph_or_citeseer, seconds, show
from torch_geometric.utils import subgraph

from nodewise.core import rng
from nodewise.views.subgraphs import subgraphs_in_torch
from nodewise.views.topology import Topology
from nodewise.views.walks import walks_in_torch

LENGTH, SAMPLE = 25, 50


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args()
    graph = graph_or_citeseer("pubmed", args.data_dir)
    topology = Topology.of(graph)
    key = rng.key(0, "benchmark")
    starts = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))[: args.batch]
    sources = torch.repeat_interleave(torch.arange(graph.num_nodes), topology.degrees)
    edge_index, matrix = torch.stack([sources, topology.indices]), graph.adjacency()
    visited = [torch.unique(walk) for walk in walks_in_torch(topology, starts[:SAMPLE], LENGTH, key)]
    numbers = [nodes.numpy() for nodes in visited]
    peers: dict[str, Callable[[], object]] = {
        "torch_geometric": lambda: [subgraph(n, edge_index, relabel_nodes=True) for n in visited],
        "scipy": lambda: [matrix[n][:, n] for n in numbers],
    }
    ours: dict[str, Callable[[], object]] = {
        "torch": lambda: subgraphs_in_torch(topology, walks_in_torch(topology, starts, LENGTH, key))
    }
    once: dict[str, float] = {}
    if find_spec("numba") is not None:
        ours["compiled"], once["compilation_s"] = compiled(topology, starts, key)
    times = fastest_calls({**ours, **peers}, args.rounds)
    each = {name: 1e6 * value / (SAMPLE if name in peers else len(starts)) for name, value in times.items()}
    result: dict[str, float | int | str] = {
        "graph": graph.name,
        "batch": len(starts),
        "threads": torch.get_num_threads(),
        **once,
        **{f"{name}_us_per_subgraph": value for name, value in each.items()},
        **{f"{name}_against_{peer}": each[peer] / each[name] for name in ours for peer in peers},
    }
    show(f"Walk and induced subgraph, {graph.name}, per subgraph", result, args.json)


def compiled(topology: Topology, starts: torch.Tensor, key: int) -> tuple[Callable[[], object], float]:
    """Return the call to time, and the seconds of its first time without a cache: those of compilation."""
    import numba

    with TemporaryDirectory() as empty:
        numba.config.CACHE_DIR = empty
        from nodewise.views.compiled import induce, walk

        def call() -> object:
            return induce(topology, walk(topology, starts, LENGTH, key))

        return call, seconds(call)


if __name__ == "__main__":
    main()
