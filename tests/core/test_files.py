import errno
import os
import stat
from pathlib import Path

import pytest

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, check_output


def _write_half_and_fail(path: Path, failure: type[BaseException]) -> None:
    path.write_text("half")
    raise failure


def test_the_file_appears_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    with atomic_write(target) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("first half, ")
        assert not target.exists()
        with temporary.open("a") as stream:
            stream.write("second half")
    assert target.read_text() == "first half, second half"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_older_file(tmp_path: Path, failure: type[BaseException]) -> None:
    target = tmp_path / "result.txt"
    target.write_text("old")
    with pytest.raises(failure), atomic_write(target) as temporary:
        _write_half_and_fail(temporary, failure)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_said_in_words(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    with pytest.raises(InputError, match=r"result\.txt: no space left on device"), atomic_write(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="absent does not exist; create it first"),
        atomic_write(tmp_path / "absent" / "a"),
    ):
        pytest.fail("the body must not run")


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with (
        pytest.raises(InputError, match="plain is a file, not a folder"),
        atomic_write(tmp_path / "plain" / "a"),
    ):
        pytest.fail("the body must not run")


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"), atomic_write(tmp_path):
        pytest.fail("the body must not run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_said_in_words(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="permission denied"), atomic_write(tmp_path / "a"):
        pytest.fail("the body must not run")


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.write_text("")
    with atomic_write(written):
        pass
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_link_is_replaced_and_what_it_points_to_is_left_alone(tmp_path: Path) -> None:
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    with atomic_write(link) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("new")
    assert not link.is_symlink()
    assert (link.read_text(), real.read_text()) == ("new", "old")
    assert list(real.parent.iterdir()) == [real]


def test_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "absent")
    with pytest.raises(InputError, match="it is a link to nowhere"), atomic_write(link):
        pytest.fail("the body must not run")
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
    assert link.is_symlink()


@pytest.mark.parametrize("through_link", [False, True])
def test_a_pipe_and_a_device_are_refused(tmp_path: Path, through_link: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", Path(os.devnull)):
        target = special
        if through_link:
            target = tmp_path / f"to {special.name}"
            target.symlink_to(special)
        with pytest.raises(InputError, match="it is a device or a pipe"), atomic_write(target):
            pytest.fail("the body must not run")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_name_as_long_as_the_system_allows(tmp_path: Path) -> None:
    target = tmp_path / ("\N{SNOWMAN}" * 85)  # of three bytes each
    with atomic_write(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    check_output(tmp_path / "new")
    for target, reason in (
        (tmp_path, "it is a folder"),
        (tmp_path / "absent" / "a", "does not exist; create it first"),
    ):
        with pytest.raises(InputError, match=reason):
            check_output(target)
    with pytest.raises(InputError, match="file name too long"):
        check_output(tmp_path / ("a" * 300))
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(InputError, match="it is a folder"), atomic_write(tmp_path / "link"):
        pytest.fail("the body must not run")
    assert (tmp_path / "link").is_symlink()


def test_a_folder_that_is_a_link_is_gone_through(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with atomic_write(tmp_path / "link" / "result") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "folder" / "result").read_text() == "new"
