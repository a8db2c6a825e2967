"""What every test shares: which tests run by default, and where the Planetoid files are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" not in (config.option.markexpr or ""):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    if on_gpu := [item for item in items if item.get_closest_marker("gpu")]:
        import torch

        if not torch.cuda.is_available():
            for item in on_gpu:
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(scope="session")
def planetoid_dir() -> Path:
    """The folder with the original Planetoid files, which are not part of the repository."""
    given = os.environ.get("NODEWISE_TEST_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data" / "planetoid"
    if not (folder / "ind.cora.graph").is_file():
        pytest.skip("no Planetoid files: set NODEWISE_TEST_DATA to the folder that holds ind.cora.graph")
    return folder
