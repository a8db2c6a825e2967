"""How far positions walk on graphs without features, and what each distance would give: the graphs of the suite, bare.

    python benchmarks/structural.py --data-dir data

Accuracy in percent of a linear classifier on the structural features alone, 20 labels per class / 10% of the labels,
scored as in the suite on three splits. Then what the defaults make of those of the chosen distance (one seed).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

import nodewise as nw
from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.budgets import budget_scores, budget_splits
from nodewise.graph.graph import having_walked
from nodewise.reproduce.experiments.suite import DATASETS

_STEPS = (4, 8, 16, 32, 64)


def scored(labels: np.ndarray) -> Callable[[object], str]:
    splits = [budget_splits(labels, budget, 3) for budget in ("few", "10%")]

    def score(vectors: object) -> str:
        rows = torch.as_tensor(np.asarray(vectors, np.float32))
        return " / ".join(f"{100 * budget_scores(rows, labels, some).accuracy.mean():.1f}" for some in splits)

    return score


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", default=",".join(DATASETS))
    given = parser.parse_args()
    print("| graph | steps | " + " | ".join(f"after {steps}" for steps in _STEPS) + " | defaults |")
    print("|---" * (3 + len(_STEPS)) + "|")
    for name in given.datasets.split(","):
        graph = load_dataset(name, data_dir=given.data_dir)
        bare, score = replace(graph, features=None), scored(graph.labels)
        at = [score(having_walked(bare, steps).features) for steps in _STEPS]
        learned = score(nw.NodeEmbedder(seed=0).fit(bare).embeddings_)
        print(f"| {name} | {bare.steps_walked} | {' | '.join(at)} | {learned} |", flush=True)


if __name__ == "__main__":
    main()
