"""A company's files, as they are: three commands to a page, as good as after careful preparation, and new customers."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from nodewise.vectors.embeddings import read_embeddings
from tests.command_line import Nodewise
from tests.conftest import ROOT

TABLES = ("--features", "customers.csv")
NARROW = ("--set", "encoder.dimension=128")
QUICK = ("--set", "training.steps=3", "--set", "encoder.dimension=32")


@pytest.fixture
def company(folder: Path) -> Path:
    """The files of the company in the current folder."""
    script = ROOT / "examples" / "company.py"
    subprocess.run([sys.executable, str(script), "."], check=True, capture_output=True)
    return folder


def by_hand() -> Any:
    """Return what somebody would make of the columns who looks at each of them, one row per node."""
    with Path("customers.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    with Path("purchases.csv").open(encoding="utf-8", newline="") as stream:
        products = sorted({row["product"] for row in csv.DictReader(stream, delimiter=";")})

    def standard(values: list[float]) -> np.ndarray:
        column = np.array(values)
        return np.nan_to_num((column - np.nanmean(column)) / np.nanstd(column))[:, None]

    def indicators(lists: list[list[str]]) -> np.ndarray:
        kinds = sorted({value for each in lists for value in each})
        found = np.array([[float(kind in each) for kind in kinds] for each in lists])
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    words = TfidfVectorizer().fit_transform([row["note"] for row in rows])
    parts = [
        standard([float(row["age"] or "nan") for row in rows]),
        standard([math.log(float(row["revenue"].replace(",", "."))) for row in rows]),
        standard([datetime.strptime(row["since"], "%d.%m.%Y").timestamp() for row in rows]),
        *(
            indicators([[row[name]] if row[name] != "n/a" else [] for row in rows])
            for name in ("country", "newsletter")
        ),
        indicators([row["interests"].split("|") for row in rows]),
        TruncatedSVD(30, random_state=0).fit_transform(words),
    ]
    matrix = np.concatenate([*parts], axis=1)
    matrix = np.concatenate([matrix, np.zeros((len(products), matrix.shape[1]))])
    return pa.table({"id": [*(row["customer"] for row in rows), *products], "x": list(matrix.astype(np.float32))})


def accuracy(nodewise: Nodewise, run: str) -> float:
    told = nodewise("evaluate", run, "--labels", "labels.csv", "--probe", "sklearn", "--json", "--quiet")
    assert told.code == 0, told.err
    return float(json.loads(told.out)["scores"]["accuracy"]["mean"])


def test_three_commands_from_raw_files_to_a_page(nodewise: Nodewise, company: Path) -> None:
    assert nodewise("embed", "purchases.csv", *TABLES, "-o", "run", "--quiet", *NARROW).code == 0
    raw = accuracy(nodewise, "run")
    shown = nodewise("report", "run", "--labels", "labels.csv", "--projection", "pca", "--quiet")
    assert shown.code == 0, shown.err
    page = (company / "run" / "report.html").read_text(encoding="utf-8")
    assert '"interests"' in page  # the table's own columns color the map

    pq.write_table(by_hand(), "prepared.parquet")
    told = nodewise("embed", "purchases.csv", "--features", "prepared.parquet", "-o", "careful", "--quiet", *NARROW)
    assert told.code == 0, told.err
    careful = accuracy(nodewise, "careful")
    assert careful > 0.7  # chance is a quarter
    assert raw > careful - 0.02


def test_new_customers(nodewise: Nodewise, company: Path) -> None:
    assert nodewise("embed", "purchases.csv", *TABLES, "-o", "run", "--quiet", *QUICK).code == 0
    later = ("tomorrow/purchases.csv", "--features", "tomorrow/customers.csv")
    told = nodewise("transform", "run", *later, "--new", "-o", "new.parquet")
    assert told.code == 0, told.err
    assert "1 value of 'country' unknown to training, such as 'Brazil'" in told.err
    assert len(read_embeddings(Path("new.parquet"))) == 40

    table = Path("tomorrow/customers.csv")
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    reordered = [";".join(reversed(line.split(";"))) for line in (header, *rows)]
    table.write_text("\n".join(reordered) + "\n", encoding="utf-8")  # known by their names, not by their places
    assert nodewise("transform", "run", *later, "--new", "-o", "same.parquet", "--quiet").code == 0
    found = [read_embeddings(Path(name)).vectors for name in ("new.parquet", "same.parquet")]
    assert np.array_equal(*found)

    table.write_text("\n".join([header.replace("country", "land"), *rows]) + "\n", encoding="utf-8")
    refused = nodewise("transform", "run", *later, "--new", "-o", "other.parquet", "--quiet")
    assert refused.code == 2
    assert "'country'" in refused.err
    assert "[other-features]" in refused.err


def test_every_column_is_shown_and_can_be_said_otherwise(nodewise: Nodewise, company: Path) -> None:
    told = json.loads(nodewise("inspect", "purchases.csv", *TABLES, "--json", "--quiet").out)
    kinds = {row["column"]: row["kind"] for row in told["columns"]}
    assert kinds == {
        "internal_id": "number",
        "age": "number",
        "revenue": "number",
        "country": "category",
        "since": "date",
        "newsletter": "boolean",
        "interests": "tags",
        "note": "text",
    }
    assert "-internal_id" in next(row["warning"] for row in told["columns"] if row["column"] == "internal_id")
    said = ("--columns", "age:category,note:category,-internal_id")
    told = json.loads(nodewise("inspect", "purchases.csv", *TABLES, *said, "--json", "--quiet").out)
    kinds = {row["column"]: row["kind"] for row in told["columns"]}
    assert Counter(kinds.values())["category"] == 3
    assert kinds["internal_id"] == "left out"


def test_texts_of_several_lines_are_read_like_others(nodewise: Nodewise, company: Path) -> None:
    plain = nodewise("inspect", "purchases.csv", *TABLES, "--json", "--quiet").out
    table = Path("customers.csv")
    with table.open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream, delimiter=";")
    with table.open("w", encoding="utf-8", newline="") as stream:
        broken = ([*row[:-1], row[-1].replace(", ", ",\n")] for row in rows)  # the note is the last column
        csv.writer(stream, delimiter=";").writerows([names, *broken])
    assert len(table.read_text(encoding="utf-8").splitlines()) > 2000
    told = nodewise("inspect", "purchases.csv", *TABLES, "--json", "--quiet")
    assert told.code == 0, told.err
    both = [json.loads(out) for out in (plain, told.out)]
    assert both[0]["nodes"] == both[1]["nodes"]
    assert [row["kind"] for row in both[0]["columns"]] == [row["kind"] for row in both[1]["columns"]]


def test_a_store_keeps_what_became_of_the_columns(nodewise: Nodewise, company: Path) -> None:
    assert nodewise("convert", "purchases.csv", *TABLES, "-o", "company.store", "--quiet").code == 0
    for graph, run in (("company.store", "stored"), ("purchases.csv", "direct")):
        tables = TABLES if graph == "purchases.csv" else ()
        assert nodewise("embed", graph, *tables, "-o", run, "--quiet", *QUICK).code == 0
    stored, direct = (read_embeddings(Path(run) / "embeddings.parquet").vectors for run in ("stored", "direct"))
    assert np.array_equal(stored, direct)
    assert Path("stored/features.json").read_bytes() == Path("direct/features.json").read_bytes()


def test_units_that_drown_the_rest_are_told(nodewise: Nodewise, folder: Path) -> None:
    random = np.random.default_rng(0)
    people = np.stack([random.normal(40, 10, 60), np.exp(random.normal(9, 2, 60))], 1)
    np.save("people.npy", people)
    Path("edges.csv").write_text("".join(f"{i},{(i + 1) % 60}\n" for i in range(60)))
    Path("labels.csv").write_text("id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(60)))
    files = ("edges.csv", "--features", "people.npy")
    assert "factor" not in nodewise("embed", *files, *QUICK, "-o", "prepared").err
    raw = nodewise("embed", *files, *QUICK, "--set", "features.scaling=none", "-o", "raw").err
    for told in (raw, nodewise("evaluate", "raw", "--labels", "labels.csv").err, nodewise("report", "raw").err):
        assert "the spread of columns differs by a factor of" in told
    assert "the spread of columns differs by a factor of" in Path("raw/report.html").read_text(encoding="utf-8")
