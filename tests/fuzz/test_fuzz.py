"""The short form of `make fuzz`: the same inputs every time, a second or so for every reader."""

from __future__ import annotations

import pytest
from tests.fuzz.hold import fuzz
from tests.fuzz.targets import TARGETS

EXAMPLES = 100


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_reads_or_refuses_whatever_it_is_given(name: str) -> None:
    tally = fuzz(TARGETS[name], EXAMPLES)
    assert tally.inputs >= EXAMPLES
    assert tally.refused > 0
