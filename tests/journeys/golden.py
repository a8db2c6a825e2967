"""What every method gives on a small graph, written down: settings, files, printed results and vectors.

    python -m tests.journeys.golden            write down what the code gives now

A redesign must leave these files as they are; a change of behavior changes them in the same commit, and its message
says why.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from nodewise.cli.main import main

FOLDER = Path(__file__).parent / "golden"
EMBEDDERS = {
    "nodewise": ("training.steps=3", "training.batch_size=16", "encoder.dimension=8"),
    "random": ("encoder.dimension=8",),
    "deepwalk": ("dimension=8", "walks=2", "length=8"),
    "deepwalk-features": ("dimension=8", "walks=2", "length=8"),
    "node2vec": ("dimension=8", "walks=2", "length=8"),
    "gae": ("epochs=3",),
    "vgae": ("epochs=3",),
    "graphsage": ("epochs=3", "dimension=8"),
    "grace": ("epochs=3", "dimension=8"),
    "sugrl": ("epochs=3", "layers=[16, 8]"),
    "dgi": ("epochs=3", "dimension=8"),
    "dgi-s": ("epochs=3", "dimension=8"),
    "mvgrl": ("epochs=3", "dimension=8"),
    "cca-ssg": ("epochs=3", "dimension=8"),
    "bgrl": ("epochs=3", "dimension=8"),
    "graphmae": ("epochs=3", "dimension=8", "heads=2"),
    "ggd": ("epochs=3", "dimension=8"),
    "afgrl": ("epochs=3", "dimension=8", "clusters=3"),
    "homogcl": ("epochs=3", "dimension=8", "hidden=8", "clusters=3"),
    "graphacl": ("epochs=3", "dimension=8"),
    "sp-gcl": ("epochs=3", "dimension=8", "seeds=8", "negatives=5"),
    "ns4gc": ("epochs=3", "dimension=8", "hidden=8"),
    "maskgae": ("epochs=3", "dimension=8", "hidden=8"),
}
CLASSIFIERS = {
    "raw": ("epochs=3",),
    "mlp": ("epochs=3",),
    "lp": (),
    "gcn": ("epochs=3",),
    "chebyshev": ("epochs=3",),
    "gat": ("epochs=3",),
    "geniepath": ("epochs=3",),
    "jknet": ("epochs=3",),
    "mixhop": ("epochs=3",),
}


def write_ring() -> None:
    """Write a ring of 40 named nodes with chords, features and labels into the current folder."""
    generator = np.random.default_rng(0)
    names = [f"paper_{i}" for i in range(40)]
    edges = [(i, (i + step) % 40) for i in range(40) for step in (1, 2)]
    Path("edges.csv").write_text("source,target\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in edges))
    numbers = generator.random((40, 5)).round(3)
    rows = (f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, numbers, strict=True))
    Path("nodes.csv").write_text("id,a,b,c,d,e\n" + "".join(rows))
    Path("labels.csv").write_text("id,label\n" + "".join(f"{names[i]},{i // 20}\n" for i in range(0, 40, 2)))


def command(*arguments: str) -> Any:
    """Run a command line in this process and return what it prints as JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main([*arguments, "--json", "--quiet"])
    assert code == 0, arguments
    return json.loads(printed.getvalue())


def changes(settings: tuple[str, ...]) -> Iterator[str]:
    """Yield the settings as a command line takes them."""
    for setting in settings:
        yield from ("--set", setting)


def observe(method: str) -> dict[str, Any]:
    """Return what a method leaves and prints in the current folder, which holds the ring."""
    files = ("--features", "nodes.csv", "--labels", "labels.csv")
    common = ("--device", "cpu", "--method", method)
    if method in CLASSIFIERS:
        printed = command(
            "classify", "edges.csv", *files, *common, *changes(CLASSIFIERS[method]), "-o", "found.parquet"
        )
        found = pq.read_table("found.parquet").to_pydict()
        return {"classify": printed, "labels": found["label"], "probabilities": rounded(found["probability"])}
    printed = command("embed", "edges.csv", *files, *common, *changes(EMBEDDERS[method]), "-o", "run")
    vectors = np.array(pq.read_table("run/embeddings.parquet")["embedding"].to_pylist())
    return {
        "embed": printed,
        "files": sorted(entry.name for entry in Path("run").iterdir()),
        "config": tomllib.loads(Path("run/config.toml").read_text()),
        "neighbors": command("neighbors", "run", "--node", "paper_0", "-k", "3"),
        "shape": list(vectors.shape),
        "vectors": rounded(vectors[:4, :16].tolist()),
    }


def rounded(value: Any) -> Any:
    """Return numbers with five decimals, which differ less than that between processors."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 5)


@contextlib.contextmanager
def ring_folder() -> Iterator[None]:
    """Work in an empty folder with the ring in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_ring()
            yield
        finally:
            os.chdir(before)


if __name__ == "__main__":
    for method in sys.argv[1:] or [*EMBEDDERS, *CLASSIFIERS]:
        with ring_folder():
            found = observe(method)
        (FOLDER / f"{method}.json").write_text(json.dumps(found, indent=1) + "\n")
        print(method)
