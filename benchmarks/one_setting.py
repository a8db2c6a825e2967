"""One setting for all graphs, of those that authors publish: `python benchmarks/one_setting.py --data-dir DIR`.

Rivals whose authors have settings for every data set and none for others. Each published setting is trained on every
graph of the suite and scored by its validation nodes, under both budgets of labels; the best mean is the default that
is fair. Test accuracies are printed beside it and choose nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.budgets import Budget, budget_scores, budget_splits
from nodewise.methods.augment import drops
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.suite import DATASETS

BUDGETS: tuple[Budget, ...] = ("few", "10%")
_TWO_LAYERS = {"hidden": 256, "threshold": 0.6, "epochs": 200}
PUBLISHED: dict[str, dict[str, dict[str, Any]]] = {
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


def main() -> None:
    """Print a line per setting, scaling and graph, then the mean of each setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--methods", nargs="*", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--scalings", nargs="*", help="of features; by default the method's own")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    place = "cuda" if chosen.device != "cpu" and torch.cuda.is_available() else "cpu"
    graphs = {dataset: load_dataset(dataset, data_dir=chosen.data_dir) for dataset in chosen.datasets}
    for name in chosen.methods:
        method: Any = METHODS[name]
        means: dict[tuple[str, str], list[float]] = {}
        for scaling in chosen.scalings or [method.scaling]:
            method.scaling = scaling
            for source, settings in published(name).items():
                rows = []
                for dataset, graph in graphs.items():
                    assert graph.labels is not None
                    row: dict[str, Any] = {"method": name, "setting": source, "scaling": scaling, "dataset": dataset}
                    for seed in range(chosen.seeds):
                        before = time.monotonic()
                        model = method(settings, seed=seed, device=chosen.device).fit(graph)
                        row.setdefault("seconds", round(time.monotonic() - before, 1))
                        vectors = torch.as_tensor(model.embeddings_.vectors)
                        for budget in BUDGETS:
                            score = budget_scores(vectors, graph.labels, budget_splits(graph.labels, budget), place)
                            row.setdefault(f"{budget} val", []).append(100 * score.validation.mean())
                            row.setdefault(f"{budget} test", []).append(100 * score.accuracy.mean())
                    row = {
                        key: round(np.mean(each), 2) if isinstance(each, list) else each for key, each in row.items()
                    }
                    print(json.dumps(row), flush=True)
                    rows.append(row)
                    if chosen.output is not None:
                        with chosen.output.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
                means[source, scaling] = [
                    np.mean([row[f"{b} {part}"] for row in rows for b in BUDGETS]) for part in ("val", "test")
                ]
        for (source, scaling), (val, test) in sorted(means.items(), key=lambda item: -item[1][0]):
            print(f"{name}: {source}, {scaling}: validation {val:.2f}, test {test:.2f}", flush=True)


if __name__ == "__main__":
    main()
