"""`nodewise export`: the vectors of a run in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.runs.outputs import check_file

Output = Annotated[
    Path,
    cli.option(
        "The name says the format: .csv, .npy, .vec (word2vec), .arrow, .safetensors or .parquet.",
        "FILE",
        "-o",
        panel=cli.OUTPUT,
    ),
]
Neo4j = Annotated[bool, cli.option("A csv as neo4j-admin imports it.", panel=cli.OUTPUT)]


@cli.command("export runs/mine -o vectors.csv", "export runs/mine -o nodes.csv --neo4j")
def export(*, run: cli.RunOrFile, output: Output, neo4j: Neo4j = False, shown: cli.Shown) -> None:
    """Write the vectors of a run in another format.

    Csv files have a column id and one per dimension, for Gephi and spreadsheets; npy files have their ids in a file
    beside them.
    """
    from nodewise.runs.together import read_vectors

    check_file(output, run=run)
    if neo4j and output.suffix.lower() != ".csv":
        raise InputError(f"{output}: --neo4j writes a csv; name the file so, or leave out --neo4j")
    vectors = read_vectors(run)
    if neo4j:
        vectors.to_csv(output, neo4j=True)
    else:
        vectors.write(output)
    facts = {"embeddings": str(output), "nodes": len(vectors), "dimensions": vectors.num_dimensions}
    shown.tell(facts, f"{len(vectors):,} vectors of {vectors.num_dimensions} numbers are in {output}")
