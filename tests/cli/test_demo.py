from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodewise.report import coordinates

Nodewise = Callable[..., Any]

QUICK = ("--set", "training.steps=1", "--set", "encoder.dimension=16", "--set", "sampling.collision=false")


@pytest.fixture(autouse=True)
def quick_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the page's map be a PCA: t-SNE would take longer than everything else."""
    monkeypatch.setattr(coordinates, "MOST_BY_TSNE", 0)


def test_a_run_its_scores_and_what_to_do_next(nodewise: Nodewise) -> None:
    outcome = nodewise("demo", *QUICK, "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert Path("runs/demo/embeddings.parquet").is_file()
    assert "raw features" in outcome.out
    assert "probe mvgrl" in outcome.out
    assert "scikit-learn's logistic regression: raw features 6" in outcome.out
    # What it proposes for the run works as it stands.
    proposed = [line.split("nodewise ")[1].split() for line in outcome.out.splitlines() if "nodewise " in line]
    assert [words[0] for words in proposed] == ["neighbors", "evaluate", "inspect", "embed"]
    assert nodewise(*proposed[0]).code == 0
    page = Path(outcome.out.splitlines()[-1].rpartition(": ")[2])
    assert page == Path("runs/demo/report.html")
    assert "</html>" in page.read_text(encoding="utf-8")[-10:]


def test_json_holds_both_evaluations(nodewise: Nodewise) -> None:
    outcome = nodewise("demo", *QUICK, "--output", "here", "--json")
    report = json.loads(outcome.out)
    assert report["embeddings"] == "here/embeddings.parquet"
    assert report["report"] == "here/report.html"
    assert report["evaluation"]["protocol"].startswith("linear classifier (probe mvgrl)")
    assert report["evaluation_sklearn"]["protocol"].startswith("linear classifier (probe sklearn)")
    assert [row["name"] for row in report["evaluation"]["comparison"]] == [
        "raw features",
        "smoothed features",
        "random encoder",
    ]
