"""Embed the bundled graph, look at a node's neighbours, and score the vectors with few labels."""

import argparse

from nodewise import NodeEmbedder, load_dataset
from nodewise.core import config
from nodewise.evaluation.evaluate import evaluate_embeddings
from nodewise.methods.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps

    graph = load_dataset("citeseer")
    print(graph)
    settings = config.override(Settings(), [f"training.steps={steps}"])
    model = NodeEmbedder(settings, seed=0).fit(graph)

    print("nearest to node 17:", model.neighbors(17, k=3))
    vectors = model.embeddings_.vectors
    report = evaluate_embeddings(vectors, graph.labels, public=graph.split, dataset=graph.name, metrics=["accuracy"])
    print(f"accuracy of a linear classifier on 20 labels a class: {report.scores['accuracy'].mean:.3f}")


if __name__ == "__main__":
    main()
