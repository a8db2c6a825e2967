"""What is said of rows is what the rows say: gains against a slow twin, corrected p values."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nodewise.comparison.judge import Comparison, holm
from nodewise.core.errors import InputError
from nodewise.evaluation.paired import group_shares

GRAPHS, STRATEGIES = ("a", "b", "c"), ("all", "good", "same", "bad")


def comparison(
    gains: dict[str, float],
    seeds: int = 8,
    noise: float = 0.2,
    strategies: tuple[str, ...] = STRATEGIES,
    **changes: Any,
) -> Comparison:
    generator, rows = np.random.default_rng(0), []
    for graph, name, seed in itertools.product(GRAPHS, strategies, range(seeds)):
        score = 70 + seed + gains.get(name, 0) + noise * generator.normal()
        shares = np.clip((score + generator.normal(size=40)) / 100, 0, 1)
        look = {"step": 0, "collision": 0.3 - gains.get(name, 0) / 10, "negatives": 100}
        rows.append(
            {"graph": graph, "strategy": name, "seed": seed, "accuracy": {"few": [score - 1, score + 1]}}
            | {"groups": {"few": group_shares(shares)}}
            | {
                "looks": {name: [value] for name, value in look.items()},
                "cost": {"seconds": 1.0, "ms_per_step": 2.0 + (name == "good"), "peak_mb": 5},
            }
        )
    return Comparison(tuple(rows), strategies, GRAPHS, ("few",), **changes)


@pytest.mark.parametrize("p", [[0.01], [0.04, 0.01, 0.03], [0.5, 0.5, 0.01, 0.9], []])
def test_holm_adjusts_as_its_definition_says(p: list[float]) -> None:
    for level in (0.02, 0.05, 0.1, 0.3):
        # The definition: from the smallest on, reject while p <= level / (how many are left); keep all after the first.
        rejected: set[int] = set()
        for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
            if p[place] > level / (len(p) - rank):
                break
            rejected.add(place)
        assert {place for place, value in enumerate(holm(p)) if value <= level} == rejected


def test_a_gain_is_one_only_among_all_comparisons() -> None:
    found = comparison({"good": 2.0, "bad": -2.0})
    verdicts = {(each.strategy, each.graph): each.verdict for each in found.gains}
    assert all(verdicts["good", graph] == "gain" and verdicts["bad", graph] == "loss" for graph in GRAPHS)
    assert all(verdicts["same", graph] == "within noise" for graph in GRAPHS)
    one = found.gains[0]
    differences = found._differences(one.strategy, one.graph, one.budget)
    assert differences.shape == (8, 40)
    assert one.difference.mean == pytest.approx(differences.mean())
    assert abs(one.difference.mean - found.scores("few")[1, 0].mean() + found.scores("few")[0, 0].mean()) < 0.5
    assert "1 gains beyond noise: `good` in 3 of 3 cells" in found.verdict
    assert "1 loses beyond noise: `bad` in 3 of 3 cells" in found.verdict
    assert "`good` has the best mean rank over the graphs, 1.0" in found.verdict


def test_nothing_but_noise_is_said_to_be_that() -> None:
    for seed_count in (2, 8):
        verdict = comparison({}, seeds=seed_count).verdict
        assert "None gains beyond noise anywhere." in verdict
        assert ("leave wide intervals" in verdict) == (seed_count == 2)
    assert "tells nothing about noise" in comparison({}, seeds=1).verdict


def test_equal_scores_are_a_tie_and_constant_gains_are_not_divided_by_zero() -> None:
    found = comparison({"good": 1.0}, noise=0.0)
    assert {each.verdict for each in found.gains if each.strategy == "same"} == {"within noise"}
    assert {each.verdict for each in found.gains if each.strategy == "good"} == {"gain"}
    alike = replace(found, rows=tuple(row | {"groups": found.rows[0]["groups"]} for row in found.rows))
    assert {each.p for each in alike.gains} == {1.0}


def test_a_diagnosis_takes_nothing_from_the_others() -> None:
    counted = {each.strategy: each.adjusted for each in comparison({}, about={"bad": {"diagnosis": True}}).gains}
    alone = comparison({})
    assert counted["good"] <= {each.strategy: each.adjusted for each in alone.gains}["good"]
    found = comparison({"bad": 9.0}, about={"bad": {"diagnosis": True}}).ranks()
    assert found is not None
    assert "bad" not in found.names


def test_what_goes_with_a_gain_is_said() -> None:
    many = (*STRATEGIES, "better", "best", "worse", "worst")
    found = comparison(
        {"good": 2.0, "bad": -2.0, "better": 3.0, "best": 4.0, "worse": -3.0, "worst": -4.0}, strategies=many
    )
    assert found.relation("collision") == pytest.approx(-1, abs=0.25)
    assert "| collision | same-class share of the negatives | -" in found.markdown()
    assert np.isnan(found.relation("negatives"))  # the same for all
    assert found.to_dict()["relations"]["collision"] < 0


def test_a_few_strategies_have_no_correlations() -> None:
    gains = {"good": 2.0, "bad": -2.0, "a": 1.0, "b": 3.0, "c": -1.0}
    for strategies, told in ((STRATEGIES, False), ((*STRATEGIES, *"abc"), False), ((*STRATEGIES, *"abcd"), True)):
        found = comparison(gains, strategies=strategies)
        assert np.isfinite(found.relation("collision")) == told
        assert ("What goes with a gain" in found.markdown()) == told
        assert [each["relation"] == each["relation"] for each in found.page()["measures"]] == [told, False]


@pytest.mark.parametrize("noise", [0.1, 0.21, 0.3, 0.47])
def test_a_gain_is_one_number_everywhere_the_difference_of_the_means_beside_it(noise: float) -> None:
    kinds = {name: {"kind": name} for name in STRATEGIES}
    found = comparison({"good": 0.3, "bad": -0.3}, noise=noise, about=kinds)
    tables = {table.caption: {row[0]: row for row in table.rows} for table in found.tables()}
    text, page, plain = found.to_dict(), found.page(), "all"
    for graph, name in itertools.product(GRAPHS, STRATEGIES[1:]):
        accuracy, gain = tables[graph][name][1:3]
        expected = f"{float(accuracy) - float(tables[graph][plain][1]):+.2f}".replace("-0.00", "+0.00")
        assert gain.split()[0] == expected
        cell = page["cells"][graph][name]
        assert f"{cell['gain']['few']['mean']:+.2f}" == expected
        assert f"{cell['accuracy']['few']:.2f}" == accuracy
        saved = next(each for each in text["gains"] if (each["strategy"], each["graph"]) == (name, graph))
        assert f"{saved['mean']:+.2f}" == expected
        assert f"({gain}" in next(row for row in found.table()[1] if row[0] == name)[1 + GRAPHS.index(graph)]
    for name in STRATEGIES[1:]:
        accuracy, gain = tables["Standing"][name][1:3]
        expected = f"{float(accuracy) - float(tables['Standing'][plain][1]):+.2f}".replace("-0.00", "+0.00")
        assert gain.split()[0] == tables["Kinds"][name][2] == expected
        assert f"{page['cells'][page['average']][name]['gain']['few']['mean']:+.2f}" == expected


def test_only_seeds_that_both_have_make_a_gain() -> None:
    found = comparison({"good": 1.0})
    part = replace(found, rows=tuple(row for row in found.rows if row["strategy"] != "good" or row["seed"] < 4))
    scores = found.scores("few")[:2, :, :4].mean(-1)  # later seeds score higher
    for place, graph in enumerate(GRAPHS):
        assert part.mean_gain("good", graph, "few") == pytest.approx(scores[1, place] - scores[0, place], abs=0.006)


def test_kinds_are_summed_up() -> None:
    kinds = {"good": {"kind": "weigh"}, "bad": {"kind": "choose"}, "same": {"kind": "choose"}}
    text = comparison({"good": 2.0, "bad": -2.0}, about=kinds).markdown()
    assert "| weigh | good | +2." in text
    row = next(line for line in text.splitlines() if line.startswith("| choose |"))
    assert "| same, bad | -" in row
    assert row.endswith("| 0 / 3 / 3 |")


def test_missing_cells_are_dashes() -> None:
    found = comparison({"good": 1.0})
    part = Comparison(
        tuple(row for row in found.rows if row["strategy"] != "bad"), STRATEGIES, GRAPHS, ("few",), missing=24
    )
    assert "| bad | – | – | – | – |" in part.markdown()
    assert part.ranks() is None
    assert "24 cells of the plan are not measured" in part.verdict


def test_the_gain_of_a_single_seed_has_no_interval() -> None:
    found, of_more = (comparison({"good": 2.0}, seeds=seeds) for seeds in (1, 4))
    gain = found.gain("good", "a")
    assert gain.mean == pytest.approx(2.0, abs=1)
    assert (gain.low, gain.high, gain.n, gain.verdict) == (-np.inf, np.inf, 1, "within noise")
    assert of_more.gain("good", "a").low > 0
    with pytest.raises(InputError, match="did you mean 'good'"):
        found.gain("god", "a")
    bare = Comparison(tuple(row for row in found.rows if row["strategy"] != "bad"), STRATEGIES, GRAPHS, ("few",))
    with pytest.raises(InputError, match="no seed on a in common"):
        bare.gain("bad", "a")
