"""`nodewise clusters`: groups of nodes whose vectors are alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.runs.outputs import check_file


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What kind of clusters."""

    panel = "Clusters"

    k: Annotated[str, cli.option("How many, or auto: as many as keep apart best, 2 to 20.", "K", "-k")] = "auto"
    way: Annotated[str, cli.option("kmeans, hdbscan or leiden.", "NAME")] = "kmeans"
    seed: Annotated[int, cli.seed_option("Seed of the search.", "Clusters")] = 0
    output: Annotated[
        Path | None, cli.option("Parquet or csv file: id, cluster, name.", "FILE", "-o", panel=cli.OUTPUT)
    ] = None


@cli.command(
    "clusters runs/mine -o clusters.csv",
    "clusters runs/mine -k 8 --attributes people.csv",
    "clusters runs/mine --way hdbscan --json",
)
def clusters(
    *,
    run: cli.RunOrFile,
    wanted: Wanted,
    shown: cli.Shown,
    graph: cli.GraphOption = None,
    attributes: cli.Attributes = None,
    id_column: cli.AttributeIds = None,
    data_dir: cli.DataDir = None,
) -> None:
    """Find groups of similar nodes, and name them.

    The names say in which features, or columns of --attributes, the members of a cluster differ most from all nodes.
    """
    from nodewise.runs.clusters import find_clusters
    from nodewise.runs.source import GraphSource

    if wanted.k != "auto" and not wanted.k.isdecimal():
        raise InputError(f"-k {wanted.k}: give a whole number of clusters, or auto")
    if id_column is not None and attributes is None:
        raise InputError("--id-column is about --attributes; give that, or leave --id-column out", code="usage")
    if wanted.output is not None:
        check_file(wanted.output, attributes, graph, run=run)
    found = find_clusters(
        run,
        "auto" if wanted.k == "auto" else int(wanted.k),
        way=wanted.way,
        source=None if graph is None else GraphSource(graph, data_dir=data_dir),
        attributes=attributes,
        id_column=id_column,
        seed=wanted.seed,
        data_dir=data_dir,
    )
    if wanted.output is not None:
        found.write(wanted.output)
    nowhere = int((found.numbers < 0).sum())
    if shown.json:
        groups = [{"size": size, "name": name} for size, name in zip(found.sizes, found.names, strict=True)]
        facts = {"clusters": groups, "in_none": nowhere, "silhouette": found.silhouette}
        cli.print_json(facts | ({} if wanted.output is None else {"file": str(wanted.output)}))
        return
    apart = "" if found.silhouette is None else f", silhouette {found.silhouette:.2f}"
    cli.print_table(f"{count(len(found.names), 'cluster')} by {found.way}{apart}", *found.table())
    if nowhere:
        cli.print_line(f"{nowhere:,} nodes are in none")
    if wanted.output is not None:
        cli.print_line(f"the cluster of each node is in {wanted.output}")
