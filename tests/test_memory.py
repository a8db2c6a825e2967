"""A step costs what its batch costs: no loop over nodes, and nothing as large as the graph."""

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import nodewise
from nodewise.core import rng
from nodewise.graph.graph import Graph
from nodewise.sampling import cluster_networks
from nodewise.sampling.dpp import DppSettings, sample_negatives
from nodewise.training.stepper import Stepper
from nodewise.views import native
from tests.graphs import random_graph
from tests.training.test_step import batches_of, learner


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python or of C, our own code calls during the work: a loop shows up here.

    What the garbage collector and the libraries call among themselves depends on what ran before, and is left out.
    """
    ours, count = str(Path(nodewise.__file__).parent), 0

    def notice(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        caller = frame.f_back if event == "call" else frame
        if event in ("call", "c_call") and caller is not None and caller.f_code.co_filename.startswith(ours):
            count += 1

    gc.disable()
    sys.setprofile(notice)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


class Largest(TorchDispatchMode):
    """Notes the largest tensor that any operation makes, backward pass included."""

    entries = 0

    def __torch_dispatch__(self, operation: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        made = operation(*arguments, **(options or {}))
        for tensor in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                self.entries = max(self.entries, tensor.numel())
        return made


def step_calls(graph: Graph, batch_size: int, *changes: str) -> int:
    one = learner(f"training.batch_size={batch_size}", *changes, graph=graph, seeds=[5])
    stepper, batches = Stepper(one), batches_of(one)
    stepper(batches.at(0), 0)  # what is made once and kept is made here
    nodes = batches.at(1)
    assert nodes.shape == (1, batch_size)
    return calls(lambda: stepper(nodes, 1))


@pytest.fixture(params=["torch", "compiled"])
def one_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the views of any number of nodes in one way, on one thread, and fit all their networks at once."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        from nodewise.views import compiled

        monkeypatch.setattr(compiled, "_WALKED", 10**9)
        monkeypatch.setattr(compiled, "_INDUCED", 10**9)
    monkeypatch.setattr(cluster_networks, "_QUERIES_AT_ONCE", 10**9)
    monkeypatch.setattr(native, "_MANY", 1 if request.param == "compiled" else 10**9)


@pytest.mark.usefixtures("one_way")
@pytest.mark.parametrize("evidence", ["consensus", "embedding"])
@pytest.mark.parametrize("hops", [1, 2])
def test_a_step_of_more_nodes_calls_no_more_functions(evidence: str, hops: int) -> None:
    graph = random_graph(9600, 20_000, num_features=12, sparse=True, seed=1)
    changes = (f"sampling.class_collision.evidence={evidence}", f"sampling.class_collision.hops={hops}")
    step_calls(graph, 20, *changes, "sampling.dpp=false")  # what is cached at first use is cached now
    counts = {size: step_calls(graph, size, *changes, "sampling.dpp=false") for size in (20, 80, 320)}
    assert len(set(counts.values())) == 1, counts


def test_a_draw_for_more_queries_calls_no_more_functions() -> None:
    # Deciding the M candidates one after the other is what a determinantal draw is; queries add nothing to it.
    points = torch.randn(1, 100, 8, generator=torch.Generator().manual_seed(0))
    counts = []
    for queries in (10, 100, 1000):
        sets = torch.ones(1, queries, 100, dtype=torch.bool)
        sample_negatives(points, sets, rng.key(0, "draw"), DppSettings())
        counts.append(calls(lambda sets=sets: sample_negatives(points, sets, rng.key(0, "draw"), DppSettings())))
    assert len(set(counts)) == 1, counts


@pytest.mark.parametrize("evidence", ["consensus", "embedding"])
@pytest.mark.parametrize("sparse", [False, True])
def test_nothing_in_a_step_grows_with_the_graph(evidence: str, sparse: bool) -> None:
    largest = []
    for nodes in (2_000, 20_000):
        graph = random_graph(nodes, 2 * nodes, num_features=12, sparse=sparse, seed=1)
        change = f"sampling.class_collision.evidence={evidence}"
        # A determinantal draw sees candidates only, and has work space of its own.
        changes = (change, "sampling.dpp=false", "sampling.class_collision.clusterings=1")
        one = learner(*changes, graph=graph, seeds=[5])
        stepper, batch = Stepper(one), batches_of(one).at(0)[:, :20]
        stepper(batch, 0)
        with Largest() as watch:
            stepper(batch, 1)
        largest.append(watch.entries)
    assert largest[1] < 20_000
    assert largest[1] <= 1.2 * largest[0]


PROGRAM = """
import gc, json, sys
import torch
from nodewise.core import config
from nodewise.datasets.planted import block_model
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.training.loop import prepare, train

def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 2**20

graph = block_model(200_000)
settings = config.override(Settings(), ["training.steps=3", *sys.argv[2:]])
gc.collect()
before = memory("VmRSS")
if sys.argv[1] == "fit":
    model = NodeEmbedder(settings, device="cpu").fit(graph)
    assert len(model.embeddings_) == 200_000
else:
    assert train(prepare(graph, settings, [0], torch.device("cpu"))) == 3
print(json.dumps({"before": before, "peak": memory("VmHWM")}))
"""


def peak_above_the_graph(*arguments: str) -> float:
    """Peak memory, in GiB, above what the interpreter, its libraries and the graph take; Linux counts it."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    return float(found["peak"] - found["before"])


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_two_hundred_thousand_nodes_are_trained_on_in_two_gigabytes() -> None:
    # Clusterings are made one after the other, so that fewer of them take less time but not less memory.
    assert peak_above_the_graph("train", "sampling.class_collision.clusterings=1") < 2 * 1e9 / 2**30


@linux
@pytest.mark.slow
def test_two_hundred_thousand_nodes_are_fitted_in_two_gigabytes_with_the_defaults() -> None:
    assert peak_above_the_graph("fit") < 2 * 1e9 / 2**30
