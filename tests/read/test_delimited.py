import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.read import text
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints

KNOWN = (frozenset({"id"}),)
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=6)


def opened(folder, data, **options):
    path = folder / "a.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return TextColumns.open(path, Hints(KNOWN, **options))


def test_keys_come_as_text_and_numbers_as_float32(tmp_path):
    file = opened(tmp_path, "id,x,y\na,1,2.5\nb,-3,1e3\n")
    read = file.read([0], [2, 1])
    assert read.keys[0].to_pylist() == ["a", "b"]
    assert read.numbers.dtype == np.float32
    assert read.numbers.tolist() == [[2.5, 1], [1000, -3]]
    assert read.notes == ("a.csv: line 1 read as column names",)


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1), st.sampled_from(",;|\t"), st.integers(40, 200))
def test_quoted_text_comes_back_exactly_however_blocks_fall(tmp_path_factory, rows, delimiter, block):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        file = TextColumns.open(path, Hints(KNOWN, delimiter, header=False))
        keys = file.read([0, 1]).keys
        assert list(zip(*(key.to_pylist() for key in keys), strict=True)) == rows
        breaks = sum(value.count("\n") for row in rows[:-1] for value in row)
        assert file.place(len(rows) - 1) == f"line {len(rows) + breaks}"


TEXTS = st.text(st.sampled_from('ab"#% ,;\n'), max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1), st.sampled_from(["\n", "\r\n"]), st.integers(60, 200))
def test_line_breaks_within_quotes_are_read_as_the_csv_module_reads_them(tmp_path_factory, rows, end, block):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator=end).writerows(
            [("id", "x", "text"), *((one, i, other) for i, (one, other) in enumerate(rows))]
        )
    with path.open(newline="", encoding="utf-8") as stream:
        _, *expected = csv.reader(stream)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        read = opened(path.parent, path.read_bytes()).read([0, 2], [1])
    found = zip(
        read.keys[0].to_pylist(), map(str, read.numbers[:, 0].astype(int)), read.keys[1].to_pylist(), strict=True
    )
    assert list(map(list, found)) == expected


def test_a_quote_within_a_value_or_a_comment_opens_nothing(tmp_path):
    file = opened(tmp_path, 'id,x\n# 5" and\n5" pipe,1\nsay "hi,2\n"two\n# lines",3\n')
    assert file.read([0], [1]).keys[0].to_pylist() == ['5" pipe', 'say "hi', "two\n# lines"]
    assert [file.place(row) for row in range(3)] == ["line 3", "line 4", "line 5"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["7", "0", "-5"], pa.int64()),
        (["9223372036854775808", "1"], pa.uint64()),
        (["7", "007"], pa.string()),
        (["7", "+7"], pa.string()),
        (["7", "-0"], pa.string()),
        (["7", "7.0"], pa.string()),
        (["7", "0x1F"], pa.string()),
        (["7", " 7"], pa.string()),
        (["7", ""], pa.string()),
        (["-1", "9223372036854775808"], pa.string()),
        (["1" * 30], pa.string()),
        (["7", None], pa.int64()),
    ],
)
def test_text_is_integers_only_if_all_of_it_is_written_so(tmp_path, values, expected):
    file = opened(tmp_path, "a,b\n")
    column = pa.chunked_array([pa.array(values[:1], pa.string()), pa.array(values[1:], pa.string())])
    (settled,) = file.settle([column])
    assert settled.type == expected
    assert [None if v is None else str(v) for v in settled.to_pylist()] == values


def test_columns_that_belong_together_get_one_type(tmp_path):
    file = opened(tmp_path, "1,a\n2,b\n")
    first, second = file.settle(file.read([0, 1]).keys)
    assert first.type == second.type == pa.string()


def test_comments_blank_lines_and_names_do_not_shift_line_numbers(tmp_path):
    file = opened(tmp_path, "# hi\n\nid,x\na,1\n% there\n\nb,2\n")
    read = file.read([0], [1])
    assert read.keys[0].to_pylist() == ["a", "b"]
    assert [file.place(0), file.place(1)] == ["line 4", "line 7"]
    assert "a.csv: 2 comment lines (beginning with # or %) skipped" in read.notes


def test_padding_is_removed_and_said(tmp_path):
    read = opened(tmp_path, "a, b\nc, d\n").read([1])
    assert read.keys[0].to_pylist() == ["b", "d"]
    assert read.notes == ("a.csv: spaces around values removed; quote a value to keep its own",)


def test_runs_of_spaces_delimit(tmp_path):
    read = opened(tmp_path, '  a  1\nb \t 2  \n"c d"  3\n').read([0], [1])
    assert read.keys[0].to_pylist() == ["a", "b", "c d"]
    assert read.numbers.ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "fragment"),
    [
        ("id,x\na,1\nb,2,3\n", "line 3: 3 columns where 2 are expected: 'b,2,3'"),
        ("id,x\na,1\n\n# c\nb\n", "line 5: 1 column where 2 are expected: 'b'"),
        ("id,x\na,1\nb,foo\n", "line 3: 'x' holds 'foo' where a number is expected"),
        ("id,x\na,\n", "line 2: 'x' holds a missing value"),
        (b"id,x\n" + b"a,1\n" * 200 + b"\xe9,2\n", "line 202: not UTF-8"),
        ('id,x\n"a,1\nb,2\n', "line 2: the quotes do not match"),
        ('id,x\n"a,1\nb"c,2\nc,3\n', "line 2: the quotes do not match"),
        ('id,x\n"a\nb",1\nc,foo\n', "line 4: 'x' holds 'foo' where a number is expected"),
        ('"i\nd",x\na,1,2\n', "line 3: 3 columns where 2 are expected"),
        ("id,x\na,1_0\n", "line 2: 'x' holds '1_0'"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path, data, fragment):
    with pytest.raises(InputError) as error:
        opened(tmp_path, data).read([0], [1])
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bad_row_far_down_is_named_too(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 64)
    with pytest.raises(InputError, match="line 501: 3 columns"):
        opened(tmp_path, "a,1\n" * 500 + "b,2,3\n").read([0], [1])


def test_a_gap_in_a_single_column_is_refused_but_not_at_its_end(tmp_path):
    assert opened(tmp_path, "x\ny\n\n\n").read([0]).keys[0].to_pylist() == ["x", "y"]
    with pytest.raises(InputError, match="line 2: empty"):
        opened(tmp_path, "x\n\ny\n").read([0])


def test_a_first_line_may_name_the_delimiter(tmp_path):
    import nodewise as nw

    (tmp_path / "edges.csv").write_text("sep=;\nsource;target\na;b\nb;c\n")
    graph = nw.read_graph(tmp_path / "edges.csv")
    assert list(graph.ids) == ["a", "b", "c"]
    assert "edges.csv: line 2 read as column names" in graph.notes


def test_arrow_reads_memory_of_its_own(tmp_path, monkeypatch):
    """A thread of Arrow's that lets go of a Python object while the interpreter exits aborts the process."""
    monkeypatch.setattr(pa, "py_buffer", None)
    assert opened(tmp_path, "id,x\na,1\n").read([0], [1]).keys[0].to_pylist() == ["a"]
