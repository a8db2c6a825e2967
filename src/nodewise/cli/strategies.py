"""`nodewise strategies`: the ways to choose negatives."""

from __future__ import annotations

import typer

from nodewise.cli import common as cli


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "strategies",
        "embed citeseer -o runs/hard --set sampling.strategy=hard",
        "reproduce strategies --quick --methods all,mine:Middle -o quick",
    )
    app.command(epilog=tries)(strategies)


def strategies(data_dir: cli.DataDir = None, json: cli.Json = False, quiet: cli.Quiet = False) -> None:
    """List the ways to choose negatives.

    Select one with --set sampling.strategy=NAME; a class of your own is named as module:Class, and its module lies in
    the current folder. 'reproduce strategies --methods all,module:Class' compares it with others on equal seeds.
    """
    from nodewise.sampling.strategy import STRATEGIES

    found = {name: cli.first_line(STRATEGIES.get(name)) for name in STRATEGIES.names()}
    if json:
        cli.print_json([{"name": name, "summary": summary} for name, summary in found.items()])
    else:
        cli.print_table("strategies", ("name", "chooses"), found.items())
