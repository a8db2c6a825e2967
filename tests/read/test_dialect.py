from pathlib import Path

import pytest

from nodewise.core.errors import InputError
from nodewise.read.dialect import Hints, fields, guess_delimiter, is_number, single_spaced, sniff, without_padding
from nodewise.read.text import Block

KNOWN = (frozenset({"source"}), frozenset({"target"}))


def sniffed(text, **options):
    return sniff(Path("a.csv"), Block(1, text.encode()), Hints(KNOWN, **options))


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a,b", "c,d"], ","),
        (["a\tb c", "d\te f"], "\t"),
        (["a;b", "c;d"], ";"),
        (["a|b", "c|d"], "|"),
        (["a b", "c   d"], " "),
        (["a b,c", "d,e f"], ","),  # only the comma cuts both lines alike
        (['"a,b" c', '"d" e'], " "),
        (["1,5;2", "1;2"], ";"),
        (["a;b;0,5", "b;c;1,5"], ";"),
        (["a b 0,5", "b c 1,5"], " "),
        (["a b 0,5", "b c 2"], " "),
        (["1 2,5", "3 4,5"], ","),
        (["1,2,3", "4,5,6"], ","),
        (["1,2,2020-01-01 10:00", "2,3,2020-01-02 11:00"], ","),
        (["a,b", "c,d", "e,f,g"], ","),  # one odd line does not change the guess
        (["abc", "def"], "\t"),
    ],
)
def test_the_delimiter_is_the_one_that_cuts_lines_alike(lines, delimiter):
    assert guess_delimiter(lines) == delimiter


@pytest.mark.parametrize(
    ("text", "header_line"),
    [
        ("source,target\na,b\n", 1),
        ("# c\n\nSource,Target,x\na,b,c\n", 3),
        ("a,b\nc,d\n", 0),
        ("from here,to there\n1,2\n3,4\n", 1),
        ("1,2\n3,4\n", 0),
        ("a,1\nb,2\n", 0),
        ("source,target\n", 1),
        ("a,b\n", 0),
        ("x,weight\na,1\nb,2\n", 1),
    ],
)
def test_a_line_of_names_is_told_from_a_row(text, header_line):
    assert sniffed(text).header_line == header_line


def test_names_are_the_users_or_numbered():
    assert sniffed("source,target\na,b\n").names == ("source", "target")
    assert sniffed("a,b\nc,d\n").names == ("column 1", "column 2")


def test_the_user_overrules_the_guess():
    assert sniffed("a,b\nc,d\n", header=True).names == ("a", "b")
    assert sniffed("source,target\na,b\n", header=False).header_line == 0
    assert sniffed("a,b;c\nd,e;f\n", delimiter=";").names == ("column 1", "column 2")
    with pytest.raises(InputError, match="one ASCII character"):
        sniffed("a,b\n", delimiter="::")


def test_numeric_columns_are_those_with_only_numbers_below_the_names():
    assert sniffed("source,target,w,t\na,1,2.5,x\nb,2,nan,3\n").numeric == (False, True, True, False)


@pytest.mark.parametrize(
    ("data", "delimiter", "bare"),
    [
        (b"a, b\nc,d\n", ",", b"a,b\nc,d\n"),
        (b" a b\t ,  c \n d,e", ",", b"a b,c\nd,e"),
        (b" a \t b \n\tc\n", "\t", b"a\tb\n\tc\n"),  # where tabs delimit, they are never padding
        (b"a" + b" " * 50 + b",b\n", ",", b"a,b\n"),
        (b'"a, b" , " c"\n5" , 6" \n', ",", b'"a, b"," c"\n5",6"\n'),
        (b'"a ""x, y"" " ,b\n"open , c\n', ",", b'"a ""x, y"" ",b\n"open,c\n'),
        (b"a| b\n", "|", b"a|b\n"),
        (b"a ^b\n", "^", b"a^b\n"),
    ],
)
def test_padding_goes_and_quotes_keep_theirs(data, delimiter, bare):
    assert without_padding(data, delimiter) == (bare, True)
    assert without_padding(bare, delimiter) == (bare, False)


def test_padding_without_end_takes_no_time_without_end():
    wide = b" " * (1 << 21)
    assert without_padding(b"a" + wide + b"b" + wide + b",c\n", ",")[0] == b"a" + wide + b"b,c\n"
    assert without_padding(b'"' + wide + b",c\n", ",")[0] == b'",c\n'


def test_quotes_keep_delimiters_and_spaces():
    assert fields('"a,b",c', ",") == ["a,b", "c"]
    assert fields('"a ""b""",c', ",") == ['a "b"', "c"]
    assert fields("  a \t b ", " ") == ["a", "b"]
    assert single_spaced(b'  a \t b \n"c  d"   e\n') == b'a b\n"c  d" e\n'


def test_a_number_is_what_a_table_means_by_it():
    assert all(map(is_number, ["1", "-2.5", "1e9", "nan", "inf", " 3 "]))
    assert not any(map(is_number, ["", "x", "1_000", "1,5", "0x10"]))


def test_what_cannot_be_sniffed_is_refused():
    with pytest.raises(InputError, match="empty"):
        sniffed("# only a comment\n")
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        sniff(Path("a.csv"), Block(1, b"a,b\nc,\xe9\n"), Hints(KNOWN))
