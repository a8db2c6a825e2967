"""Every command line is run in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def in_a_folder(folder: Path) -> None:
    """Be in the empty folder also where a test does not look at it."""
