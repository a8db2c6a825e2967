"""Every way we know to hand over a bad file: exit 2, one line that names the file, nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.command_line import Nodewise

from nodewise.core.errors import InputError
from nodewise.read.read import read_graph

Refused = Callable[..., str]

EDGES = "source,target\na,b\nb,c\nc,d\n"
FEATURES = "id,x,y\na,1,2\nb,3,4\nc,5,6\nd,7,8\n"


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def says(message: str, *parts: str) -> None:
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in {message!r}"


class TestEdges:
    def test_missing_file(self, refused: Refused) -> None:
        says(refused("inspect", "edges.csv"), "edges.csv", "no such file", "[missing-file]")

    def test_folder(self, refused: Refused) -> None:
        Path("edges.d").mkdir()
        says(refused("inspect", "edges.d"), "edges.d", "folder")

    @pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n", "source,target\n"])
    def test_empty_file(self, refused: Refused, content: str) -> None:
        says(refused("inspect", write("edges.csv", content)), "edges.csv")

    @pytest.mark.parametrize("name", ["edges.csv", "edges.parquet", "edges.npz", "edges.graphml", "edges.csv.gz"])
    def test_binary_garbage(self, refused: Refused, name: str) -> None:
        garbage = np.random.default_rng(0).bytes(5000)
        says(refused("inspect", write(name, garbage)), name)

    def test_truncated_gzip(self, refused: Refused) -> None:
        whole = gzip.compress(("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(9999))).encode())
        says(refused("inspect", write("edges.csv.gz", whole[: len(whole) // 2])), "edges.csv.gz", "[damaged-file]")

    def test_ragged_row(self, refused: Refused) -> None:
        message = refused("inspect", write("edges.csv", "source,target\na,b\nb,c\nc\nd,a\n"))
        says(message, "edges.csv", "line 4", "[bad-row]")

    def test_one_column(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "node\na\nb\nc\n")), "edges.csv", "column", "[missing-column]")

    def test_wrong_delimiter(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "a^b\nb^c\nc^d\n")), "edges.csv", "column", "[missing-column]")

    def test_missing_id(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "source,target\na,b\n,c\n")), "edges.csv", "line 3", "[missing-id]")

    @pytest.mark.parametrize(
        "content",
        ["a,a\nb,b\n", "source,target\nx,x\n"],
    )
    def test_self_loops_only(self, refused: Refused, content: str) -> None:
        says(refused("inspect", write("edges.csv", content)), "edges.csv", "self-loop", "[no-edges]")

    def test_no_edges_between_the_nodes_of_an_npz(self, refused: Refused) -> None:
        sp.save_npz("graph.npz", sp.csr_matrix((4, 4)))
        says(refused("inspect", "graph.npz"), "graph.npz", "edge", "[no-edges]")

    def test_one_node(self, refused: Refused) -> None:
        sp.save_npz("graph.npz", sp.csr_matrix(np.ones((1, 1))))
        says(refused("inspect", "graph.npz"), "graph.npz", "edge", "[no-edges]")

    def test_a_line_of_ten_million_characters(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "a,b\n" + "x" * 10**7 + "\n")), "edges.csv", "line 2")

    def test_ten_million_characters_without_a_line_break(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "x" * 10**7)), "edges.csv")

    def test_mixed_encodings(self, refused: Refused) -> None:
        content = "source,target\nMünchen,Köln\n".encode() + "Köln,Zürich\n".encode("latin-1")
        says(refused("inspect", write("edges.csv", content)), "edges.csv", "line 3", "[not-text]")

    def test_utf16(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "a,b\nb,c\n".encode("utf-16"))), "edges.csv", "[not-text]")

    def test_nul_bytes(self, refused: Refused) -> None:
        says(refused("inspect", write("edges.csv", "a,b\nb\0,c\n")), "edges.csv", "[not-text]")

    @pytest.mark.parametrize("delimiter", ["é", "::", '"', "\n"])
    def test_a_delimiter_that_cannot_be_one(self, refused: Refused, delimiter: str) -> None:
        write("edges.csv", EDGES)
        says(refused("inspect", "edges.csv", "--delimiter", delimiter), "edges.csv", "one ASCII character")


class TestBinaryFormats:
    def test_truncated_parquet(self, refused: Refused) -> None:
        pq.write_table(pa.table({"source": ["a", "b"], "target": ["b", "c"]}), "edges.parquet")
        whole = Path("edges.parquet").read_bytes()
        says(refused("inspect", write("edges.parquet", whole[:-20])), "edges.parquet", "[damaged-file]")

    def test_parquet_of_a_wrong_type(self, refused: Refused) -> None:
        pq.write_table(pa.table({"source": [[1], [2]], "target": [[2], [3]]}), "edges.parquet")
        says(refused("inspect", "edges.parquet"), "edges.parquet")

    @pytest.mark.parametrize("ends", [[0.5, 1.5], [-1, 2]])
    def test_negative_or_fractional_node_numbers(self, refused: Refused, ends: list[float]) -> None:
        np.savez("graph.npz", edge_index=np.array([ends, [1, 0]]))
        says(refused("inspect", "graph.npz"), "graph.npz")

    def test_npz_with_a_pickled_object(self, refused: Refused, folder: Path) -> None:
        np.savez("graph.npz", edge_index=np.array([Bomb(folder / "executed")], dtype=object))
        says(refused("inspect", "graph.npz"), "graph.npz", "[pickled-object]")
        assert not (folder / "executed").exists()

    def test_npz_without_a_graph(self, refused: Refused) -> None:
        np.savez("graph.npz", weights=np.zeros(3))
        says(refused("inspect", "graph.npz"), "graph.npz")

    def test_npz_with_an_array_that_lies_about_its_size(self, refused: Refused) -> None:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (2, 10**12)})
        with zipfile.ZipFile("graph.npz", "w") as archive:
            archive.writestr("edge_index.npy", header.getvalue() + bytes(64))
        says(refused("inspect", "graph.npz"), "graph.npz", "[damaged-file]")

    def test_npz_that_unpacks_beyond_memory(self, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
        np.savez_compressed("graph.npz", edge_index=np.zeros((2, 10**6), np.int64))
        np.save("edges.npy", np.zeros((2, 10**6), np.int64))
        monkeypatch.setattr("nodewise.read.npz.available_memory", lambda: 10**7)
        says(
            refused("inspect", "graph.npz"),
            "graph.npz: unpacks to 16,000,",
            "10,000,000 are free",
            "[too-little-memory]",
        )
        says(refused("inspect", "edges.npy"), "edges.npy: holds 16,000,", "10,000,000 are free", "[too-little-memory]")

    @pytest.mark.parametrize("layout", ["coo", "csc"])
    def test_npz_of_a_trillion_rows(self, refused: Refused, layout: str) -> None:
        ends = {"row": np.array([0]), "col": np.array([1])}
        if layout == "csc":
            ends = {"indices": np.array([0]), "indptr": np.array([0, 0, 1])}
        np.savez("graph.npz", format=layout, shape=np.array([10**12, 2]), data=np.ones(1), **ends)
        says(refused("inspect", "graph.npz"), "graph.npz", "1,000,000,000,000 rows", "[too-little-memory]")

    def test_parquet_of_empty_lists_as_weights(self, refused: Refused) -> None:
        empty = pa.array([[], []], pa.list_(pa.float32()))
        pq.write_table(pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": empty}), "edges.parquet")
        says(refused("inspect", "edges.parquet"), "edges.parquet", "'weight'", "holds lists", "[bad-weight]")

    def test_a_file_in_zstandard(self, refused: Refused) -> None:
        packed = pa.compress(EDGES.encode(), "zstd", asbytes=True)
        says(refused("inspect", write("edges.csv.zst", packed)), "edges.csv.zst", "Zstandard", "[unsupported-format]")

    @pytest.mark.parametrize("packing", [bz2, lzma])
    def test_a_cut_compressed_file(self, refused: Refused, packing: Any) -> None:
        packed = packing.compress(EDGES.encode())
        says(
            refused("inspect", write("edges.csv", packed[: len(packed) - 9])),
            "edges.csv",
            "ended before",
            "[damaged-file]",
        )

    def test_graphml_with_an_entity_bomb(self, refused: Refused) -> None:
        entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
        bomb = (
            f'<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY l0 "lol">{entities}]>'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
            '<node id="a"/><node id="&l9;"/><edge source="a" target="&l9;"/></graph></graphml>'
        )
        says(refused("inspect", write("graph.graphml", bomb)), "graph.graphml")

    def test_graphml_that_reads_another_file(self, refused: Refused) -> None:
        write("secret.txt", "secret")
        bomb = (
            '<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY s SYSTEM "secret.txt">]>'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
            '<node id="a"/><node id="&s;"/><edge source="a" target="&s;"/></graph></graphml>'
        )
        message = refused("inspect", write("graph.graphml", bomb))
        says(message, "graph.graphml")
        assert "secret'" not in message

    @pytest.mark.parametrize(
        ("inside", "what"),
        [
            ('<edge source="a"/>', "<edge> has no 'target'"),
            ('<edge source="" target="a"/>', "<edge> has no 'source'"),
            ("<node/>", "<node> has no 'id'"),
            ('<node id="c"><graph edgedefault="directed"/></node>', "nested graph"),
            ('</graph>\n<graph edgedefault="undirected">', "second or nested graph"),
        ],
    )
    def test_graphml_that_would_be_misread(self, refused: Refused, inside: str, what: str) -> None:
        content = (
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">\n'
            f'<node id="a"/><node id="b"/><edge source="a" target="b"/>\n{inside}</graph></graphml>'
        )
        says(refused("inspect", write("graph.graphml", content)), "graph.graphml, line", what)

    def test_graphml_cut_off(self, refused: Refused) -> None:
        content = '<?xml version="1.0"?><graphml><graph edgedefault="undirected"><node id="a"/>'
        says(refused("inspect", write("graph.graphml", content)), "graph.graphml", "[damaged-file]")


class TestFeatures:
    @pytest.fixture(autouse=True)
    def _edges(self, folder: Path) -> None:
        write("edges.csv", EDGES)

    def inspect(self, refused: Refused, content: str | bytes, *parts: str) -> None:
        name = write("nodes.csv", content)
        says(refused("inspect", "edges.csv", "--features", name), "nodes.csv", *parts)

    def test_missing_file(self, refused: Refused) -> None:
        says(refused("inspect", "edges.csv", "--features", "nodes.csv"), "nodes.csv", "no such file", "[missing-file]")

    def test_a_column_that_cannot_be_understood(self, refused: Refused) -> None:
        rows = "".join(f"n{i},{i}\n" for i in range(90))
        strange = "".join(f"{node},x{node}\n" for node in "abcd")
        self.inspect(refused, f"id,age\n{rows}{strange}", "'age'", "'xa', 'xb', 'xc'", "age:number", "[bad-column]")

    def test_a_date_column_of_two_formats(self, refused: Refused) -> None:
        days = "a,2024-01-31\nb,31.01.2024\nc,2024-02-01\nd,01.02.2024\n"
        self.inspect(refused, f"id,since\n{days}", "'since'", "'2024-01-31' and '31.01.2024'", "[bad-column]")

    @pytest.mark.parametrize(
        ("columns", "part"),
        [
            ("x:number,-x", "number and left out"),
            ("x:number,x:text", "number and text"),
            ("x:numberz", "'number'"),
            ("id:number", "the column of ids"),
            ("x:date", "none of its values"),
            ("x:vector", "no lists"),
            ("x", "NAME:KIND"),
            ("-x,-y", "no feature columns"),
        ],
    )
    def test_contradictory_columns(self, refused: Refused, columns: str, part: str) -> None:
        write("nodes.csv", FEATURES)
        for command in (("inspect", "edges.csv"), ("convert", "edges.csv", "-o", "graph.store")):
            says(refused(*command, "--features", "nodes.csv", "--columns", columns), part)

    def test_an_unknown_column(self, refused: Refused) -> None:
        write("nodes.csv", FEATURES)
        message = refused("inspect", "edges.csv", "--features", "nodes.csv", "--columns", "z:number")
        says(message, "nodes.csv", "'z'", "[missing-column]")

    @pytest.mark.parametrize("value", ["inf", "-inf", "1e39"])
    def test_not_finite(self, refused: Refused, value: str) -> None:
        self.inspect(refused, FEATURES.replace("5", value), "line 4", "x")

    def test_no_id_with_features(self, refused: Refused) -> None:
        self.inspect(refused, "id,x,y\np,1,2\nq,3,4\n", "'a'", "[other-nodes]")

    def test_a_repeated_id(self, refused: Refused) -> None:
        self.inspect(refused, FEATURES + "a,9,9\n", "'a'")

    def test_ids_of_another_type(self, refused: Refused) -> None:
        write("edges.csv", "source,target\n1,2\n2,3\n")
        pq.write_table(pa.table({"id": ["1", "2", "3"], "x": [0.5, 1.0, 2.0]}), "nodes.parquet")
        message = refused("inspect", "edges.csv", "--features", "nodes.parquet")
        says(message, "edges.csv", "nodes.parquet", "integer", "string", "[other-id-type]")

    def test_a_ragged_row(self, refused: Refused) -> None:
        self.inspect(refused, FEATURES.replace("5,6", "5"), "line 4")

    def test_a_matrix_without_ids_for_named_nodes(self, refused: Refused) -> None:
        np.save("nodes.npy", np.ones((4, 2), np.float32))
        says(refused("inspect", "edges.csv", "--features", "nodes.npy"), "nodes.npy")

    def test_a_matrix_with_too_few_rows(self, refused: Refused) -> None:
        write("edges.csv", "0,1\n1,2\n2,3\n")
        np.save("nodes.npy", np.ones((3, 2), np.float32))
        says(refused("inspect", "edges.csv", "--features", "nodes.npy"), "nodes.npy", "3")

    def test_an_object_array(self, refused: Refused) -> None:
        np.save("nodes.npy", np.array([{}], dtype=object))
        says(refused("inspect", "edges.csv", "--features", "nodes.npy"), "nodes.npy", "[pickled-object]")


class TestLabels:
    @pytest.fixture(autouse=True)
    def _edges(self, folder: Path) -> None:
        write("edges.csv", EDGES)

    def test_an_unknown_id(self, refused: Refused) -> None:
        write("labels.csv", "id,label\na,red\nz,blue\n")
        says(refused("inspect", "edges.csv", "-l", "labels.csv", "--strict"), "labels.csv", "'z'", "[other-nodes]")

    def test_a_repeated_id(self, refused: Refused) -> None:
        write("labels.csv", "id,label\na,red\na,blue\n")
        says(refused("inspect", "edges.csv", "--labels", "labels.csv"), "labels.csv", "'a'", "[duplicate-id]")

    def test_ids_of_another_type(self, refused: Refused) -> None:
        write("labels.csv", "id,label\n1,red\n2,blue\n")
        says(
            refused("inspect", "edges.csv", "--labels", "labels.csv"),
            "labels.csv",
            "integer",
            "string",
            "[other-id-type]",
        )

    def test_an_unknown_part_of_a_split(self, refused: Refused) -> None:
        write("labels.csv", "id,label,split\na,red,train\nb,blue,holdout\n")
        says(refused("inspect", "edges.csv", "--labels", "labels.csv"), "labels.csv", "holdout")


class Bomb:
    """Makes a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


class TestDataSets:
    def test_unknown_name(self, refused: Refused) -> None:
        says(refused("inspect", "citesser"), "citesser", "did you mean 'citeseer'?", "[missing-file]")

    def test_a_data_set_brings_its_own_features(self, refused: Refused) -> None:
        write("nodes.csv", FEATURES)
        says(refused("inspect", "citeseer", "--features", "nodes.csv"), "--features")

    def test_missing_data_dir(self, refused: Refused) -> None:
        says(refused("inspect", "cora", "--data-dir", "nowhere"), "nowhere", "--data-dir")

    def test_some_files_missing(self, refused: Refused) -> None:
        Path("data").mkdir()
        write("data/ind.cora.x", b"")
        says(refused("inspect", "cora", "--data-dir", "data"), "ind.cora.graph")

    @pytest.fixture
    def files(self, folder: Path) -> Path:
        data = folder / "data"
        data.mkdir()
        for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
            (data / f"ind.cora.{part}").write_bytes(pickle.dumps(Bomb(folder / "executed"), protocol=2))
        return data

    def test_checksum_mismatch(self, refused: Refused, files: Path) -> None:
        says(refused("inspect", "cora", "--data-dir", files), "ind.cora.", "SHA-256", "[damaged-file]")

    def test_a_malicious_pickle_is_not_executed(
        self, refused: Refused, files: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # As if the sums were those of these very files: the reader itself must be safe too.
        monkeypatch.setattr("nodewise.datasets.planetoid_files._verify", lambda *_: None)
        says(refused("inspect", "cora", "--data-dir", files), "ind.cora.", "refused", "[pickled-object]")
        assert not (folder / "executed").exists()


class TestVectors:
    def test_no_run(self, refused: Refused) -> None:
        says(refused("neighbors", "run", "--node", "a"), "run", "no such run folder", "[not-a-run]")

    def test_a_folder_that_is_no_run(self, refused: Refused) -> None:
        Path("run").mkdir()
        says(refused("evaluate", "run"), "run", "not a run folder", "[not-a-run]")

    def test_a_file_that_holds_no_vectors(self, refused: Refused) -> None:
        says(
            refused("neighbors", write("vectors.parquet", "nonsense"), "--node", "a"),
            "vectors.parquet",
            "[damaged-file]",
        )

    def test_an_unknown_node(self, refused: Refused) -> None:
        write("vectors.csv", FEATURES)
        says(refused("neighbors", "vectors.csv", "--node", "q"), "'q'", "[unknown-node]")

    def test_vectors_without_labels(self, refused: Refused) -> None:
        write("vectors.csv", FEATURES)
        says(refused("evaluate", "vectors.csv"), "vectors.csv", "--labels", "[no-labels]")

    def test_labels_of_other_nodes(self, refused: Refused) -> None:
        write("vectors.csv", FEATURES)
        write("labels.csv", "id,label\na,red\nz,blue\n")
        says(refused("evaluate", "vectors.csv", "-l", "labels.csv", "--strict"), "labels.csv", "'z'", "[other-nodes]")

    def test_an_unknown_split(self, refused: Refused) -> None:
        write("vectors.csv", FEATURES)
        write("labels.csv", "id,label\na,red\nb,blue\nc,red\nd,blue\n")
        message = refused("evaluate", "vectors.csv", "--labels", "labels.csv", "--split", "rnadom:1x1x1")
        says(message, "rnadom", "random:20x500x1000")


class TestOutput:
    @pytest.fixture(autouse=True)
    def _edges(self, folder: Path) -> None:
        write("edges.csv", EDGES)

    def test_below_a_file(self, refused: Refused) -> None:
        write("file", "")
        says(refused("embed", "edges.csv", "-o", "file/run"), "file/run", "a directory", "[cannot-write]")

    def test_a_file(self, refused: Refused) -> None:
        says(refused("embed", "edges.csv", "-o", "edges.csv"), "edges.csv", "is a file", "[cannot-write]")

    def test_a_folder_of_other_things(self, refused: Refused) -> None:
        Path("thesis").mkdir()
        write("thesis/chapter.tex", "years of work")
        says(refused("embed", "edges.csv", "-o", "thesis"), "thesis", "not a run's", "[foreign-folder]")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_read_only_folder(self, refused: Refused) -> None:
        Path("closed").mkdir(mode=0o500)
        says(refused("embed", "edges.csv", "-o", "closed/run"), "closed/run", "Permission denied")

    def test_a_bad_graph_leaves_no_run(self, refused: Refused) -> None:
        write("ragged.csv", "a,b\nb\n")
        says(refused("embed", "ragged.csv", "-o", "new/run"), "ragged.csv", "line 2", "[bad-row]")

    def test_a_bad_setting_leaves_no_run(self, refused: Refused) -> None:
        says(refused("embed", "edges.csv", "-o", "run", "--set", "views.lngth=5"), "views.length", "[unknown-setting]")

    def test_an_unknown_method_or_device(self, refused: Refused) -> None:
        says(refused("embed", "edges.csv", "-o", "run", "--method", "nodwise"), "'nodewise'")
        says(refused("embed", "edges.csv", "-o", "run", "--device", "abacus", "-q"), "abacus")


@pytest.mark.parametrize("other", ["color", "y"], ids=["a mixed table", "nothing but numbers"])
def test_two_columns_of_one_name(other: str, refused: Callable[..., str]) -> None:
    Path("e.csv").write_text("source,target\na,b\nb,c\n")
    value = "red" if other == "color" else "7"
    Path("n.csv").write_text(f"id,x,{other},x\n" + "".join(f"{node},1,{value},{i}\n" for i, node in enumerate("abc")))
    said = refused("inspect", "e.csv", "-f", "n.csv", "-q")
    assert "n.csv: two columns are called 'x'; rename one of them [bad-column]" in said


def test_a_file_that_ends_within_a_quoted_value(refused: Callable[..., str]) -> None:
    Path("e.csv").write_text('source,target\n"a",b\nb,"c')
    assert "e.csv, line 3: the quotes do not match" in (said := refused("inspect", "e.csv", "-q"))
    assert said.endswith("[bad-row]\n")


def archive(name: str, *members: str) -> None:
    with zipfile.ZipFile(name, "w") as file:
        for member in members:
            file.writestr(member, "application/vnd")


@pytest.mark.parametrize("role", ["edges", "features", "labels"])
@pytest.mark.parametrize(
    ("name", "members", "what"),
    [
        ("t.xlsx", ("docProps/app.xml", "[Content_Types].xml", "xl/workbook.xml"), "an Excel file"),
        ("t.ods", ("mimetype", "content.xml"), "an OpenDocument file"),
        ("t.xls", (), "an Excel file"),
    ],
)
def test_a_spreadsheet(role: str, name: str, members: tuple[str, ...], what: str, refused: Callable[..., str]) -> None:
    Path("e.csv").write_text("source,target\na,b\nb,c\n")
    if members:
        archive(name, *members)
    else:
        Path(name).write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    given = (name,) if role == "edges" else ("e.csv", f"--{role}", name)
    said = refused("inspect", *given, "-q")
    assert f"{name}: {what}" in said
    assert said.endswith("save the sheet as csv [unsupported-format]\n")


@pytest.mark.parametrize("name", ["e.csv", "e.parquet"])
def test_a_pointer_of_git_lfs(name: str, refused: Callable[..., str]) -> None:
    Path(name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    assert refused("inspect", name).endswith("git lfs pull' [damaged-file]\n")


@pytest.mark.parametrize("weight", ["1e39", "1e-50", "1e-40"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_weight_out_of_range_is_told_with_its_value(weight: str, kind: str, refused: Callable[..., str]) -> None:
    if kind == "csv":
        Path("e.csv").write_text(f"source,target,weight\na,b,0\nb,c,{weight}\n")
    else:
        weights = pa.array([0.0, float(weight)])
        pq.write_table(pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": weights}), "e.parquet")
    said = refused("inspect", f"e.{kind}", "-q")
    assert f"'weight': an edge with weight {float(weight):g}, which is out of range" in said
    assert said.endswith("[bad-weight]\n")


@pytest.mark.parametrize(
    ("weight", "options"), [("1e+39", ()), ("1e-50", ()), ("1e-40", ()), ("1e-50", ("--unweighted",))]
)
def test_a_weight_out_of_range_is_told_by_convert_too(weight: str, options: tuple[str, ...], refused: Refused) -> None:
    Path("e.csv").write_text(f"source,target,weight\na,b,0\nb,c,{weight}\n")
    said = refused("convert", "e.csv", "-o", "s", *options)
    assert f"line 3, 'weight': an edge with weight {weight}, which is out of range" in said
    assert said == refused("embed", "e.csv", "-o", "s", *options)


def test_convert_looks_for_such_weights_in_every_part_of_the_edges(refused: Refused) -> None:
    edges = [f"{node},{node + 1},{1e-50 if node == 270 else node % 3}\n" for node in range(300)]
    Path("e.csv").write_text("source,target,weight\n" + "".join(edges))
    said = refused("convert", "e.csv", "-o", "s", "--memory", "10KB")
    assert "line 272, 'weight': an edge with weight 1e-50, which" in said


class TestEdgesWithoutTheWeightOfOthers:
    """Nobody can say what such an edge weighs, so every reader refuses it, and does without weights if told to."""

    COLUMNS: ClassVar = {"source": list("abcd"), "target": list("bcda"), "weight": [2.0, None, 1.5, 1.0]}

    @pytest.fixture(params=["e.csv", "e.parquet", "e.graphml", "e.gml"])
    def edges(self, request: pytest.FixtureRequest, folder: Path) -> str:
        rows = list(zip(*self.COLUMNS.values(), strict=True))
        graph = nx.Graph()
        for a, b, weight in rows:
            graph.add_edge(a, b, **({} if weight is None else {"weight": weight}))
        written = {
            "e.csv": lambda: write(
                "e.csv", "source,target,weight\n" + "".join(f"{a},{b},{w or ''}\n" for a, b, w in rows)
            ),
            "e.parquet": lambda: pq.write_table(pa.table(self.COLUMNS), "e.parquet"),
            "e.graphml": lambda: nx.write_graphml(graph, "e.graphml"),
            "e.gml": lambda: nx.write_gml(graph, "e.gml"),
        }
        written[request.param]()
        return str(request.param)

    @pytest.mark.parametrize("command", ["embed", "convert"])
    def test_are_refused(self, edges: str, command: str, refused: Refused) -> None:
        said = refused(command, edges, "-o", "out")
        says(said, edges, "an edge without a weight", "--unweighted", "[bad-weight]")
        assert re.search("line 3|row 2|between 'b' and 'c'", said)

    def test_are_edges_where_weights_are_left_out(self, edges: str, nodewise: Nodewise) -> None:
        assert nodewise("convert", edges, "--unweighted", "-o", "out", "-q").code == 0
        found = json.loads(nodewise("inspect", "out", "--json").out)
        assert (found["edges"], found["nodes"]) == (4, 4)
        assert json.loads(nodewise("inspect", edges, "--unweighted", "--json").out)["edges"] == 4

    def test_of_frames_too(self) -> None:
        with pytest.raises(InputError, match=r"^the table of edges, row 2, 'weight': an edge without a weight"):
            read_graph(pa.table(self.COLUMNS))
        assert read_graph(pa.table(self.COLUMNS), unweighted=True).num_edges == 4


def test_ids_that_look_like_comments(refused: Callable[..., str]) -> None:
    Path("e.csv").write_text("source,target\n#a,#b\n#b,#c\n")
    assert "(2 comment lines (beginning with # or %) skipped)" in refused("inspect", "e.csv", "-q")


def test_a_folder_of_labels(refused: Callable[..., str]) -> None:
    Path("e.csv").write_text("source,target\na,b\nb,c\n")
    Path("labels").mkdir()
    assert refused("inspect", "e.csv", "--labels", "labels", "-q").endswith("[not-a-plain-file]\n")


class TestNotes:
    """Reading may note much before something is refused; the one line of the error is all that is to be seen then."""

    EDGES = "# from the warehouse\nsource,target,since\na,b,1\nb,c,2\nc,d,3\nd,d,4\na,b,5\n"

    def test_what_was_noted_of_good_files_is_not_above_the_error(self, refused: Refused, nodewise: Nodewise) -> None:
        write("edges.csv", self.EDGES)
        assert "comment line" in nodewise("inspect", "edges.csv").err
        for options in (("--labels", "labels.csv"), ("--set", "training.batch_size=1"), ("--hold-out-edges", "0.9")):
            refused("embed", "edges.csv", "-o", "run", *options)

    def test_nor_where_the_training_itself_is_refused(self, refused: Refused) -> None:
        write("edges.csv", self.EDGES)
        write("features.csv", "id,x,y\n" + "".join(f"{node},0,0\n" for node in "abcd"))
        says(refused("embed", "edges.csv", "-f", "features.csv", "-o", "run"), "zero")

    def test_a_command_that_succeeds_says_them_before_its_result(self, folder: Path) -> None:
        write("edges.csv", self.EDGES)
        command = [sys.executable, "-m", "nodewise", "inspect", "edges.csv"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
        assert done.stdout.startswith("nodewise: ")
