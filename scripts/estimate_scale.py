"""What a graph of any size needs: disk, memory, time and network, from slopes that `benchmarks/scaling.py` measured.

    python scripts/estimate_scale.py --nodes 100M --edges 1G [--features 128] [--ranks 8] [--cores 32] [--json]

Every figure is a formula of the sizes and the constants below; `docs/scale.md` explains them. Times are those of
processors that are busy with nothing else; a disk or a network slower than them decides instead.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, field, fields
from typing import Any

# Processor seconds, measured on two cores of a server in 2026; see docs/scale.md for the runs behind them.
CONVERT_AN_EDGE = 0.9e-6
CONVERT_A_FEATURE = 40e-9
MIX_A_NUMBER = 0.8e-9  # of one neighbor's vector, in one pass over the graph
MULTIPLY = 3e-11  # one multiplication and addition of a dense product
FINISH_A_NUMBER = 100e-9  # of a vector: carried from pass to pass, compressed, added up and written
CLUSTER_A_NODE = 17e-6  # evidence: one of the clusterings, k-means and singular vectors
CLUSTER_AN_EDGE = 0.6e-6  # evidence: ten smoothing steps of 64 numbers over both directions of the edge

# Seconds on the clock of a training step of 500 nodes, and the part of it that ranks share out among them.
STEP_ON_TWO_CORES, STEP_ON_A_GPU = 0.084, 0.0036
SHARED_OUT = 0.56

FLOAT, INDEX, OFFSET = 4, 4, 8
WALK_NODES, EVIDENCE_WIDTH = 26, 64


def _asked(meaning: str, default: float | None = None) -> Any:
    return field(default=default, metadata={"meaning": meaning}) if default else field(metadata={"meaning": meaning})


@dataclass(frozen=True)
class Sizes:
    """What decides the figures; the defaults are those of `nodewise embed`."""

    nodes: float = _asked("number of nodes, such as 100M or 1e8")
    edges: float = _asked("number of undirected edges")
    features: float = _asked("features of a node", 128)
    dimension: float = _asked("numbers of a vector", 512)
    layers: float = _asked("layers of the encoder", 1)
    smoothing: float = _asked("smoothing steps of the embedding", 4)
    batch: float = _asked("nodes of a step, of all ranks together", 500)
    clusterings: float = _asked("of the evidence", 20)
    id_bytes: float = _asked("bytes of an id: 8 for integers, more for strings", 8)
    ranks: float = _asked("processes that train together, one a machine", 1)
    cores: float = _asked("of a machine", 2)
    memory: float = _asked("of a machine, in bytes", 256e9)
    disk: float = _asked("bytes a second", 5e8)
    network: float = _asked("bytes a second", 3e9)

    @property
    def passes(self) -> float:
        """Passes over the graph that mix neighbors."""
        return self.layers + self.smoothing


def store_bytes(s: Sizes) -> float:
    """Offsets, both directions of every edge, dense features and ids."""
    return OFFSET * s.nodes + 2 * INDEX * s.edges + FLOAT * s.features * s.nodes + s.id_bytes * s.nodes


def convert_seconds(s: Sizes) -> float:
    """Processor time on one core, or the disk's: the input is read and keys are written, read and merged."""
    traffic = 2 * store_bytes(s) + 3 * 16 * s.edges
    return max(CONVERT_AN_EDGE * s.edges + CONVERT_A_FEATURE * s.features * s.nodes, traffic / s.disk)


def convert_memory(s: Sizes, budget: float = 2e9) -> float:
    """Add up the budget, one copy of the ids, their places and the degrees, and hash tables at their largest."""
    return budget + s.nodes * (s.id_bytes + 8 + 8 + 250)


def training_memory(s: Sizes, evidence: bool = True) -> float:
    """Private memory: degrees, scale and order of batches, a step's own, and the evidence while it is made."""
    step = FLOAT * (8 * s.batch * WALK_NODES * s.dimension + 4 * s.features * s.dimension)
    graph = s.nodes * (8 + 4 + 3 * 8)
    # Four matrices (N, 64) at a time, a thinned copy of the edges in 64 bits, and the clusters kept.
    made = s.nodes * (4 * EVIDENCE_WIDTH * FLOAT + 8 * s.clusterings) + 2 * s.edges * 40
    return step + graph + (made if evidence else 0)


def evidence_seconds(s: Sizes) -> float:
    """All clusterings, before the first step."""
    return s.clusterings * (CLUSTER_A_NODE * s.nodes + CLUSTER_AN_EDGE * s.edges) / s.cores


def step_seconds(s: Sizes, alone: float) -> float:
    """One step: the draw and a few others are done by every rank in full, and then ranks talk."""
    return alone * s.batch / 500 * (1 - SHARED_OUT + SHARED_OUT / s.ranks) + talk_seconds(s)


def machines(s: Sizes) -> int:
    """Return how many machines hold the graph in their page cache beside one process that trains on it.

    One is enough up to their memory, and more ranks replicate it; beyond, a part of the graph lies on each.
    """
    return math.ceil((store_bytes(s) + training_memory(s, evidence=False)) / s.memory)


def network_bytes(s: Sizes) -> dict[str, float]:
    """Count what one rank sends in a step: gradients, vectors, and rows of a partitioned graph.

    The vectors of both views go out once, and their gradients are summed, which takes two rounds.
    """
    weights = FLOAT * (s.features * s.dimension + (s.layers - 1) * s.dimension**2)
    share = (s.ranks - 1) / s.ranks
    return {
        "gradients": 2 * share * weights,
        "vectors": 2 * 3 * share * s.batch * s.dimension * FLOAT,
        "rows_if_partitioned": 2 * share * s.batch / s.ranks * WALK_NODES * (s.features * FLOAT + 160),
    }


def talk_seconds(s: Sizes) -> float:
    """Gradients and vectors of a step over the network, the graph being on every machine."""
    sent = network_bytes(s)
    return (sent["gradients"] + sent["vectors"]) / s.network


def embedding_seconds(s: Sizes) -> float:
    """Layers and smoothing on all cores of all ranks, or the disk's time for the matrices between them."""
    products = MULTIPLY * s.nodes * s.dimension * (s.features + (s.layers - 1) * s.dimension)
    mixing = MIX_A_NUMBER * s.passes * (2 * s.edges + s.nodes) * s.dimension
    disk = (s.passes + 1) * s.nodes * s.dimension * FLOAT / s.disk
    finishing = FINISH_A_NUMBER * s.nodes * s.dimension
    return max((products + mixing + finishing) / (s.cores * s.ranks), disk / s.ranks)


def embedding_disk(s: Sizes) -> float:
    """Three matrices between passes, and the shards."""
    return 4 * s.nodes * s.dimension * FLOAT


def embedding_memory(s: Sizes, rows: int = 1 << 16) -> float:
    """Private memory: some chunks of rows and of their neighbors, and two numbers a node."""
    return 5 * rows * s.dimension * FLOAT + rows * (2 * s.edges / s.nodes + 1) * 60 + 12 * s.nodes


def estimate(s: Sizes) -> dict[str, float]:
    """Return all figures, in bytes and seconds."""
    return {
        "store_bytes": store_bytes(s),
        "convert_seconds": convert_seconds(s),
        "convert_memory_bytes": convert_memory(s),
        "training_memory_bytes": training_memory(s),
        "training_memory_without_evidence_bytes": training_memory(s, evidence=False),
        "machines_to_hold_it": machines(s),
        "evidence_seconds": evidence_seconds(s),
        "step_seconds_two_cores_a_rank": step_seconds(s, STEP_ON_TWO_CORES),
        "step_seconds_a_gpu_a_rank": step_seconds(s, STEP_ON_A_GPU),
        "steps_of_an_epoch": math.ceil(s.nodes / s.batch),
        "epoch_seconds_two_cores_a_rank": s.nodes / s.batch * step_seconds(s, STEP_ON_TWO_CORES),
        "epoch_seconds_a_gpu_a_rank": s.nodes / s.batch * step_seconds(s, STEP_ON_A_GPU),
        **{f"network_{name}_bytes_a_step": value for name, value in network_bytes(s).items()},
        "network_seconds_a_step": talk_seconds(s),
        "embedding_seconds": embedding_seconds(s),
        "embedding_disk_bytes": embedding_disk(s),
        "embedding_memory_bytes": embedding_memory(s),
        "vectors_bytes": s.nodes * s.dimension * FLOAT,
    }


def shown(name: str, value: float) -> str:
    """Return a figure in a unit that suits it."""
    if "seconds" in name:
        units = [(7200, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (0, 1e-3, "ms")]
    elif "bytes" in name:
        units = [(1e12, 1e12, "TB"), (1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB"), (0, 1, "B")]
    else:
        return f"{value:,.0f}"
    size, unit = next((size, unit) for least, size, unit in units if value >= least)
    return f"{value / size:,.1f} {unit}"


def number(text: str) -> float:
    """Read 250, 1e8, 100M or 10G; nothing of a graph is zero or less."""
    factors = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    try:
        value = float(text[:-1]) * factors[text[-1]] if text[-1:] in factors else float(text)
    except ValueError:
        value = 0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0; write 250, 1e8, 100M or 10G")
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for one in fields(Sizes):
        optional = isinstance(one.default, (int, float))
        text = one.metadata["meaning"] + (f" (default {one.default:,.0f})" if optional else "")
        flag = f"--{one.name.replace('_', '-')}"
        parser.add_argument(
            flag, type=number, metavar="N", help=text, required=not optional, default=one.default if optional else None
        )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = vars(parser.parse_args())
    as_json = given.pop("json")
    found = estimate(Sizes(**given))
    if as_json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        words = name.replace("_bytes", "").replace("_seconds", "").replace("_", " ")
        print(f"{words:45}{shown(name, value):>14}")


if __name__ == "__main__":
    main()
