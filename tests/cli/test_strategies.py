from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nodewise.sampling.strategy import STRATEGIES


def test_every_strategy_is_listed_with_what_it_does(nodewise: Callable[..., Any]) -> None:
    listed = json.loads(nodewise("strategies", "--json").out)
    assert [entry["name"] for entry in listed] == list(STRATEGIES.names())
    assert all(len(entry["summary"]) > 10 for entry in listed)


def test_the_table_names_them_too(nodewise: Callable[..., Any]) -> None:
    out = nodewise("strategies").out
    assert all(f"\n {name} " in out for name in STRATEGIES.names())
