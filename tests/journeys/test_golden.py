"""Every method still gives what was written down of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.journeys.golden import CLASSIFIERS, EMBEDDERS, FOLDER, observe, ring_folder


@pytest.mark.parametrize("method", [*EMBEDDERS, *CLASSIFIERS])
def test_a_method_gives_what_it_gave(method: str) -> None:
    with ring_folder():
        found = observe(method)
    agree(found, json.loads((FOLDER / f"{method}.json").read_text()), method)


def agree(found: Any, wanted: Any, place: str) -> None:
    """Compare values of any depth; numbers up to what processors differ by."""
    assert type(found) is type(wanted), place
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), place
        for name, value in wanted.items():
            agree(found[name], value, f"{place}.{name}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), place
        for number, value in enumerate(wanted):
            agree(found[number], value, f"{place}[{number}]")
    else:
        assert found == (pytest.approx(wanted, abs=5e-4) if isinstance(wanted, float) else wanted), place
