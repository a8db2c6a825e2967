import pytest
import torch
from tests.graphs import random_graph

from nodewise.core import config
from nodewise.core.errors import InputError, NodewiseError
from nodewise.training import device as memory
from nodewise.training.device import needed_bytes, out_of_memory_in_words, require_memory
from nodewise.training.settings import LearnerSettings

GRAPH = random_graph(3000, 9000)
CPU = torch.device("cpu")


def settings(*changes: str) -> LearnerSettings:
    return config.override(LearnerSettings(), changes)


def refusal(available: int, monkeypatch: pytest.MonkeyPatch, *changes: str) -> str:
    monkeypatch.setattr(memory, "available_memory", lambda: available)
    with pytest.raises(InputError) as caught:
        require_memory(GRAPH, settings(*changes), CPU)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_fits_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    for available in (needed_bytes(GRAPH, settings(), CPU), None):
        monkeypatch.setattr(memory, "available_memory", lambda available=available: available)
        require_memory(GRAPH, settings(), CPU)


def test_the_refusal_names_both_numbers_and_a_batch_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = needed_bytes(GRAPH, settings("training.batch_size=2000"), CPU)
    available = needed_bytes(GRAPH, settings("training.batch_size=500"), CPU)
    said = refusal(available, monkeypatch, "training.batch_size=2000")
    assert f"needs about {needed / 1e9:.1f} GB and {available / 1e9:.1f} GB of memory are free" in said
    assert "--set training.batch_size=500 would fit (--any-memory starts all the same)" in said
    require_memory(GRAPH, settings("training.batch_size=500"), CPU)


def test_a_batch_larger_than_the_graph_counts_as_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    available = needed_bytes(GRAPH, settings("training.batch_size=1500"), CPU)
    assert "training.batch_size=1500 would fit" in refusal(available, monkeypatch, "training.batch_size=1000000")


def test_where_no_batch_helps_the_dimension_may(monkeypatch: pytest.MonkeyPatch) -> None:
    available = needed_bytes(GRAPH, settings("training.batch_size=32", "encoder.dimension=128"), CPU)
    said = refusal(available, monkeypatch)
    assert "--set training.batch_size=32 --set encoder.dimension=128 would fit" in said
    assert "take a machine with more memory" in refusal(1000, monkeypatch)


def test_a_gpu_that_runs_out_of_memory_suggests_the_batch() -> None:
    words = r"^the GPU ran out of memory at training\.batch_size=500; try --set training\.batch_size=250$"
    with pytest.raises(NodewiseError, match=words), out_of_memory_in_words(settings("training.batch_size=500")):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")


def test_a_machine_that_runs_out_of_memory_does_so_too() -> None:
    with pytest.raises(NodewiseError, match=r"^the machine ran out of memory"), out_of_memory_in_words(settings()):
        torch.empty(1 << 55)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="shapes"), out_of_memory_in_words(settings()):
        raise RuntimeError("shapes do not match")


@pytest.mark.parametrize(
    ("said", "free", "known"),
    [
        ("CUDA error: out of memory", 1 << 34, True),
        ("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling", 1 << 20, True),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling", 1 << 20, True),
        ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling", 1 << 34, False),
    ],
)
def test_libraries_that_fail_without_memory_are_told_as_such(
    said: str, free: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 1 << 37))
    expected = (NodewiseError, r"^the GPU ran out of memory") if known else (RuntimeError, "CUBLAS")
    with pytest.raises(expected[0], match=expected[1]), out_of_memory_in_words(settings()):
        raise RuntimeError(said)
