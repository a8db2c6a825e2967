"""Embed the bundled graph, look at a node's neighbors, and score the vectors with few labels."""

import argparse

import nodewise as nw
from nodewise.evaluation.evaluate import evaluate_embeddings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps

    graph = nw.load_dataset("citeseer")
    print(graph)
    model = nw.NodeEmbedder(steps=steps, seed=0).fit(graph)

    print("nearest to node 17:", model.neighbors(17, k=3))
    vectors = model.embeddings_.vectors
    report = evaluate_embeddings(vectors, graph.labels, public=graph.split, dataset=graph.name, metrics=["accuracy"])
    print(f"accuracy of a linear classifier on 20 labels per class: {report.scores['accuracy'].mean:.3f}")


if __name__ == "__main__":
    main()
