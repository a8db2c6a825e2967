from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nodewise.core import config
from nodewise.data.synthetic import block_model
from nodewise.methods.settings import Settings
from nodewise.reproduce import ablation

CPU = torch.device("cpu")
SMALL = config.override(Settings(), ["encoder.dimension=8", "training.steps=2", "training.batch_size=60"])
GRAPH = block_model(200, num_classes=3, num_features=30, seed=1)


def test_rows_differ_by_their_switches_only() -> None:
    plain = config.override(SMALL, ["training.steps=1"])
    rows = ablation.rows_of(SMALL, plain)
    assert rows["full"] == SMALL
    assert rows["without all, tuned"] == plain
    assert rows["random encoder"].training.steps == 0
    for name, switches in ablation.SWITCHES.items():
        sampling = rows[name].sampling
        assert (sampling.collision, sampling.dpp, sampling.weights) == switches
        assert replace(rows[name], sampling=SMALL.sampling) == SMALL


def test_a_grid_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, measured = tmp_path / "grid.csv", []
    real = ablation.measure

    def counted(graph, variant, settings, seeds, device):  # type: ignore[no-untyped-def]
        measured.append((variant, tuple(seeds)))
        return real(graph, variant, settings, seeds, device)

    monkeypatch.setattr(ablation, "measure", counted)
    rows = {"full": SMALL, "without all": ablation.rows_of(SMALL, SMALL)["without all"]}
    ablation.run_grid(GRAPH, {"full": SMALL}, path, runs=3, device=CPU, stack=2)
    with path.open("a") as file:
        file.write("block model,full,3,0.5")  # cut off in mid-write
    ablation.run_grid(GRAPH, rows, path, runs=3, device=CPU, stack=2)
    assert measured == [("full", (0, 1)), ("full", (2,)), ("without all", (0, 1)), ("without all", (2,))]
    again = path.read_text()
    ablation.run_grid(GRAPH, rows, path, runs=3, device=CPU, stack=2)
    assert path.read_text() == again


def test_a_seed_scores_the_same_in_any_stack(tmp_path: Path) -> None:
    together = ablation.measure(GRAPH, "full", SMALL, [0, 1, 2], CPU)
    alone = ablation.measure(GRAPH, "full", SMALL, [1], CPU)
    assert together[1]["test"] == alone[0]["test"]
    assert together[1]["val"] == alone[0]["val"]


def test_the_table_pairs_equal_seeds() -> None:
    cell = {"dataset": "d", "val": "0", "protocol": "p"}
    rows = [cell | {"variant": "full", "seed": str(s), "test": str(0.70 + 0.01 * s)} for s in range(3)]
    rows += [cell | {"variant": "without all", "seed": str(s), "test": str(0.69 + 0.01 * s)} for s in (2, 1)]
    text = ablation.table(rows)
    assert "| full | 71.00 ± 1.00 (n=3)<br>+1.00 [+1.00, +1.00] |" in text
    assert "| without all | 70.50 ± 0.71 (n=2) |" in text
