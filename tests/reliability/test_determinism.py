"""The same seed, settings and version: the same bytes on one CPU thread, wherever; nearly the same on several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.reliability.conftest import EMBED, results
from tests.reliability.nursery import ROOT, Nursery

TOLERANCE = 0.1
"""Of the vectors' norm, between numbers of threads: sums round otherwise, and a choice of the sampler may tip over."""


def apart(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "nodewise", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")},
        check=True,
        capture_output=True,
    )


def test_a_process_of_its_own_in_another_folder_gives_the_same_bytes(
    files: Path, tmp_path_factory: pytest.TempPathFactory, uninterrupted: dict[str, bytes]
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    paths = {"edges.csv": str(files / "edges.csv"), "nodes.csv": str(files / "nodes.csv")}
    apart(elsewhere, *(paths.get(each, each) for each in EMBED), "-o", "runs/mine")
    assert results(elsewhere / "runs" / "mine") == uninterrupted


def test_how_often_is_saved_changes_nothing(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    assert nursery.run(files, *EMBED, "-o", "run", "--checkpoint-every", "3600").code == 0
    assert results(files / "run") == uninterrupted


def test_the_switch_changes_nothing_on_a_cpu(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    assert nursery.run(files, *EMBED, "-o", "run", "--deterministic").code == 0
    assert results(files / "run") == uninterrupted
    assert json.loads((files / "run" / "environment.json").read_text())["deterministic"] is True


@pytest.mark.gpu
def test_on_a_gpu_the_switch_gives_the_same_bits(files: Path) -> None:
    for run in ("one", "other"):  # a forked process could not use the GPU that this one has touched
        apart(files, *EMBED, "-o", run, "--device", "cuda", "--deterministic")
    assert results(files / "one") == results(files / "other")


def test_more_threads_give_nearly_the_same_vectors(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    (files / "one.parquet").write_bytes(uninterrupted["embeddings.parquet"])
    one = vectors(files / "one.parquet")
    for threads in (2, 3):
        assert nursery.run(files, *EMBED, "-o", f"run{threads}", "--threads", threads).code == 0
        other = vectors(files / f"run{threads}" / "embeddings.parquet")
        assert np.linalg.norm(other - one) <= TOLERANCE * np.linalg.norm(one)


def vectors(path: Path) -> np.ndarray:
    return np.array(pq.read_table(path)["embedding"].to_pylist())


def test_the_run_says_what_made_it(nursery: Nursery, files: Path) -> None:
    assert nursery.run(files, *EMBED, "-o", "run", "--seed", "3", "--threads", "1").code == 0
    about = json.loads((files / "run" / "environment.json").read_text())
    assert about["seed"] == 3
    assert about["torch_threads"] == 1
    assert about["deterministic"] is False
    assert {"nodewise", "torch", "numpy"} <= set(about["versions"])
    assert {"date", "argv", "python", "platform", "cpus", "gpu"} <= set(about)
    assert len(about["graph"]["sha256"]) == 64
