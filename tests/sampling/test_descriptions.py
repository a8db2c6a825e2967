import torch

from nodewise.sampling.descriptions import Descriptions, vectors


def drawn(runs: int = 2, nodes: int = 11, clusterings: int = 5, clusters: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, clusters, (runs, nodes, clusterings), generator=generator)


def test_descriptions_are_unit_vectors_whose_products_are_shares_of_agreement() -> None:
    own = drawn()
    found = Descriptions.numbered(own + 4 * torch.arange(5), 20)
    nodes = torch.tensor([[0, 3, 10, 3], [1, 2, 4, 9]])
    described = found.of(nodes).dense()
    assert described.shape == (2, 4, 20)
    for run in range(2):
        for i, left in enumerate(nodes[run].tolist()):
            for j, right in enumerate(nodes[run].tolist()):
                agreeing = sum(int(own[run, left, r]) == int(own[run, right, r]) for r in range(5))
                assert abs(float(described[run, i] @ described[run, j]) - agreeing / 5) < 1e-6
    assert torch.equal(found.of(nodes.view(2, 2, 2)).dense(), described.view(2, 2, 2, 20))


def test_used_columns_are_numbered_without_gaps_in_each_run() -> None:
    numbers = torch.tensor([[[1, 7], [4, 7], [1, 9]], [[0, 6], [0, 6], [0, 6]]])
    found = Descriptions.numbered(numbers, 12)
    assert found.clusters.tolist() == [[[0, 2], [1, 2], [0, 3]], [[0, 1], [0, 1], [0, 1]]]
    assert found.columns[0].tolist() == [1, 4, 7, 9]
    assert found.columns[1, :2].tolist() == [0, 6]
    assert found.columns.shape == (2, 4)
    assert not set(found.columns[1, 2:].tolist()) & {0, 6}
    assert torch.equal(found.numbers, numbers)


def test_the_dense_form_is_zero_but_in_the_columns_of_its_clusters() -> None:
    numbers = drawn() * 2 + 8 * torch.arange(5)
    dense = Descriptions.numbered(numbers, 40).dense()
    for run in range(2):
        for node in range(11):
            assert dense[run, node].nonzero().flatten().tolist() == sorted(numbers[run, node].tolist())


def test_evidence_of_either_kind_becomes_vectors() -> None:
    found = Descriptions.numbered(drawn() + 3 * torch.arange(5), 15)
    assert torch.equal(vectors(found), found.dense())
    embedding = torch.randn(2, 3, 4)
    assert vectors(embedding) is embedding
