from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_packing import data_of, unpacked

Nodewise = Callable[..., Any]
Refused = Callable[..., str]


def names(data: dict[str, Any]) -> list[str]:
    return [column["name"] for column in data["columns"]]


def test_a_page_in_the_run_with_everything_the_run_knows(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    outcome = nodewise("report", "run", "--projection", "pca", "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert outcome.out == "the page is run/report.html; open it in a browser\n"
    data = data_of(run / "report.html")
    assert names(data) == [
        "label",
        "predicted label",
        "prediction right?",
        "cluster",
        "degree",
        "a",
        "b",
        "c",
        "d",
        "e",
    ]
    assert unpacked(data["ids"]) == [f"paper_{i}" for i in range(40)]
    assert [record["step"] for record in data["metrics"]] == [0, 1]
    assert data["settings"]["training"]["steps"] == 2
    assert data["environment"]["graph"]["nodes"] == 40
    assert data["title"] == f"nodewise on {data['name']}, folder run"
    assert (unpacked(data["degrees"]) == 4).all()
    assert data["notes"] == []


@pytest.mark.parametrize(("header", "options"), [("email,", ()), ("a,email,", ("--id-column", "email"))])
def test_features_have_the_names_of_their_file_whatever_the_ids_are_called(
    nodewise: Nodewise, embedded: Callable[..., Path], header: str, options: tuple[str, ...]
) -> None:
    table = [line.split(",") for line in Path("nodes.csv").read_text().splitlines()]
    if options:
        table = [[first, key, *rest] for key, first, *rest in table]
    rest = table[0][len(header.split(",")) - 1 :]
    Path("nodes.csv").write_text("\n".join([header + ",".join(rest), *map(",".join, table[1:])]) + "\n")
    if options:
        Path("labels.csv").write_text(Path("labels.csv").read_text().replace("id,label", "email,label"))
    run = embedded("run", *options)
    assert nodewise("report", "run", "--projection", "pca", "--quiet").code == 0
    assert names(data_of(run / "report.html"))[-5:] == ["a", "b", "c", "d", "e"]


def test_amounts_that_became_features_can_color_the_map(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    table = Path("nodes.csv").read_text().splitlines()
    rows = [f'{line},"€ {1000 + 7.25 * i:,.2f}"' for i, line in enumerate(table[1:])]
    Path("nodes.csv").write_text("\n".join([f"{table[0]},amount", *rows]) + "\n", encoding="utf-8")
    run = embedded()
    assert nodewise("report", "run", "--projection", "pca", "--quiet").code == 0
    columns = {column["name"]: column for column in data_of(run / "report.html")["columns"]}
    assert columns["amount"]["kind"] == "number"
    assert (unpacked(columns["amount"]["values"]) == [1000 + 7.25 * i for i in range(40)]).all()


def test_scores_stand_beside_those_of_smoothed_features(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    assert nodewise("report", "run", "--projection", "pca", "--quiet").code == 0
    classes = data_of(run / "report.html")["classes"]
    names = [name for name, _ in classes["baselines"]]
    assert set(names) == {"smoothed features", "raw features", "the most frequent class for everybody"}
    best = max(accuracy for _, accuracy in classes["baselines"][:2])
    assert (classes["untrained"], best) == tuple(classes["baselines"][0])


def test_the_default_map_is_tsne(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    assert nodewise("report", "run", "--quiet").code == 0
    assert data_of(run / "report.html")["projection"] == "t-SNE"


def test_json_and_another_place(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    embedded()
    outcome = nodewise("report", "run", "--projection", "pca", "-o", "page.html", "--json", "--quiet")
    assert json.loads(outcome.out) == {"report": "page.html", "bytes": Path("page.html").stat().st_size}
    assert not Path("run/report.html").exists()


def test_a_new_run_in_the_folder_takes_the_old_page_away(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    nodewise("report", "run", "--projection", "pca", "--quiet")
    embedded()
    assert not (run / "report.html").exists()


def test_a_graph_that_is_gone_is_said_in_the_page(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    Path("edges.csv").unlink()
    outcome = nodewise("report", "run", "--projection", "pca")
    assert outcome.code == 0
    assert "no neighbors in the graph: " in outcome.err
    assert outcome.err.count("\n") == 1
    data = data_of(run / "report.html")
    assert data["adjacent"] is None
    assert "Neighbors in the graph and degrees are left out: " in data["notes"][0]
    assert "degree" not in names(data)


def test_the_graph_can_be_given_instead(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    Path("edges.csv").rename("moved.csv")
    assert nodewise("report", "run", "--graph", "moved.csv", "--projection", "pca", "--quiet").code == 0
    assert data_of(run / "report.html")["adjacent"] is not None


def test_attributes_and_labels_from_files(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    Path("more.csv").write_text("id,city\n" + "".join(f"paper_{i},town {i % 3}\n" for i in range(39)))
    Path("other.csv").write_text("id,label\n" + "".join(f"paper_{i},{'xy'[i % 2]}\n" for i in range(40)))
    files = ("--attributes", "more.csv", "--labels", "other.csv")
    outcome = nodewise("report", "run", *files, "--projection", "pca", "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    data = data_of(run / "report.html")
    columns = {column["name"]: column for column in data["columns"]}
    assert unpacked(columns["city"]["names"]) == ["town 0", "town 1", "town 2"]
    assert unpacked(columns["label"]["names"]) == ["x", "y"]
    assert data["notes"] == ["more.csv: has no row for 1 of 40 nodes."]


def test_a_run_without_labels(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded()
    (run / "labels.parquet").unlink()
    Path("labels.csv").unlink()
    assert nodewise("report", "run", "--graph", "edges.csv", "--projection", "pca", "--quiet").code == 0
    data = data_of(run / "report.html")
    assert data["classes"] is None
    assert names(data)[:2] == ["cluster", "degree"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--projection", "tsen"), "unknown projection 'tsen'"),
        (("--attributes", "missing.csv"), "missing.csv: no such file"),
        (("--features", "nodes.csv"), "--features is about --graph"),
        (("--graph", "labels.csv", "--quiet"), "labels.csv has other nodes than run"),
        (("-o", "nowhere/page.html"), "the folder nowhere does not exist"),
    ],
)
def test_what_cannot_be_done_leaves_no_page(
    refused: Refused, embedded: Callable[..., Path], options: tuple[str, ...], message: str
) -> None:
    embedded()
    assert message in refused("report", "run", *options)


def test_a_folder_that_is_no_run(refused: Refused, ring: Path) -> None:
    assert "no such run folder" in refused("report", "nothing")
    (ring / "empty").mkdir()
    assert "not a run folder" in refused("report", "empty")


def test_nodes_that_nothing_tells_apart_make_a_page_that_says_so(nodewise: Nodewise, folder: Path) -> None:
    (folder / "complete.csv").write_text("source,target\na,b\na,c\na,d\nb,c\nb,d\nc,d\n")
    (folder / "equal.csv").write_text("id,x,y\na,1,2\nb,1,2\nc,1,2\nd,1,2\n")
    plain = ("--set", "training.steps=2", "--set", "features.scaling=none")
    assert nodewise("embed", "complete.csv", "-f", "equal.csv", "-o", "run", *plain).code == 0
    outcome = nodewise("report", "run")
    assert outcome.code == 0, outcome.err
    data = data_of(folder / "run" / "report.html")
    assert any("All 4 vectors are the same" in each for each in data["warnings"])
    assert len({tuple(point) for point in unpacked(data["points"]).reshape(-1, 2).tolist()}) == 4


def test_the_page_tells_nobody_where_its_files_lie(
    nodewise: Nodewise, embedded: Callable[..., Path], folder: Path
) -> None:
    run = embedded().resolve()
    (folder / "labels and more").mkdir()
    labels = (folder / "labels and more" / "labels.csv").resolve()
    labels.write_text("id,label\n" + "".join(f"paper_{i},{i % 2}\n" for i in range(40)))
    for missing in (False, True):
        if missing:
            next(folder.glob("edges*")).unlink()
        assert nodewise("report", run, "--labels", labels).code == 0
        text = (run / "report.html").read_text(encoding="utf-8")
        assert str(folder.resolve()) not in text
        assert ("left out" in text) is missing
        assert (
            data_of(run / "report.html")["name"] == json.loads((run / "environment.json").read_text())["graph"]["name"]
        )


def test_a_large_run_is_shown_by_a_sample_that_page_and_command_speak_of(
    nodewise: Nodewise, embedded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = embedded()
    # Another order of the nodes in the graph than in the run.
    first, *rows = Path("nodes.csv").read_text().splitlines(keepends=True)
    Path("nodes.csv").write_text(first + "".join(reversed(rows)))
    assert nodewise("report", "run", "--projection", "pca").code == 0
    whole = data_of(run / "report.html")
    for module in ("nodewise.report.contents", "nodewise.runs.page"):
        monkeypatch.setattr(f"{module}.MOST_SHOWN", 30)
    monkeypatch.setattr("nodewise.vectors.embedding_files._ROWS_IN_A_BATCH", 7)
    outcome = nodewise("report", "run", "--projection", "pca", "--seed", "3")
    assert outcome.code == 0, outcome.err
    said = "The page shows a random sample, 30 of 40 nodes; clusters, scores and neighbors were computed among them."
    assert said in outcome.err
    data = data_of(run / "report.html")
    assert data["notes"] == [said]
    assert dict(data["facts"])["nodes"] == "40"
    names = unpacked(data["ids"])
    everyone = unpacked(whole["ids"])
    places = [everyone.index(name) for name in names]
    assert places == sorted(set(places))
    assert len(places) == 30
    assert (unpacked(data["degrees"]) == 4).all()
    for one, other in zip(data["columns"], whole["columns"], strict=True):
        if one["name"] in ("label", "a", "b", "c", "d", "e"):
            assert (unpacked(one["values"]) == unpacked(other["values"])[places]).all(), one["name"]
    # Cosines of neighbors that both pages have are those of the same vectors.
    angles = {}
    for page, ids in ((data, names), (whole, everyone)):
        k = page["neighbours"]["k"]
        for i, near in enumerate(unpacked(page["neighbours"]["nodes"]).reshape(-1, k)):
            for j, angle in zip(near, unpacked(page["neighbours"]["angles"]).reshape(-1, k)[i], strict=True):
                angles.setdefault((ids[i], ids[j]), []).append(int(angle))
    both = [pair for pair in angles.values() if len(pair) == 2]
    assert len(both) > 100
    assert all(abs(one - other) <= 1 for one, other in both)


def test_the_page_opens_in_the_browser_if_asked(
    nodewise: Nodewise, embedded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded()
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: not shown.append(address))
    outcome = nodewise("report", "run", "--projection", "pca", "--open", "--quiet")
    assert shown == [Path("run/report.html").resolve().as_uri()]
    assert outcome.out == "the page is run/report.html\n"


def test_a_file_of_a_run_is_not_the_run(embedded: Callable[..., Path], refused: Callable[..., str]) -> None:
    embedded()
    said = refused("report", "run/embeddings.parquet", "-q")
    assert "run/embeddings.parquet: is a file; give the run it is of, run [not-a-run]" in said
