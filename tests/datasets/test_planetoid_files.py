import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.planetoid_bytes import small_set

from nodewise.core.errors import InputError
from nodewise.datasets import planetoid_files
from nodewise.datasets.planetoid_files import absent_files, fetch_files, file_names, find_folder, read_files


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small set called cora, whose sums are taken for the right ones."""
    folder = tmp_path / "source"
    folder.mkdir()
    for part, content in small_set().items():
        (folder / f"ind.cora.{part}").write_bytes(content)
        monkeypatch.setitem(planetoid_files.SHA256, f"ind.cora.{part}", hashlib.sha256(content).hexdigest())
    return folder


def test_every_file_of_every_set_has_a_sum() -> None:
    names = [file for name in ("cora", "citeseer", "pubmed") for file in file_names(name)]
    assert sorted(planetoid_files.SHA256) == sorted(names)
    assert {len(bytes.fromhex(sum_)) for sum_ in planetoid_files.SHA256.values()} == {32}


def test_the_originals_have_these_sums(planetoid_dir: Path) -> None:
    for name in ("cora", "citeseer", "pubmed"):
        assert all(read_files(name, planetoid_dir).values())


def test_files_are_read_by_part(source: Path) -> None:
    assert read_files("cora", source) == small_set()


def test_an_altered_file_is_named_with_both_sums(source: Path) -> None:
    path = source / "ind.cora.ty"
    path.write_bytes(path.read_bytes() + b" ")
    expected, seen = planetoid_files.SHA256["ind.cora.ty"], hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(InputError, match=rf"{path}: SHA-256 mismatch, expected {expected}, seen {seen}"):
        read_files("cora", source)


def test_no_more_than_the_largest_file_is_read(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planetoid_files, "MAX_BYTES", 100)
    with pytest.raises(InputError, match=r"ind\.cora\.\w+: larger than 100 bytes"):
        read_files("cora", source)


def test_the_first_complete_folder_is_found(source: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert find_folder("cora", [empty, source]) == source
    assert find_folder("cora", [empty]) is None
    assert absent_files("cora", source) == []


def test_an_incomplete_folder_is_an_error_that_names_what_is_missing(source: Path) -> None:
    (source / "ind.cora.graph").unlink()
    with pytest.raises(InputError, match=r"source: ind\.cora\.graph missing beside the other files of cora"):
        find_folder("cora", [source])


def test_files_are_fetched_verified_and_kept(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "deep"
    fetch_files("cora", target, base_url=f"{source.as_uri()}/")
    assert read_files("cora", target) == small_set()
    assert sorted(path.name for path in target.iterdir()) == sorted(file_names("cora"))


def test_a_broken_off_download_is_continued(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "cache"
    (source / "ind.cora.ally").rename(tmp_path / "away")
    with pytest.raises(InputError, match=r"cannot download .*ind\.cora\.ally"):
        fetch_files("cora", target, base_url=f"{source.as_uri()}/")
    fetched = {path.name: path.stat().st_mtime_ns for path in target.iterdir()}
    assert 0 < len(fetched) < 8
    (tmp_path / "away").rename(source / "ind.cora.ally")
    fetch_files("cora", target, base_url=f"{source.as_uri()}/")
    assert absent_files("cora", target) == []
    assert all((target / name).stat().st_mtime_ns == time for name, time in fetched.items())


def test_a_download_with_a_wrong_sum_is_not_kept(source: Path, tmp_path: Path) -> None:
    (source / "ind.cora.x").write_bytes(b"something else")
    with pytest.raises(InputError, match=r"ind\.cora\.x: SHA-256 mismatch"):
        fetch_files("cora", tmp_path / "cache", base_url=f"{source.as_uri()}/")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize(
    "failure",
    [urllib.error.URLError("no route to host"), TimeoutError("timed out"), http.client.IncompleteRead(b"")],
)
def test_without_a_network_the_error_says_what_to_put_where(
    failure: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, float]] = []

    def fail(url: str, timeout: float) -> None:
        asked.append((url, timeout))
        raise failure

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    with pytest.raises(InputError) as caught:
        fetch_files("pubmed", tmp_path / "cache")
    message = str(caught.value)
    assert all(file in message for file in file_names("pubmed"))
    assert "--data-dir" in message
    assert "NODEWISE_DATA" in message
    assert str(tmp_path / "cache") in message
    assert "\n" not in message
    assert asked == [(f"{planetoid_files.BASE_URL}ind.pubmed.x", 30)]
    assert asked[0][0].startswith("https://")


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot create the cache folder .*file/cache"):
        fetch_files("cora", tmp_path / "file" / "cache")
