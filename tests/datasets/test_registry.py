"""Data sets by name, and where their files are looked for."""

from pathlib import Path

import pytest

from nodewise.core.errors import InputError
from nodewise.datasets.registry import cache_folder, load_dataset, named_folders


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NODEWISE_DATA", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("the network was used"))


def test_the_cache_is_in_the_home_folder_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert cache_folder() == tmp_path / ".cache" / "nodewise" / "planetoid"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("coar", "did you mean 'cora'"),
        ("citseer", "did you mean 'citeseer'"),
        ("reddit", "choose from cora, citeseer, pubmed"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"unknown data set '{name}'; {hint}"):
        load_dataset(name)


@pytest.mark.parametrize("name", ["../cora", "cora/../../etc/passwd", "/etc/passwd", "cora\0", "", "x" * 10_000])
def test_a_name_never_becomes_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown data set") as caught:
        load_dataset(name, tmp_path)
    assert len(str(caught.value)) < 300


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="absent is not a folder; --data-dir must name one"):
        load_dataset("citeseer", tmp_path / "absent")
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="absent is not a folder; NODEWISE_DATA must name one"):
        load_dataset("citeseer")


def test_the_folder_given_is_looked_at_before_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(named_folders(None)) == []
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path))
    assert list(named_folders(None)) == [tmp_path]
    (tmp_path / "given").mkdir()
    assert list(named_folders(tmp_path / "given")) == [tmp_path / "given", tmp_path]


def test_a_graph_knows_its_name_and_the_folder_that_was_given(tmp_path: Path) -> None:
    assert load_dataset(" Citeseer").origin == {"graph": "citeseer"}
    assert load_dataset("citeseer", tmp_path).origin == {"graph": "citeseer", "data_dir": str(tmp_path.resolve())}
    with pytest.raises(InputError, match="the name of a data set"):
        load_dataset(3)  # type: ignore[arg-type]
