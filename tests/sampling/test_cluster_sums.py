"""Both ways to take sums against loops over nodes and clusterings."""

import torch

from nodewise.sampling.cluster_networks import DenseCandidates, DenseMembers, GatheredCandidates, GatheredMembers

GENERATOR = torch.Generator().manual_seed(3)
COLUMNS, CLUSTERINGS, QUERIES = 11, 4, 5
# Clusters of clustering k are 2k and 2k + 1; the last three columns are nobody's.
CANDIDATES = torch.randint(0, 2, (2, 7, CLUSTERINGS), generator=GENERATOR) + 2 * torch.arange(CLUSTERINGS)
MEMBERS = torch.randint(0, 2, (2, QUERIES, 3, CLUSTERINGS), generator=GENERATOR) + 2 * torch.arange(CLUSTERINGS)
TABLE = torch.randn(2, COLUMNS, 2, QUERIES, generator=GENERATOR)
ERROR = torch.randn(2, 7, 2, QUERIES, generator=GENERATOR)
OWN_ERROR = torch.randn(2, 3, 2, QUERIES, generator=GENERATOR)


def test_candidates() -> None:
    sums, slope, frequency = torch.zeros_like(ERROR), torch.zeros_like(TABLE), torch.zeros(2, COLUMNS, 1, 1)
    for run in range(2):
        for candidate in range(7):
            for cluster in CANDIDATES[run, candidate].tolist():
                sums[run, candidate] += TABLE[run, cluster]
                slope[run, cluster] += ERROR[run, candidate]
                frequency[run, cluster] += 1 / 7
    ways = [(slice(None), DenseCandidates(CANDIDATES, COLUMNS))]
    ways += [(slice(run, run + 1), GatheredCandidates(CANDIDATES[run], COLUMNS)) for run in range(2)]
    for run, way in ways:
        assert torch.allclose(way.sums(TABLE[run]), sums[run], atol=1e-5)
        assert torch.allclose(way.spread(ERROR[run]), slope[run], atol=1e-5)
        assert torch.allclose(way.frequency(), frequency[run], atol=1e-6)


def test_members() -> None:
    sums, slope = torch.zeros_like(OWN_ERROR), TABLE.clone()
    for run in range(2):
        for query in range(QUERIES):
            for member in range(3):
                for cluster in MEMBERS[run, query, member].tolist():
                    sums[run, member, :, query] += TABLE[run, cluster, :, query]
                    slope[run, cluster, :, query] += OWN_ERROR[run, member, :, query]
    ways = [(slice(None), DenseMembers(MEMBERS, COLUMNS))]
    ways += [(slice(run, run + 1), GatheredMembers(MEMBERS[run])) for run in range(2)]
    for run, way in ways:
        assert torch.allclose(way.sums(TABLE[run]), sums[run], atol=1e-5)
        found = TABLE[run].clone()
        way.spread_onto(found, OWN_ERROR[run])
        assert torch.allclose(found, slope[run], atol=1e-5)
