from __future__ import annotations

import pytest

from nodewise.report.subject import folders_of, without_folders


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("/home/jane/graphs/edges.csv", "edges.csv"),
        ("/home/Jane Doe/my graphs/edges.csv", "edges.csv"),
        ("C:\\Users\\Jane Doe\\edges.csv", "edges.csv"),
        ("--labels=/home/jane/labels.csv", "--labels=labels.csv"),
        ("Left out: /home/jane/edges.csv: no such file; see /srv/data/", "Left out: edges.csv: no such file; see "),
        ("left out: C:\\jane\\edges.csv is gone", "left out: edges.csv is gone"),
        ("graphs/edges.csv", "graphs/edges.csv"),
        ("../edges.csv and 1/2 or a / b", "../edges.csv and 1/2 or a / b"),
        ("https://example.org/data/edges.csv", "https://example.org/data/edges.csv"),
        ("</script><script>", "</script><script>"),
    ],
)
def test_paths_are_cut_to_their_names(text: str, cut: str) -> None:
    assert without_folders({"a": [text, 3, None], "b": {"c": text}}) == {"a": [cut, 3, None], "b": {"c": cut}}


def test_known_folders_are_cut_whole() -> None:
    known = folders_of({"argv": ["embed", "/home/Jane Doe/edges.csv", "/home/Jane Doe/new graphs/x.csv"]})
    assert known == ("/home/Jane Doe/new graphs/", "/home/Jane Doe/")
    assert without_folders("/home/Jane Doe/new graphs/x.csv: it is gone", known) == "x.csv: it is gone"
