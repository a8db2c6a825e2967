import doctest

import pytest

from nodewise.core import messages
from nodewise.read import columns


@pytest.mark.parametrize("module", [messages, columns])
def test_examples_in_the_documentation_hold(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_an_excerpt_is_short_and_on_one_line_whatever_it_is_given():
    assert excerpts_are_short("line\nbreak")
    assert excerpts_are_short("x" * 10_000_000)
    assert excerpts_are_short(b"\xff\x00\n" * 1000)
    assert messages.excerpt(1) == "1"
    assert messages.excerpt("1") == "'1'"


def excerpts_are_short(value):
    text = messages.excerpt(value)
    return "\n" not in text and len(text) < 300


def test_a_long_listing_is_cut():
    assert messages.listing(["a", "b"]) == "a, b"
    assert messages.listing([str(i) for i in range(9)]) == "0, 1, 2, 3, 4, 5, ... (9 in all)"


def test_only_the_first_line_of_a_foreign_error_is_kept():
    assert messages.first_line(ValueError("it broke.\nbecause")) == "it broke"
    assert messages.first_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(("seen", "remedy"), [("4,55", "with a point"), ("4,5,5", "correct"), ("x", "correct")])
def test_a_decimal_comma_is_told_apart(seen: str, remedy: str) -> None:
    assert remedy in str(messages.not_a_number("edges.csv, line 2", "weight", seen))
