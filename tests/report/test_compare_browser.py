"""The page of a comparison in a real browser: wide and narrow, light and dark, by pointer and keyboard."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import HOSTILE
from tests.report.test_browser import Reader

from nodewise.comparison.judge import Comparison
from nodewise.evaluation.paired import group_shares
from nodewise.report.page import page, write_page

GRAPHS, BUDGETS = ("cora", "<b>actor"), ("few", "10%")
NAMES = ("all", "good", "bad", HOSTILE[0], "oracle")
GRID = {f"oracle@precision={p},recall={r}": {"precision": p, "recall": r} for p in (0.5, 1.0) for r in (0.5, 1.0)}


def comparison() -> Comparison:
    generator, rows = np.random.default_rng(0), []
    worth = {"good": 2.0, "bad": -2.0} | {name: 3 * each["precision"] * each["recall"] for name, each in GRID.items()}
    for graph, name, seed in itertools.product(GRAPHS, (*NAMES, *GRID), range(4)):
        gain = worth.get(name, 0.0)
        scores = {each: [70 + gain + 0.1 * generator.normal()] for each in BUDGETS}
        groups = {each: group_shares(np.clip(0.7 + (gain + generator.normal(size=40)) / 100, 0, 1)) for each in BUDGETS}
        looks: dict[str, list[Any]] = {
            "step": [0, 25, 50],
            "collision": [0.2 - gain / 50] * 3,
            "precision": [0.6] * 3,
            "recall": [0.3 + gain / 20] * 3,
            "negatives": [None] * 3,
        }
        looks |= {"accuracy": [65 + gain, 67 + gain, 70 + gain]} if seed < 2 else {}
        cost = {"seconds": 1.0, "ms_per_step": 4.0 + gain, "peak_mb": 300}
        cell = {"graph": graph, "strategy": name, "seed": seed}
        rows.append(cell | {"accuracy": scores, "groups": groups, "looks": looks, "cost": cost})
    about: dict[str, Any] = {name: {"diagnosis": True, "values": each} for name, each in GRID.items()}
    return Comparison(tuple(rows), (*NAMES, *GRID), GRAPHS, BUDGETS, about | {"oracle": {"diagnosis": True}})


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared") / "compare.html"
    write_page(comparison().page(), path, "compare")
    return path


@pytest.fixture(scope="module")
def reader(browser: Any, path: Path) -> Iterator[Reader]:
    reader = Reader(browser, path)
    yield reader
    assert reader.complaints == []
    assert reader.requests == [reader.address]
    assert reader.page.evaluate("window.broken") is None
    reader.context.close()


def test_the_verdict_is_on_top_in_words(reader: Reader) -> None:
    assert "beyond noise: good in" in reader.page.locator("#verdict").text_content()
    assert reader.page.locator("h1").text_content() == "4 strategies, 2 graphs, 4 seeds"


def test_gains_are_in_order_and_marked_on_a_graph(reader: Reader) -> None:
    reader.page.select_option("#graph", GRAPHS[0])
    names = reader.page.locator("#gains g.pick text:first-of-type").all_text_contents()
    assert names[0] == "good"
    assert names[-1] == "bad"
    assert not any("precision" in name for name in names)  # tiles of the surface are no rows
    marks = reader.page.locator("#gains g.pick text:last-of-type").all_text_contents()
    assert (marks[0], marks[-1]) == ("▲", "▼")
    reader.page.select_option("#graph", "mean of all graphs")


def test_a_strategy_that_is_pressed_has_one_color_everywhere(reader: Reader) -> None:
    chip = reader.page.get_by_role("button", name="bad", exact=True)
    before = chip.get_attribute("aria-pressed")
    chip.press("Enter")
    assert chip.get_attribute("aria-pressed") != before
    shown = reader.page.locator("#why circle:not(.faint), #cost circle:not(.faint)").count()
    reader.page.locator("#gains g.pick").last.click()  # its row
    assert chip.get_attribute("aria-pressed") == before
    assert reader.page.locator("#why circle:not(.faint), #cost circle:not(.faint)").count() != shown


def test_every_measure_has_a_curve_and_can_be_set_against_accuracy(reader: Reader) -> None:
    assert reader.page.locator("#steps figure h3").all_text_contents()[:3] == ["accuracy", "collision", "precision"]
    paths = reader.page.locator("#steps-0 path").evaluate_all("paths => paths.map(p => p.getAttribute('d'))")
    assert all(path.count("L") == 2 for path in paths)
    reader.page.select_option("#measure", "recall")
    assert "Recall of removal." in reader.page.locator("#why-hint").text_content()
    assert "recall" in reader.page.locator("#why svg").text_content()


def test_what_all_are_compared_with_looks_like_no_strategy(reader: Reader) -> None:
    swatch = "(chip) => getComputedStyle(chip.querySelector('i')).backgroundColor"
    chips = reader.page.locator("#chips button[aria-pressed=true]").all()
    colors = {str(chip.text_content()): chip.evaluate(swatch) for chip in chips}
    ink = [int(value) for value in re.findall(r"\d+", colors.pop("all"))]
    assert len(colors) >= 2
    for color in colors.values():
        assert sum(abs(a - int(b)) for a, b in zip(ink, re.findall(r"\d+", color), strict=True)) > 200
    text = reader.page.evaluate("getComputedStyle(document.body).color")
    assert text == f"rgb({', '.join(map(str, ink))})"  # also in the other theme, see below
    reader.page.click("#theme")
    assert chips[0].evaluate(swatch) == reader.page.evaluate("getComputedStyle(document.body).color") != text
    reader.page.click("#theme")


def test_every_chart_over_the_steps_says_which_color_is_whose(reader: Reader) -> None:
    picked = reader.page.locator("#chips button[aria-pressed=true]").all_text_contents()
    names = [name.removesuffix(" (reads labels)") for name in picked]
    charts = reader.page.locator("#steps figure").all()
    assert len(charts) >= 4
    for chart in charts:
        rows = chart.locator(".key li")
        known = [text for text in rows.all_text_contents() if "not picked" not in text]
        assert known == [name if len(name) <= 40 else f"{name[:40]}…" for name in names]
        strokes = chart.locator("path:not(.faint)").evaluate_all("paths => paths.map((path) => path.style.stroke)")
        swatches = rows.locator("i").evaluate_all("rows => rows.map((row) => row.style.backgroundColor)")
        assert set(strokes) - {"transparent"} == set(swatches) - {""}


@pytest.mark.parametrize("most", [0.03, 0.3, 1.2, 6.0, 60.0, 0.0])
def test_the_axis_of_cost_has_ticks_enough_to_read_it(browser: Any, tmp_path: Path, most: float) -> None:
    whole = comparison()
    slower = {name: 4.0 * (1 + most * place / 8) for place, name in enumerate((*NAMES, *GRID))}
    rows = tuple(row | {"cost": row["cost"] | {"ms_per_step": slower[row["strategy"]]}} for row in whole.rows)
    write_page(replace(whole, rows=rows).page(), tmp_path / "cost.html", "compare")
    for width in (1280, 390):
        other = Reader(browser, tmp_path / "cost.html", viewport={"width": width, "height": 800})
        ticks = other.page.locator("#cost .axes text", has_text="×")
        # All at once: the page may draw its charts again between one question and the next.
        edges = "((box) => [box.left, box.right])(tick.getBoundingClientRect())"
        drawn = ticks.evaluate_all(f"(ticks) => ticks.map((tick) => [tick.textContent, ...{edges}])")
        assert 3 <= len({text for text, _, _ in drawn}) == len(drawn) <= 10
        for (_, _, right), (_, left, _) in itertools.pairwise(drawn):
            assert right < left
        other.context.close()


def test_the_surface_has_a_tile_for_each_oracle_and_strategies_on_it(reader: Reader) -> None:
    tiles = reader.page.locator("#surface .tile text").all_text_contents()
    assert len(tiles) == 4
    worth = np.round(comparison().scores("few").mean((1, 2)), 2)  # a gain is the difference of what is printed
    assert max(tiles) == f"{worth[-1] - worth[0]:+.2f}"  # precision and recall at one
    assert reader.page.locator("#surface circle").count() >= 3
    reader.page.locator("#surface .tile").first.hover()
    assert "precision 0.5, recall 0.5" in reader.page.locator("#surface-reading").text_content()


def test_the_table_follows_graph_and_budget(reader: Reader) -> None:
    reader.page.select_option("#budget", "10%")
    rows = reader.page.locator("#table tbody tr")
    assert rows.count() == len(NAMES)
    expected = comparison().scores("10%").mean((1, 2))[1]
    assert f"{expected:.2f}" in rows.nth(1).text_content()
    assert HOSTILE[0] in rows.nth(3).text_content()
    reader.page.select_option("#budget", "few")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone_in_both_themes(browser: Any, path: Path, scheme: str) -> None:
    narrow = Reader(browser, path, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 390
    assert narrow.page.evaluate("document.documentElement.dataset.theme") == scheme
    outside = """() => [...document.querySelectorAll("svg text")].filter((text) => {
        const [box, panel] = [text.getBoundingClientRect(), text.closest("figure").getBoundingClientRect()];
        return box.width && (box.left < panel.left - 1 || box.right > panel.right + 1);
    }).map((text) => text.textContent)"""
    assert narrow.page.evaluate(outside) == []
    ground, ink = narrow.page.evaluate(
        "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    bright = [sum(map(int, colour[4:-1].split(","))) for colour in (ground, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
    assert narrow.complaints == []
    narrow.context.close()


def test_nothing_of_the_data_is_markup() -> None:
    text = page(comparison().page(), "compare")
    assert HOSTILE[0] not in text
    assert "<b>actor" not in text


def test_a_page_without_ranks_or_oracles_says_so(browser: Any, tmp_path: Path) -> None:
    whole = comparison()
    rows = tuple(row for row in whole.rows if row["graph"] == GRAPHS[0] and row["strategy"] in ("all", "good"))
    write_page(Comparison(rows, ("all", "good"), GRAPHS[:1], BUDGETS).page(), tmp_path / "small.html", "compare")
    small = Reader(browser, tmp_path / "small.html")
    assert "Ranks need three strategies" in small.page.locator("#ranks").text_content()
    assert small.page.locator("#surface-section").is_hidden()
    assert small.complaints == []
    small.context.close()
