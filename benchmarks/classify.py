"""How often `classify` is right, and how sure it is: `python benchmarks/classify.py [--dataset NAME] [--data-dir DIR]`.

Vectors of some methods, a random part of the labels given, all other labeled nodes asked: the share that is right, the
mean probability that is promised, what was expected beforehand, and the share that scikit-learn's C = 1 on the vectors
as they are gets right.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.classifier import classify
from nodewise.evaluation.logistic import fit_logistic
from nodewise.methods.estimator import METHODS


def main() -> None:
    """Print a line per method and number of labels, means over draws of the labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="citeseer")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--methods", nargs="*", default=["nodewise", "smoothed", "cca-ssg"])
    parser.add_argument("--labels", nargs="*", type=int, default=[30, 120, 1000])
    parser.add_argument("--draws", type=int, default=5)
    chosen = parser.parse_args()
    graph = load_dataset(chosen.dataset, data_dir=chosen.data_dir)
    assert graph.labels is not None
    truth = graph.labels
    known = np.flatnonzero(truth >= 0)
    print(f"{'method':10} {'labels':>6} {'right':>7} {'promised':>9} {'expected':>9} {'C = 1, as they are':>19}")
    for name in chosen.methods:
        vectors = np.asarray(METHODS[name](seed=0).fit(graph).embeddings_.vectors)
        for count in chosen.labels:
            found = []
            for draw in range(chosen.draws):
                given = np.random.default_rng(draw).permutation(known)[:count]
                rest = np.setdiff1d(known, given)
                labels = np.full(len(truth), -1)
                labels[given] = truth[given]
                answer = classify(vectors, labels)
                asked = np.isin(answer.rows, rest)
                right = answer.classes == truth[answer.rows]
                plain = fit_logistic(vectors[given], truth[given], 1000).predict(vectors[rest]) == truth[rest]
                promised = answer.probabilities[asked].mean()
                found.append([right[asked].mean(), promised, answer.expected_accuracy or np.nan, plain.mean()])
            means = 100 * np.mean(found, 0)
            print(f"{name:10} {count:6} {means[0]:7.1f} {means[1]:9.1f} {means[2]:9.1f} {means[3]:19.1f}", flush=True)


if __name__ == "__main__":
    main()
