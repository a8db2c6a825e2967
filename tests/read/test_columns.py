import pytest

from nodewise.core.errors import InputError
from nodewise.read.columns import ID_NAMES, column_called, column_given
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints


@pytest.fixture
def named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("weight,Node ID,x\n1,a,2\n")
    return TextColumns.open(path, Hints((ID_NAMES,), header=True))


def test_usual_names_are_known_in_any_spelling(named):
    assert column_called(named, ID_NAMES) == 1
    assert column_called(named, frozenset({"label"})) is None


def test_made_up_names_are_never_matched(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n")
    file = TextColumns.open(path, Hints((ID_NAMES,)))
    assert column_called(file, frozenset({"column1"})) is None


def test_a_column_is_given_by_name_or_number(named):
    assert column_given(named, "x") == 2
    assert column_given(named, "1") == 0
    with pytest.raises(InputError, match="no column 'weigh'; did you mean 'weight'"):
        column_given(named, "weigh")
    for outside in ("0", "4"):
        with pytest.raises(InputError, match="no column"):
            column_given(named, outside)
