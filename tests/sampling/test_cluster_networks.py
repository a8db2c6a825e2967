"""Networks on clusters are the networks on vectors: against the slow twin, and against a loop over nodes."""

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling import cluster_networks, discriminators
from nodewise.sampling.cluster_networks import cluster_log_ratio
from nodewise.sampling.descriptions import Descriptions
from nodewise.sampling.discriminators import Queries, log_ratio
from nodewise.sampling.neighborhood import mixup, mixup_shares

NODES, QUERIES, MEMBERS = 40, 9, 3
MIXING = rng.key(0, "mixup")


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compute in float64, from the same weights."""
    single = discriminators.draw_weights
    for module in (discriminators, cluster_networks):
        monkeypatch.setattr(module, "draw_weights", lambda *a: single(*a).double())
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=["gathered", "dense"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_networks, "_gathers", lambda _: request.param == "gathered")


class Batch:
    """Some nodes of S runs that are described by R clusterings of 3 to 8 clusters, of which there might be 10."""

    def __init__(self, runs: int = 2, clusterings: int = 5, near: float = 0.2, candidates: int = 14) -> None:
        generator = torch.Generator().manual_seed(runs + clusterings)
        sizes = torch.randint(3, 9, (runs, 1, clusterings), generator=generator)
        drawn = (torch.rand(runs, NODES, clusterings, generator=generator) * sizes).long()
        self.all = Descriptions.numbered(drawn + 10 * torch.arange(clusterings), 10 * clusterings)
        self.keys = torch.stack([torch.randperm(NODES, generator=generator)[:candidates] for _ in range(runs)])
        self.nodes = self.keys[:, :QUERIES]
        self.members = torch.randint(0, NODES, (runs, QUERIES, MEMBERS), generator=generator)
        self.near = torch.rand(runs, QUERIES, candidates, generator=generator) < near
        self.draw = rng.key(torch.arange(runs).unsqueeze(-1), "F")

    def fast(self, mixed: int, run: slice = slice(None), some: slice = slice(None), **training: float) -> Tensor:
        part = (run, some)
        everyone = Descriptions(self.all.clusters[run], self.all.columns[run], self.all.width)
        nodes = self.nodes[part]
        shares = mixup_shares(MEMBERS, mixed, MIXING, nodes)
        seen, own = everyone.of(self.keys[run]), everyone.of(self.members[part])
        queries = Queries(self.near[part], nodes, self.draw[run])
        return cluster_log_ratio(seen, own, shares, queries, **training)

    def slow(self, mixed: int, **training: float) -> Tensor:
        own = self.all.of(self.members).dense()
        own = torch.cat([own, mixup(own, mixed, MIXING, self.nodes)], dim=-2)
        queries = Queries(self.near, self.nodes, self.draw)
        return log_ratio(self.all.of(self.keys).dense(), own, queries, **training)


@pytest.mark.usefixtures("way", "double")
@pytest.mark.parametrize(("runs", "clusterings"), [(1, 1), (2, 5), (3, 12)])
@pytest.mark.parametrize("mixed", [0, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_the_slow_twin_finds_the_same(runs: int, clusterings: int, mixed: int, steps: int) -> None:
    batch = Batch(runs, clusterings)
    expected = batch.slow(mixed, steps=steps, learning_rate=4.0)
    found = batch.fast(mixed, steps=steps, learning_rate=4.0)
    assert found.shape == (runs, QUERIES, 14)
    assert torch.allclose(found, expected, atol=1e-9)


@pytest.mark.usefixtures("way", "double")
@pytest.mark.parametrize("near", [0.0, 0.9, 1.0])
def test_few_negatives_and_no_near_candidates(near: float) -> None:
    batch = Batch(near=near)
    assert torch.allclose(batch.fast(2, steps=3), batch.slow(2, steps=3), atol=1e-9)


@pytest.mark.usefixtures("way", "double")
def test_against_a_loop_over_nodes() -> None:
    batch, rate = Batch(), 3.0
    found = batch.fast(2, steps=4, learning_rate=rate)
    shares = mixup_shares(MEMBERS, 2, MIXING, batch.nodes).double()
    dense = batch.all.dense()
    for run in range(2):
        seen = dense[run, batch.keys[run]]
        center = seen.mean(0)
        scale = 1 / math.sqrt(float((seen - center).square().sum(-1).mean()))
        for query in range(QUERIES):
            own = dense[run, batch.members[run, query]]
            near = batch.near[run, query]
            positives = torch.cat([own, shares[run, query] @ own, seen[near]])
            logits = []
            for kind, groups in ((1, (positives, seen[~near])), (0, (seen[~near], positives))):
                streams = rng.fold(rng.fold(rng.fold(batch.draw, kind), 0), batch.nodes)
                weight = discriminators.draw_weights(streams[run, query], torch.arange(50), 51).requires_grad_()
                bias = torch.zeros((), requires_grad=True)
                for _ in range(4):
                    loss = torch.zeros(())
                    for group, target in zip(groups, (1, 0), strict=True):
                        for point in group:
                            p = torch.sigmoid(weight @ ((point - center) * scale) + bias)
                            loss = loss - 0.5 / len(group) * torch.log(p if target else 1 - p)
                    slopes = torch.autograd.grad(loss, (weight, bias))
                    weight, bias = (
                        (old - rate * slope).detach().requires_grad_()
                        for old, slope in zip((weight, bias), slopes, strict=True)
                    )
                logits.append(((seen - center) * scale) @ weight + bias)
            plus, minus = (torch.nn.functional.logsigmoid(each).detach() for each in logits)
            assert torch.allclose(found[run, query], plus - minus, atol=1e-9)


@pytest.mark.usefixtures("way")
def test_single_precision_is_enough() -> None:
    batch = Batch(3, 20)
    expected = batch.slow(4, steps=5, learning_rate=4.0)
    assert expected.abs().max() > 0.5
    assert torch.allclose(batch.fast(4, steps=5, learning_rate=4.0), expected, atol=1e-5)


@pytest.mark.usefixtures("way")
def test_stacks_and_parts_of_the_queries_do_not_change_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch(3)
    used = [len(set(run.flatten().tolist())) for run in batch.all.clusters]
    assert len(set(used)) > 1  # so that some run has columns of nobody
    whole = batch.fast(2)
    for run in range(3):
        alone = batch.fast(2, slice(run, run + 1), slice(3, 7))
        assert torch.allclose(whole[run : run + 1, 3:7], alone, atol=1e-6)
    monkeypatch.setattr(cluster_networks, "_QUERIES_AT_ONCE", 4)
    assert torch.allclose(batch.fast(2), whole, atol=1e-6)


@pytest.mark.usefixtures("way")
def test_candidates_that_are_all_alike_are_told_apart_by_nothing() -> None:
    batch = Batch()
    batch.all.clusters[:] = batch.all.clusters[:, :1]
    found = batch.fast(2)
    assert found.isfinite().all()
    assert torch.equal(found, found[..., :1].expand_as(found))


@pytest.mark.gpu
@pytest.mark.parametrize("runs", [1, 3])
def test_the_gpu_finds_the_same_every_time_and_can_be_captured(runs: int) -> None:
    batch = Batch(runs, 20)
    expected = batch.fast(4, steps=5, learning_rate=4.0)
    there = Batch(runs, 20)
    there.all = Descriptions(there.all.clusters.cuda(), there.all.columns.cuda(), there.all.width)
    for name in ("keys", "nodes", "members", "near", "draw"):
        setattr(there, name, getattr(there, name).cuda())
    found = there.fast(4, steps=5, learning_rate=4.0)
    assert torch.allclose(found.cpu(), expected, atol=1e-4)
    assert torch.equal(there.fast(4, steps=5, learning_rate=4.0), found)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = there.fast(4, steps=5, learning_rate=4.0)
    graph.replay()
    assert torch.allclose(captured, found, atol=1e-5)
