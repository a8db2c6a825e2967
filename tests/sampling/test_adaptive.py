from dataclasses import replace

import pytest
import torch
from tests.sampling.test_strategy import TOPOLOGY, candidates

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.sampling.adaptive import AdaptiveSampler
from nodewise.sampling.choose.diverse import DiverseDraw
from nodewise.sampling.choose.networks import CollisionSettings, NodeNetworks
from nodewise.sampling.descriptions import Descriptions
from nodewise.sampling.discriminators import Queries, log_ratio
from nodewise.sampling.dpp import DppSettings, sample_negatives
from nodewise.sampling.neighborhood import mixup, near_pairs
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.weigh.similarity import SimilarityWeights

OFF = AdaptiveSampler(collision=False, dpp=False, weights=False)


def choose(**switches: object) -> PairSets:
    return Sampler(replace(OFF, **switches))(candidates())  # type: ignore[arg-type]


def test_all_switches_off_is_the_plain_loss() -> None:
    batch, pairs = candidates(), choose()
    assert torch.equal(pairs.negatives, ~batch.own)
    assert pairs.positives is None
    assert pairs.log_weights is None


@pytest.mark.parametrize("hidden", [0, 3])
def test_collision_moves_what_the_ratio_says_and_the_neighbors(hidden: int) -> None:
    chosen = CollisionSettings(hidden=hidden, alpha=1.1)
    batch, pairs = candidates(), choose(collision=True, class_collision=chosen)
    near = near_pairs(TOPOLOGY, batch.query_nodes, batch.key_nodes, 1)
    mixed = mixup(batch.members, chosen.mixup, rng.fold(batch.draw, 0), batch.query_nodes)
    ratio = log_ratio(
        batch.seen,
        torch.cat([batch.members, mixed], dim=-2),
        Queries(near, batch.query_nodes, rng.fold(batch.draw, 1)),
        hidden=hidden,
        steps=chosen.steps,
        learning_rate=chosen.learning_rate,
    )
    moved = (ratio.exp() > chosen.alpha) & ~near
    assert moved.any()
    assert torch.equal(pairs.negatives, ~near & ~moved)
    assert torch.equal(pairs.positives, (near & ~batch.own) | moved)
    share = moved.sum((-1, -2)) / (~near).sum((-1, -2))
    assert torch.allclose(pairs.statistics["moved"], share)


@pytest.mark.parametrize("hidden", [0, 3])
def test_collision_sees_descriptions_as_it_would_see_their_vectors(hidden: int) -> None:
    batch = candidates()
    drawn = torch.randint(0, 4, (2, TOPOLOGY.num_nodes, 6), generator=torch.Generator().manual_seed(1))
    everyone = Descriptions.numbered(drawn + 5 * torch.arange(6), 30)
    seen, members = everyone.of(batch.key_nodes), everyone.of(torch.stack([batch.query_nodes] * 2, dim=-1))
    sampler = Sampler(replace(OFF, collision=True, class_collision=CollisionSettings(hidden=hidden, alpha=1.1)))
    found = sampler(replace(batch, seen=seen, members=members))
    expected = sampler(replace(batch, seen=seen.dense(), members=members.dense()))
    assert 0 < expected.statistics["moved"].max() < 1
    assert torch.equal(found.negatives, expected.negatives)
    assert torch.equal(found.positives, expected.positives)


def test_a_larger_alpha_moves_less() -> None:
    counts = []
    for alpha in (0.5, 0.9, 1.5, 3.0):
        pairs = choose(collision=True, class_collision=CollisionSettings(alpha=alpha))
        counts.append(int(pairs.negatives.sum()))
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    with pytest.raises(InputError, match="alpha is 0"):
        CollisionSettings(alpha=0)


def test_each_switch_changes_what_it_names_and_nothing_else() -> None:
    plain = choose()
    weighted = choose(weights=True)
    assert torch.equal(weighted.negatives, plain.negatives)
    assert weighted.log_weights is not None
    diverse = choose(dpp=True)
    assert diverse.log_weights is None
    assert diverse.positives is None
    assert not (diverse.negatives & ~plain.negatives).any()
    assert diverse.negatives.sum() < plain.negatives.sum()
    both = choose(collision=True, dpp=True)
    collision = choose(collision=True)
    assert torch.equal(both.positives, collision.positives)
    # The shared draw does not depend on the masks, so what remains is the intersection.
    assert torch.equal(both.negatives, collision.negatives & diverse.negatives)


def test_the_diverse_draw_is_that_of_the_nodes_wherever_they_stand_in_the_batch() -> None:
    batch = candidates()
    expected = sample_negatives(
        batch.key, ~batch.own, rng.fold(batch.draw, 2), DppSettings(), items=batch.key_nodes, queries=batch.query_nodes
    )
    assert torch.equal(choose(dpp=True).negatives, expected)
    by_place = sample_negatives(batch.key, ~batch.own, rng.fold(batch.draw, 2), DppSettings())
    assert not torch.equal(expected, by_place)


def test_neighbors_stay_out_when_asked() -> None:
    batch = candidates()
    near = near_pairs(TOPOLOGY, batch.query_nodes, batch.key_nodes, 1)
    pairs = choose(near_negatives=False)
    assert torch.equal(pairs.negatives, ~near)
    assert torch.equal(pairs.positives, near & ~batch.own)


def test_diagnosis_names_rank_and_gap() -> None:
    sampler = Sampler(replace(OFF, dpp=True))
    batch = candidates()
    numbers = sampler.diagnose(batch, sampler(batch))
    assert set(numbers) == {"effective_rank", "logdet_gap"}
    assert (numbers["effective_rank"] > 1).all()
    assert (numbers["effective_rank"] <= 12 + 1e-6).all()
    assert Sampler(OFF).diagnose(batch, sampler(batch)) == {}


def test_missing_evidence_is_refused() -> None:
    batch = replace(candidates(), seen=None)
    with pytest.raises(ValueError, match=r"needs Candidates\.seen"):
        Sampler(replace(OFF, collision=True))(batch)


def test_evidence_is_asked_for_only_where_collisions_are_removed() -> None:
    assert OFF.evidence == "none"
    for kind in ("embedding", "consensus"):
        chosen = CollisionSettings(evidence=kind, hops=2, neighbors=3, clusterings=5)
        sampler = replace(OFF, collision=True, class_collision=chosen)
        assert sampler.evidence == kind
        assert vars(sampler.evidence_settings) == vars(chosen)


@pytest.mark.parametrize(
    ("changes", "static"),
    [
        ({}, True),
        ({"collision": True}, True),
        ({"collision": True, "class_collision": CollisionSettings(hops=2)}, False),
        ({"near_negatives": False, "class_collision": CollisionSettings(hops=2)}, False),
        ({"class_collision": CollisionSettings(hops=2)}, True),
        ({"dpp": True, "diversity": DppSettings(law="literal")}, True),
        ({"dpp": True, "diversity": DppSettings(law="per_node")}, False),
        ({"dpp": True, "diversity": DppSettings(size=5.0)}, False),
        ({"diversity": DppSettings(law="per_node")}, True),
    ],
)
def test_shapes_are_static_unless_something_in_use_has_others(changes: dict[str, object], static: bool) -> None:
    assert replace(OFF, **changes).static is static  # type: ignore[arg-type]


def test_it_is_a_composition_of_its_parts() -> None:
    batch = candidates()
    whole = Sampler(replace(OFF, collision=True, dpp=True, weights=True, class_collision=CollisionSettings(alpha=1.1)))
    parts = NodeNetworks(alpha=1.1) + DiverseDraw() + SimilarityWeights()
    one, other = whole(batch), Sampler(parts)(batch)
    for name in ("negatives", "positives", "log_weights"):
        assert torch.equal(getattr(one, name), getattr(other, name))
    assert one.statistics.keys() == other.statistics.keys()
    assert whole.strategy.kinds == parts.kinds == ("choose", "weigh")


def test_soft_collisions_weigh_by_the_ratio_and_remove_neighbors_only() -> None:
    chosen = CollisionSettings(alpha=1.1, soft=True)
    batch, pairs = candidates(), choose(collision=True, class_collision=chosen)
    near = near_pairs(TOPOLOGY, batch.query_nodes, batch.key_nodes, 1)
    assert torch.equal(pairs.negatives, ~near)
    ratio = NodeNetworks(alpha=1.1)._log_ratio(batch, near).double().exp()
    for run in range(2):
        for i in range(12):
            kept = pairs.negatives[run, i]
            raw = 1 / (1 + ratio[run, i][kept] / 1.1)
            assert torch.allclose(pairs.log_weights[run, i][kept].exp().double(), raw / raw.mean(), rtol=1e-4)
