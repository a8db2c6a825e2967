"""Rivals against print: `python benchmarks/rivals.py --data-dir DIR [--methods dgi ...] [--datasets cora ...]`.

Every method without labels, trained with its settings for the data set and scored by its own paper's probe and by the
headline probe `mvgrl`: on the public split, on Amazon Photo on random splits of 10 / 10 / 80 percent. A cell ends after
so many seeds or seconds; with `--part 0/3` a process takes every third cell, so that three share a machine.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.config import override
from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.presets import get_preset
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph, Split
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.paper_values import ON_PHOTO, published
from nodewise.vectors.collapse import effective_rank, some_rows

DATASETS = ("cora", "citeseer", "pubmed", "amazon-photo")


def split_of(graph: Graph, seed: int) -> Split:
    """Return the public split, or one of 10 / 10 / 80 percent where there is none."""
    if graph.split is not None and graph.name != "amazon-photo":
        return graph.split
    order = np.random.default_rng(seed).permutation(graph.num_nodes)
    tenth = graph.num_nodes // 10
    return Split(order[:tenth], order[tenth : 2 * tenth], order[2 * tenth :])


def cell(name: str, graph: Graph, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train one method on one graph with some seeds; return what its row says."""
    method = METHODS[name]
    settings = override(method.settings_for(graph.name), chosen.set)
    if chosen.scaling is not None and isinstance(getattr(settings, "features", None), str):
        settings = override(settings, [f"features={chosen.scaling}"])
    elif chosen.scaling is not None:
        method.scaling = chosen.scaling
    own, head, val, ranks, seconds = [], [], [], [], []
    begin, probes = time.monotonic(), (method.probe, "mvgrl")
    for seed in range(chosen.seeds):
        before = time.monotonic()
        vectors = method(settings, seed=seed, device=chosen.device).fit(graph).embeddings_.vectors
        seconds.append(time.monotonic() - before)
        options: dict[str, Any] = {"dataset": graph.name, "seed": seed, "device": chosen.place}
        split = split_of(graph, seed)
        mine, theirs = (linear_probe(vectors, graph.labels, split, probe, **options) for probe in probes)
        for kept, score in ((own, mine.test_accuracy), (val, mine.val_accuracy), (head, theirs.test_accuracy)):
            kept.append(100 * score.mean())
        ranks.append(effective_rank(some_rows(vectors)))
        if time.monotonic() - begin > chosen.seconds:
            break
    printed = ON_PHOTO.get(name) if graph.name == "amazon-photo" else published(name, graph.name)
    row: dict[str, Any] = {
        "method": name,
        "dataset": graph.name,
        "changed": [*chosen.set, chosen.scaling],
        "probe": method.probe,
    }
    row |= {"own": round(np.mean(own), 2), "std": round(np.std(own), 2), "n": len(own), "val": round(np.mean(val), 2)}
    row |= {"mvgrl": round(np.mean(head), 2), "printed": printed}
    return row | {"seconds": round(float(np.median(seconds)), 1), "rank": round(float(np.mean(ranks)), 1)}


def main() -> None:
    """Print a line per cell, and append it as JSON to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--methods", nargs="*", default=[name for name in METHODS if not METHODS[name].needs_labels()])
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0, help="per cell; the seed begun last is finished")
    parser.add_argument("--set", nargs="*", default=[], metavar="key=value", help="settings other than the method's")
    parser.add_argument(
        "--scaling", choices=["raw", "shares", "unit", "peaks"], help="of features, other than the method's"
    )
    parser.add_argument("--part", default="0/1", help="which of how many parts of the cells")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--place", default="cpu", help="where the probes are computed")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    for name in chosen.methods:
        get_preset(METHODS[name].probe)
    cells = [(dataset, name) for dataset in chosen.datasets for name in chosen.methods]
    graphs: dict[str, Graph] = {}
    for dataset, name in cells[part::parts]:
        if dataset not in graphs:
            graphs[dataset] = load_dataset(dataset, data_dir=chosen.data_dir)
        try:
            row = cell(name, graphs[dataset], chosen)
        except Exception as error:
            row = {"method": name, "dataset": dataset, "changed": chosen.set, "error": repr(error)[:300]}
        print(json.dumps(row), flush=True)
        if chosen.output is not None:
            with chosen.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
