"""Train an author's code and ours: `python -m benchmarks.authors homogcl --clone DIR --dataset citeseer`."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.measure import known
from nodewise.reproduce.paper_values import published
from nodewise.reproduce.provenance import provenance
from nodewise.reproduce.tables import Table, printed, whole

WHOSE = ("theirs", "ours")
USUAL = "as published"
OWN_SEEDS = {"graphacl": 1024, "sp-gcl": 42}
"""Fixed by the scripts or settings of these authors."""


def scores(vectors: np.ndarray, graph: Graph, method: str, seed: int) -> dict[str, float]:
    """Return accuracies in percent by the probe of the method's authors and by that of Table 2."""
    labels, split = known(graph)
    found: dict[str, float] = {}
    for probe in dict.fromkeys((METHODS[method].probe, "mvgrl")):
        result = linear_probe(vectors, labels, split, probe, dataset=graph.name, seed=seed)
        found |= {probe: 100 * result.test_accuracy.mean(), f"{probe} validation": 100 * result.val_accuracy.mean()}
    return {name: round(float(value), 2) for name, value in found.items()}


def latest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows; of a training that was repeated, only the last."""
    names = ("method", "dataset", "whose", "variant", "seed")
    return list({tuple(row.get(name) for name in names): row for row in rows}.values())


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return means over seeds, beside what is printed."""
    groups = defaultdict[tuple[str, str, str], list[Mapping[str, Any]]](list)
    for row in rows:
        words = f"theirs, {row['variant']}" if row["whose"] == "theirs" else row["whose"]
        if row["whose"] == "theirs" and row["seed"] == OWN_SEEDS.get(row["method"]):
            words += ", the seed of their files"  # one that was chosen says nothing of the others
        groups[row["method"], row["dataset"], words].append(row)
    lines = []
    for (method, dataset, words), found in sorted(groups.items()):
        probe = METHODS[method].probe
        scores = [whole(Summary.of([row[name] for row in found])) for name in (probe, "mvgrl")]
        seeds = ", ".join(map(str, sorted(row["seed"] for row in found)))
        lines.append((METHODS[method].title, dataset, words, *scores, printed(published(method, dataset)), seeds))
    header = ("method", "data set", "whose", "own probe", "mvgrl", "printed", "seeds")
    return Table("The code of authors and ours on equal inputs: accuracy in percent", header, lines, numbers=3)


def main() -> None:
    """Print a line per seed, append it as JSON to a file, and make the table beside it; 0 seeds make only that."""
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
                model = METHODS[method](METHODS[method].settings_for(graph.name), seed=seed, device="cpu")
                vectors = model.fit(graph).embeddings_.vectors
            seconds = round(time.monotonic() - began, 1)
            row: dict[str, Any] = {"method": method, "dataset": graph.name, "whose": whose, "seed": seed}
            row |= provenance(torch.device("cpu"))
            if whose == "theirs":
                row["variant"] = chosen.variant
            rows.append(row | scores(np.asarray(vectors), graph, method, seed) | {"seconds": seconds})
            print(json.dumps(rows[-1]), flush=True)
            if chosen.output is not None:
                chosen.output.parent.mkdir(parents=True, exist_ok=True)
                with chosen.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    if chosen.output is not None:
        kept = [json.loads(line) for line in chosen.output.read_text(encoding="utf-8").splitlines()]
        chosen.output.with_suffix(".md").write_text(table(latest(kept)).markdown(), encoding="utf-8")
    print(table(rows).markdown())


if __name__ == "__main__":
    main()
