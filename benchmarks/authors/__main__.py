"""Train an author's code and ours: `python -m benchmarks.authors homogcl --clone DIR --dataset citeseer`."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.measure import known
from nodewise.reproduce.paper_values import published
from nodewise.reproduce.provenance import commit

WHOSE = ("theirs", "ours")
USUAL = "as published"


def scores(vectors: np.ndarray, graph: Graph, method: str, seed: int) -> dict[str, float]:
    """Return accuracies in percent by the probe of the method's authors and by that of Table 2."""
    labels, split = known(graph)
    found: dict[str, float] = {}
    for probe in dict.fromkeys((METHODS[method].probe, "mvgrl")):
        result = linear_probe(vectors, labels, split, probe, dataset=graph.name, seed=seed)
        found |= {probe: 100 * result.test_accuracy.mean(), f"{probe} validation": 100 * result.val_accuracy.mean()}
    return {name: round(float(value), 2) for name, value in found.items()}


def main() -> None:
    """Print a line per seed, append it as JSON to a file, and print means at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))
    parser.add_argument("--clone", type=Path, required=True, help="a checkout of the repository that the file names")
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--variant", default=USUAL, help="another way to run their code, of those that its file names")
    parser.add_argument("--whose", choices=WHOSE, nargs="*", default=WHOSE)
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    graph = load_dataset(chosen.dataset, data_dir=chosen.data_dir)
    method = chosen.method.replace("_", "-")
    authors: Any = importlib.import_module(f"benchmarks.authors.{chosen.method}")
    variants = {USUAL: {}, **getattr(authors, "VARIANTS", {})}
    if chosen.variant not in variants:
        parser.error(f"--variant is one of {', '.join(variants)}")
    rows: list[dict[str, Any]] = []
    for seed in range(chosen.first, chosen.first + chosen.seeds):
        for whose in chosen.whose:
            began = time.monotonic()
            if whose == "theirs":
                vectors = authors.vectors(chosen.clone, graph, seed, **variants[chosen.variant])
            else:
                vectors = METHODS[method](METHODS[method].settings_for(graph.name), seed=seed).fit(graph)
                vectors = vectors.embeddings_.vectors
            seconds = round(time.monotonic() - began, 1)
            row = {"method": method, "dataset": graph.name, "whose": whose, "seed": seed, "commit": commit()}
            if whose == "theirs":
                row["variant"] = chosen.variant
            rows.append(row | scores(np.asarray(vectors), graph, method, seed) | {"seconds": seconds})
            print(json.dumps(rows[-1]), flush=True)
            if chosen.output is not None:
                chosen.output.parent.mkdir(parents=True, exist_ok=True)
                with chosen.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    for whose in chosen.whose:
        values = [row[METHODS[method].probe] for row in rows if row["whose"] == whose]
        print(f"{whose}: {np.mean(values):.2f} ± {np.std(values):.2f} (n={len(values)}) by {METHODS[method].probe}")
    print(f"printed: {published(method, graph.name)}")


if __name__ == "__main__":
    main()
