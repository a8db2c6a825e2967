"""One setting for all graphs, of those that authors publish: `python benchmarks/one_setting.py --data-dir DIR -o FILE`.

Rivals whose authors have settings for every data set and none for others. Each published setting is trained on every
graph of the suite and scored by its validation nodes, under both budgets of labels; the best mean is the default that
is fair. Test accuracies are printed beside it and choose nothing. The file gets a line per cell, and cells that it has
are not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.core.errors import NodewiseError
from nodewise.core.parallel import Turns, run_shares
from nodewise.core.progress import Progress, for_terminal
from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.budgets import Budget, budget_scores, budget_splits
from nodewise.methods.augment import drops
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.experiments.suite import DATASETS

BUDGETS: tuple[Budget, ...] = ("few", "10%")
SCORES = tuple(f"{budget} {part}" for part in ("validation", "test") for budget in BUDGETS)
_TWO_LAYERS = {"hidden": 256, "threshold": 0.6, "epochs": 200}
PUBLISHED: dict[str, dict[str, dict[str, Any]]] = {
    "bgrl": {"wikics": {}},
    "graphmae": {},
    # Cora's and Pubmed's, which have no other difference than to leave S as it is.
    "mvgrl": {"cora": {}},
    "dgi-s": {"cora": {}},
    "homogcl": {
        "computers": {"projection": 0, "clusters": 30, "epochs": 100, "learning_rate": 1e-4},
    },
    "graphacl": {
        "computers": {"epochs": 50, "layers": 1, "weight_decay": 0.0, "temperature": 0.99, "momentum": 0.99},
    },
    "ns4gc": {
        "corafull": {**drops(0.2, 0.4, 0.0, 0.2), "dimension": 64, **_TWO_LAYERS},
        "wikics": {**drops(0.0, 0.6, 0.1, 0.0), "dimension": 256, **_TWO_LAYERS, "threshold": 0.5, "epochs": 500},
        "computers": {
            **drops(0.6, 0.8, 0.0, 0.1),
            **_TWO_LAYERS,
            **{"dimension": 128, "epochs": 400, "learning_rate": 0.01, "weight_decay": 1e-6},
        },
        "coauthor-cs": {
            **drops(0.1, 0.3, 0.0, 0.7),
            **_TWO_LAYERS,
            **{"dimension": 64, "threshold": 0.4, "temperature": 0.08},
        },
    },
    "sp-gcl": {
        "amazon-photo": {},
        "wikics": {"dimension": 512, "dropout": 0.2, "seeds": 128},
        # Their neighborhoods on Actor are of three steps.
        "actor": {"dimension": 1024, "dropout": 0.5, "seeds": 128, "nearest": 10, "weight_decay": 0.0},
    },
    "sugrl": {
        # Their third loss counts twice there; half of the others, and of the decay, is the same but for Adam's epsilon.
        "computers": {
            **{"layers": (512, 128), "dropout": 0.1, "negatives": 5, "weight": 50.0, "margin": 0.4, "bound": 0.6},
            **{"epochs": 1000, "learning_rate": 0.01, "weight_decay": 5e-5},
        },
        "ogbn": {
            **{"layers": (512, 128), "dropout": 0.2, "negatives": 1, "weight": 10.0, "margin": 0.9, "bound": 0.9},
            **{"epochs": 100, "learning_rate": 0.01, "weight_decay": 5e-5},
        },
    },
}
"""What authors use on data sets that we have no settings for; the others are those that the methods know."""


def published(name: str) -> dict[str, Any]:
    """Return all settings that the authors of a method publish, by their data set."""
    method = METHODS[name]
    known = {dataset: method.settings_for(dataset) for dataset in method.tuned}
    return known | {dataset: method.settings_class(**some) for dataset, some in PUBLISHED[name].items()}


def measure(name: str, source: str, dataset: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train with one setting on one graph, and return the mean scores over the seeds."""
    graph = load_dataset(dataset, data_dir=chosen.data_dir)
    assert graph.labels is not None
    place = "cuda" if chosen.device != "cpu" and torch.cuda.is_available() else "cpu"
    scores, before, seconds = defaultdict[str, list[float]](list), time.monotonic(), 0.0
    for seed in range(chosen.seeds):
        model: Any = METHODS[name](published(name)[source], seed=seed, device=chosen.device).fit(graph)
        seconds = seconds or time.monotonic() - before
        vectors = torch.as_tensor(model.embeddings_.vectors)
        for budget in BUDGETS:
            score = budget_scores(vectors, graph.labels, budget_splits(graph.labels, budget), place)
            scores[f"{budget} validation"].append(100 * score.validation.mean())
            scores[f"{budget} test"].append(100 * score.accuracy.mean())
    cell = {"method": name, "setting": source, "dataset": dataset, "seeds": chosen.seeds, "seconds": round(seconds, 1)}
    return cell | {key: round(float(np.mean(values)), 2) for key, values in scores.items()}


def work(cells: list[tuple[str, str, str]], chosen: argparse.Namespace, *, turns: Turns, progress: Progress) -> None:
    """Measure the cells whose turn it is."""
    with progress.stage("settings", len(cells)) as bar:
        for turn in turns:
            if turn >= len(cells) or time.time() > chosen.until:
                return
            try:
                row = measure(*cells[turn], chosen)
            except (NodewiseError, torch.OutOfMemoryError) as error:  # the other cells are worth having
                print(*cells[turn], error, file=sys.stderr, flush=True)
                continue
            with chosen.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            bar.advance()


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def main() -> None:
    """Measure what the file lacks, then print the mean of each setting over the graphs that all of its method have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--methods", nargs="*", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("-o", "--output", type=Path, default=Path("one_setting.jsonl"))
    chosen = parser.parse_args()
    chosen.until = time.time() + 60 * chosen.minutes
    there = {(row["method"], row["setting"], row["dataset"]) for row in rows_of(chosen.output)}
    cells = [
        (name, source, dataset)
        for dataset in chosen.datasets
        for name in chosen.methods
        for source in published(name)
        if (name, source, dataset) not in there
    ]
    if cells:
        run_shares(partial(work, cells, chosen), min(chosen.workers, len(cells)), for_terminal(quiet=False))
    found = {(row["method"], row["setting"], row["dataset"]): row for row in rows_of(chosen.output)}
    for name in chosen.methods:
        shared = [each for each in DATASETS if all((name, source, each) in found for source in published(name))]
        print(f"{name}, on {', '.join(shared) or 'no graph yet'}: " + " / ".join(SCORES))
        settings = [[found[name, source, each] for each in shared] for source in published(name)]
        for rows in sorted((rows for rows in settings if rows), key=lambda rows: -_mean(rows, SCORES[:2])):
            each = " / ".join(f"{_mean(rows, [score]):.2f}" for score in SCORES)
            print(f"  {rows[0]['setting']}: {each}; validation {_mean(rows, SCORES[:2]):.2f}")


def _mean(rows: list[dict[str, Any]], scores: tuple[str, ...] | list[str]) -> float:
    return float(np.mean([row[score] for row in rows for score in scores]))


if __name__ == "__main__":
    main()
