"""The figures of docs/scale.md come from a script that can be asked for any size."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "estimate_scale.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("estimate_scale", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["estimate_scale"] = module  # where a dataclass looks its own module up
    spec.loader.exec_module(module)
    return module


def test_figures_grow_in_proportion(script: ModuleType) -> None:
    one, ten = (script.estimate(script.Sizes(size, 10 * size)) for size in (1e8, 1e9))
    for name in ("store_bytes", "convert_seconds", "evidence_seconds", "embedding_seconds", "embedding_disk_bytes"):
        assert ten[name] == pytest.approx(10 * one[name])
    assert ten["network_vectors_bytes_a_step"] == one["network_vectors_bytes_a_step"]


def test_one_rank_sends_nothing_and_many_send_vectors_and_gradients(script: ModuleType) -> None:
    alone, four = (script.network_bytes(script.Sizes(1e6, 1e7, ranks=ranks)) for ranks in (1, 4))
    assert set(alone.values()) == {0}
    assert four["gradients"] == pytest.approx(2 * 0.75 * 4 * 128 * 512)
    assert four["vectors"] == pytest.approx(2 * 3 * 0.75 * 500 * 512 * 4)


def test_the_store_of_a_million_nodes(script: ModuleType) -> None:
    # What the benchmark's store took, but for the manifest and the header of the ids.
    assert script.store_bytes(script.Sizes(1e6, 9_989_374)) == pytest.approx(607_916_532, rel=1e-3)


def test_a_step_of_more_ranks_is_shorter_by_what_they_share_out(script: ModuleType) -> None:
    one, two, four = (script.step_seconds(script.Sizes(1e6, 1e7, ranks=n, network=1e30), 1.0) for n in (1, 2, 4))
    assert one == 1
    # Measured on Citeseer, in processor seconds of a rank: 0.31, 0.22 and 0.18.
    assert two == pytest.approx(0.22 / 0.31, abs=0.02)
    assert four == pytest.approx(0.18 / 0.31, abs=0.02)


def test_machines_hold_the_store_and_what_training_needs(script: ModuleType) -> None:
    assert script.machines(script.Sizes(1e6, 1e7)) == 1
    assert script.machines(script.Sizes(1e9, 1e10)) == 3
    assert script.machines(script.Sizes(1e9, 1e10, memory=1e12)) == 1


@pytest.mark.parametrize("size", ["0", "-1", "many", "10X", "nan", "inf", ""])
def test_sizes_that_are_none(size: str) -> None:
    command = [sys.executable, str(SCRIPT), "--nodes", "1e8", f"--edges={size}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "is not a number above 0" in done.stderr


def test_the_command_line() -> None:
    command = [sys.executable, str(SCRIPT), "--nodes", "100M", "--edges", "1e10"]
    found = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout)
    assert found["store_bytes"] == 8e8 + 8e10 + 512e8 + 8e8
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "132.8 GB" in table
