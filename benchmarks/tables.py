"""Time and memory of turning a table of mixed columns into features: `python benchmarks/tables.py [--rows 1000000]`.

Makes a table of ten columns (id, numbers with and without heavy tails, decimal commas, a small and a large category,
dates, yes and no, tags, free text; some values missing) and edges between neighboring rows, then reads them, and
converts them to a store, each in a process of its own. Seconds are of the processor, all threads together; memory is
the most that the process held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

WORK = {
    "read": "graph = nw.read_graph('edges.csv', features='nodes.csv')",
    "convert": "convert(Conversion(Path('edges.csv'), Path('nodes.csv')), 'g.store'); graph = nw.read_graph('g.store')",
}
CHILD = """
import json, resource
from pathlib import Path
import nodewise as nw
from nodewise.store.convert import Conversion, convert
{work}
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({{"seconds": used.ru_utime + used.ru_stime, "gigabytes": used.ru_maxrss / 1e6,
    "features": graph.num_features, "stored": int(getattr(graph.features, "nnz", graph.features.size)),
    "columns": graph.table.describe()}}))
"""


def write(folder: Path, rows: int) -> None:
    """Write the table and the edges."""
    random = np.random.default_rng(0)
    vocabulary = np.array([f"word{i}" if i % 7 else f"Wort{i}er" for i in range(5000)])
    often = 1 / np.arange(1, 5001)
    drawn = random.choice(vocabulary, (rows, 8), p=often / often.sum())
    tags = np.array([f"tag{i}" for i in range(60)])[random.integers(60, size=(rows, 3))]
    gone = random.random((rows, 4)) < 0.1
    days = np.datetime64("2015-01-01") + random.integers(3000, size=rows)
    columns = {
        "id": [f"n{i}" for i in range(rows)],
        "age": [
            None if skip else int(value) for value, skip in zip(random.normal(40, 12, rows), gone[:, 0], strict=True)
        ],
        "revenue": [f"{value:.2f}".replace(".", ",") for value in np.exp(random.normal(6, 2, rows))],
        "score": random.normal(size=rows),
        "country": np.array([f"country {i}" for i in range(30)])[random.integers(30, size=rows)],
        "city": np.array([f"city {i}" for i in range(20_000)])[(random.pareto(1, rows) * 30).astype(int) % 20_000],
        "since": days.astype(str),
        "paid": np.where(random.random(rows) < 0.3, "yes", "no"),
        "tags": ["|".join(each) for each in tags],
        "note": [None if skip else " ".join(each) for each, skip in zip(drawn, gone[:, 1], strict=True)],
    }
    pa_csv.write_csv(pa.table(columns), folder / "nodes.csv", pa_csv.WriteOptions(delimiter=";"))
    ends = {"source": columns["id"][:-1], "target": columns["id"][1:]}
    pa_csv.write_csv(pa.table(ends), folder / "edges.csv")


def main() -> None:
    """Print a line per way, and what the columns became."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=list(WORK))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), given.rows)
        size = (Path(name) / "nodes.csv").stat().st_size / 1e6
        print(f"{given.rows:,} rows, {size:,.0f} MB of text")
        found = {}
        for way in [given.only] if given.only else WORK:
            child = [sys.executable, "-c", CHILD.format(work=WORK[way])]
            outcome = subprocess.run(child, cwd=name, capture_output=True, text=True, check=True)
            found = json.loads(outcome.stdout)
            print(
                f"{way:8} {found['seconds']:6.1f} s of the processor, {found['gigabytes']:.2f} GB, "
                f"{found['features']:,} features, {found['stored'] / given.rows:.0f} stored per row"
            )
        for row in found["columns"]:
            print(f"  {row['column']:10} {row['kind']:10} {row['becomes']}")


if __name__ == "__main__":
    main()
