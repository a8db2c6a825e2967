"""Whether a small kind of nodes keeps its classes beside a large one: `python benchmarks/kinds.py [--dimension 32]`.

3,000 customers have 200 columns and 100 products 5; edges between them are random, so that what a product's vector says
of its class comes from its own columns. Prints how often the class is found from these columns, from vectors that start
at directions of each kind, and from vectors that start at directions of all rows together. Customers' columns are
independent of each other, or follow 20 common ones.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

import nodewise as nw
from nodewise.encoders import smoothing
from nodewise.encoders.directions import MOST_ROWS, leading_directions
from nodewise.encoders.features import Features

CUSTOMERS, WIDE, PRODUCTS, NARROW, CLASSES = 3000, 200, 100, 5, 3


def planted(seed: int, common: float) -> tuple[nw.Graph, np.ndarray]:
    """Return the graph, customers first, and the classes of the products."""
    draw = np.random.default_rng(seed)
    tastes, classes = draw.integers(0, CLASSES, CUSTOMERS), draw.integers(0, CLASSES, PRODUCTS)
    features = np.zeros((CUSTOMERS + PRODUCTS, WIDE), np.float32)
    features[:CUSTOMERS] = 0.5 * draw.normal(size=(CLASSES, WIDE))[tastes] + draw.normal(size=(CUSTOMERS, WIDE))
    features[:CUSTOMERS] += common * draw.normal(size=(CUSTOMERS, 20)) @ draw.normal(size=(20, WIDE))
    means = 1.2 * draw.normal(size=(CLASSES, NARROW))
    features[CUSTOMERS:, :NARROW] = means[classes] + 0.7 * draw.normal(size=(PRODUCTS, NARROW))
    sources = np.repeat(np.arange(CUSTOMERS), 4)
    targets = CUSTOMERS + draw.integers(0, PRODUCTS, len(sources))
    kinds = ["customer"] * CUSTOMERS + ["product"] * PRODUCTS
    return nw.Graph.from_edges(sources, targets, features=features, kinds=kinds), classes


def accuracy(rows: np.ndarray, classes: np.ndarray) -> float:
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    return float(cross_val_score(probe, rows.astype(np.float64), classes, cv=5).mean())


def of_all_rows(features: Features, count: int) -> Tensor:
    return leading_directions(features.sample(MOST_ROWS), count)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimension", type=int, default=32)
    parser.add_argument("--graphs", type=int, default=3)
    given = parser.parse_args()
    for common in (0.0, 0.5):
        scores = []
        for seed in range(given.graphs):
            graph, classes = planted(seed, common)
            model = nw.NodeEmbedder(steps=40, dimension=given.dimension, seed=0, device="cpu")
            apart = model.fit(graph).embeddings_.vectors[CUSTOMERS:]
            with patch.object(smoothing, "directions_by_kind", of_all_rows):
                together = model.fit(graph).embeddings_.vectors[CUSTOMERS:]
            own = np.asarray(graph.features)[CUSTOMERS:, :NARROW]
            scores.append([accuracy(rows, classes) for rows in (own, apart, together)])
        own, apart, together = np.mean(scores, axis=0)
        said = "columns independent" if not common else "columns follow 20 common ones"
        print(
            f"{said}: own columns {own:.1%}, directions of each kind {apart:.1%}, of all rows together {together:.1%}"
        )


if __name__ == "__main__":
    main()
