"""The seed corpus: malformed and hostile files, each with the command line that a user would open it with.

Files are made by this script rather than kept as bytes, so that each says what is wrong with it.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from tests.fuzz import seeds

from nodewise.core.config import to_toml
from nodewise.methods.settings import Settings

CANARY = "canary"
"""A file of this name in the working folder means that something ran code."""


class Malformed(NamedTuple):
    """Files to write, the one at fault, and the arguments of `nodewise`."""

    fault: str
    arguments: tuple[str, ...]
    files: dict[str, bytes]

    def write(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Bomb:
    """Leaves a canary where it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (f"open({CANARY!r}, 'w').close()",)


def object_array() -> np.ndarray:
    return np.array([Bomb(), Bomb()], dtype=object)


def zipped(members: dict[str, bytes], **options: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npy_header(text: str, body: bytes = b"") -> bytes:
    header = text.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def safetensors_file(header: object, body: bytes = b"", size: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + body


def own_graph(**changes: object) -> bytes:
    about = {"version": 1, "name": "g", "notes": [], "class_names": [], "id_type": "int64"}
    arrays = {
        "nodewise_graph": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 0], np.int32),
        "ids": np.array([5, 6]),
    }
    return seeds.npz(**arrays | {name: np.asarray(value) for name, value in changes.items()})


def run_folder(**files: bytes) -> dict[str, bytes]:
    """Return a run folder's files; a keyword such as `weights_safetensors` replaces one."""
    whole = {
        "config.toml": to_toml(Settings()).encode(),
        "embeddings.parquet": seeds.parquet({"id": ["a", "b", "c", "d"], "x": [0.5, 1.0, 2.0, 4.0]}),
        "labels.parquet": seeds.parquet({"id": ["a", "b", "c", "d"], "label": ["u", "v", "u", "v"]}),
        "weights.safetensors": seeds.weights(),
        "environment.json": b'{"seed": 0}',
    }
    whole |= {name.replace("_", "."): content for name, content in files.items()}
    return {f"run/{name}": content for name, content in whole.items()} | {"edges.csv": seeds.EDGES_CSV}


XML = b'<?xml version="1.0"?>'
GRAPH_OPEN = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
GRAPH_CLOSE = b"</graph></graphml>"
_ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
ENTITY_BOMB = (
    XML + b'<!DOCTYPE x [<!ENTITY a "ha">' + _ENTITIES + b"]>" + GRAPH_OPEN + b'<node id="&j;"/>' + GRAPH_CLOSE
)


def _edges() -> Iterator[tuple[str, str, bytes]]:
    yield "nothing", "e.csv", b""
    yield "only comments", "e.csv", b"# a\n% b\n"
    yield "only names", "e.csv", b"source,target\n"
    yield "one column", "e.csv", b"node\na\nb\n"
    yield "a ragged row", "e.csv", b"source,target\na,b\nb\n"
    yield "an open quote", "e.csv", b'source,target\na,"b\nb,c\nc,d\n'
    yield "a missing end", "e.csv", b"source,target\na,b\n,c\n"
    yield "self-loops only", "e.csv", b"a,a\nb,b\n"
    yield "a negative weight", "e.csv", b"source,target,weight\na,b,-1\n"
    yield "a weight that is no number", "e.csv", b"source,target,weight\na,b,1\nb,c,nan\n"
    yield "latin-1", "e.csv", b"source,target\nM\xfcnchen,K\xf6ln\n"
    yield "utf-16", "e.csv", "a,b\nb,c\n".encode("utf-16")
    yield "a zero byte", "e.csv", b"a,b\nb\0,c\n"
    yield "old Mac line ends", "e.csv", b"a,b\rb,c\r"
    yield "a line of five million characters", "e.csv", b"a,b\n" + b"x" * 5_000_000
    yield "terminal control sequences", "e.csv", b"\x1b]0;owned\x07\x1b[2J\n\x1b[31mred\n"
    yield "gzip cut off", "e.csv.gz", seeds.gzipped(seeds.EDGES_CSV)[:-12]
    yield "gzip with a broken block", "e.csv.gz", seeds.gzipped(seeds.EDGES_CSV)[:10] + b"\xff" * 20
    yield "gzip of nothing", "e.csv.gz", seeds.gzipped(b"")
    yield "gzip twice", "e.csv.gz", seeds.gzipped(seeds.gzipped(seeds.EDGES_CSV))
    yield "a Matrix Market file", "e.mtx", b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"
    yield "an ELF file", "e.txt", b"\x7fELF\x02\x01\x01" + bytes(60)
    yield "a PDF", "e.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"
    yield "parquet by name only", "e.parquet", seeds.EDGES_CSV
    yield "parquet cut off", "e.parquet", seeds.edges_parquet()[0][:-20]
    yield "parquet that begins well", "e.parquet", b"PAR1" + bytes(40) + b"PAR1"
    yield "parquet with a huge footer", "e.parquet", b"PAR1" + bytes(8) + b"\xff\xff\xff\x7fPAR1"
    yield "parquet of lists", "e.parquet", seeds.parquet({"source": [[1]], "target": [[2]]})
    yield "parquet with one name twice", "e.parquet", _twice()
    yield (
        "parquet without rows",
        "e.parquet",
        seeds.parquet({"source": pa.array([], "int64"), "target": pa.array([], "int64")}),
    )
    yield "parquet with integers and strings", "e.parquet", seeds.parquet({"source": [1], "target": ["a"]})
    yield "npz that is no archive", "e.npz", b"PK\x03\x04" + bytes(30)
    yield "npz with a pickle", "e.npz", seeds.npz(edge_index=object_array())
    yield "npz with a bare pickle", "e.npz", zipped({"edge_index.npy": pickle.dumps(Bomb())})
    yield "npz with a member outside", "e.npz", zipped({"../../outside.npy": seeds.npy(np.zeros((3, 3)))})
    yield (
        "npz with a terabyte announced",
        "e.npz",
        zipped({"edge_index.npy": npy_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1000000000000)}")}),
    )
    yield (
        "npz with a header of code",
        "e.npz",
        zipped({"edge_index.npy": npy_header("__import__('os').system('touch canary')")}),
    )
    yield "npz of nothing", "e.npz", zipped({})
    yield "npz without a graph", "e.npz", seeds.npz(a=np.zeros(3), b=np.zeros(3))
    yield "npz with a huge node number", "e.npz", seeds.npz(edge_index=np.array([[0, 2**40], [1, 0]]))
    yield "npz with negative nodes", "e.npz", seeds.npz(edge_index=np.array([[0, -1], [1, 0]]))
    yield (
        "a sparse matrix that lies",
        "e.npz",
        seeds.npz(
            format=np.array(b"csr"),
            shape=np.array([2, 2]),
            data=np.ones(1),
            indices=np.array([9]),
            indptr=np.array([0, 1, 1]),
        ),
    )
    yield "a sparse matrix of an odd shape", "e.npz", seeds.scipy_npz(sp.csr_matrix(np.ones((2, 3))))
    yield "our graph with wild indices", "e.npz", own_graph(indices=np.array([7, 0], np.int32))
    yield "our graph with a wild indptr", "e.npz", own_graph(indptr=np.array([0, 2**62, 2]))
    yield "our graph that is not JSON", "e.npz", own_graph(nodewise_graph=np.frombuffer(b"[" * 3000, np.uint8))
    yield "our graph of the future", "e.npz", own_graph(nodewise_graph=np.frombuffer(b'{"version": 9}', np.uint8))
    yield "npy with a pickle", "e.npy", seeds.npy(object_array())
    yield "npy with a broken header", "e.npy", npy_header("{'descr': ((((", b"1234")
    yield "npy of fractions", "e.npy", seeds.npy(np.array([[0.5, 1], [1, 0.5]]))
    yield "npy of dates", "e.npy", seeds.npy(np.zeros((2, 2), "M8[D]"))
    yield "graphml cut off", "e.graphml", XML + GRAPH_OPEN + b'<node id="a"/>'
    yield "graphml with an entity bomb", "e.graphml", ENTITY_BOMB
    yield (
        "graphml that reads a file",
        "e.graphml",
        (XML + b'<!DOCTYPE x [<!ENTITY s SYSTEM "/etc/passwd">]>' + GRAPH_OPEN + b'<node id="&s;"/>' + GRAPH_CLOSE),
    )
    yield (
        "graphml with an outside document type",
        "e.graphml",
        (XML + b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">' + GRAPH_OPEN + GRAPH_CLOSE),
    )
    yield "graphml in an unknown encoding", "e.graphml", b'<?xml version="1.0" encoding="martian"?><graphml/>'
    yield "graphml without a graph", "e.graphml", XML + b"<graphml/>"
    yield "graphml nested 100,000 deep", "e.graphml", XML + GRAPH_OPEN + b"<node>" * 100_000
    yield "graphml with a weight of words", "e.graphml", seeds.GRAPHML.replace(b"1.5", b"heavy")
    yield "gml cut off", "e.gml", b"graph [ node [ id 0"
    yield "gml nested 100,000 deep", "e.gml", b"graph [ " * 100_000
    yield "gml with an edge to nowhere", "e.gml", b"graph [ node [ id 0 ] edge [ source 0 target 9 ] ]"
    yield "gml that is not UTF-8", "e.gml", b'graph [ node [ id 0 label "\xff" ] ]'
    yield "only blank lines", "e.csv", b"\n \n\t\n\n"
    yield "a byte order mark and nothing", "e.csv", b"\xef\xbb\xbf"
    yield "utf-32", "e.csv", "a,b\nb,c\n".encode("utf-32")
    yield "HTML", "e.csv", b"<!DOCTYPE html><html><body>404 Not Found</body></html>\n"
    yield "JSON lines", "e.jsonl", b'{"source": 1, "target": 2}\n'
    yield "a JSON list", "e.json", b'[{"source": 1, "target": 2}]'
    yield "a spreadsheet", "e.xlsx", zipped({"xl/workbook.xml": b"<workbook/>"})
    yield "a zip of a table", "e.zip", zipped({"e.csv": seeds.EDGES_CSV})
    yield "a tar", "e.tar", b"e.csv" + bytes(507) + seeds.EDGES_CSV
    yield "a pickle", "e.pkl", pickle.dumps(Bomb())
    yield "a pickle called csv", "e.csv", pickle.dumps(Bomb())
    yield "a SQLite file", "e.csv", b"SQLite format 3\x00" + bytes(84)
    yield "a PNG called csv", "e.csv", b"\x89PNG\r\n\x1a\n" + bytes(40)
    yield "an infinite weight", "e.csv", b"source,target,weight\na,b,inf\n"
    yield "a weight of zero everywhere", "e.csv", b"source,target,weight\na,b,0\nb,c,0\n"
    yield "a weight beyond all numbers", "e.csv", b"source,target,weight\na,b,1e999\n"
    yield "bzip2 cut off", "e.csv.bz2", bz2.compress(seeds.EDGES_CSV)[:-8]
    yield "xz cut off", "e.csv.xz", lzma.compress(seeds.EDGES_CSV)[:-8]
    yield "zstandard", "e.csv.zst", b"\x28\xb5\x2f\xfd\x04\x00" + seeds.EDGES_CSV
    yield "gzip of an archive", "e.csv.gz", seeds.gzipped(zipped({"e.csv": seeds.EDGES_CSV}))
    yield "parquet of nothing", "e.parquet", b""
    yield "parquet of one column", "e.parquet", seeds.parquet({"source": [1, 2]})
    yield "parquet with missing ends", "e.parquet", seeds.parquet({"source": [1, None], "target": [2, 3]})
    yield "parquet of fractions", "e.parquet", seeds.parquet({"source": [0.5], "target": [1.5]})
    yield "parquet of structs", "e.parquet", seeds.parquet({"source": [{"a": 1}], "target": [{"a": 2}]})
    yield "parquet of truth values", "e.parquet", seeds.parquet({"source": [True], "target": [False]})
    yield "npz of three rows", "e.npz", seeds.npz(edge_index=np.zeros((3, 4), np.int64))
    yield "npz of a number", "e.npz", seeds.npz(edge_index=np.int64(3))
    yield "npz of complex numbers", "e.npz", seeds.npz(edge_index=np.ones((2, 3), complex))
    yield "npz of text", "e.npz", seeds.npz(edge_index=np.array([["a", "b"], ["b", "c"]]))
    yield "npz cut off", "e.npz", seeds.npz(edge_index=np.array([[0, 1], [1, 2]]))[:-30]
    yield "npz with a wrong checksum", "e.npz", _flipped(seeds.npz(edge_index=np.array([[0, 1], [1, 2]])))
    yield "npy of one row", "e.npy", seeds.npy(np.arange(4))
    yield "npy of nothing", "e.npy", b""
    yield "npy cut off", "e.npy", seeds.npy(np.zeros((2, 50), np.int64))[:-80]
    yield "npy of the future", "e.npy", b"\x93NUMPY\x09\x00" + bytes(20)
    yield "npy with a negative shape", "e.npy", npy_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2, -1)}")
    yield (
        "npy with an exabyte announced",
        "e.npy",
        npy_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 10**18)}"),
    )
    yield "our graph without ids", "e.npz", own_graph(ids=np.array([5]))
    yield "our graph with one id twice", "e.npz", own_graph(ids=np.array([5, 5]))
    yield "our graph in one direction", "e.npz", own_graph(indptr=np.array([0, 1, 1]), indices=np.array([1], np.int32))
    yield "our graph with fractional indices", "e.npz", own_graph(indices=np.array([0.5, 0.5]))
    yield "our graph of features that do not fit", "e.npz", own_graph(features=np.ones((5, 2), np.float32))
    yield "graphml of another root", "e.graphml", XML + b"<html/>"
    yield "graphml with an edge to nowhere", "e.graphml", XML + GRAPH_OPEN + b'<edge source="a"/>' + GRAPH_CLOSE
    yield "graphml with a node without a name", "e.graphml", XML + GRAPH_OPEN + b"<node/>" + GRAPH_CLOSE
    yield "graphml of nothing", "e.graphml", b""
    yield "gml of nothing", "e.gml", b""
    yield "gml without nodes", "e.gml", b"graph [ ]"
    yield "gml with a key beyond numbers", "e.gml", b"graph [ node [ id " + b"9" * 5000 + b" ] ]"


def _features() -> Iterator[tuple[str, str, bytes]]:
    yield "a word among few numbers", "f.csv", b"id,x\na,1\nb,two\nc,3\nd,4\ne,5\n"
    yield "dates in two ways", "f.csv", b"id,x\na,2024-01-31\nb,31.01.2024\nc,2024-01-30\nd,30.01.2024\n"
    yield "an infinite feature", "f.csv", b"id,x\na,1\nb,inf\nc,3\nd,4\n"
    yield "none of the nodes", "f.csv", b"id,x\nu,1\nv,2\nw,3\n"
    yield "a node twice", "f.csv", b"id,x\na,1\na,2\nb,2\nc,3\nd,4\n"
    yield "only ids", "f.csv", b"id\na\nb\nc\nd\n"
    yield "no ids for named nodes", "f.npy", seeds.npy(np.ones((4, 2)))
    yield "a pickled matrix", "f.npy", seeds.npy(object_array())
    yield "a pickled sparse matrix", "f.npz", seeds.npz(features=object_array())
    yield "lists of different lengths", "f.parquet", seeds.parquet({"id": list("abcd"), "x": [[1], [1, 2], [1], [1]]})
    yield "structs", "f.parquet", seeds.parquet({"id": list("abcd"), "x": [{"y": 1}] * 4})
    yield "nothing", "f.csv", b""
    yield "only names", "f.csv", b"id,x\n"
    yield "an id that is missing", "f.csv", b"id,x\na,1\n,2\nb,2\nc,3\nd,4\n"
    yield "numbers beyond float32", "f.csv", b"id,x\na,1e300\nb,1\nc,1\nd,1\n"
    yield "a ragged row", "f.csv", b"id,x\na,1\nb,2,3\nc,3\nd,4\n"
    yield "features of nobody", "f.csv", b"id,x\nq,1\nr,2\n"
    yield "empty lists", "f.parquet", seeds.parquet({"id": list("abcd"), "x": [[], [], [], []]})
    yield "a matrix of three axes", "f.npy", seeds.npy(np.ones((4, 2, 2)))
    yield "all zero", "f.csv", b"id,x,y\na,0,0\nb,0,0\nc,0,0\nd,0,0\n"
    yield "too large to be squared", "f.csv", b"id,x\na,1e30\nb,1\nc,1\nd,1\n"


def _labels() -> Iterator[tuple[str, str, bytes]]:
    yield "a label for nobody", "l.csv", b"id,label\nz,u\n"
    yield "an unknown part of a split", "l.csv", b"id,label,split\na,u,dev\n"
    yield "pickled classes", "l.npy", seeds.npy(object_array())
    yield "graphml for labels", "l.graphml", seeds.GRAPHML
    yield "nothing", "l.csv", b""
    yield "one column", "l.csv", b"label\nu\nv\n"
    yield "a node twice, unlike", "l.csv", b"id,label\na,u\na,v\n"
    yield "lists", "l.parquet", seeds.parquet({"id": list("abcd"), "label": [[1], [2], [1], [2]]})
    yield "structs", "l.parquet", seeds.parquet({"id": list("abcd"), "label": [{"y": 1}] * 4})


def _settings() -> Iterator[tuple[str, bytes]]:
    yield "not TOML", b"training = [\n"
    yield "an unknown key", b"[training]\nstepz = 5\n"
    yield "text for a number", b'[training]\nsteps = "many"\n'
    yield "a number of 5,000 digits", b"[training]\nsteps = " + b"9" * 5000
    yield "TOML nested 50,000 deep", b"training = " + b"[" * 50_000
    yield "dotted keys 5,000 deep", b".".join([b"a"] * 5_000) + b" = 1\n"
    yield "not UTF-8", b"[training]\nsteps = 5 # \xff\n"
    yield "code for a strategy", b'[sampling]\nstrategy = "evil:Strategy"\n'
    yield "a section that is a list", b"training = [1, 2]\n"
    yield "a key twice", b"[training]\nsteps = 5\nsteps = 6\n"
    yield "a rate that is no number", b"[training]\nlearning_rate = nan\n"
    yield "an infinite rate", b"[training]\nlearning_rate = inf\n"
    yield "steps below zero", b"[training]\nsteps = -1\n"
    yield "a date for a number", b"[training]\nsteps = 2026-01-01\n"
    yield "more dimensions than anybody has", b"[encoder]\ndimension = 8000000000\n"
    yield "an encoder that nobody knows", b'[encoder]\nkind = "transformer"\n'
    yield "a strategy that nobody knows", b'[sampling]\nstrategy = "guess"\n'
    yield "a teleport beyond one", b"[encoder]\nteleports = [1.5]\n"
    yield "no teleports", b"[encoder]\nteleports = []\n"
    yield "truth for a number", b"[training]\nbatch_size = true\n"
    yield "a batch of one", b"[training]\nbatch_size = 1\n"
    yield "JSON", b'{"training": {"steps": 5}}'


def _runs() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    yield "weights cut off", "weights.safetensors", run_folder(weights_safetensors=seeds.weights()[:-4])
    yield (
        "weights with a huge header",
        "weights.safetensors",
        run_folder(weights_safetensors=safetensors_file(b"{}", size=2**63)),
    )
    yield (
        "weights with overlapping tensors",
        "weights.safetensors",
        run_folder(
            weights_safetensors=safetensors_file(
                {name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for name in ("a", "b")}, bytes(4)
            )
        ),
    )
    yield (
        "weights of a terabyte",
        "weights.safetensors",
        run_folder(
            weights_safetensors=safetensors_file({"a": {"dtype": "F32", "shape": [2**38], "data_offsets": [0, 2**40]}})
        ),
    )
    yield (
        "weights nested 100,000 deep",
        "weights.safetensors",
        run_folder(weights_safetensors=safetensors_file(b'{"a":' * 100_000)),
    )
    yield (
        "weights with words for numbers",
        "weights.safetensors",
        run_folder(
            weights_safetensors=safetensors_file({"__metadata__": {"num_features": "x", "seed": "y", "steps": "z"}})
        ),
    )
    yield (
        "weights for an absurd encoder",
        "weights.safetensors",
        run_folder(
            weights_safetensors=safetensors_file(
                {"__metadata__": {"num_features": "9" * 15, "seed": "0", "steps": "1"}}
            )
        ),
    )
    yield "a pickle for weights", "weights.safetensors", run_folder(weights_safetensors=pickle.dumps(Bomb()))
    yield "settings of another make", "config.toml", run_folder(config_toml=b"[encoder]\nlayers = -1\n")


def _vectors() -> Iterator[tuple[str, str, bytes]]:
    yield "no ids", "v.parquet", seeds.parquet({"x": [1.0]})
    yield "a vector that is not finite", "v.csv", b"id,x\na,1\nb,nan\n"
    yield "word2vec with too few rows", "v.vec", b"5 2\na 1 2\n"
    yield "word2vec with a huge header", "v.vec", b"999999999999 999999999999\na 1\n"
    yield "pickled vectors", "v.npy", seeds.npy(object_array())
    yield "an unclear format", "v.bin", b"1 2 3\n"
    yield "nothing", "v.csv", b""
    yield "one id twice", "v.csv", b"id,x\na,1\na,2\n"
    yield "words for numbers", "v.csv", b"id,x\na,one\nb,two\n"
    yield "missing vectors", "v.parquet", seeds.parquet({"id": ["a", "b"], "embedding": [[1.0], None]})
    yield "vectors of unlike lengths", "v.parquet", seeds.parquet({"id": ["a", "b"], "embedding": [[1.0], [1.0, 2.0]]})
    yield "infinite vectors", "v.parquet", seeds.parquet({"id": ["a", "b"], "embedding": [[float("inf")], [1.0]]})
    yield "word2vec of words", "v.vec", b"2 2\na x y\nb 1 2\n"
    yield "word2vec cut off", "v.vec", b"2 2\na 1 2\nb 1"


def _flipped(content: bytes) -> bytes:
    """Return an archive with one bit of its first member changed."""
    place = content.index(b"NUMPY") + 130
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def _twice() -> bytes:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["source", "target", "source"]), buffer
    )
    return buffer.getvalue()


_ABOUT_THE_GRAPH = ("all zero", "too large to be squared")
"""Found out when the graph is whole, and told of it."""


def corpus() -> dict[str, Malformed]:
    """Return every malformed file under a name that says what is wrong with it."""
    found: dict[str, Malformed] = {}
    edges = {"edges.csv": seeds.EDGES_CSV}
    for name, file, content in _edges():
        found[f"edges: {name}"] = Malformed(file, ("inspect", file), {file: content})
    for name, file, content in _features():
        found[f"features: {name}"] = Malformed(
            file if name not in _ABOUT_THE_GRAPH else "features",
            ("embed", "edges.csv", "--features", file, "-o", "out", "--quiet"),
            edges | {file: content},
        )
    for name, file, content in _labels():
        found[f"labels: {name}"] = Malformed(
            file, ("embed", "edges.csv", "--labels", file, "-o", "out", "--quiet"), edges | {file: content}
        )
    for name, content in _settings():
        found[f"settings: {name}"] = Malformed(
            "evil:Strategy" if name.startswith("code") else "c.toml",
            ("embed", "edges.csv", "--config", "c.toml", "-o", "out", "--quiet"),
            edges | {"c.toml": content, "evil.py": f"open({CANARY!r}, 'w').close()".encode()},
        )
    for name, file, files in _runs():
        found[f"run: {name}"] = Malformed(
            file, ("transform", "run", "edges.csv", "-o", "out.parquet", "--quiet"), files
        )
    for name, file, content in _vectors():
        found[f"vectors: {name}"] = Malformed(file, ("neighbors", file, "--node", "a"), {file: content})
    return found
