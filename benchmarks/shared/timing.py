"""Time calls that take turns, and show or print what came out."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.datasets.registry import load_dataset
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings

_CONFIGS = Path(__file__).parents[2] / "configs"


def fastest_calls(calls: Mapping[str, Callable[[], object]], rounds: int, repeats: int = 3) -> dict[str, float]:
    """Return the seconds of each call's fastest run; calls take turns, `repeats` runs each.

    The first run of a turn absorbs compilation, and the threads of the call before, which spin for a while.
    """
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(repeats):
                best[name] = min(best[name], seconds(call))
    return best


def seconds(call: Callable[[], object]) -> float:
    """Return how long one call takes, the device's work included."""
    start = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options every benchmark has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data-dir", default=None, help="where the Planetoid files are")
    return parser


def graph_or_citeseer(name: str, data_dir: str | None) -> Graph:
    """Return the data set, or the bundled one where its files are not to be had."""
    try:
        return load_dataset(name, data_dir)
    except InputError:
        return load_dataset("citeseer")


def committed_settings(graph: Graph) -> Settings:
    """Return the settings that results on a data set are reported with."""
    return config.load_toml(Settings, _CONFIGS / f"{graph.name}.toml")


def show(title: str, result: Mapping[str, float | int | str], as_json: bool) -> None:
    """Print the result as a table, or as one JSON object."""
    if as_json:
        print(json.dumps(dict(result)))
        return
    table = Table("what", "value", title=title, title_justify="left")
    for name, value in result.items():
        table.add_row(name.replace("_", " "), value if isinstance(value, str) else f"{value:,.4g}")
    Console().print(table)
