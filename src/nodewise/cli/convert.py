"""`nodewise convert`: write a graph as a store that every command reads without loading it."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.source import GraphSource, load_graph

if TYPE_CHECKING:
    from nodewise.store.layout import Manifest

Output = Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="Folder for the store.")]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Memory to use, such as 500MB or 2GiB; ids come on top.")
]
Half = Annotated[bool, typer.Option("--half", help="Keep dense features in half precision (float16).")]

_UNITS = "BKMGT"  # powers of 1000, or of 1024 with an i
_MOST_BYTES = 1 << 50


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "convert edges.parquet --features nodes.parquet -o graph.store",
        "convert edges.csv.gz -f nodes.npy -l labels.csv -o graph.store --memory 500MB",
    )
    app.command(epilog=tries)(grouped(convert))


def convert(
    graph: cli.GraphName,
    output: Output,
    features: cli.Features = None,
    labels: cli.Labels = None,
    memory: Memory = "2GB",
    half: Half = False,
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Write a graph as a store, which stays on the disk.

    Every command takes the folder in place of a file of edges and reads no more of it than it needs. Edge lists in text
    and Parquet are sorted on the disk, so they may be larger than the memory. After a kill the same command resumes
    where it was.
    """
    from nodewise.store.convert import Conversion, write_store
    from nodewise.store.convert import convert as convert_files
    from nodewise.store.layout import is_store

    source = GraphSource(graph, features, labels, data_dir, edges, tables)
    bytes_, progress = parse_size(memory), for_terminal(quiet)
    if is_store(output):
        say(f"{output}: replacing the store there", quiet)
    if source.is_data_set:
        manifest = write_store(load_graph(source, quiet), output, half=half, progress=progress)
    else:
        task = Conversion(Path(graph), features, labels, bytes_, half, tuple(source.columns().items()))
        manifest = convert_files(task, output, progress, lambda message: say(f"{output}: {message}", quiet))
        for note in manifest.notes:
            say(note, quiet)
    facts = _facts(output, manifest)
    if json:
        cli.print_json(facts)
    else:
        cli.print_line(
            f"{facts['nodes']:,} nodes and {facts['edges']:,} edges are in {output} ({facts['bytes'] / 1e6:,.1f} MB)"
        )


def parse_size(text: str) -> int:
    """Return the bytes that a size such as "2GB", "2G" or, by powers of 1024, "2GiB" stands for.

    >>> parse_size("1.5 kb"), parse_size("1KiB")
    (1500, 1024)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(I?)B?|B)?\s*", text.upper())
    if match is None or len(match[1]) > 20:
        raise InputError(f"--memory {text!r} is no size; write a number and a unit, such as 500MB, 2G or 2GiB")
    number, letter, binary = match.groups(default="")
    size = int(float(number) * (1024 if binary else 1000) ** _UNITS.find(letter or "B"))
    if size > _MOST_BYTES:
        raise InputError(f"--memory {text!r} is more than any machine has; leave it out, or give what may be used")
    return size


def _facts(output: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "store": str(output),
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "features": manifest.features,
        "bytes": sum(entry.bytes for entry in manifest.files.values()),
        "files": {name: asdict(entry) for name, entry in manifest.files.items()},
    }
