"""`nodewise methods`: the methods, what they need and what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli

if TYPE_CHECKING:
    from nodewise.methods.estimator import Estimator

_DATASETS = ("cora", "citeseer", "pubmed")
Details = Annotated[bool, typer.Option("--details", help="Paper and cost of each as well.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=cli.examples("methods", "embed citeseer -o runs/dgi --method dgi"))(methods)


def methods(
    details: Details = False, data_dir: cli.DataDir = None, json: cli.Json = False, quiet: cli.Quiet = False
) -> None:
    """List the methods, what they use and what they give.

    X: features, A: edges, S: diffusion of the edges, Y: labels. Those without Y run with 'nodewise embed --method
    NAME', those with it with 'nodewise classify --method NAME'.
    """
    from nodewise.methods.estimator import METHODS

    found = [METHODS[name] for name in METHODS.names()]
    if json:
        facts = ("name", "title", "paper", "uses", "inductive", "cost")
        cli.print_json(
            [
                {fact: getattr(each, fact) for fact in facts}
                | {"needs_labels": each.needs_labels(), "accuracy": each.measured()}
                for each in found
            ]
        )
        return
    columns = ("name", "method", "uses", "new nodes", *_DATASETS, *(("paper", "cost") if details else ()))
    rows = [
        (each.name, each.title, each.uses, "yes" if each.inductive else "no")
        + tuple(_accuracy(each, dataset) for dataset in _DATASETS)
        + ((each.paper, each.cost) if details else ())
        for each in found
    ]
    cli.print_table("methods, and test accuracy we measured (public split; mean and number of seeds)", columns, rows)


def _accuracy(method: type[Estimator], dataset: str) -> str:
    found = method.measured().get(dataset)
    return f"{found['mean']:.1f} ({found['n']})" if found else "-"
