"""Cora, Citeseer and Pubmed: which of several places they come from."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.planetoid_bytes import small_set

from nodewise.core.errors import InputError
from nodewise.datasets import citations, planetoid, planetoid_files
from nodewise.datasets.planetoid_files import file_names
from nodewise.datasets.registry import cache_folder, load_dataset

PLANETOID = ("cora", "citeseer", "pubmed")
Fetched = list[tuple[str, Path]]


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NODEWISE_DATA", raising=False)
    monkeypatch.setattr(planetoid, "NUM_VALIDATION", 1)


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> Fetched:
    """Record downloads, which bring the small set."""
    calls: Fetched = []

    def fetch(name: str, folder: Path, **_: Any) -> None:
        calls.append((name, folder))
        write_small_set(name, folder, monkeypatch)

    monkeypatch.setattr(citations, "fetch_files", fetch)
    return calls


def write_small_set(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in small_set().items():
        (folder / f"ind.{name}.{part}").write_bytes(content)
        monkeypatch.setitem(planetoid_files.SHA256, f"ind.{name}.{part}", hashlib.sha256(content).hexdigest())
    return folder


def test_citeseer_needs_no_files_and_no_network(fetched: Fetched) -> None:
    for name in ("citeseer", "CiteSeer", " CITESEER "):
        assert load_dataset(name).num_nodes == 3327
    assert fetched == []


def test_the_folder_given_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetched: Fetched) -> None:
    folder = write_small_set("citeseer", tmp_path / "given", monkeypatch)
    assert load_dataset("citeseer", folder).num_nodes == 6
    assert load_dataset("citeseer", str(folder)).num_nodes == 6
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("NODEWISE_DATA", str(folder))
    assert load_dataset("citeseer", empty).num_nodes == 6
    assert fetched == []


def test_the_cache_comes_before_the_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    write_small_set("citeseer", cache_folder(), monkeypatch)
    assert load_dataset("citeseer").num_nodes == 6


def test_without_files_they_are_fetched_into_the_cache(tmp_path: Path, fetched: Fetched) -> None:
    assert load_dataset("Cora").num_nodes == 6
    assert fetched == [("cora", tmp_path / "cache" / "nodewise" / "planetoid")]


def test_a_cached_set_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write_small_set("pubmed", cache_folder(), monkeypatch)
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("the network was used"))
    assert load_dataset("pubmed").num_nodes == 6


def test_a_checksum_mismatch_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_small_set("cora", tmp_path / "given", monkeypatch)
    (folder / "ind.cora.graph").write_bytes(b"cos\nsystem\n(S'touch canary'\ntR.")
    with pytest.raises(
        InputError, match=r"ind\.cora\.graph: SHA-256 mismatch, expected [0-9a-f]{64}, seen [0-9a-f]{64}"
    ):
        load_dataset("cora", folder)


def test_the_originals_load_from_their_folder(planetoid_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planetoid, "NUM_VALIDATION", 500)
    assert [load_dataset(name, planetoid_dir).num_edges for name in PLANETOID] == [5278, 4552, 44324]


def test_an_altered_original_is_refused(planetoid_dir: Path, tmp_path: Path) -> None:
    for file in file_names("citeseer"):
        shutil.copyfile(planetoid_dir / file, tmp_path / file)
    with (tmp_path / "ind.citeseer.tx").open("r+b") as stream:
        stream.seek(5000)
        stream.write(b"\x00\x01")
    with pytest.raises(InputError, match=r"ind\.citeseer\.tx: SHA-256 mismatch"):
        load_dataset("citeseer", tmp_path)
