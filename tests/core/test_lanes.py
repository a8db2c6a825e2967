import pytest
import torch

from nodewise.core.lanes import beside, join, mark


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
def test_a_lane_starts_at_its_mark_and_what_follows_waits_for_it() -> None:
    x = torch.randn(2000, 2000, device="cuda", dtype=torch.float64)
    expected = torch.linalg.matrix_power(x / 100, 6)
    made = x / 100
    start = mark(made)
    other = torch.zeros_like(x)
    for _ in range(20):
        other = other + x @ x
    with beside("test", start):
        assert torch.cuda.current_stream() != torch.cuda.default_stream()
        power = torch.linalg.matrix_power(made, 6)
    join("test", start)
    result = power + 0
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert torch.allclose(result, expected)


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
