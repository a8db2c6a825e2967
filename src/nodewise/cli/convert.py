"""`nodewise convert`: write a graph as a store that every command reads without loading it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nodewise.cli import common as cli
from nodewise.core.limits import parse_size
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.source import load_graph

if TYPE_CHECKING:
    from nodewise.store.layout import Manifest


@dataclass(frozen=True, kw_only=True)
class Store:
    """What the store is to be."""

    panel = cli.OUTPUT

    output: Annotated[Path, cli.option("Folder for the store.", "STORE", "-o")]
    half: Annotated[bool, cli.option("Keep dense features in half precision (float16).")] = False
    memory: Annotated[
        str, cli.option("Memory to use, such as 500MB or 2GiB; ids come on top.", "SIZE", panel=cli.SPEED)
    ] = "2GB"


@cli.command(
    "convert edges.parquet --features nodes.parquet -o graph.store",
    "convert edges.csv.gz -f nodes.npy -l labels.csv -o graph.store --memory 500MB",
)
def convert(
    *, graph: cli.GraphName, store: Store, shown: cli.Shown, files: cli.LabeledFiles, limits: cli.Limits
) -> None:
    """Write a graph as a store, which stays on the disk.

    Every command takes the folder in place of a file of edges and reads no more of it than it needs. Edge lists in text
    and Parquet are sorted on the disk, so they may be larger than the memory. After a kill the same command resumes
    where it was.
    """
    from nodewise.store.convert import Conversion, write_store
    from nodewise.store.convert import convert as convert_files
    from nodewise.store.layout import is_store

    source, output, quiet = files.source(graph), store.output, shown.quiet
    bytes_, progress = parse_size(store.memory, "--memory"), for_terminal(quiet)
    if is_store(output):
        say(f"{output}: replacing the store there", quiet)
    if source.is_data_set:
        manifest = write_store(load_graph(source, quiet), output, half=store.half, progress=progress)
    else:
        columns = tuple(source.columns().items())
        task = Conversion(Path(graph), files.features, files.labels, bytes_, store.half, columns)
        manifest = convert_files(task, output, progress, lambda message: say(f"{output}: {message}", quiet))
        for note in manifest.notes:
            say(note, quiet)
    facts = _facts(output, manifest)
    size = f"{facts['nodes']:,} nodes and {facts['edges']:,} edges"
    shown.tell(facts, f"{size} are in {output} ({facts['bytes'] / 1e6:,.1f} MB)")


def _facts(output: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "store": str(output),
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "features": manifest.features,
        "bytes": sum(entry.bytes for entry in manifest.files.values()),
        "files": {name: asdict(entry) for name, entry in manifest.files.items()},
    }
