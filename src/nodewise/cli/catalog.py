"""`nodewise methods` and `nodewise strategies`: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from nodewise.cli import common as cli

if TYPE_CHECKING:
    from nodewise.methods.estimator import Estimator

_DATASETS = ("cora", "citeseer", "pubmed")
Details = Annotated[bool, cli.option("Paper and cost of each as well.", panel=cli.OUTPUT)]


@cli.command("methods", "embed citeseer -o runs/dgi --method dgi")
def methods(*, details: Details = False, json: cli.Json = False) -> None:
    """List the methods, what they use and what they give.

    X: features, A: edges, S: diffusion of the edges, Y: labels. Those without Y run with 'nodewise embed --method
    NAME', those with it with 'nodewise classify --method NAME'. Accuracies are those of results/table2: public split,
    raw vectors, settings per data set.
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
    title = "methods, and test accuracy of raw vectors as of 2026-11-20 (public split; mean and number of seeds)"
    cli.print_table(title, columns, rows)


def _accuracy(method: type[Estimator], dataset: str) -> str:
    found = method.measured().get(dataset)
    return f"{found['mean']:.1f} ({found['n']})" if found else "-"


@cli.command(
    "strategies",
    "embed citeseer -o runs/hard --set sampling.strategy=hard",
    "reproduce strategies --quick --methods all,mine:Middle -o quick",
)
def strategies(*, json: cli.Json = False) -> None:
    """List the ways to choose negatives.

    Select one with --set sampling.strategy=NAME, or several that answer different questions with NAME+NAME; a class of
    your own is named as module:Class, and its module lies in the current folder. 'compare' compares them.
    """
    from nodewise.sampling.strategy import STRATEGIES

    rows = [(name, ", ".join(kind().kinds), cli.first_line(kind), kind.paper) for name, kind in STRATEGIES.items()]
    if json:
        keys = ("name", "kinds", "summary", "paper")
        cli.print_json([dict(zip(keys, (row[0], row[1].split(", "), *row[2:]), strict=True)) for row in rows])
    else:
        cli.print_table("strategies", ("name", "what it does", "in words", "paper"), rows)
