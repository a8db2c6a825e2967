"""The ablation table: the method with all, each and none of its three parts, on equal seeds.

Each data set has two committed configs: the one found for the full method, under which every row is run, and the one
found for the plain loss with the same tuning budget, which is the last row. Rows are appended to `runs.csv` as they
are finished; a run that was cut off goes on where it was.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.data.graph import Graph
from nodewise.evaluation.paired import paired_difference
from nodewise.evaluation.probe import linear_probe
from nodewise.methods.embed import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.loop import prepare, train

SWITCHES = {
    "full": (True, True, True),
    "with α": (True, False, False),
    "with DPP": (False, True, False),
    "with w": (False, False, True),
    "without all": (False, False, False),
}
"""(collision, dpp, weights) of each row; all of them under the full method's config."""

TUNED_PLAIN = "without all, tuned"
RANDOM = "random encoder"

COLUMNS = ("dataset", "variant", "seed", "val", "test", "seconds", "peak_gpu_mb", "device", "torch", "protocol")


def rows_of(full: Settings, plain: Settings) -> dict[str, Settings]:
    """Return the settings of every row of a data set's table."""
    rows = {}
    for name, (collision, dpp, weights) in SWITCHES.items():
        rows[name] = replace(full, sampling=replace(full.sampling, collision=collision, dpp=dpp, weights=weights))
    rows[TUNED_PLAIN] = plain
    rows[RANDOM] = replace(full, training=replace(full.training, steps=0))
    return rows


def measure(
    graph: Graph, variant: str, settings: Settings, seeds: Sequence[int], device: torch.device, probe: str = "mvgrl"
) -> list[dict[str, Any]]:
    """Train a stack of seeds and return one row per seed. The public split's test labels score finished embeddings."""
    if graph.labels is None or graph.split is None:
        raise ValueError(f"{graph.name} has no labels and split to be scored with")
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    began = time.time()
    learner = prepare(graph, settings, list(seeds), device)
    train(learner)
    vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
    if on_gpu:
        torch.cuda.synchronize()
    seconds = (time.time() - began) / len(seeds)
    result = linear_probe(
        vectors, graph.labels, graph.split, probe, dataset=graph.name, seed=list(seeds), device=device
    )
    return [
        {
            "dataset": graph.name,
            "variant": variant,
            "seed": seed,
            "val": round(float(val), 4),
            "test": round(float(test), 4),
            "seconds": round(seconds, 3),
            "peak_gpu_mb": round(torch.cuda.max_memory_allocated() / 2**20) if on_gpu else "",
            "device": torch.cuda.get_device_name() if on_gpu else f"cpu ({torch.get_num_threads()} threads)",
            "torch": torch.__version__,
            "protocol": result.protocol,
        }
        for seed, val, test in zip(seeds, result.val_accuracy[:, 0, 0], result.test_accuracy[:, 0, 0], strict=True)
    ]


def run_grid(
    graph: Graph,
    rows: dict[str, Settings],
    path: Path,
    *,
    runs: int,
    device: torch.device,
    stack: int = 10,
    until: float = float("inf"),
) -> None:
    """Fill the cells (variant, seed) of a data set that the CSV at `path` lacks, `stack` seeds at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for variant, settings in rows.items():
        missing = [seed for seed in range(runs) if (graph.name, variant, seed) not in finished_cells(path)]
        for start in range(0, len(missing), stack):
            if time.time() > until:
                return
            append_rows(path, measure(graph, variant, settings, missing[start : start + stack], device))


def finished_cells(path: Path) -> set[tuple[str, str, int]]:
    """Return the cells that are in the file already."""
    return {(row["dataset"], row["variant"], int(row["seed"])) for row in read_rows(path)}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the finished rows; one cut off in mid-write is left out."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if None not in row.values() and row["protocol"]]


def append_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Append rows in one write, after the header if the file is new."""
    before = path.read_bytes() if path.exists() else b""
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not before:
            writer.writeheader()
        elif not before.endswith(b"\n"):
            file.write("\n")  # a row cut off by a kill must not swallow the next
        writer.writerows(rows)


def table(rows: list[dict[str, str]]) -> str:
    """Return the Markdown table: mean, standard deviation and n of each cell, and the gain over "without all"."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    cells: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        cells.setdefault((row["variant"], row["dataset"]), {})[int(row["seed"])] = 100 * float(row["test"])
    lines = ["| variant | " + " | ".join(datasets) + " |", "|---|" + "---|" * len(datasets)]
    for variant in variants:
        line = [variant]
        for dataset in datasets:
            scores = cells.get((variant, dataset))
            line.append(_cell(scores, cells.get(("without all", dataset)), variant) if scores else "")
        lines.append("| " + " | ".join(line) + " |")
    return "\n".join(lines) + "\n"


def _cell(scores: dict[int, float], plain: dict[int, float] | None, variant: str) -> str:
    values = np.array(list(scores.values()))
    text = f"{values.mean():.2f} ± {values.std(ddof=1) if len(values) > 1 else 0:.2f} (n={len(values)})"
    shared = sorted(set(scores) & set(plain or {}))
    if plain and variant in SWITCHES and variant != "without all" and len(shared) > 1:
        gain = paired_difference({s: scores[s] for s in shared}, {s: plain[s] for s in shared})
        text += f"<br>{gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]"
    return text
