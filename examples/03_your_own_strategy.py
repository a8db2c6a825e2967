"""Try another way to choose negatives, beside one that comes along, on equal seeds."""

import argparse
from dataclasses import replace

import torch

from nodewise import load_dataset
from nodewise.core import config
from nodewise.evaluation.probe import linear_probe
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.sampling.all_in_batch import AllInBatch
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import Strategy, strategy
from nodewise.training.loop import prepare, train


@strategy("far-away")
class FarAway(Strategy):
    """Keep the less similar part, `share`, of the candidates that are not joined to the node by an edge."""

    share: float = 0.5

    def choose(self, candidates: Candidates) -> PairSets:
        joined = candidates.topology.has_edge(candidates.query_nodes[:, None], candidates.key_nodes)
        limit = candidates.scores.quantile(self.share, dim=-1, keepdim=True)
        return PairSets((candidates.scores <= limit) & ~joined)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps

    graph, seeds = load_dataset("citeseer"), [0, 1]
    for chosen in (AllInBatch(), FarAway(), FarAway(share=0.9)):
        settings = replace(config.override(Settings(), [f"training.steps={steps}"]), sampling=chosen)
        learner = prepare(graph, settings, seeds, torch.device("cpu"))
        train(learner)
        vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
        result = linear_probe(vectors, graph.labels, graph.split, dataset=graph.name, seed=seeds)
        print(chosen, "validation accuracy:", result.val_accuracy.ravel().round(3))


if __name__ == "__main__":
    main()
