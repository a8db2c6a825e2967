"""A graph in files, the command line that embeds it, and a process that runs it and can be killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.reliability.nursery import Nursery

STEPS = 14
EMBED = (
    *("embed", "edges.csv", "--features", "nodes.csv", "--device", "cpu", "--quiet", "--checkpoint-every", "0"),
    *("--set", f"training.steps={STEPS}"),
    *("--set", "training.batch_size=25"),
    *("--set", "training.log_every=3"),
    *("--set", "training.patience=2"),
    *("--set", "training.monitor_every=3"),
    *("--set", "encoder.dimension=8"),
    *("--set", "views.length=6"),
    *("--set", "sampling.class_collision.clusterings=3"),
)
SAME = ("embeddings.parquet", "weights.safetensors", "metrics.jsonl", "config.toml")


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    one = Nursery()
    yield one
    one.close()


def write_graph(folder: Path) -> Path:
    """Write a graph of 60 named nodes with features; return the folder."""
    generator = np.random.default_rng(0)
    ends = generator.integers(0, 60, (150, 2))
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in ends if a != b))
    rows = generator.random((60, 5)).round(3)
    lines = (f"n{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows))
    (folder / "nodes.csv").write_text("id,a,b,c,d,e\n" + "".join(lines))
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the graph in it."""
    return write_graph(tmp_path)


def results(run: Path) -> dict[str, bytes]:
    """The files of a finished run that must be the same however it came about; nothing hidden may be left."""
    left = {entry.name for entry in run.iterdir()}
    assert left == {*SAME, "environment.json"}, left
    return {name: (run / name).read_bytes() for name in SAME}


@pytest.fixture(scope="session")
def uninterrupted(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run leaves that nobody disturbed."""
    folder = write_graph(tmp_path_factory.mktemp("uninterrupted"))
    end = nursery.run(folder, *EMBED, "-o", "run")
    assert (end.code, end.err) == (0, "")
    return results(folder / "run")
