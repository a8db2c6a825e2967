"""Try another way to choose negatives, beside one that comes along, on equal seeds."""

import argparse

from nodewise import Candidates, NodeEmbedder, PairSets, Strategy, load_dataset, strategy
from nodewise.evaluation.probe import linear_probe


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

    graph = load_dataset("citeseer")
    for chosen in ("all", FarAway(), FarAway(share=0.9)):
        for seed in (0, 1):
            model = NodeEmbedder(strategy=chosen, steps=steps, seed=seed, device="cpu").fit(graph)
            vectors = model.embeddings_.vectors
            result = linear_probe(vectors, graph.labels, graph.split, dataset=graph.name, seed=seed)
            print(chosen, "seed", seed, "validation accuracy:", result.val_accuracy.round(3))


if __name__ == "__main__":
    main()
