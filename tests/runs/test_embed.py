"""What training a run says and leaves, beyond what the command's tests see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.methods.estimator import METHODS, Embedder
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.runs.embed import EmbedPlan, embed
from nodewise.runs.source import GraphSource

QUICK = {"steps": 2, "batch_size": 8, "dimension": 8}


@pytest.fixture
def ring(folder: Path) -> Callable[..., GraphSource]:
    """Write a ring of so many nodes and return where it is."""

    def write(size: int = 30, name: str = "edges.csv") -> GraphSource:
        Path(name).write_text("source,target\n" + "".join(f"{i},{(i + 1) % size}\n" for i in range(size)))
        return GraphSource(name)

    return write


def smoothed() -> Embedder:
    return METHODS["smoothed"](dimension=4)


def test_by_default_nothing_is_said_resumed_or_replaced(ring: Callable[..., GraphSource], capfd: Any) -> None:
    assert embed(NodeEmbedder(**QUICK), ring(), "run") is not None
    assert embed(NodeEmbedder(**QUICK), ring(), "run") is not None
    with pytest.raises(InputError) as error:
        embed(smoothed(), ring(), "run")
    assert error.value.code == "other-run"
    assert embed(smoothed(), ring(), "run", EmbedPlan(overwrite=True)) is not None
    assert capfd.readouterr().err == ""


def test_a_run_that_lost_its_vectors_is_still_of_its_graph(ring: Callable[..., GraphSource]) -> None:
    assert embed(smoothed(), ring(), "run") is not None
    Path("run/embeddings.parquet").unlink()
    with pytest.raises(InputError) as error:
        embed(smoothed(), ring(31, "other.csv"), "run")
    assert error.value.code == "other-run"
    assert embed(smoothed(), ring(), "run") is not None


def test_memory_is_looked_at_by_default(ring: Callable[..., GraphSource], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewise.training.device.available_memory", lambda *_: 10**6)
    with pytest.raises(InputError) as error:
        embed(NodeEmbedder(**QUICK), ring(), "run")
    assert error.value.code == "too-little-memory"
    assert embed(NodeEmbedder(**QUICK), ring(), "run", EmbedPlan(check_memory=False)) is not None


@pytest.mark.parametrize(("size", "given", "expected"), [(1000, None, 1), (1001, None, 2), (30, 2, 2)])
def test_a_small_graph_trains_on_one_thread_unless_told(
    ring: Callable[..., GraphSource], monkeypatch: pytest.MonkeyPatch, size: int, given: int | None, expected: int
) -> None:
    seen, before = [], torch.get_num_threads()
    fit = NodeEmbedder.fit

    def watched(self: NodeEmbedder, *rest: Any, **options: Any) -> Any:
        seen.append(torch.get_num_threads())
        return fit(self, *rest, **options)

    monkeypatch.setattr(NodeEmbedder, "fit", watched)
    torch.set_num_threads(2)
    try:
        embed(NodeEmbedder(**QUICK), ring(size), "run", EmbedPlan(threads=given))
        assert (seen, torch.get_num_threads()) == ([expected], 2)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("steps", "said"), [(2, False), (1, True)])
def test_half_of_the_nodes_is_enough_to_see(
    ring: Callable[..., GraphSource], capfd: pytest.CaptureFixture[str], steps: int, said: bool
) -> None:
    embed(NodeEmbedder(**QUICK | {"steps": steps}), ring(32), "run", EmbedPlan(quiet=False))
    assert ("of the nodes" in capfd.readouterr().err) == said
