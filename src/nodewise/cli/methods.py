"""`nodewise methods`: the methods, what they need and what they give."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from nodewise.cli.common import DataDir, Json, Quiet, examples, print_json, print_table
from nodewise.methods.catalogue import METHODS, Card

_DATASETS = ("cora", "citeseer", "pubmed")
Details = Annotated[bool, typer.Option("--details", help="Paper and cost of each as well.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples("methods", "embed citeseer -o runs/dgi --method dgi"))(methods)


def methods(details: Details = False, data_dir: DataDir = None, json: Json = False, quiet: Quiet = False) -> None:
    """List the methods, what they use and what they give.

    X: features, A: edges, S: diffusion of the edges, Y: labels. Those without Y run with 'nodewise embed --method
    NAME', those with it with 'nodewise classify --method NAME'.
    """
    cards = METHODS.values()
    if json:
        print_json([asdict(card) | {"needs_labels": card.needs_labels, "accuracy": card.accuracy} for card in cards])
        return
    columns = ("name", "method", "uses", "new nodes", *_DATASETS, *(("paper", "cost") if details else ()))
    rows = [
        (card.name, card.title, card.uses, "yes" if card.inductive else "no")
        + tuple(_accuracy(card, dataset) for dataset in _DATASETS)
        + ((card.paper, card.cost) if details else ())
        for card in cards
    ]
    print_table("methods, and test accuracy we measured (public split; mean and number of seeds)", columns, rows)


def _accuracy(card: Card, dataset: str) -> str:
    found = card.accuracy.get(dataset)
    return f"{found['mean']:.1f} ({found['n']})" if found else "-"
