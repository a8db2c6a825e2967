"""On a GPU: memory that really runs out, two processes side by side, and equal bits."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.gpu

NODES = 30_000
FEW = ("--device", "cuda", "--quiet", "--set", "training.steps=3")
HOLD = (
    "import sys, torch\n"
    "free = torch.cuda.mem_get_info()[0] - int(sys.argv[1])\n"
    "held = torch.empty(free, dtype=torch.uint8, device='cuda')\n"
    "print('held', flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph of 30,000 nodes."""
    folder, draw = tmp_path_factory.mktemp("gpu"), np.random.default_rng(0)
    np.savez(folder / "graph.npz", edge_index=draw.integers(0, NODES, (2, 90_000)), features=draw.random((NODES, 40)))
    return folder


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nodewise", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    process = start(folder, *arguments)
    _, said = process.communicate(timeout=150)
    return process.returncode, said


@pytest.fixture
def six_gigabytes() -> Iterator[None]:
    """Another process holds all memory of the GPU but six gigabytes."""
    command = [sys.executable, "-c", HOLD, str(6 << 30)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    yield
    holder.communicate("")


@pytest.mark.usefixtures("six_gigabytes")
def test_memory_that_runs_out_is_one_line_with_a_batch_size_that_works(graph: Path) -> None:
    embed = ("embed", "graph.npz", "-o", "out", *FEW)
    wide = ("--set", "training.batch_size=25000")
    code, said = run(graph, *embed, *wide)
    assert (code, said.count("\n")) == (2, 1), said  # refused before anything is begun
    assert "too-little-memory" in said
    suggested = re.search(r"--set (training\.batch_size=\d+) would fit", said)
    assert suggested is not None, said
    code, said = run(graph, *embed, *wide, "--any-memory")
    assert (code, said.count("\n")) == (1, 1), said  # begun all the same, and the device's own refusal caught
    assert "the GPU ran out of memory" in said
    assert "training.batch_size=12500" in said
    assert not (graph / "out").exists(), "nothing is left behind"
    assert run(graph, *embed, "--set", suggested[1]) == (0, "")


def test_two_processes_on_one_gpu_give_what_each_gives_alone(graph: Path) -> None:
    embed = ("embed", "graph.npz", *FEW, "--deterministic")
    together = [start(graph, *embed, "-o", name, "--seed", seed) for name, seed in (("a", "1"), ("b", "2"))]
    for process in together:
        assert process.communicate(timeout=150)[1] == ""
        assert process.returncode == 0
    for name, seed in (("a", "1"), ("b", "2")):
        assert run(graph, *embed, "-o", f"{name}-alone", "--seed", seed) == (0, "")
        alone, beside = (graph / folder / "embeddings.parquet" for folder in (f"{name}-alone", name))
        assert alone.read_bytes() == beside.read_bytes()
    assert (graph / "a" / "embeddings.parquet").read_bytes() != (graph / "b" / "embeddings.parquet").read_bytes()
