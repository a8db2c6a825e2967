"""Try another way to choose negatives, beside one that comes along, on equal seeds."""

import argparse

import torch

from nodewise import load_dataset
from nodewise.core import config
from nodewise.evaluation.probe import linear_probe
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.sampling.pairs import Candidates, PairSets, Strategy
from nodewise.sampling.strategy import build_strategy
from nodewise.training.loop import prepare, train


class NoNeighbours(Strategy):
    """Keep every candidate that is not joined to the node by an edge."""

    def __call__(self, candidates: Candidates) -> PairSets:
        nodes, others = candidates.query_nodes.unsqueeze(-1), candidates.key_nodes.unsqueeze(-2)
        return PairSets(~candidates.own & ~candidates.topology.has_edge(nodes, others)).with_counts()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps

    graph, seeds = load_dataset("citeseer"), [0, 1]
    settings = config.override(Settings(), ["sampling.strategy=all", f"training.steps={steps}"])
    for strategy in (build_strategy(settings.sampling), NoNeighbours(settings.sampling)):
        learner = prepare(graph, settings, seeds, torch.device("cpu"), strategy)
        train(learner)
        vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
        result = linear_probe(vectors, graph.labels, graph.split, dataset=graph.name, seed=seeds)
        print(type(strategy).__name__, "validation accuracy:", result.val_accuracy.ravel().round(3))


if __name__ == "__main__":
    main()
