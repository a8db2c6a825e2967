"""`nodewise classify`: labels for the nodes that have none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.common import (
    TABLES,
    DataDir,
    Json,
    Labels,
    Quiet,
    RunOrFile,
    TableColumns,
    examples,
    print_json,
    read_vectors,
)
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write

if TYPE_CHECKING:
    from nodewise.data.ids import NodeIds

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet or csv file for the labels.")]
Method = Annotated[
    str | None, typer.Option("--method", "-m", metavar="NAME", help="Methods that use labels: not there yet.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples("classify runs/mine --labels labels.csv -o guesses.csv")
    app.command(epilog=tries)(grouped(classify))


def classify(
    run: RunOrFile,
    output: Output,
    labels: Labels = None,
    method: Method = None,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label the unlabelled nodes, by a run's vectors.

    A linear classifier learns from all labelled nodes and writes a row (id, label, probability) for every other node.
    """
    if method is not None:
        raise InputError(
            f"--method {method}: methods that use labels are not part of this version yet; leave it out for a linear "
            "classifier on the vectors of a run"
        )
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(f"{output}: the format is not clear; let the name end in .parquet or .csv")
    embeddings = read_vectors(run)

    import numpy as np

    from nodewise.cli.labels import labels_for
    from nodewise.evaluation.logistic import classify_unlabelled

    known = labels_for(embeddings.ids, run, labels, tables=tables)
    known.require_two_classes()
    if (known.labels >= 0).all():
        raise InputError(f"{known.source}: every node has a label; there is nothing to classify")
    rows, classes, probabilities = classify_unlabelled(embeddings.vectors, known.labels)
    names = [known.class_names[label] for label in classes]
    _write(output, embeddings.ids, rows, names, probabilities)
    labelled, unlabelled = len(known.labels) - len(rows), len(rows)
    if json:
        found, sizes = np.unique(classes, return_counts=True)
        predicted = {str(known.class_names[label]): int(size) for label, size in zip(found, sizes, strict=True)}
        print_json({"labels": str(output), "labelled": labelled, "classified": unlabelled, "classes": predicted})
    else:
        print(f"{unlabelled:,} labels, learnt from {labelled:,} labelled nodes, are in {output}")


def _write(path: Path, ids: NodeIds, rows: Any, names: list[str | int], probabilities: Any) -> None:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    table = pa.table({"id": ids.to_arrow().take(pa.array(rows)), "label": names, "probability": probabilities})
    with atomic_write(path) as temporary:
        (pq.write_table if path.suffix.lower() == ".parquet" else pa_csv.write_csv)(table, temporary)
