"""Text of a file is text to everyone but those who ask where it came from."""

import copy
import json
import pickle

import pytest

from nodewise.core.registry import FileText

TEXT = FileText("mine:Class")


def test_it_is_the_text() -> None:
    assert TEXT == "mine:Class"
    assert hash(TEXT) == hash("mine:Class")
    assert {"mine:Class": 1}[TEXT] == 1
    assert json.dumps(TEXT) == '"mine:Class"'
    assert (repr(TEXT), f"{TEXT}") == ("'mine:Class'", "mine:Class")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text)), FileText])
def test_no_copy_forgets_where_it_came_from(again: object) -> None:
    assert callable(again)
    found = again(TEXT)
    assert type(found) is FileText
    assert found == TEXT


def test_nothing_can_be_written_on_it() -> None:
    with pytest.raises(AttributeError):
        TEXT.trusted = True  # type: ignore[attr-defined]
