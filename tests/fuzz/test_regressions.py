"""Inputs that once crashed a reader, found by `make fuzz` and the corpus; each is now refused in words."""

from __future__ import annotations

import gc
import gzip
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz import seeds
from tests.fuzz.corpus import npy_header, zipped

from nodewise.comparison.run import read_comparison
from nodewise.core.config import load_toml, override
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.ids import NodeIds
from nodewise.methods.settings import Settings
from nodewise.read.feature_table import TableOptions, features_from_frame, read_features
from nodewise.read.read import read_graph
from nodewise.report.attributes import read_attributes
from nodewise.reproduce.provenance import Ledger
from nodewise.runs.neighbors import holds
from nodewise.tables.table import FittedTable
from nodewise.tune.folder import read_trials
from nodewise.vectors.embeddings import read_embeddings

Reader = Callable[[Path], object]


def refused(reader: Reader, path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        reader(path)
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_header_of_npy_that_python_cannot_tokenize(tmp_path: Path) -> None:
    refused(read_graph, tmp_path / "e.npy", npy_header("z'descr': '<i8', 'shape': (2, 3), }"), "not a readable npy")


def test_a_gzip_stream_that_zlib_refuses_in_its_first_block(tmp_path: Path) -> None:
    damaged = gzip.compress(seeds.EDGES_CSV, mtime=0)[:10] + b"\xff" * 30
    for name in ("e.csv.gz", "e.graphml", "e.gml"):
        refused(read_graph, tmp_path / name, damaged, "cannot be read")


def test_an_encoding_that_xml_declares_and_nobody_knows(tmp_path: Path) -> None:
    for name in ("martian", "utf-7", "shift_jis"):
        content = f'<?xml version="1.0" encoding="{name}"?><graphml/>'.encode()
        refused(read_graph, tmp_path / "e.graphml", content, "not (readable as )?(XML|GraphML)")


def test_a_member_of_npz_that_is_no_array(tmp_path: Path) -> None:
    refused(read_graph, tmp_path / "e.npz", zipped({"edge_index.npy": b"text"}), "'edge_index' is no array")


def test_json_in_npz_that_is_too_deep(tmp_path: Path) -> None:
    content = seeds.npz(nodewise_graph=np.frombuffer(b"[" * 100_000, np.uint8))
    refused(read_graph, tmp_path / "e.npz", content, "a damaged nodewise graph")


def test_a_column_of_parquet_whose_name_is_no_text(tmp_path: Path) -> None:
    # The schema lies in the file twice, once for Arrow's own use, which would hide the damage.
    table = pa.table({"source": [1], "target": [2], "embedding": [3]})
    pq.write_table(table, tmp_path / "plain.parquet", store_schema=False)
    content = (tmp_path / "plain.parquet").read_bytes().replace(b"embedding", b"emb\x95dding")
    refused(read_graph, tmp_path / "e.parquet", content, "not a readable Parquet file")


@pytest.mark.parametrize("layout", [np.array(b"\xff"), np.array(["csr", "csr"]), np.array([])])
def test_a_sparse_matrix_in_a_layout_that_is_no_word(tmp_path: Path, layout: np.ndarray) -> None:
    content = seeds.npz(format=layout, shape=np.array([2, 2]), data=np.array([1.0]))
    nodes = NodeIds.range(2)
    refused(lambda path: read_features(path, nodes), tmp_path / "f.npz", content, "sparse matrix")


def test_an_archive_called_npy_is_closed_again(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(read_embeddings, tmp_path / "v.npy", seeds.npz(a=np.zeros(3)), "not a readable npy")
        gc.collect()


@pytest.mark.parametrize("text", ['"\\n" = true', "[training]\nsteps = true" + "0" * 3000, f"{'k' * 3000} = 1"])
def test_settings_whose_error_would_take_several_lines(tmp_path: Path, text: str) -> None:
    refused(lambda path: load_toml(Settings, path), tmp_path / "c.toml", text.encode(), "c.toml: ")
    with pytest.raises(InputError) as caught:
        load_toml(Settings, tmp_path / "c.toml")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("text", ["=" + "9" * 4000, "training.steps.x=1\n", "encoder.kind=" + "9" * 4000, "a\nb=1"])
def test_an_assignment_whose_error_would_be_a_page(text: str) -> None:
    with pytest.raises(InputError) as caught:
        override(Settings(), [text])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("byte_order", "<>")
def test_strings_of_npy_beyond_unicode(tmp_path: Path, byte_order: str) -> None:
    header = f"{{'descr': '{byte_order}U1', 'fortran_order': False, 'shape': (2, 2), }}"
    for code in (b"\xa4\xa4\xa4\xa4", (0xD800).to_bytes(4, "little" if byte_order == "<" else "big")):
        refused(read_graph, tmp_path / "e.npy", npy_header(header, code * 4), "not Unicode")


@pytest.mark.parametrize(("reader", "other"), [(read_graph, "target"), (read_embeddings, "x")])
def test_a_string_in_parquet_that_is_not_utf8(tmp_path: Path, reader: Reader, other: str) -> None:
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    columns = {"id" if other == "x" else "source": ["abcd", "efgh"], other: [1.0, 2.0] if other == "x" else ["p", "q"]}
    content = seeds.parquet(columns, **options)
    assert content.count(b"efgh") == 1
    refused(reader, tmp_path / "e.parquet", content.replace(b"efgh", b"e\xffgh"), "UTF8|utf-8|UTF-8")


@pytest.mark.parametrize("content", [b"\x80", b"[1]", b"[" * 100_000, b"3", b"null"])
def test_records_of_a_run_that_are_no_records(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.toml").touch()
    run = RunFolder.open(tmp_path)
    refused(lambda _: run.read_environment(), run.environment, content, "not JSON|JSON object")
    refused(lambda _: run.read_metrics(), run.metrics, content + b"\n", r"metrics\.jsonl, line 1")


@pytest.mark.parametrize(
    "change", [{"seeds": []}, {"seeds": ["x"]}, {"outcomes": [{}]}, {"settings": 3}, {"trial": "0"}]
)
def test_lines_of_a_search_that_are_no_trials(tmp_path: Path, change: dict[str, object]) -> None:
    line = json.loads(seeds.TRIALS)
    (tmp_path / "trials-0.jsonl").write_bytes(seeds.TRIALS + b"\x80\n")
    assert len(read_trials(tmp_path, "trials")) == 1
    content = json.dumps(line | change).encode() + b"\n"
    refused(
        lambda path: read_trials(path.parent, "trials"), tmp_path / "trials-0.jsonl", content, "line 1: not a trial"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"accuracy": {}},
        {"accuracy": {"few": ["high"], "10%": [1]}},
        {"groups": {"few": "not of this base"}},
        {"looks": {"collision": [1]}},
        {"looks": {"step": [[]]}},
        {"cost": {"seconds": 1e400}},
        {"seed": True},
        {"seed": -1},
    ],
)
def test_lines_of_a_comparison_that_are_no_rows(tmp_path: Path, change: dict[str, object]) -> None:
    content = seeds.ROWS + json.dumps(seeds.ROW | change).encode() + b"\n"
    refused(lambda path: read_comparison(path.parent), tmp_path / "rows.jsonl", content, "line 5: not a row")


@pytest.mark.parametrize("change", [{"strategy": "hard"}, {"accuracy": {"some": [1]}, "groups": {"some": "00"}}])
def test_rows_that_cannot_be_compared(tmp_path: Path, change: dict[str, object]) -> None:
    rows = [seeds.ROW, seeds.ROW | {"seed": 1}] if "accuracy" in change else [seeds.ROW]
    rows[0] = rows[0] | change
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as caught:
        read_comparison(tmp_path)
    assert caught.value.code == "nothing-to-compare"


def test_packed_rows_that_are_damaged(tmp_path: Path) -> None:
    packed = seeds.gzipped(seeds.ROWS)
    for damaged in (packed[:-20], b"\x1f\x8b" + bytes(30), packed[:40] + b"\xff" * 40):
        refused(lambda path: read_comparison(path.parent), tmp_path / "rows.jsonl.gz", damaged, "cannot be unpacked")


@pytest.mark.parametrize("damage", [b'"' + b"x" * 200_000, b"1,1,1\n", b"\xff\n"])
def test_rows_of_reproduce_that_are_none(tmp_path: Path, damage: bytes) -> None:
    refused(lambda path: Ledger(path).read(), tmp_path / "rows.csv", seeds.ledger() + damage + b"\n", "not a")


def test_an_arrow_file_that_is_damaged_inside(tmp_path: Path) -> None:
    whole = seeds.vectors_in(".arrow")
    for start in range(8, len(whole) - 8, 40):
        damaged = whole[:start] + b"\xff" * 8 + whole[start + 8 :]
        (tmp_path / "v.arrow").write_bytes(damaged)
        with suppress(InputError):
            read_embeddings(tmp_path / "v.arrow")


def test_attributes_that_are_damaged_inside(tmp_path: Path) -> None:
    content = seeds.parquet(
        {"id": ["n0", "n1"], "note": ["long" * 50, "x"]}, compression="snappy", use_dictionary=False
    )
    place = content.index(b"long")
    nodes = NodeIds(["n0", "n1"])
    damaged = content[: place - 4] + b"\xff" * 20 + content[place + 16 :]
    refused(lambda path: read_attributes(path, nodes), tmp_path / "a.parquet", damaged, "Parquet")
    refused(lambda path: read_attributes(path, nodes), tmp_path / "a.csv", b"id,", "no rows")
    far = seeds.parquet({"id": ["n0", "n1"], "when": pa.array([2**62, 0], pa.timestamp("us"))})
    refused(lambda path: read_attributes(path, nodes), tmp_path / "a.parquet", far, "'when'")


def test_tables_without_a_row(tmp_path: Path) -> None:
    nodes, like = NodeIds(seeds.COLUMNS["id"]), FittedTable.from_json(seeds.fitted_table().decode(), "features.json")
    head = seeds.MIXED_CSV.partition(b"\n")[0] + b"\n"
    refused(lambda path: read_features(path, nodes, TableOptions(like=like)), tmp_path / "t.csv", head, "no rows")
    with pytest.raises(InputError, match="no rows"):
        features_from_frame(pa.table({"source": pa.array([], pa.int64()), "x": pa.array([], pa.string())}), nodes)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("date", {"day": "%"}),
        ("date", {"scale": 0}),
        ("number", {"scale": 0.0}),
        ("number", {"center": 1e300}),
        ("text", {"word_weights": 1e300}),
        ("text", {"words": "\ud800"}),
        ("category", {"frequent": "\ud800"}),
    ],
)
def test_a_fitted_table_of_what_no_fit_gives(tmp_path: Path, kind: str, change: dict[str, object]) -> None:
    facts = json.loads(seeds.fitted_table())
    column = next(column for column in facts["columns"] if column["kind"] == kind)
    for name, value in change.items():
        column[name] = [value] * len(column[name]) if isinstance(column[name], list) else value
    refused(FittedTable.read, tmp_path / "features.json", json.dumps(facts).encode(), "damaged")


@pytest.mark.parametrize("text", ["note!=x\n", "age>=\n\n30x", "since<" + "9" * 3000])
def test_a_condition_whose_error_would_take_several_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_bytes(seeds.MIXED_CSV)
    columns, _ = read_attributes(tmp_path / "t.csv", NodeIds(seeds.COLUMNS["id"]))
    with pytest.raises(InputError) as caught:
        holds(text, {column.name: column for column in columns}, "t.csv")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_a_frame_with_a_column_whose_name_is_no_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source": [1], "embedding": [3]}), tmp_path / "plain.parquet", store_schema=False)
    (path := tmp_path / "odd.parquet").write_bytes(
        (tmp_path / "plain.parquet").read_bytes().replace(b"embedding", b"emb\x95dding")
    )
    with pytest.raises(InputError, match="table of features"):
        features_from_frame(pq.read_table(path), NodeIds.range(2))
