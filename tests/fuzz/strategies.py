"""Hypothesis strategies: a malformed or odd file of every kind, as bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nodewise.core.config import keys
from nodewise.methods.settings import Settings

INTERESTING = (
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x7f\xff\xff\xff", b"\n", b"\r", b"\r\n", b'"', b",",
    b"\t", b" ", b"nan", b"inf", b"-1", b"1e400", b"9" * 30, b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"#", b"%", b"PAR1",
    b"PK\x03\x04", b"\x1f\x8b", b"\x93NUMPY", b"<!DOCTYPE x>", b"&a;", b"[", b"]", b"{", b"}", b"\\", b"<", b">", b":",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Damage a valid file in one to six places: bytes changed, put in, cut out, repeated, or the end cut off."""
    data = bytearray(draw(st.sampled_from(list(seeds))))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(("flip", "insert", "interesting", "delete", "repeat", "truncate"))):
            case "flip" if place < len(data):
                data[place] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                data[place:place] = draw(st.binary(max_size=8))
            case "interesting":
                piece = draw(st.sampled_from(INTERESTING))
                data[place : place + draw(st.sampled_from((0, len(piece))))] = piece
            case "delete":
                del data[place : place + draw(st.integers(1, 16))]
            case "repeat":
                piece = bytes(data[place : place + draw(st.integers(1, 32))])
                data[place:place] = piece * draw(st.integers(1, 4))
            case "truncate":
                del data[place:]
    return bytes(data)


CELLS = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(
        (
            "",
            "a",
            "b",
            "c",
            "d",
            "source",
            "target",
            "id",
            "label",
            "split",
            "weight",
            "train",
            "nan",
            "-inf",
            "1e39",
            "007",
        )
        + (
            "+7",
            "7.0",
            "1_000",
            str(2**63),
            str(2**64),
            "-9223372036854775809",
            '"',
            '""',
            '"a',
            'a"b',
            "true",
            "é",
            "\u2028",
        )
        + ("\ufeff", "#", "%x", " a", "a ", "\t", "0x10", "١٢", "𝟙", "a\x0bb", "\x1c")
    ),
    st.text(max_size=6),
    st.floats().map(str),
)
TEXT_ENDS = st.sampled_from(("\n", "\r\n", "\n\n", "\r"))


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Draw delimited text: nasty cells, ragged rows, odd line ends, any encoding."""
    delimiter = draw(st.sampled_from((",", "\t", ";", "|", " ", "  ")))
    width = draw(st.integers(1, 5))
    end = draw(TEXT_ENDS)
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        cells = draw(st.lists(CELLS, min_size=width, max_size=width))
        if draw(st.integers(0, 9)) == 0:
            cells = cells[: draw(st.integers(0, width))]
        rows.append(delimiter.join(cells))
    text = end.join(rows) + draw(st.sampled_from(("", end)))
    return text.encode(draw(st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"))), "surrogatepass")


_KINDS_OF_CELLS = (
    st.sampled_from(("", "NA", "-", "null", " ")),
    st.integers(-(10**6), 10**6).map(str),
    st.floats().map(str),
    st.sampled_from(("1,5", "1.234,5", "1,234.5", "12%", "€ 5", "1e39", "-1e308", "0x1F", "١٢")),
    st.sampled_from(
        ("2024-02-29", "31.12.2023", "12/31/2023", "2024-01-01T25:61", "0000-00-00", "9999-12-31", "1.1.1")
    ),
    st.sampled_from(("yes", "no", "true", "False", "Y", "0", "1")),
    st.sampled_from(("DE", "FR", "é", "\u2028", "\ud800", "red|blue", "a;b;c", "[1, 2]", "\x1b[31m")),
    st.text(max_size=12),
    st.lists(st.sampled_from(("the", "contract", "of", "a", "customer", "ß", "日本")), max_size=8).map(" ".join),
)


@st.composite
def mixed_tables(draw: st.DrawFn) -> bytes:
    """Draw a table keyed by the nodes n0, n1 and so on, each column mostly of one kind."""
    rows = draw(st.integers(1, 24))
    names = draw(st.lists(st.sampled_from(("a", "b", "type", "label", "é", "", "id", "name")), min_size=1, max_size=4))
    columns = []
    for _ in names:
        kind = draw(st.sampled_from(_KINDS_OF_CELLS))
        few = draw(st.lists(st.one_of(kind, kind, kind, *_KINDS_OF_CELLS), min_size=1, max_size=6))
        columns.append([few[i % len(few)].replace('"', "") for i in range(rows)])
    lines = [["id", *names], *([f"n{i}", *(f'"{column[i]}"' for column in columns)] for i in range(rows))]
    return "\n".join(map(",".join, lines)).encode("utf-8", "surrogatepass")


def overrides() -> st.SearchStrategy[bytes]:
    """Draw what may follow `--columns`: columns that are there or not, under kinds that are or are not."""
    names = st.sampled_from(("age", "income", "since", "country", "active", "tags", "note", "type", "id", "x", "", "-"))
    kinds = st.sampled_from(
        ("number", "boolean", "category", "date", "day-first", "month-first", "text", "tags", "vector", "", "x", ":")
    )
    part = st.one_of(st.builds("{}:{}".format, names, kinds), names.map("-{}".format), st.text(max_size=5))
    listed = st.lists(part, max_size=4).map(",".join)
    mapped = st.dictionaries(names, st.one_of(kinds, st.none(), st.integers()), max_size=3).map(json.dumps)
    return st.one_of(listed, mapped).map(lambda text: text.encode("utf-8", "surrogatepass"))


_KINDS = st.one_of(
    hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.floating_dtypes(), hnp.unicode_string_dtypes(max_len=3),
    hnp.byte_string_dtypes(max_len=3), hnp.datetime64_dtypes(), hnp.complex_number_dtypes(), st.just(np.dtype("V4")),
)  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Draw an array of any type and shape; often one that could be edges or features."""
    shape = draw(
        st.one_of(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5), st.just((2, 4)), st.just((4, 2)))
    )
    kind = draw(st.one_of(_KINDS, st.just(np.dtype(np.int64))))
    if kind.kind == "V":
        return np.zeros(shape, kind)
    if kind.kind in "iu" and draw(st.booleans()):
        return draw(hnp.arrays(kind, shape, elements=st.integers(0, 5)))
    return draw(hnp.arrays(kind, shape))


def npy_files() -> st.SearchStrategy[bytes]:
    def write(array: np.ndarray, fortran: bool) -> bytes:
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.asfortranarray(array) if fortran else array, allow_pickle=False)
        return buffer.getvalue()

    return st.builds(write, arrays(), st.booleans())


_MEMBERS = st.sampled_from(
    ("edge_index", "edges", "features", "ids", "format", "shape", "data", "indices", "indptr", "row", "col", "x")
    + ("nodewise_graph", "labels", "train", "val", "test", "id_lengths", "features_data", "../x", "", "a/b")
)


def npz_files() -> st.SearchStrategy[bytes]:
    def write(members: dict[str, np.ndarray], layout: bytes | None) -> bytes:
        buffer = io.BytesIO()
        if layout is not None:
            members = members | {"format": np.array(layout)}
        np.savez(buffer, **{name: array for name, array in members.items() if name != "file"})
        return buffer.getvalue()

    return st.builds(
        write,
        st.dictionaries(_MEMBERS, arrays(), max_size=5),
        st.sampled_from((None, b"csr", b"csc", b"coo", b"dia", b"\xff")),
    )


_ABOUTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def own_npz_files(draw: st.DrawFn) -> bytes:
    """Draw a file like `Graph.to_npz` writes, with any part replaced by something else."""
    about: Any = {"version": 1, "name": "g", "notes": [], "class_names": ["u", "v"], "id_type": "string"}
    members: dict[str, np.ndarray] = {
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 0], np.int32),
        "ids": np.frombuffer(b"ab", np.uint8),
        "id_lengths": np.array([1, 1]),
        "labels": np.array([0, 1]),
        "features": np.ones((2, 2), np.float32),
    }
    for name in draw(st.lists(st.sampled_from(sorted(about)), max_size=2)):
        about[name] = draw(_ABOUTS)
    if draw(st.integers(0, 9)) == 0:
        about = draw(_ABOUTS)
    for name in draw(
        st.lists(st.sampled_from((*sorted(members), "train", "val", "test", "features_data")), max_size=3)
    ):
        members[name] = draw(arrays())
    members["nodewise_graph"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


_ARROW = st.one_of(
    st.lists(st.none() | st.integers(-5, 9), min_size=3, max_size=3).map(lambda v: pa.array(v, pa.int64())),
    st.lists(st.integers(0, 255), min_size=3, max_size=3).map(lambda v: pa.array(v, pa.uint8())),
    st.lists(st.none() | st.sampled_from(("a", "b", "", "é")), min_size=3, max_size=3).map(
        lambda v: pa.array(v, pa.string())
    ),
    st.lists(st.sampled_from(("a", "b")), min_size=3, max_size=3).map(lambda v: pa.array(v).dictionary_encode()),
    st.lists(st.floats() | st.none(), min_size=3, max_size=3).map(lambda v: pa.array(v, pa.float64())),
    st.lists(st.none() | st.lists(st.none() | st.floats(width=32), max_size=3), min_size=3, max_size=3).map(
        lambda v: pa.array(v, pa.list_(pa.float32()))
    ),
    st.sampled_from(
        (
            pa.array([True, False, None]),
            pa.nulls(3),
            pa.array([{"x": 1}] * 3),
            pa.array([b"a", b"b", None]),
            pa.array([[["a"]]] * 3),
            pa.array([1, 2, 3], pa.timestamp("us")),
            pa.array([1, 2, 3], pa.duration("s")),
            pa.array(["1", "2", "3"]).cast(pa.decimal128(5, 2)),
            pa.array([[("k", 1)]] * 3, pa.map_(pa.string(), pa.int64())),
            pa.array([1.0, 2.0, 3.0], pa.float32()).cast(pa.float16()),
            pa.array([[1, 2], [3, 4], None], pa.list_(pa.int64(), 2)),
        )
    ),
)  # fmt: skip


@st.composite
def parquet_files(draw: st.DrawFn) -> bytes:
    """Draw a Parquet table with columns of any type under any names, also repeated ones."""
    names = st.sampled_from(("source", "target", "id", "label", "split", "weight", "x", "embedding", "", "é"))
    columns = draw(st.lists(st.tuples(names, _ARROW), max_size=4))
    table = pa.Table.from_arrays([array for _, array in columns], [name for name, _ in columns])
    table = table.slice(0, draw(st.integers(0, 3)))
    if draw(st.booleans()):
        table = table.replace_schema_metadata(
            draw(st.dictionaries(st.binary(max_size=9), st.binary(max_size=9), max_size=2))
        )
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=draw(st.integers(1, 3)))
    return buffer.getvalue()


_NAMES = st.sampled_from(("graphml", "graph", "node", "edge", "key", "data", "port", "hyperedge", "default", "x"))
_ATTRIBUTES = st.dictionaries(
    st.sampled_from(("id", "source", "target", "edgedefault", "for", "attr.name", "attr.type", "key", "directed")),
    st.sampled_from(
        (
            "a",
            "b",
            "c",
            "",
            "1",
            "node",
            "edge",
            "all",
            "int",
            "double",
            "boolean",
            "string",
            "d0",
            "weight",
            "directed",
        )
    ),
    max_size=4,
)


def xml_files() -> st.SearchStrategy[bytes]:
    def element(name: str, attributes: dict[str, str], inside: list[str], text: str) -> str:
        written = "".join(f' {key}="{value}"' for key, value in attributes.items())
        return f"<{name}{written}>{text}{''.join(inside)}</{name}>"

    words = st.sampled_from(("", "3", "x", "true", "&amp;", "&x;", "<![CDATA[ ]]>"))
    leaf = st.builds(element, _NAMES, _ATTRIBUTES, st.just([]), words)
    tree = st.recursive(leaf, lambda inner: st.builds(element, _NAMES, _ATTRIBUTES, st.lists(inner, max_size=4), words))
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    graph = st.builds("{}{}<graph edgedefault='{}'>{}</graph></graphml>".format, st.just(head), tree, words, tree)
    return st.one_of(tree, graph).map(str.encode)


def gml_files() -> st.SearchStrategy[bytes]:
    keys_ = st.sampled_from(
        ("graph", "node", "edge", "id", "label", "source", "target", "directed", "multigraph", "weight", "key")
    )
    leaves = st.one_of(
        st.integers(-2, 3).map(str),
        st.sampled_from(('"a"', '"b"', '"', '"&#x10FFFFFF;"', "1.5", "nan", "+INF", "_", "9" * 25)),
    )
    pairs = st.recursive(
        st.builds("{} {}".format, keys_, leaves),
        lambda inner: st.builds(lambda key, items: f"{key} [ {' '.join(items)} ]", keys_, st.lists(inner, max_size=5)),
        max_leaves=15,
    )
    graph = st.lists(pairs, max_size=6).map(lambda items: f"graph [ {' '.join(items)} ]")
    return st.one_of(pairs, graph).map(str.encode)


_VALUES = st.one_of(
    st.sampled_from(
        ("true", "false", '"none"', '"graph"', '"os:system"', "nan", "inf", "-1", "0", "1e400", "[]", "[1, 2]", "{}")
    ),
    st.integers().map(str),
    st.floats().map(repr),
    st.text(max_size=6).map(json.dumps),
    st.just("1979-05-27T07:32:00Z"),
    st.sampled_from(("[" * 3, "'''", '"\\u0000"', "0x1_0", "9" * 5000)),
)
_KEYS = sorted(keys(Settings))


@st.composite
def toml_files(draw: st.DrawFn) -> bytes:
    """Draw settings: real and invented keys, any values."""
    names = st.one_of(st.sampled_from(_KEYS), st.text(max_size=5).map(json.dumps), st.just("a.b.c"))
    lines = [f"{name} = {value}" for name, value in draw(st.lists(st.tuples(names, _VALUES), max_size=4))]
    if draw(st.booleans()):
        lines.insert(0, draw(st.sampled_from(("[training]", "[sampling.rivals]", "[[encoder]]", "[a]\n[a]", "["))))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def assignments() -> st.SearchStrategy[str]:
    names = st.one_of(st.sampled_from(_KEYS), st.text(max_size=8))
    return st.one_of(st.builds("{}={}".format, names, st.one_of(_VALUES, st.text(max_size=8))), st.text(max_size=20))


def json_files() -> st.SearchStrategy[bytes]:
    """Draw JSON of any shape, and what only looks like it; some under the keys that a run folder holds."""
    known = st.sampled_from(("seed", "graph", "source", "name", "embeddings", "nodes", "variant", "trial", "settings"))
    value = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known | st.text(max_size=4), inner, max_size=4),
        max_leaves=8,
    )
    return st.one_of(value.map(lambda v: json.dumps(v).encode()), st.just(b"[" * 5_000), st.just(b'{"a":' * 3_000))


_WILD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((0, 1, -1, 3, 5, 2**31, 2**63, 2**64, 10**30, True, 1.5, None, "", "x", [], {}, [[]], "\ud800")),
    st.sampled_from(("<i4", "<i8", "<f4", ">i8", "<f2", "O", "<U4", "i8,i8", "../indptr.bin", "/etc/passwd", "a\nb")),
    st.lists(st.sampled_from((0, 1, 4, 5, 6, -1, 2**40, 2**63, 10**30, 1.5, "4")), max_size=3),
)


def _alter(draw: st.DrawFn, facts: Any) -> None:
    """Change, remove or move one thing somewhere in lists and objects of JSON."""
    place = facts
    while True:
        known = list(place) if isinstance(place, dict) else range(len(place))
        key = draw(st.sampled_from(known)) if known else None
        if key is None or not isinstance(place[key], (dict, list)) or draw(st.integers(0, 3)) == 0:
            break
        place = place[key]
    if isinstance(place, dict) and draw(st.integers(0, 5)) == 0:
        name = draw(st.sampled_from(("../indptr.bin", "/etc/hostname", "x.bin", "labels.bin", "")))
        place[name] = place[key] if key is not None else 0
    elif key is not None and draw(st.integers(0, 4)) == 0:
        del place[key]
    elif key is not None:
        place[key] = draw(_WILD)


@st.composite
def altered_json(draw: st.DrawFn, seed: bytes) -> bytes:
    """Draw an object that is still JSON, with up to three things in it of another type, size or place."""
    facts = json.loads(seed)
    for _ in range(draw(st.integers(1, 3))):
        _alter(draw, facts)
    return json.dumps(facts).encode()


@st.composite
def altered_lines(draw: st.DrawFn, seed: bytes) -> bytes:
    """Draw a file of one object a line, one of the lines altered."""
    lines = seed.splitlines(keepends=True)
    place = draw(st.integers(0, len(lines) - 1))
    lines[place] = draw(altered_json(lines[place])) + b"\n"
    return b"".join(lines)


@st.composite
def stores(draw: st.DrawFn, seeds: Sequence[dict[str, bytes]], sign: Callable[[dict[str, Any]], bytes]) -> bytes:
    """Draw a store, as a JSON object of its files' bytes in latin-1, whose manifest lies but has the right checksum.

    Arrays are damaged too: their sizes stay right, so that only what is in them can give them away.
    """
    files = dict(draw(st.sampled_from(list(seeds))))
    manifest = json.loads(files["manifest.json"])
    for _ in range(draw(st.integers(0, 3))):
        _alter(draw, manifest)
    for name in draw(st.lists(st.sampled_from(sorted(set(files) - {"manifest.json"})), max_size=2)):
        content = bytearray(files[name])
        for _ in range(draw(st.integers(1, 6))):
            if content:
                content[draw(st.integers(0, len(content) - 1))] = draw(st.sampled_from((0, 1, 7, 0x7F, 0x80, 0xFF)))
        files[name] = bytes(content)
    files["manifest.json"] = sign(manifest)
    return json.dumps({name: content.decode("latin1") for name, content in files.items()}).encode()


def safetensors_files() -> st.SearchStrategy[bytes]:
    """Draw the container with a header that says anything at all."""

    def write(header: bytes, size: int | None, body: bytes) -> bytes:
        return (len(header) if size is None else size).to_bytes(8, "little") + header + body

    entry = st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(("F32", "I64", "BOOL", "X", "")),
            "shape": st.lists(st.sampled_from((0, 1, 2, 2**40, -1)), max_size=3),
            "data_offsets": st.tuples(st.integers(-1, 40), st.sampled_from((0, 4, 8, 24, 2**62))),
        }
    )
    about = st.dictionaries(
        st.sampled_from(("num_features", "seed", "steps", "x")), st.sampled_from(("1", "-1", "x", "9" * 5000, ""))
    )
    header = st.builds(
        lambda tensors, meta: json.dumps(tensors | {"__metadata__": meta}).encode(),
        st.dictionaries(st.sampled_from(("weight", "bias", "../x", "")), entry, max_size=3),
        about,
    )
    sizes = st.sampled_from((None, None, None, 0, 1, 2**63, 2**64 - 1, 10**8))
    return st.builds(write, st.one_of(header, st.binary(max_size=20)), sizes, st.binary(max_size=32))
