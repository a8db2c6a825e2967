"""Write the accuracies that `nodewise methods` shows, from the committed rows of Table 2.

    python scripts/bundle_accuracy.py [results] [configs] [target]

Run it after `nodewise reproduce table2 -o results`; it counts the rows that the table counts.
"""

import json
import sys
from pathlib import Path

import torch

from nodewise.core.files import atomic_write
from nodewise.datasets.registry import load_dataset
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.run import Runner
from nodewise.reproduce.setup import Setup

NAMES = {"random": "random encoder"}
TARGET = Path(__file__).parent.parent / "src/nodewise/methods/accuracy.json"


def main(results: str = "results", configs: str = "configs", target: str | Path = TARGET) -> None:
    table2 = EXPERIMENTS["table2"]
    setup = Setup(datasets=table2.datasets, runs=table2.runs, configs=Path(configs))
    found = Runner(Path(results), load_dataset, torch.device("cpu")).results(table2, setup)
    measured = {}
    for name in METHODS:
        cells = {dataset: found.summary(NAMES.get(name, name), dataset) for dataset in setup.datasets}
        measured[name] = {
            dataset: {"mean": round(cell.mean, 2), "std": None if cell.std is None else round(cell.std, 2), "n": cell.n}
            for dataset, cell in cells.items()
            if cell is not None
        }
    with atomic_write(Path(target)) as temporary:
        temporary.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
