import pytest
import torch

from nodewise.fast.lanes import beside, join, mark

LONG = 100_000_000  # cycles of a GPU, some hundredths of a second


def test_on_a_cpu_there_is_one_order_and_lanes_change_nothing() -> None:
    seen = []
    start = mark(torch.zeros(1))
    assert start is None
    seen.append("before")
    with beside("lane", start):
        seen.append("inside")
    join("lane", start)
    assert seen == ["before", "inside"]


@pytest.mark.gpu
def test_a_lane_waits_for_its_mark_and_what_follows_waits_for_the_lane() -> None:
    made = torch.zeros(1000, device="cuda")
    torch.cuda._sleep(LONG)
    made.fill_(1.0)
    start = mark(made)
    with beside("test", start):
        assert torch.cuda.current_stream() != torch.cuda.default_stream()
        torch.cuda._sleep(LONG)
        doubled = 2 * made
    join("test", start)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert torch.equal(doubled + 0, torch.full_like(made, 2.0))


@pytest.mark.gpu
def test_a_lane_does_not_wait_for_what_comes_after_its_mark() -> None:
    made = torch.ones(1000, device="cuda")
    start = mark(made)
    torch.cuda._sleep(20 * LONG)
    with beside("test", start):
        doubled = 2 * made
        finished = torch.cuda.Event()  # type: ignore[no-untyped-call]
        finished.record()
    finished.synchronize()
    assert not torch.cuda.current_stream().query()
    join("test", start)
    assert float(doubled.sum()) == 2000


@pytest.mark.gpu
def test_lanes_are_branches_of_a_captured_graph() -> None:
    x = torch.randn(500, 500, device="cuda")

    def work() -> torch.Tensor:
        doubled = 2 * x
        start = mark(doubled)
        tripled = 3 * x
        with beside("captured", start):
            product = doubled @ doubled
        join("captured", start)
        return product + tripled

    warm = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(warm):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    for _ in range(3):
        x.copy_(torch.randn(500, 500, device="cuda"))
        graph.replay()
        assert torch.allclose(result, (2 * x) @ (2 * x) + 3 * x, rtol=1e-4, atol=1e-3)
