"""Dense features: the graphs of the suite with averaged word vectors instead of words.

    python benchmarks/dense.py --data-dir data --seeds 3

The graphs of the suite all have words. Many others have dense vectors: averages of word vectors, or what a language
model leaves. So every node's words are replaced by the mean of 300-dimensional vectors of words: their 100 leading
singular directions turned at random, noise of its own for every word, an offset that all have in common, and
columns of unlike scale. Accuracy in percent with 20 labels per class / 10% of the labels, scored as in the suite.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import torch

import nodewise as nw
from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.budgets import budget_scores, budget_splits
from nodewise.graph.graph import Graph
from nodewise.reproduce.experiments.suite import DATASETS

_WIDTH, _DIRECTIONS, _NOISE = 300, 100, 0.7


def averaged(graph: Graph, seed: int = 0) -> Graph:
    from sklearn.utils.extmath import randomized_svd

    rng = np.random.default_rng(seed)
    counts = sp.csr_matrix(graph.features, dtype=np.float64)
    present = counts.astype(bool).astype(np.float64)
    weighed = counts @ sp.diags(np.log((1 + counts.shape[0]) / (1 + present.sum(0).A1)) + 1)
    lengths = np.sqrt(weighed.multiply(weighed).sum(1).A1)
    weighed = sp.diags(1 / np.where(lengths > 0, lengths, 1)) @ weighed
    _, strengths, right = randomized_svd(weighed, min(_DIRECTIONS, min(counts.shape) - 1), random_state=seed)
    words = right.T * np.sqrt(strengths)
    words = words / words.std() @ rng.normal(size=(words.shape[1], _WIDTH)) / np.sqrt(words.shape[1])
    words += _NOISE * rng.normal(size=words.shape) + rng.normal(size=_WIDTH)
    dense = sp.diags(1 / np.maximum(present.sum(1).A1, 1)) @ present @ words
    return replace(graph, features=np.asarray(dense * np.exp(rng.normal(size=_WIDTH) / 2), np.float32))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    plain = {"collision": False, "weights": False}
    rows = {
        "smoothed": lambda seed: nw.methods["smoothed"](seed=seed),
        "defaults": lambda seed: nw.NodeEmbedder(seed=seed),
        "plain loss": lambda seed: nw.NodeEmbedder(seed=seed, **plain),
        "a node by itself": lambda seed: nw.NodeEmbedder(seed=seed, teleports=[1.0]),
        "mask 0.3": lambda seed: nw.NodeEmbedder(seed=seed, feature_mask=0.3),
    }
    print("| graph | features alone | " + " | ".join(rows) + " |")
    print("|---" * (2 + len(rows)) + "|")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for name in given.datasets.split(","):
        graph = averaged(load_dataset(name, data_dir=given.data_dir))
        splits = [budget_splits(graph.labels, budget) for budget in ("few", "10%")]

        def score(vectors: list[np.ndarray], labels: np.ndarray = graph.labels, splits: list = splits) -> str:
            tensors = [torch.as_tensor(np.asarray(each, np.float32)) for each in vectors]
            means = [
                np.mean([budget_scores(each, labels, some, device).accuracy.mean() for each in tensors])
                for some in splits
            ]
            return " / ".join(f"{100 * mean:.1f}" for mean in means)

        cells = [score([np.asarray(graph.features)])] + [
            score([build(seed).fit(graph).embeddings_.vectors for seed in range(given.seeds)])
            for build in rows.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
