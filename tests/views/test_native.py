import sys
from collections.abc import Iterator

import pytest
import torch
from tests.graphs import random_graph

from nodewise.views import native
from nodewise.views.subgraphs import induced_subgraphs, subgraphs_in_torch
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks, walks_in_torch

TOPOLOGY = Topology.of(random_graph(150, 400))
CPU = torch.device("cpu")


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    native._available.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "nodewise.views.compiled", raising=False)
    yield
    native._available.cache_clear()


@pytest.mark.usefixtures("no_numba")
def test_without_numba_torch_does_it() -> None:
    assert not native.worthwhile(CPU, 150)
    walks = random_walks(TOPOLOGY, torch.arange(150), 5, 1)
    assert torch.equal(walks, walks_in_torch(TOPOLOGY, torch.arange(150), 5, 1))
    assert torch.equal(induced_subgraphs(TOPOLOGY, walks).nodes, subgraphs_in_torch(TOPOLOGY, walks).nodes)


def test_many_walks_on_a_cpu_are_compiled_and_few_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the compiled views need numba (the extra `fast`)")
    called = []

    def walk(*_: object, **__: object) -> torch.Tensor:
        called.append("walk")
        return torch.zeros((150, 6), dtype=torch.int64)

    def induce(*_: object) -> tuple[torch.Tensor, ...]:
        called.append("induce")
        return torch.zeros(1), torch.zeros(1), torch.zeros(1)

    monkeypatch.setattr("nodewise.views.compiled.walk", walk)
    monkeypatch.setattr("nodewise.views.compiled.induce", induce)
    induced_subgraphs(TOPOLOGY, random_walks(TOPOLOGY, torch.arange(10), 5, 1))
    assert called == []
    induced_subgraphs(TOPOLOGY, random_walks(TOPOLOGY, torch.arange(150), 5, 1))
    assert called == ["walk", "induce"]


def test_other_devices_are_left_to_torch() -> None:
    assert not native.worthwhile(torch.device("cuda"), 10**6)
