"""`nodewise neighbors`: the nodes whose vectors are nearest to a node's."""

from __future__ import annotations

from typing import Annotated

import typer

from nodewise.cli import common as cli

Node = Annotated[str, typer.Option("--node", "-n", metavar="ID", help="The node, by its own id.")]
Number = Annotated[int, typer.Option("-k", min=1, metavar="K", help="How many neighbours.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=cli.examples("neighbors runs/first --node 17", "neighbors runs/mine --node paper_17 -k 5 --json")
    )(neighbors)


def neighbors(
    run: cli.RunOrFile,
    node: Node,
    k: Number = 10,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """List the nodes most similar to a node.

    The nearest come first, with the cosine similarity of their vectors.
    """
    from nodewise.runs.together import read_vectors

    embeddings = read_vectors(run)
    wanted = embeddings.ids.parse(node)
    found = embeddings.neighbors(wanted, k)
    if json:
        cli.print_json({"node": wanted, "neighbors": [{"id": other, "similarity": cosine} for other, cosine in found]})
    else:
        rows = [(str(other), f"{cosine:.4f}") for other, cosine in found]
        cli.print_table(f"nearest to {node}", ("id", "cosine"), rows)
