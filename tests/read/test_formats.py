import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz.seeds import npz

from nodewise.core.errors import InputError
from nodewise.read.formats import format_of


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.csv", b"a,b\n", "text"),
        ("a.tsv", b"a\tb\n", "text"),
        ("edges", b"a b\n", "text"),
        ("a.csv.gz", gzip.compress(b"a,b\n", mtime=0), "text"),
        ("a.graphml", b"<graphml/>", "graphml"),
        ("a.graphml.gz", gzip.compress(b"<graphml/>", mtime=0), "graphml"),
        ("a.xml", b'\xef\xbb\xbf\n<?xml version="1.0"?><graphml/>', "graphml"),
        ("a.GML", b"graph []", "gml"),
        ("a.csv", b"PAR1....", "parquet"),
        ("a.bin", npz(x=np.zeros(1)), "npz"),
        ("a.bin", b"\x93NUMPY\x01", "npy"),
    ],
)
def test_content_goes_before_the_name(tmp_path, name, data, kind):
    (tmp_path / name).write_bytes(data)
    assert format_of(tmp_path / name) == kind


def test_files_as_their_libraries_write_them(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    np.savez(tmp_path / "a.npz", a=np.eye(2))
    np.save(tmp_path / "a.npy", np.eye(2))
    assert [format_of(tmp_path / f"a.{kind}") for kind in ("parquet", "npz", "npy")] == [
        "parquet",
        "npz",
        "npy",
    ]


@pytest.mark.parametrize(
    ("name", "data", "fragment"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.parquet", b"a,b\n", "named like parquet but its content is not"),
        ("a.npz", b"hello", "named like npz"),
        ("a.txt", b"%%MatrixMarket matrix\n", "scipy.io.mmread"),
        ("a.feather", b"ARROW1\x00\x00", "write it as Parquet"),
        ("a.gexf", b'<?xml version="1.0"?>\n<gexf xmlns="x">', "export the graph as GraphML"),
        ("a.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:15], "cannot be read"),
    ],
)
def test_what_has_no_content_to_read_is_refused(tmp_path, name, data, fragment):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        format_of(tmp_path / name)
    assert fragment in str(error.value)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        format_of(tmp_path / "missing.csv")
    with pytest.raises(InputError, match="is a folder"):
        format_of(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a plain file"):
        format_of(tmp_path / "pipe")
