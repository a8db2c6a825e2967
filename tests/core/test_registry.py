from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodewise.core.errors import InputError
from nodewise.core.filetext import FileText
from nodewise.core.registry import Registry


@pytest.fixture
def registry() -> Registry[Any]:
    registry: Registry[Any] = Registry("strategy")
    registry.register("ordered", "collections:OrderedDict")
    registry.register("broken", "no_such_module_at_all:Thing")
    return registry


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to run in, for the user's modules; the interpreter forgets them afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_name_gives_its_object(registry: Registry[Any]) -> None:
    from collections import OrderedDict

    assert registry.get("ordered") is OrderedDict


def test_ones_own_is_told_from_registered_names(registry: Registry[Any]) -> None:
    registry.register("a:b", "collections:deque")
    assert [registry.is_own(name) for name in ("mine:Own", "ordered", "a:b", "nonesuch")] == [True, False, False, False]


def test_names_keep_their_order(registry: Registry[Any]) -> None:
    assert registry.names() == ("ordered", "broken")


def test_registration_imports_nothing(registry: Registry[Any]) -> None:
    # A registered part that cannot be imported is our bug, and must not be reported as the user's.
    with pytest.raises(ModuleNotFoundError):
        registry.get("broken")


def test_a_name_is_registered_once(registry: Registry[Any]) -> None:
    with pytest.raises(ValueError, match="strategy 'ordered' is registered twice"):
        registry.register("ordered", "collections:deque")


def test_an_unknown_name_is_refused_with_a_suggestion(registry: Registry[Any]) -> None:
    with pytest.raises(InputError, match=r"^unknown strategy 'orderedd'; did you mean 'ordered'\?$"):
        registry.get("orderedd")


def test_the_users_own_class_is_found_in_the_working_folder(registry: Registry[Any], own_module: Path) -> None:
    (own_module / "mine_nodewise_test.py").write_text("class Hardest:\n    pass\n")
    assert registry.get("mine_nodewise_test:Hardest").__name__ == "Hardest"


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("", "absent_nodewise_test:X", "cannot import the strategy .* No module named"),
        (
            "class Hardest: ...",
            "mine_nodewise_test:Hadrest",
            "has no strategy 'Hadrest'; did you mean 'Hardest'",
        ),
        ("raise RuntimeError('two\\nlines')", "mine_nodewise_test:X", "RuntimeError: two lines$"),
        ("this is no python", "mine_nodewise_test:X", "SyntaxError"),
        ("", ":X", "cannot import the strategy ':X'"),
    ],
)
def test_the_users_mistakes_are_told_in_one_line(
    registry: Registry[Any], own_module: Path, source: str, name: str, message: str
) -> None:
    (own_module / "mine_nodewise_test.py").write_text(source)
    with pytest.raises(InputError, match=message) as caught:
        registry.get(name)
    assert "\n" not in str(caught.value)


def test_a_name_that_only_a_file_holds_imports_nothing(registry: Registry[Any], own_module: Path) -> None:
    (own_module / "mine_nodewise_test.py").write_text("class Hardest:\n    pass\n")
    with pytest.raises(InputError, match=r"^the strategy 'mine_nodewise_test:Hardest' would load code, .*--set"):
        registry.get(FileText("mine_nodewise_test:Hardest"))
    assert "mine_nodewise_test" not in sys.modules
    assert str(own_module) not in sys.path
    assert registry.get(FileText("ordered")) is registry.get("ordered")
