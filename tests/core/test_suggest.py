from nodewise.core.errors import did_you_mean


def test_the_nearest_option_is_named() -> None:
    assert did_you_mean("pubmde", ["cora", "pubmed", "citeseer"]) == "; did you mean 'pubmed'?"


def test_case_does_not_matter_but_the_options_own_spelling_is_shown() -> None:
    assert did_you_mean("CORA", ["cora"]) == "; did you mean 'cora'?"
    assert did_you_mean("relu", ["ReLU", "tanh"]) == "; did you mean 'ReLU'?"


def test_all_options_are_listed_when_none_is_near() -> None:
    assert did_you_mean("zzz", ["cora", "pubmed"]) == "; choose from cora, pubmed"


def test_nothing_is_said_when_there_is_nothing_to_choose_from() -> None:
    assert did_you_mean("zzz", []) == ""
