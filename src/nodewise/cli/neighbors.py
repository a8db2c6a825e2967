"""`nodewise neighbors`: the nodes whose vectors are nearest to those of some nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.terminal import say
from nodewise.runs.outputs import check_file

if TYPE_CHECKING:
    from nodewise.vectors.search import NeighborTable

_MOST_PRINTED = 200


@dataclass(frozen=True)
class Asked:
    """Whose neighbors, and who may be one."""

    panel = cli.INPUT

    node: Annotated[list[str] | None, cli.option("A node, by its own id; may be repeated.", "ID", "-n")] = None
    nodes: Annotated[Path | None, cli.option("The nodes whose ids a file holds.", "FILE")] = None
    new: Annotated[
        Path | None, cli.option("Vectors of new nodes, as of 'transform --new': ask about these.", "FILE")
    ] = None
    every: Annotated[bool, cli.option("Ask about every node of the run.", None, "--all")] = False
    where: Annotated[
        list[str] | None, cli.option("Only neighbors with country=DE, age>=30 and so on.", "CONDITION")
    ] = None
    kind: Annotated[str | None, cli.option("Only neighbors of this type, by the nodes' table.", "TYPE")] = None
    attributes: cli.Attributes = None
    id_column: cli.AttributeIds = None


@dataclass(frozen=True)
class Wanted:
    """What is wanted of them."""

    panel = cli.OUTPUT

    k: Annotated[int, cli.option("How many neighbors of each.", "K", "-k", min=1)] = 10
    at_least: Annotated[float | None, cli.option("All pairs this similar, instead of K.", "COSINE")] = None
    output: Annotated[Path | None, cli.option("Parquet or csv file for the pairs.", "FILE", "-o")] = None
    approximate: Annotated[
        bool | None,
        cli.option(
            "Search by an index (pynndescent), and say what share of true neighbors it finds; "
            "the default above 20 billion pairs, and never among fewer than 10,000 nodes.",
            None,
            "--approximate/--exact",
            panel=cli.SPEED,
        ),
    ] = None


@cli.command(
    "neighbors runs/first --node 17",
    "neighbors runs/mine --node paper_17 -k 5 --json",
    "neighbors runs/mine --all -k 10 -o neighbors.parquet",
    "neighbors runs/mine --new new.parquet --where country=DE --attributes people.csv",
    "neighbors runs/mine --all --at-least 0.95 -o alike.csv",
)
def neighbors(*, run: cli.RunOrFile, asked: Asked, wanted: Wanted, shown: cli.Shown) -> None:
    """List the nodes most similar to some nodes.

    The nearest come first, with the cosine similarity of their vectors. Neighbors are nodes of the run; asked about are
    nodes of the run or new ones.
    """
    from nodewise.runs.neighbors import find_neighbors
    from nodewise.runs.source import read_ids
    from nodewise.runs.together import read_vectors

    if not (asked.node or asked.nodes or asked.new or asked.every):
        raise InputError("whose neighbors? name a node with --node ID, or give --nodes FILE, --new FILE or --all")
    if sum((bool(asked.node), asked.nodes is not None, asked.every)) > 1:
        raise InputError("--node, --nodes and --all exclude each other; give one of them")
    if wanted.output is not None:
        check_file(wanted.output, asked.nodes, asked.new, asked.attributes, run=run)
    nodes: Any = None if asked.nodes is None else read_ids(asked.nodes, read_vectors(run).ids)
    if asked.node:
        ids = read_vectors(run).ids
        nodes = [ids.parse(node) for node in asked.node]
    elif asked.every and asked.new is not None:
        nodes = read_vectors(run).ids
    options: dict[str, Any] = {"where": asked.where or (), "attributes": asked.attributes, "id_column": asked.id_column}
    options["kind"] = asked.kind
    found = find_neighbors(
        run, nodes, wanted.k, new=asked.new, at_least=wanted.at_least, approximate=wanted.approximate, **options
    )
    if found.recall is not None:
        say(f"found by an index: {found.recall:.1%} of the true neighbors of a sample are among them", shown.quiet)
    if wanted.output is not None:
        found.write(wanted.output)
        facts = {"neighbors": str(wanted.output), "pairs": len(found), "recall": found.recall}
        shown.tell(facts, f"{len(found):,} pairs are in {wanted.output}")
    elif asked.node and len(asked.node) == 1 and shown.json:
        others = [{"id": other, "similarity": cosine} for _, other, cosine in found]
        cli.print_json({"node": nodes[0], "neighbors": others})
    elif shown.json:
        cli.print_json([{"node": node, "id": other, "similarity": cosine} for node, other, cosine in found])
    else:
        _print(found, asked.node)


def _print(found: NeighborTable, node: list[str] | None) -> None:
    rows = [(str(one), str(other), f"{cosine:.4f}") for one, other, cosine in islice(found, _MOST_PRINTED)]
    if node and len(node) == 1:
        cli.print_table(f"nearest to {node[0]}", ("id", "cosine"), [row[1:] for row in rows])
    else:
        cli.print_table("nearest", ("node", "neighbor", "cosine"), rows)
    if len(found) > len(rows):
        cli.print_line(f"and {len(found) - len(rows):,} more; -o FILE writes all")
