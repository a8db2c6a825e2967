"""Small valid files of every kind that nodewise opens: what mutations start from."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy
import scipy.sparse as sp
from tests.planetoid_bytes import small_set

from nodewise.core.config import to_toml
from nodewise.evaluation.paired import group_shares
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.methods.settings import Settings
from nodewise.read.feature_table import read_features
from nodewise.reproduce.provenance import Ledger
from nodewise.store.convert import write_store
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.shards import Shard, write_manifest, write_shard

EDGES_CSV = b"source,target,weight\na,b,1\nb,c,0.5\nc,d,1\nd,a,2\n"
EDGES_TSV = b"# a comment\n0\t1\n1\t2\n2\t0\n\n2\t3\n"
EDGES_TXT = b'1 2\n2  3\n"3" 1\n'
FEATURES_CSV = b"id,x,y,label\na,1,2,u\nb,3,4,v\nc,5e-1,6,u\nd,-7,8,v\n"
LABELS_CSV = b"id,label,split\na,u,train\nb,v,val\nc,u,test\nd,,\n"
VECTORS_CSV = b"id,0,1,2\na,1,2,3\nb,4,5,6\nc,7,8,9\n"
WORD2VEC = b"3 2\na 1 2\nb 3 4\nc 5e-3 -6\n"
METRICS = b'{"step": 1, "loss": 0.5}\n{"step": 2, "loss": null}\n'
_OUTCOME = {"training.steps": 5, "embedding.propagation": 0, "embedding.length": 1.0, "scores": [0.5, 0.25]}
_TRIAL = {"variant": "full", "trial": 0, "settings": {}, "seeds": [1000], "outcomes": [_OUTCOME]}
TRIALS = json.dumps(_TRIAL).encode() + b"\n"
GRAPHML = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="size" attr.type="int"/>
<key id="d1" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="directed"><node id="a"><data key="d0">3</data></node><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d1">1.5</data></edge><edge source="b" target="c"/></graph></graphml>
"""
GML = b"""graph [ directed 0
  node [ id 0 label "a" size 3 ] node [ id 1 label "b" ] node [ id 2 label "c" ]
  edge [ source 0 target 1 weight 1.5 ] edge [ source 1 target 2 ]
]
"""
COLUMNS = {
    "id": [f"n{i}" for i in range(24)],
    "type": ["person" if i % 3 else "firm" for i in range(24)],
    "age": [str(20 + i) if i % 5 else "" for i in range(24)],
    "income": [f"{i * i * 1000}.5" for i in range(24)],
    "since": [f"2022-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(24)],
    "country": [("DE", "FR", "IT")[i % 3] for i in range(24)],
    "active": [("yes", "no")[i % 2] for i in range(24)],
    "tags": [("red|blue", "green", "red|green|blue")[i % 3] for i in range(24)],
    "note": [f"The contract of customer {i} was signed and prolonged {i % 7} times" for i in range(24)],
}
"""A table of all kinds of columns, a column of the nodes' own kinds among them."""
MIXED_CSV = "\n".join(map(",".join, [COLUMNS, *zip(*COLUMNS.values(), strict=True)])).encode() + b"\n"
DIRECTED_CSV = b"from,to,amount\nn0,n1,1\nn1,n0,2.5\nn1,n2,1e3\nn2,n3,0.5\nn0,n1,1\n"
OVERRIDES = (b"age:number,-note", b"tags:tags,since:date", b'{"country": "category", "note": null}', b"since:day-first")
CONDITIONS = (b"country=DE", b"age>=30", b"since<2022-06-01", b"note!=x", b" income > 1e3 ")
ROW = {
    "graph": "g",
    "strategy": "all",
    "config": "17a298da307c",
    "seed": 0,
    "accuracy": {"few": [33.333, 46.25], "10%": [45, 32.716]},
    "groups": {"few": group_shares(np.arange(9) % 2), "10%": group_shares(np.arange(9) % 3 > 0)},
    "looks": {"step": [0, 2], "collision": [0.3, 0.2], "precision": [None, None], "accuracy": [38.1, 39]},
    "cost": {"seconds": 0.04, "ms_per_step": 16.9, "peak_mb": 446, "stack": 1, "device": "cpu"},
}
"""A row of a comparison."""
ROWS = b"".join(
    json.dumps(ROW | {"strategy": name, "seed": seed}).encode() + b"\n" for name in ("all", "hard") for seed in (0, 1)
)
ENVIRONMENT = json.dumps(
    {"seed": 0, "graph": {"name": "mine", "source": {"graph": "edges.csv"}}, "embeddings": {"nodes": 4}}
).encode()


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def scipy_npz(matrix: Any) -> bytes:
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix)
    return buffer.getvalue()


@cache
def small_graph(names: bool = True) -> Graph:
    return Graph.from_edges(
        [0, 1, 2],
        [1, 2, 3],
        num_nodes=4,
        features=np.eye(4, dtype=np.float32) if names else sp.eye(4, format="csr", dtype=np.float32),
        ids=["a", "b", "ç", "d"] if names else [5, 6, 7, 8],
        labels=["u", "v", "u", "v"],
        split=Split(*(np.array(part, np.int64) for part in ([0], [1], [2, 3]))),
        name="small",
    )


@cache
def graph_npz(names: bool = True) -> bytes:
    graph = small_graph(names)
    with tempfile.TemporaryDirectory() as folder:
        graph.to_npz(Path(folder) / "g.npz")
        return (Path(folder) / "g.npz").read_bytes()


@cache
def store(names: bool = True) -> dict[str, bytes]:
    """Return the files of a graph store; dense features and names, or sparse ones and numbers."""
    with tempfile.TemporaryDirectory() as folder:
        write_store(small_graph(names), Path(folder) / "g.store")
        return {path.name: path.read_bytes() for path in (Path(folder) / "g.store").iterdir()}


def signed(manifest: dict[str, Any]) -> bytes:
    """Return a manifest whose checksum is right, whatever it says."""
    facts = {name: value for name, value in manifest.items() if name != "blake2b"}
    text = json.dumps(facts, sort_keys=True)
    total = hashlib.blake2b(text.encode(), digest_size=32).hexdigest()
    return json.dumps(facts | {"blake2b": total}).encode()


@cache
def weights() -> bytes:
    tensors = {"weight": np.ones((2, 3), np.float32), "bias": np.zeros(3, np.float32)}
    return safetensors.numpy.save(tensors, {"num_features": "2", "seed": "0", "steps": "3"})


@cache
def edges() -> list[bytes]:
    return [EDGES_CSV, EDGES_TSV, EDGES_TXT, gzipped(EDGES_CSV), b"\xef\xbb\xbf" + EDGES_CSV.replace(b"\n", b"\r\n")]


@cache
def edges_parquet() -> list[bytes]:
    return [
        parquet({"source": [1, 2, 3], "target": [2, 3, 1]}),
        parquet({"src": ["a", "b"], "dst": ["b", "c"], "weight": [1.0, 2.0]}, compression="none"),
        parquet({"a": pa.array(["x", "y"]).dictionary_encode(), "b": ["y", "z"]}, row_group_size=1),
    ]


HELD_OUT = parquet({"source": ["a", "b"], "target": ["b", "d"]}, compression="none")


@cache
def edges_npz() -> list[bytes]:
    ring = sp.csr_matrix(np.roll(np.eye(4), 1, axis=1))
    matrices = [scipy_npz(getattr(ring, f"to{layout}")()) for layout in ("csr", "csc", "coo")]
    return [npz(edge_index=np.array([[0, 1, 2], [1, 2, 0]])), *matrices, graph_npz(True), graph_npz(False)]


@cache
def edges_npy() -> list[bytes]:
    return [npy(np.array([[0, 1, 2], [1, 2, 0]])), npy(np.array([[0, 1], [1, 2], [2, 0]], np.uint8))]


@cache
def features() -> dict[str, list[bytes]]:
    return {
        "text": [FEATURES_CSV, b"a 1 2\nb 3 4\nc 5 6\nd 7 8\n", gzipped(FEATURES_CSV)],
        "parquet": [
            parquet({"id": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 4.0], "y": [1, 2, 3, 4]}),
            parquet({"id": ["a", "b", "c", "d"], "x": [[1.0, 2.0]] * 4}),
        ],
        "npy": [npy(np.ones((4, 2), np.float32)), npy(np.ones((4, 1), np.int8))],
        "npz": [
            npz(features=np.ones((4, 2)), ids=np.array(["a", "b", "c", "d"])),
            scipy_npz(sp.random(4, 5, 0.5, format="csr", rng=np.random.default_rng(0))),
        ],
    }


@cache
def labels() -> dict[str, list[bytes]]:
    return {
        "text": [LABELS_CSV, b"a\tx\nb\ty\nc\tx\nd\t\n", gzipped(LABELS_CSV)],
        "parquet": [
            parquet({"id": ["a", "b", "c", "d"], "label": [0, 1, None, 1], "split": ["train", "val", None, "x"]})
        ],
        "npy": [npy(np.array([0, 1, 0, -1])), npy(np.array(["u", "v", "u", ""]))],
    }


@cache
def vectors_parquet() -> list[bytes]:
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(6, np.float32)), 2)
    return [parquet({"id": ["a", "b", "c"], "embedding": fixed}), parquet({"id": [1, 2], "x": [0.5, 1.5]})]


@cache
def mixed_parquet() -> list[bytes]:
    """Return the table of all kinds of columns in the types that Parquet has for them."""
    texts = pa.table(COLUMNS)
    age = pa.array([int(value) if value else None for value in COLUMNS["age"]])
    days = pa.array(COLUMNS["since"]).cast(pa.date32())
    vectors = pa.array([[i, 1.0, -i] for i in range(24)], pa.list_(pa.float32(), 3))
    tags = pa.array([value.split("|") for value in COLUMNS["tags"]])
    typed = {
        "age": age,
        "since": days,
        "tags": tags,
        "vector": vectors,
        "country": texts["country"].dictionary_encode(),
    }
    return [
        parquet({name: texts[name] for name in COLUMNS}),
        parquet({"id": texts["id"], "type": texts["type"], **typed}),
    ]


@cache
def fitted_table() -> bytes:
    """Return how the columns of the table became features, as a run keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "f.csv").write_bytes(MIXED_CSV)
        table = read_features(path, NodeIds(COLUMNS["id"])).table
    assert table is not None
    return table.to_json().encode()


@cache
def vectors_in(ending: str) -> bytes:
    """Return a file of vectors as `nodewise export` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"v{ending}"
        Embeddings(["a", "b", "c"], np.arange(6, dtype=np.float32).reshape(3, 2)).write(path)
        return path.read_bytes()


@cache
def shards() -> dict[str, bytes]:
    """Return the files of vectors in two shards."""
    with tempfile.TemporaryDirectory() as name:
        folder, ids = Path(name), NodeIds(["a", "b", "c"])
        rows = np.arange(6, dtype=np.float32).reshape(3, 2)
        written = [
            write_shard(folder, number, ids, first, rows[first : first + 2]) for number, first in ((0, 0), (1, 2))
        ]
        write_manifest(folder, [Shard(**each) for each in written], 2)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


@cache
def ledger() -> bytes:
    """Return a table of rows as `nodewise reproduce` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        table = Ledger(Path(folder) / "rows.csv")
        table.append(dict.fromkeys(table.columns, "1") | {"seed": seed} for seed in (0, 1))
        return table.path.read_bytes()


@cache
def planetoid() -> dict[str, bytes]:
    return small_set()


@cache
def config() -> list[bytes]:
    return [to_toml(Settings()).encode(), to_toml(Settings.preset("paper")).encode(), b"[training]\nsteps = 5\n"]
