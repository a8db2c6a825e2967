from nodewise.core.errors import did_you_mean, nearest


def test_the_nearest_option_is_named() -> None:
    assert did_you_mean("pubmde", ["cora", "pubmed", "citeseer"]) == "; did you mean 'pubmed'?"


def test_case_does_not_matter_but_the_options_own_spelling_is_shown() -> None:
    assert did_you_mean("CORA", ["cora"]) == "; did you mean 'cora'?"
    assert did_you_mean("relu", ["ReLU", "tanh"]) == "; did you mean 'ReLU'?"


def test_all_options_are_listed_when_none_is_near() -> None:
    assert did_you_mean("zzz", ["cora", "pubmed"]) == "; choose from cora, pubmed"


def test_nothing_is_said_when_there_is_nothing_to_choose_from() -> None:
    assert did_you_mean("zzz", []) == ""


def test_leading_zeros_are_the_likelier_slip_than_a_letter() -> None:
    assert did_you_mean("C-12", ["C-0212", "C-0121", "C-0012"]) == "; did you mean 'C-0012'?"
    assert did_you_mean("c-0012", ["C-112", "C-12"]) == "; did you mean 'C-12'?"
    assert nearest("a-1-20", ["a-1-02", "a-01-020"]) == "a-01-020", "each group of digits for itself"
    assert nearest("C-10", ["C-1", "D-7"]) == "C-1", "zeros at the end count"
    assert nearest("zzz", ["cora"]) is None
