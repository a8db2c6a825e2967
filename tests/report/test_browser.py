"""The page in a real browser: what a reader sees, does and takes away."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.report.conftest import HOSTILE, LONG, make_subject

from nodewise.graph.ids import NodeIds
from nodewise.report.columns import guessed
from nodewise.report.contents import contents
from nodewise.report.coordinates import coordinates
from nodewise.report.page import packed_array, write_page
from nodewise.vectors.embeddings import Embeddings

PATIENCE = 30_000  # milliseconds; a loaded machine is slow, and nothing here depends on how slow


class Reader:
    """A page in a browser tab, and everything that went wrong in it."""

    def __init__(
        self, browser: Any, path: Path, *, patience: float = PATIENCE, script: str = "", **options: Any
    ) -> None:
        options = {"viewport": {"width": 1280, "height": 800}, "accept_downloads": True} | options
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(patience)
        self.page.add_init_script(script)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready]")
        self.settle()  # charts are drawn once more where the first layout gives them another width

    def settle(self) -> None:
        """Wait until the next two frames are drawn."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, selector: str) -> Image.Image:
        """What an element looks like once the next two frames are drawn."""
        self.settle()
        return Image.open(io.BytesIO(self.page.locator(selector).screenshot())).convert("RGB")

    def search(self, text: str) -> None:
        self.page.fill("#search", text)
        self.page.press("#search", "Enter")

    def box(self) -> dict[str, float]:
        return dict(self.page.locator("#map").bounding_box())

    def places(self) -> np.ndarray:
        """Where on the screen every node of the fitted map must be."""
        box = self.box()
        points = coordinates(make_subject().embeddings.vectors, "pca") / 65535 - 0.5
        scale = 0.92 * min(box["width"], box["height"])
        center = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        return np.asarray(center + points * [scale, -scale])

    def lasso(self, left: float, top: float, right: float, bottom: float) -> None:
        self.page.click("#mode-lasso")
        self.page.mouse.move(left, top)
        self.page.mouse.down()
        for corner in ((right, top), (right, bottom), (left, bottom)):
            self.page.mouse.move(*corner, steps=3)
        self.page.mouse.up()

    def heading(self) -> str:
        return str(self.page.locator("#details h2").text_content())


@pytest.fixture(scope="module")
def reader(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(contents(make_subject(), "pca"), path)
    reader = Reader(browser, path)
    yield reader
    reader.context.close()


@pytest.fixture(autouse=True)
def afresh(reader: Reader) -> Iterator[None]:
    """Begin every test with nothing chosen; end it with nothing gone wrong, and nothing asked of the network."""
    reader.page.keyboard.press("Escape")
    reader.page.click("#zoom-reset")
    reader.page.click("#mode-pan")
    reader.page.fill("#search", "")
    reader.page.focus("#map")
    reader.page.keyboard.press("Escape")
    yield
    assert reader.complaints == []
    assert reader.requests == [reader.address]
    assert reader.page.evaluate("window.broken") is None


def test_the_map_is_drawn_in_the_colors_of_the_classes(reader: Reader) -> None:
    picture = reader.picture("#map")
    drawn = [color for number, color in picture.getcolors(1 << 24) or () if number >= 10]
    for red, green, blue in ((0x4C, 0x78, 0xA8), (0xE4, 0x85, 0x3C), (0x4F, 0x9D, 0x69)):
        assert any(max(abs(r - red), abs(g - green), abs(b - blue)) < 40 for r, g, b in drawn), (red, green, blue)


def test_another_color_changes_map_and_legend(reader: Reader) -> None:
    before = reader.picture("#map")
    reader.page.select_option("#colour", label="degree")
    assert reader.page.locator("#legend .ramp").count() == 1
    assert reader.picture("#map").tobytes() != before.tobytes()
    reader.page.select_option("#colour", label="label")
    assert reader.page.locator("#legend button").count() == 3


def test_every_column_can_be_colored_by(reader: Reader) -> None:
    names = reader.page.locator("#colour option").all_text_contents()
    assert names == ["label", "predicted label", "prediction right?", "cluster", "degree", "age", "<u>city</u>"]


def test_a_category_can_be_brought_forward(reader: Reader) -> None:
    before = reader.picture("#map")
    button = reader.page.locator("#legend button").nth(1)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert reader.picture("#map").tobytes() != before.tobytes()
    button.click()
    assert button.get_attribute("aria-pressed") == "false"


def test_search_finds_a_node_and_shows_both_kinds_of_neighbors(reader: Reader) -> None:
    reader.search("node_30")
    assert reader.heading() == "node_30"
    near = reader.page.locator("#details .neighbours > div").nth(0).locator("li")
    linked = reader.page.locator("#details .neighbours > div").nth(1).locator("li .name")
    assert near.count() == 10
    assert sorted(linked.all_text_contents()) == ["node_29", "node_31"]
    assert "second" in reader.page.locator("#details .values.inline").text_content()


def test_search_says_when_there_is_nothing(reader: Reader) -> None:
    reader.page.fill("#search", "no such node")
    assert "No id or attribute matches this." in reader.page.locator("#search-results").text_content()
    reader.page.fill("#search", "")


def test_a_neighbor_can_be_followed(reader: Reader) -> None:
    reader.search("node_30")
    row = reader.page.locator("#details .neighbours > div").nth(1).locator("button").first
    name = row.locator(".name").text_content()
    row.click()
    assert reader.heading() == name


def test_hover_shows_a_node_and_click_takes_it(reader: Reader) -> None:
    place = reader.places()[30]
    reader.page.mouse.move(*place)
    tip = reader.page.locator("#tooltip")
    assert tip.locator("strong").text_content() == "node_30"
    assert "second" in tip.text_content()
    reader.page.mouse.click(*place)
    assert reader.heading() == "node_30"


def test_lasso_makes_a_group_whose_ids_are_downloaded(reader: Reader, tmp_path: Path) -> None:
    places = reader.places()
    box = reader.box()
    middle = box["x"] + box["width"] / 2
    reader.lasso(box["x"] + 4, box["y"] + 4, middle, box["y"] + box["height"] - 4)
    names = make_subject().embeddings.ids.to_list()
    inside = [[name] for name, place in zip(names, places, strict=True) if place[0] < middle]
    assert 5 < len(inside) < 55
    assert reader.page.locator("#group h2").text_content() == f"Group of {len(inside)} nodes"
    assert saved(reader, "text=Download ids", tmp_path / "ids.csv") == [["id"], *inside]


def saved(reader: Reader, button: str, target: Path) -> list[list[str]]:
    """The rows of a file that a button downloads."""
    with reader.page.expect_download() as download:
        reader.page.click(button)
    download.value.save_as(target)
    with target.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_group_is_downloaded_with_all_that_is_known_of_it(reader: Reader, tmp_path: Path) -> None:
    for name in ("node_7", "node_8"):
        reader.search(name)
        reader.page.click("text=Add to group")
    header, *rows = saved(reader, "text=Download table", tmp_path / "group.csv")
    assert header == ["id", *reader.page.locator("#colour option").all_text_contents()]
    known = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["id"] for row in known] == ["node_7", "node_8"]
    assert [row["age"] for row in known] == ["", "12"]
    assert [row["<u>city</u>"] for row in known] == ["Rome", "<b>Oslo"]
    assert [row["label"] for row in known] == ["<i>first</i>"] * 2


def test_the_clusters_of_all_nodes_are_downloaded(reader: Reader, tmp_path: Path) -> None:
    reader.page.select_option("#colour", label="cluster")
    header, *rows = saved(reader, "#download-column", tmp_path / "cluster.csv")
    assert header == ["id", "cluster"]
    assert [name for name, _ in rows] == make_subject().embeddings.ids.to_list()
    counts = dict(zip(*np.unique([cluster for _, cluster in rows], return_counts=True), strict=True))
    shown = reader.page.locator("#legend .row").all_text_contents()
    assert sorted(shown) == sorted(f"{cluster}{number}" for cluster, number in counts.items())
    reader.page.select_option("#colour", label="age")
    assert saved(reader, "#download-column", tmp_path / "age.csv")[8:10] == [["node_7", ""], ["node_8", "12"]]
    reader.page.select_option("#colour", label="label")


def test_a_lasso_says_whom_it_was_confined_to(reader: Reader) -> None:
    page, box = reader.page, reader.box()
    corners = (box["x"] + 4, box["y"] + 4, box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    assert page.locator("#legend .reach").is_hidden()
    page.locator("#legend button").nth(1).click()
    said = str(page.locator("#legend .reach").text_content())
    assert said == "A lasso now picks among label “second” only; press again for all."
    reader.lasso(*corners)
    assert page.locator("#group h2").text_content() == "Group of 20 nodes"
    assert page.locator("#group .hint").all_text_contents()[-1] == "Picked among label “second” only."
    assert page.locator("#legend .reach").is_hidden()
    reader.lasso(*corners)
    assert page.locator("#group .hint").all_text_contents()[-1] == "Picked among the group of 20 before only."
    page.click("#group >> text=Clear")
    reader.lasso(*corners)
    assert page.locator("#group h2").text_content() == "Group of 60 nodes"
    assert page.locator("#group p.hint").count() == 0


def test_search_finds_nodes_by_what_is_known_of_them(reader: Reader) -> None:
    page = reader.page
    page.fill("#search", "rom")
    assert page.locator("#search-results .row").all_text_contents() == ["Rome<u>city</u>, 30 nodes"]
    page.press("#search", "Enter")
    assert page.locator("#group h2").text_content() == "Group of 30 nodes"
    reader.search("43.5")  # the age of one
    assert reader.heading() == "node_29"
    page.fill("#search", "second")
    assert page.locator("#search-results .row .name").all_text_contents() == ["second", "second"]
    page.fill("#search", "")


def test_search_works_beside_a_column_of_dates_with_gaps(browser: Any, tmp_path: Path) -> None:
    joined = guessed("joined", [None if i % 3 == 0 else f"2020-01-{1 + i % 28:02}" for i in range(60)])
    assert joined.dates
    write_page(contents(make_subject(attributes=(joined,)), "pca"), tmp_path / "dates.html")
    other = Reader(browser, tmp_path / "dates.html")
    other.search("node_31")
    assert other.heading() == "node_31"
    other.search("2020-01-05")  # nodes 4 and 32; node 60 is none
    assert other.page.locator("#group h2").text_content() == "Group of 2 nodes"
    assert other.complaints == []
    other.context.close()


def test_a_group_grows_node_by_node(reader: Reader) -> None:
    for name in ("node_30", "node_31"):
        reader.search(name)
        reader.page.click("text=Add to group")
    assert reader.page.locator("#group h2").text_content() == "Group of 2 nodes"
    reader.page.click("#group >> text=Clear")
    assert reader.page.locator("#group").is_hidden()


def test_ids_can_be_copied(reader: Reader) -> None:
    reader.search("node_30")
    reader.page.click("text=Add to group")
    reader.page.click("text=Copy ids")
    reader.page.wait_for_selector("#group >> text=copied")
    reader.page.fill("#search", "")
    reader.page.focus("#search")
    reader.page.keyboard.press("Control+V")
    assert reader.page.input_value("#search") == "node_30"
    reader.page.fill("#search", "")


def test_dark_and_light(reader: Reader) -> None:
    def ground() -> Any:
        return reader.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    reader.page.click("#theme")
    dark = ground()
    reader.page.reload()
    reader.page.wait_for_selector("html[data-ready]")
    reader.requests.pop()  # the reload itself
    assert ground() == dark != light
    reader.page.click("#theme")
    assert ground() == light


def test_the_systems_theme_is_the_first(reader: Reader, browser: Any) -> None:
    other = Reader(browser, Path(reader.address.removeprefix("file://")), color_scheme="dark")
    assert other.page.evaluate("document.documentElement.dataset.theme") == "dark"
    other.context.close()


def test_the_keyboard_is_enough(reader: Reader) -> None:
    page = reader.page
    before = reader.picture("#map").tobytes()
    for key in ("ArrowRight", "ArrowUp", "+"):
        page.keyboard.press(key)
    assert reader.picture("#map").tobytes() != before
    page.keyboard.press("0")
    assert reader.picture("#map").tobytes() == before
    page.keyboard.press("Enter")
    assert reader.heading()
    page.focus("#search")
    page.keyboard.type("node_4")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert reader.heading() == "node_41"
    page.fill("#search", "")


def test_tab_reaches_everything_that_can_be_pressed(reader: Reader) -> None:
    page = reader.page
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"theme", "mode-pan", "mode-lasso", "zoom-in", "map", "search", "colour"} <= reached


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(reader: Reader, name: str) -> None:
    reader.page.fill("#search", name[:40].split("\n")[0].strip())
    reader.page.press("#search", "Enter")
    assert reader.heading() == name[:12000]
    assert reader.page.locator("#details h2 script, #details h2 img").count() == 0
    assert reader.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    reader.page.fill("#search", "")


def test_long_names_do_not_push_the_page_apart(reader: Reader) -> None:
    reader.search(LONG[:30])
    box = reader.page.locator("#details h2").bounding_box()
    assert box["height"] < 150
    reader.page.fill("#search", "")


def test_curves_classes_settings_and_notes_are_there(reader: Reader) -> None:
    page = reader.page
    assert page.locator("#curves h3 > .name").all_text_contents() == [
        "Loss",
        "Negatives kept",
        "Moved to positives",
    ]
    assert page.locator("#curves .chart path").count() == 3
    assert page.locator(".matrix tbody tr").count() == 3
    assert "<i>first</i>" in page.locator(".matrix").text_content()
    how = "Each fold is predicted by a linear classifier trained on three other folds."
    assert page.locator("#classes p.how").text_content().endswith(how)
    assert "Enter selects the node nearest the crosshair" in " ".join(page.locator("#map-help").text_content().split())
    assert page.locator("#classes details.how").get_attribute("open") is None
    assert "Adam" in page.locator("#classes details.how").text_content()
    assert "<script>window.broken = 3</script>" in page.locator("#settings").text_content()
    assert page.locator("#notes").text_content() == "<em>a note</em>"
    assert page.locator("#title").text_content() == "rings <b>&amp;"


def test_a_click_shows_the_neighbors_above_the_fold_however_much_is_known(browser: Any, tmp_path: Path) -> None:
    many = tuple(guessed(f"attribute {i}", [f"{i}.5"] * 60) for i in range(9))
    features = tuple(replace(guessed(f"word {i}", [f"{i}.5"] * 60), origin="feature") for i in range(12))
    few = many[:8]
    for attributes, is_open in ((few, True), (many, False)):
        write_page(contents(make_subject(attributes=(*attributes, *features), notes=()), "pca"), tmp_path / "many.html")
        other = Reader(browser, tmp_path / "many.html", viewport={"width": 1366, "height": 768})
        other.search("node_30")
        last = other.page.locator("#details .neighbours li").last.bounding_box()
        assert last["y"] + last["height"] < 768
        folds = other.page.locator("#details details")
        assert folds.locator("summary").all_text_contents() == [f"Attributes ({len(attributes)})", "Features (12)"]
        assert [fold.get_attribute("open") is not None for fold in folds.all()] == [is_open, False]
        folds.nth(1).locator("summary").click()
        assert folds.nth(1).locator("dd").last.is_visible()
        other.page.locator("#details .neighbours button").first.click()
        assert folds.nth(1).locator("dd").last.is_visible()  # it stays as the reader left it
        assert other.complaints == []
        other.context.close()


ADAPTIVE = {"strategy": "adaptive", "collision": True, "dpp": False, "class_collision": {"soft": False}}


@pytest.mark.parametrize(
    ("settings", "loss", "negatives"),
    [
        ({"epochs": 10}, "The training loss of each logged step.", "Per node and batch."),
        (
            {"sampling": ADAPTIVE},
            "The contrastive loss of each logged batch. It also falls when the sampler removes negatives.",
            "Per node and batch, after false negatives were moved.",
        ),
        (
            {"sampling": ADAPTIVE | {"dpp": True}},
            "The contrastive loss of each logged batch. It also falls when the sampler removes negatives.",
            "Per node and batch, after false negatives were moved and diverse ones were drawn.",
        ),
        (
            {"sampling": ADAPTIVE | {"class_collision": {"soft": True}}},
            "The contrastive loss of each logged batch.",
            "Per node and batch.",
        ),
        ({"sampling": {"strategy": "all"}}, "The contrastive loss of each logged batch.", "Per node and batch."),
    ],
)
def test_captions_say_only_what_holds_for_the_run(
    browser: Any, tmp_path: Path, settings: dict[str, Any], loss: str, negatives: str
) -> None:
    write_page(contents(make_subject(settings=settings), "pca"), tmp_path / "captions.html")
    other = Reader(browser, tmp_path / "captions.html")
    assert other.page.locator("#curves .hint").all_text_contents()[:2] == [loss, negatives]
    other.context.close()


def test_what_is_empty_is_not_among_the_settings(browser: Any, tmp_path: Path) -> None:
    environment = {"graph": {"edges": 60, "feature_names": [], "sha256": ""}, "gpu": None}
    write_page(contents(make_subject(environment=environment), "pca"), tmp_path / "empty.html")
    other = Reader(browser, tmp_path / "empty.html")
    names = other.page.locator("#settings dt").all_text_contents()
    assert names == ["steps", "note", "gpu", "edges"]
    other.context.close()


@pytest.mark.parametrize("section", ["classes-section", "training-section"])
def test_a_link_to_a_section_ends_there(reader: Reader, browser: Any, section: str) -> None:
    # Waiting for a condition evaluates text again and again, which the page's own policy forbids.
    context = browser.new_context(viewport={"width": 1280, "height": 500}, bypass_csp=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{reader.address}#{section}")
    page.wait_for_selector("html[data-ready]")
    # The header stays on top, so that a section begins a little below the upper edge.
    place = f"document.getElementById('{section}').getBoundingClientRect().top"
    page.wait_for_function(f"{place} >= 0 && {place} < 120")
    context.close()


@pytest.mark.parametrize(("known", "opening"), [(31, "label"), (29, "predicted label"), (5, "cluster")])
def test_the_map_opens_on_a_column_that_most_nodes_have(browser: Any, tmp_path: Path, known: int, opening: str) -> None:
    subject = make_subject()
    labels = np.where(np.isin(np.arange(60), np.random.default_rng(0).permutation(60)[:known]), subject.labels, -1)
    write_page(contents(make_subject(labels=labels), "pca"), tmp_path / "opening.html")
    other = Reader(browser, tmp_path / "opening.html")
    chosen = "(list) => list.options[list.selectedIndex].text"
    assert other.page.locator("#colour").evaluate(chosen) == opening
    unknown = other.page.locator("#legend .row", has_text="unknown")
    assert unknown.count() == (opening == "label")
    other.context.close()


def test_where_a_prediction_comes_from_is_said_beside_it(reader: Reader) -> None:
    reader.page.select_option("#colour", label="predicted label")
    said = reader.page.locator("#legend .hint").text_content()
    assert said == "Predicted by classifiers fitted on other nodes, never on the node itself."
    reader.search("node_30")
    assert reader.page.locator("#details .inline > div").nth(1).get_attribute("title") == said
    reader.page.select_option("#colour", label="label")


def test_names_too_long_for_their_place_are_whole_on_hover(browser: Any, tmp_path: Path) -> None:
    names = tuple(f"a class with quite a long name, namely the {which}" for which in ("first", "second", "third"))
    write_page(contents(make_subject(class_names=names), "pca"), tmp_path / "long.html")
    other = Reader(browser, tmp_path / "long.html")
    for place in ("#legend .name", ".matrix thead .name", ".matrix tbody .name", ".plain tbody .name"):
        titles = [name.get_attribute("title") for name in other.page.locator(place).all()]
        assert titles == list(names), place
    # A few rows of the legend have the width for more than the beginning.
    assert other.page.locator("#legend .name").first.bounding_box()["width"] > 200
    other.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_bar_has_a_track_to_be_compared_with(browser: Any, reader: Reader, theme: str) -> None:
    other = Reader(browser, Path(reader.address.removeprefix("file://")), color_scheme=theme)
    colors = [
        other.page.locator(place).first.evaluate("(element) => getComputedStyle(element).backgroundColor")
        for place in (".plain .bar", ".panel")
    ]
    track, ground = ([int(value) for value in re.findall(r"\d+", color)[:3]] for color in colors)
    assert min(abs(a - b) for a, b in zip(track, ground, strict=True)) >= 20
    other.context.close()


def test_curves_name_their_steps_and_do_not_magnify_noise(browser: Any, tmp_path: Path) -> None:
    steps = [{"step": 10 * i, "loss": 2 - i / 100, "negatives": 30 + i / 1000} for i in range(38)]
    write_page(contents(make_subject(metrics=steps), "pca"), tmp_path / "curves.html")
    other = Reader(browser, tmp_path / "curves.html")
    texts = other.page.locator("#curves text").all_text_contents()
    assert {"step", "0", "370"} <= set(texts)
    assert "360" not in texts  # too near to the last
    heights = sorted({float(text) for text in texts if text.startswith(("28", "29", "30", "31"))} - {300.0})
    assert heights[0] < 29.5
    assert heights[-1] > 30.5
    other.context.close()


def test_a_curve_is_read_by_pointing_and_seen_closer_by_dragging(browser: Any, tmp_path: Path) -> None:
    # The second quantity is logged now and then, and was not a number in between.
    steps: list[dict[str, Any]] = [{"step": 10 * i, "loss": 50.0 - i} for i in range(51)]
    for i, value in ((0, 7.0), (20, None), (30, 5.0), (40, 6.0)):
        steps[i]["checked"] = value
    write_page(contents(make_subject(metrics=steps), "pca"), tmp_path / "curves.html")
    for width in (1280, 390):
        other = Reader(browser, tmp_path / "curves.html", viewport={"width": width, "height": 800})
        loss, checked = other.page.locator("#curves .curve").all()
        reading = loss.locator(".latest")
        assert reading.text_content() == "0 at the end"
        loss.scroll_into_view_if_needed()
        line = loss.locator("path").bounding_box()
        height = line["y"] + line["height"] / 2

        def at(share: float, line: dict[str, float] = line, height: float = height) -> tuple[float, float]:
            return line["x"] + share * line["width"], height

        other.page.mouse.move(*at(0.4))
        assert reading.text_content() == "30 at step 200"
        other.page.mouse.down()
        other.page.mouse.move(*at(0.8), steps=4)
        other.page.mouse.up()
        shown = [float(text.replace(",", "")) for text in loss.locator("text").all_text_contents() if text != "step"]
        assert max(shown) <= 400
        assert 500 not in shown
        other.page.mouse.dblclick(*at(0.5))
        assert "500" in loss.locator("text").all_text_contents()
        other.page.mouse.move(5, 5)
        assert reading.text_content() == "0 at the end"
        assert checked.locator(".latest").text_content() == "6 at the end"
        assert re.findall("[A-Za-z]", str(checked.locator("path").get_attribute("d"))) == ["M", "h", "M", "h", "L"]
        assert other.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert other.complaints == []
        other.context.close()


def test_names_that_every_object_of_a_script_has_are_names_like_others(browser: Any, tmp_path: Path) -> None:
    names = ("constructor", "__proto__", "toString")
    subject = make_subject(
        metrics=[{"step": i} | dict.fromkeys(names, 1.5 + i) for i in range(3)] + [{"step": 3, "loss": 1.0}],
        settings={name: {"hasOwnProperty": name} for name in names},
        environment={name: name for name in names},
        class_names=names,
        attributes=tuple(guessed(name, [names[i % 3] for i in range(60)]) for name in names),
    )
    write_page(contents(subject, "pca"), tmp_path / "names.html")
    other = Reader(browser, tmp_path / "names.html")
    page = other.page
    assert page.locator("#curves h3").all_text_contents() == [
        "Loss1 at the end",
        *(f"{n}3.5 at the end" for n in names),
    ]
    assert page.locator("#curves path").count() == 4
    assert page.locator(".plain tbody .name").all_text_contents() == list(names)
    assert page.locator("#settings h3").all_text_contents() == [*names, "environment"]
    assert page.locator("#settings dd").all_text_contents() == [*names, *names]
    for name in names:
        page.select_option("#colour", label=name)
        assert page.locator("#legend .name").all_text_contents() == sorted(names)
    other.search("node_30")
    assert page.locator("#details details dd").all_text_contents() == ["constructor"] * 3
    assert other.complaints == []
    other.context.close()


def test_a_matrix_of_long_names_has_the_width_it_needs(browser: Any, tmp_path: Path) -> None:
    names = tuple(
        f"{word} methods of learning" for word in ("Neural", "Genetic", "Symbolic", "Bayesian", "Deep", "Lazy")
    )
    labels = np.repeat(np.arange(6), 10)
    write_page(contents(make_subject(labels=labels, class_names=names), "pca"), tmp_path / "matrix.html")
    other = Reader(browser, tmp_path / "matrix.html")
    panels = other.page.locator(".classes .panel")
    for width, stacked in ((1280, True), (1680, False)):
        other.page.set_viewport_size({"width": width, "height": 800})
        for box in other.page.locator(".classes .scroll").all():
            assert box.evaluate("(element) => element.scrollWidth <= element.clientWidth"), width
        matrix, scores = (panels.nth(i).bounding_box() for i in (0, 1))
        assert (scores["y"] > matrix["y"]) is stacked
    # Where there is too little room for any arrangement, the table moves and its title stays.
    other.page.set_viewport_size({"width": 390, "height": 800})
    title = panels.first.locator("h3")
    before = title.bounding_box()
    assert (
        other.page.locator(".scroll").first.evaluate("(element) => (element.scrollLeft = 60) && element.scrollLeft")
        == 60
    )
    assert title.bounding_box()["x"] == before["x"]
    assert title.text_content() == "Confusion matrix"
    other.context.close()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("chloe dup", "Chloé Dupont"),
        ("CHLOÉ", "Chloé Dupont"),
        ("lukasz", "Łukasz Weiß"),
        ("weiss", "Łukasz Weiß"),
        ("soren", "Søren"),
        ("zoé", "Zoé"),
        ("Zoe", "Zoe"),
        ("Zoé", "Zoé"),
    ],
)
def test_search_does_not_ask_for_accents(accented: Reader, typed: str, found: str) -> None:
    accented.search(typed)
    assert accented.heading() == found


@pytest.fixture(scope="module")
def accented(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    names = ["Chloé Dupont", "Łukasz Weiß", "Søren", "Zoé", "Zoe", *(f"node_{i}" for i in range(5, 60))]
    embeddings = Embeddings(NodeIds(names), make_subject().embeddings.vectors)
    path = tmp_path_factory.mktemp("accents") / "report.html"
    write_page(contents(make_subject(embeddings=embeddings, graph=None), "pca"), path)
    reader = Reader(browser, path)
    yield reader
    reader.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_wrong_predictions_stand_out_and_lie_on_top(browser: Any, tmp_path: Path, theme: str) -> None:
    # Two places; the first node lies below 29 of another class, so that it is given theirs. The last has no label.
    place = np.repeat([0, 1, 2], [30, 29, 1])
    labels = np.where(np.arange(60) == 0, 1, np.where(place == 2, -1, place))
    embeddings = replace(make_subject().embeddings, vectors=np.eye(3, 8, dtype="f4")[place])
    write_page(contents(make_subject(embeddings=embeddings, labels=labels), "pca"), tmp_path / "wrong.html")
    other = Reader(browser, tmp_path / "wrong.html", color_scheme=theme)
    other.page.select_option("#colour", label="prediction right?")
    rows = other.page.locator("#legend button")
    assert rows.all_text_contents() == ["wrong1", "right58", "no label to compare1"]
    swatches = [
        swatch.evaluate("(element) => getComputedStyle(element).backgroundColor")
        for swatch in rows.locator(".swatch").all()
    ]
    wrong, right, faint = ([int(value) for value in re.findall(r"\d+", color)] for color in swatches)
    ground = [255, 255, 255] if theme == "light" else [0x1A, 0x20, 0x29]
    assert wrong[0] > wrong[2] + 100  # warm
    assert right[2] > right[0]  # calm
    distances = [np.abs(np.subtract(color, ground)).sum() for color in (wrong, right, faint)]
    assert distances[0] > 1.2 * distances[1] > 2 * distances[2]
    picture = np.asarray(other.picture("#map"), int)
    for color in (wrong, right):
        assert (np.abs(picture - color).max(-1) < 30).sum() >= 10, color
    other.context.close()


def test_cosines_have_the_decimals_that_tell_neighbors_apart(browser: Any, tmp_path: Path) -> None:
    subject = make_subject()
    spread = np.random.default_rng(0).normal(size=(60, 8))
    crowded = np.where(np.arange(8) == 0, 200, spread)  # all of them nearly in one direction
    equal = np.eye(8)[np.arange(60) % 2]
    for vectors, decimals in ((equal, (3,)), (spread, (3, 4)), (crowded, (6,))):
        embeddings = replace(subject.embeddings, vectors=vectors.astype("f4"))
        write_page(contents(make_subject(embeddings=embeddings, graph=None), "pca"), tmp_path / "cosines.html")
        other = Reader(browser, tmp_path / "cosines.html")
        other.search("node_30")
        shown = other.page.locator("#details .neighbours .count").all_text_contents()
        assert len(shown) == 10
        assert len({len(cosine) for cosine in shown}) == 1
        assert len(shown[0]) - len("0.") in decimals
        if vectors is not equal:
            assert len(set(shown)) >= 8
        other.context.close()


def test_a_long_legend_says_how_much_is_further_down(browser: Any, reader: Reader, tmp_path: Path) -> None:
    assert reader.page.locator("#legend .more").is_hidden()
    town = guessed("town", [f"town {i % 18}" for i in range(60)])
    write_page(contents(make_subject(attributes=(town,)), "pca"), tmp_path / "legend.html")
    other = Reader(browser, tmp_path / "legend.html")
    other.page.select_option("#colour", label="town")
    more = other.page.locator("#legend .more")
    assert re.fullmatch(r"↓ [4-8] more", more.text_content())
    other.page.locator("#legend ul").evaluate("(list) => (list.scrollTop = list.scrollHeight)")
    other.page.wait_for_selector("#legend .more >> text=the end")
    other.context.close()


def test_on_a_telephone_the_maps_title_is_one_line(reader: Reader, browser: Any) -> None:
    other = Reader(browser, Path(reader.address.removeprefix("file://")), viewport={"width": 390, "height": 800})
    assert other.page.locator("#projection").bounding_box()["height"] < 30
    assert other.page.locator("#projection").evaluate("(title) => title.scrollWidth <= title.clientWidth")
    assert other.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    other.context.close()


def test_many_categories_share_a_color_and_dates_are_a_scale(browser: Any, tmp_path: Path) -> None:
    town = guessed("town", [f"town {i % 25}" for i in range(60)])
    title = guessed("title", [f"title {i}" for i in range(60)])
    joined = guessed("joined", [f"20{i:02}-05-17" for i in range(60)])
    write_page(contents(make_subject(attributes=(town, title, joined)), "pca"), tmp_path / "columns.html")
    other = Reader(browser, tmp_path / "columns.html")
    assert other.page.locator("#colour option").all_text_contents()[-2:] == ["town", "joined"]
    other.page.select_option("#colour", label="town")
    rows = other.page.locator("#legend button")
    assert rows.count() == 20
    assert rows.last.text_content() == "6 others12"
    rows.last.click()
    assert rows.last.get_attribute("aria-pressed") == "true"
    other.page.select_option("#colour", label="joined")
    assert other.page.locator("#legend .ramp-ends").text_content() == "2000-05-172059-05-17"
    other.search("node_30")
    assert "title 302030-05-17" in "".join(other.page.locator("#details details dd").all_text_contents())
    assert other.complaints == []
    other.context.close()


def test_a_run_without_labels_graph_or_metrics(browser: Any, tmp_path: Path) -> None:
    bare = make_subject(labels=None, class_names=(), graph=None, metrics=(), settings={}, environment={}, attributes=())
    write_page(contents(bare, "pca"), tmp_path / "bare.html")
    other = Reader(browser, tmp_path / "bare.html")
    other.search("node_30")
    assert "could not be read" in other.page.locator("#details").text_content()
    assert "no training metrics" in other.page.locator("#curves").text_content()
    assert "nodewise report RUN --labels labels.csv" in other.page.locator("#classes").text_content()
    assert other.page.locator("#colour option").all_text_contents() == ["cluster"]
    assert other.page.locator("#legend .hint").text_content() == "k-means, k = 3, chosen by silhouette."
    assert other.complaints == []
    other.context.close()


NO_WEBGL = """const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === "webgl2" ? null : get.call(this, kind, ...rest);
};"""


def test_without_webgl_the_map_is_drawn_on_a_plain_canvas(browser: Any, reader: Reader) -> None:
    page = Path(reader.address.removeprefix("file://"))
    usual, other = Reader(browser, page), Reader(browser, page, script=NO_WEBGL)  # as nobody has touched them
    assert other.page.locator("#map-failure").is_hidden()
    pictures = [np.asarray(each.picture("#map"), int) for each in (usual, other)]
    usual.context.close()
    # The same map: edges of points may differ a little, and nothing else.
    assert (np.abs(pictures[0] - pictures[1]).max(-1) > 60).mean() < 0.002
    assert (np.ptp(pictures[1], axis=-1) > 40).sum() > 500
    other.page.locator("#legend button").nth(1).click()
    assert (np.ptp(np.asarray(other.picture("#map"), int), axis=-1) > 40).sum() < 0.6 * (
        np.ptp(pictures[1], axis=-1) > 40
    ).sum()
    other.page.mouse.click(*other.places()[30])
    assert other.heading() == "node_30"
    assert other.complaints == []
    other.context.close()


def test_too_many_points_for_a_plain_canvas_are_a_message(browser: Any, tmp_path: Path) -> None:
    found = contents(make_subject(), "pca")
    found["points"] = packed_array(np.zeros((50_001, 2), np.uint16))
    write_page(found, tmp_path / "many.html")
    other = Reader(browser, tmp_path / "many.html", script=NO_WEBGL)
    assert "no WebGL 2, which a map of more than 50,000 points needs" in str(
        other.page.locator("#map-failure").text_content()
    )
    assert other.page.locator("#curves path").count() == 3
    other.context.close()


def test_without_any_canvas_the_page_says_so(browser: Any, reader: Reader) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(reader.address)
    page.wait_for_selector("html[data-ready]", timeout=PATIENCE)
    assert "The map cannot be drawn" in page.locator("#map-failure").text_content()
    context.close()


def test_the_policy_stops_what_is_not_ours(reader: Reader, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(reader.address)
    page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.broken = 4';
            document.body.append(script);
        }"""
    )
    assert page.evaluate("window.broken") is None
    refused = page.evaluate("() => fetch('data:,x').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    context.close()


def test_scores_stand_beside_what_raw_features_reach(reader: Reader) -> None:
    text = reader.page.locator("#classes .how").first.text_content()
    assert re.search(
        r"are classified correctly \(raw features: [\d.]+ %; the most frequent class for everybody: 33.3 %\)", text
    )
    strokes = reader.page.locator("#classes .bar b")
    assert strokes.count() == 3
    shown = reader.page.locator("#classes td[title^='raw features']").first.get_attribute("title")
    assert strokes.first.evaluate("(stroke) => stroke.style.left") == f"{float(shown.split()[2]):g}%"


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (0.957, 0.8, "That is 15.7 points above the best without training, smoothed features."),
        (0.957, 0.9574, "The best without training, smoothed features, do just as well."),
        (0.957, 0.967, "That is 1.0 points below the best without training, smoothed features."),
    ],
)
def test_what_training_was_worth_is_said(browser: Any, tmp_path: Path, own: float, other: float, words: str) -> None:
    found = contents(make_subject(), "pca")
    changes = {"accuracy": own, "untrained": "smoothed features", "untrained_f1": [0.5, 0.5, 0.5]}
    changes["baselines"] = [("smoothed features", other), ("raw features", 0.8)]
    found["classes"] = found["classes"] | changes
    write_page(found, tmp_path / "worth.html")
    page = Reader(browser, tmp_path / "worth.html")
    assert words in page.page.locator("#classes .how").first.text_content()
    assert page.page.locator("#classes td[title='smoothed features: 50.0 %']").count() == 3
    page.context.close()
