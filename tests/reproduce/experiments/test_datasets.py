"""Table 1."""

from __future__ import annotations

from tests.reproduce.planted import load

from nodewise.reproduce.experiments import datasets


def test_the_data_sets_as_read() -> None:
    (table,) = datasets.render([load("citeseer"), load("karate")])
    citeseer, karate = table.rows
    assert citeseer[:3] == ("Citeseer", "150", "3,327")
    assert karate[:3] == ("Karate", "150", "–")
    assert "/" in citeseer[-1]
    assert "4,732" in citeseer
    assert "left out" not in table.markdown()
    assert "left out: Cora, Pubmed." in datasets.render([load("citeseer")], ("cora", "pubmed"))[0].markdown()
