import gzip

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.read import text
from nodewise.read.text import Block, blocks, without_comments


def write(folder, data, name="a.txt"):
    path = folder / name
    path.write_bytes(data)
    return path


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=9).map(lambda line: line.translate(None, b"\0\r\n\x1f\xef\xff\xfe"))),
    st.booleans(),
)
def test_blocks_hold_every_line_under_its_number(tmp_path_factory, lines, newline_at_end):
    data = b"\n".join(lines) + b"\n" * newline_at_end
    assume(not data.startswith((text._ZSTANDARD, b"BZh")))  # said to be compressed
    assume(not data.lstrip().lower().startswith(sum(text._NO_TABLE, ())))  # said to be something else
    path = write(tmp_path_factory.mktemp("text"), data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", 16)
        found = list(blocks(path))
    assert b"".join(block.data for block in found) == data
    line = 1
    for block in found:
        assert block.first_line == line
        line += block.data.count(b"\n")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv"])
def test_gzip_is_known_by_its_content(tmp_path, name):
    path = write(tmp_path, gzip.compress(b"a,b\nc,d\n", mtime=0), name)
    assert list(blocks(path)) == [Block(1, b"a,b\nc,d\n")]


def test_windows_lines_and_a_byte_order_mark_are_made_plain(tmp_path):
    assert list(blocks(write(tmp_path, b"\xef\xbb\xbfa,b\r\nc,d\r\n"))) == [Block(1, b"a,b\nc,d\n")]
    assert list(blocks(write(tmp_path, b"a,b\r\nc,d\r"))) == [Block(1, b"a,b\n"), Block(2, b"c,d")]


@pytest.mark.parametrize(
    ("data", "fragment"),
    [
        (b"a,b\nc,\0\n", "line 2: a zero byte"),
        ("a,b\n".encode("utf-16"), "UTF-16"),
        (b"a,b\nc\rd,e\n", "line 2: a carriage return"),
        (b"a,b\n" + b"x" * 10_000_000, "line 2: longer than 4,194,304 characters, beginning 'xxx"),
        (gzip.compress(bytes(range(65, 91)) * 50, mtime=0)[:-9], "truncated compressed"),
        (gzip.compress(b"a" * 100, mtime=0)[:12] + b"\xff" * 20, "compressed"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path, data, fragment):
    path = write(tmp_path, data)
    with pytest.raises(InputError) as error:
        list(blocks(path))
    assert fragment in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_comments_and_lines_of_spaces_become_blank_and_keep_their_place():
    data = b"# one\na,b\n  % two\n   \nc#,d%\n"
    assert without_comments(data) == (b"\na,b\n\n\nc#,d%\n", 2)
    assert without_comments(b"a,b\n") == (b"a,b\n", 0)
