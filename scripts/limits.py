"""What limits accuracy: how well anything at hand, read without labels, tells nodes of one class from others.

    python scripts/limits.py cora citeseer pubmed --data-dir DIR > results/tuning/limits.md

Two tables for each data set. Pairs: of the pairs of training and validation nodes that a source calls most alike, the
share that is of one class, and the share of all such pairs that this finds. Accuracy: the probe over redrawn training
sets (`nodewise tune --objective crossval`) on the same sources. Labels of test nodes are removed first; nothing here
decides anything.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import config, rng
from nodewise.datasets.registry import load_dataset
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.sampling.evidence import consensus
from nodewise.training.loop import prepare, train
from nodewise.tune.search import FIRST_TUNING_SEED, REDRAWN, redrawn_splits, without_test_labels
from nodewise.tune.space import PLAIN
from nodewise.views.topology import Topology

CONFIGS = Path(__file__).parents[1] / "configs"
SHARES = (0.02, 0.05, 0.1, 0.2)
LENGTHS = (0.1, 0.3, 1.0)


def sources(graph: Graph) -> dict[str, Tensor]:
    """Return matrices (N, d) of what there is to judge likeness by, rows of length one."""
    features, topology = Features(graph), Topology.of(graph)
    settings = config.load_toml(Settings, CONFIGS / f"{graph.name}.toml")
    seeds = torch.tensor([FIRST_TUNING_SEED])
    words = features.rows(torch.arange(graph.num_nodes))
    # In a basis of its own each word is a coordinate, which the probe's optimizer would favor: turn it.
    width = words.shape[1]
    turn = torch.linalg.qr(rng.uniform(1, torch.arange(width * width)).view(width, width) - 0.5).Q
    smoothed = smooth(topology.normalized_adjacency(), normalize(words, dim=-1) @ turn, 10, 0.1)
    agreement = consensus(features, topology, seeds, 100).dense()[0]
    found = {"smoothed features": smoothed - smoothed.mean(0), "agreement of 100 clusterings": agreement}
    variants = {"untrained encoder": ["training.steps=0"], "plain loss": list(PLAIN), "full method": []}
    for name, changes in variants.items():
        changed = config.override(settings, changes)
        learner = prepare(graph, changed, seeds.tolist(), torch.device("cpu"))
        train(learner)
        found[name] = embed_nodes(learner.encoder, features, topology, changed, seeds)[0]
    return {name: normalize(vectors, dim=-1) for name, vectors in found.items()}


def pair_precision(vectors: Tensor, labels: Tensor) -> list[str]:
    """Return 'precision / recall' among the most alike pairs, for each of SHARES."""
    one, other = torch.triu_indices(len(labels), len(labels), offset=1)
    same = (labels[one] == labels[other]).double()
    order = (vectors @ vectors.T)[one, other].argsort(descending=True, stable=True)
    cells = []
    for share in SHARES:
        top = same[order[: round(share * len(order))]]
        cells.append(f"{top.mean():.2f} / {top.sum() / same.sum():.2f}")
    return cells


def accuracies(vectors: Tensor, graph: Graph) -> list[str]:
    """Return the mean accuracy in percent over redrawn training sets, for each of LENGTHS."""
    labels, split = graph.labels, graph.split
    assert labels is not None
    assert split is not None
    splits = redrawn_splits(split, labels, REDRAWN)
    cells = []
    for length in LENGTHS:
        scaled = [length * vectors] * len(splits)
        found = linear_probe(scaled, labels, splits, "mvgrl", dataset=graph.name, seed=FIRST_TUNING_SEED)
        cells.append(f"{100 * found.val_accuracy.mean():.1f}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", default=None, help="where the Planetoid files are")
    args = parser.parse_args()
    print("# How far likeness goes without labels\n\nMade by `python scripts/limits.py`.")
    for name in args.datasets:
        graph = without_test_labels(load_dataset(name, args.data_dir))
        assert graph.split is not None
        assert graph.labels is not None
        known = np.concatenate([graph.split.train, graph.split.val])
        labels = torch.as_tensor(graph.labels[known])
        print(f"\n**{name.capitalize()}**: precision / recall of the most alike pairs; accuracy at three lengths\n")
        head = [f"top {share:.0%}" for share in SHARES] + [f"length {length:g}" for length in LENGTHS]
        print("| source | " + " | ".join(head) + " |\n|---|" + "---:|" * len(head))
        for source, vectors in sources(graph).items():
            cells = pair_precision(vectors[torch.as_tensor(known)], labels) + accuracies(vectors, graph)
            print(f"| {source} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
