from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodewise.core.errors import InputError
from nodewise.core.registry import FileText, Registry, name_in_files
from nodewise.sampling.adaptive import AdaptiveSampler

ORDERED = """
from parts_nodewise_test import PARTS
@PARTS.register("{name}")
class Ordered: pass
"""


class Far:
    name = ""


class Near:
    name = ""


@pytest.fixture
def registry() -> Registry[Any]:
    registry: Registry[Any] = Registry("strategy")
    registry.register("far")(Far)
    registry.register("an-other")(Near)
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


@pytest.fixture
def package(own_module: Path) -> Registry[Any]:
    """A registry whose parts lie in a package: one in a module of its name, one in another, one that is broken."""
    sys.path.append(str(own_module))
    folder = own_module / "parts_nodewise_test"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from nodewise.core.registry import Registry\nPARTS = Registry('strategy', 'parts_nodewise_test')\n"
    )
    (folder / "two_words.py").write_text(ORDERED.format(name="two-words"))
    (folder / "elsewhere.py").write_text(ORDERED.format(name="hidden"))
    from importlib import import_module

    found: Registry[Any] = import_module("parts_nodewise_test").PARTS
    return found


def test_a_name_gives_its_class_which_knows_it(registry: Registry[Any]) -> None:
    assert registry["far"] is registry.get("far") is Far
    assert (Far.name, Near.name) == ("far", "an-other")


def test_ones_own_is_told_from_registered_names(registry: Registry[Any]) -> None:
    registry.register("a:b")(Near)
    assert [registry.is_own(name) for name in ("mine:Own", "far", "a:b", "nonesuch")] == [True, False, False, False]


def test_names_are_in_alphabetical_order(registry: Registry[Any]) -> None:
    assert registry.names() == tuple(registry) == ("an-other", "far")
    assert len(registry) == 2
    assert "far" in registry
    assert "fra" not in registry


def test_a_part_is_found_in_the_module_of_its_name_without_importing_others(package: Registry[Any]) -> None:
    assert "parts_nodewise_test.two_words" not in sys.modules
    assert package["two-words"].__module__ == "parts_nodewise_test.two_words"
    assert "parts_nodewise_test.elsewhere" not in sys.modules


def test_a_part_is_found_wherever_it_is_in_the_package(package: Registry[Any]) -> None:
    assert package["hidden"].__module__ == "parts_nodewise_test.elsewhere"
    assert package.names() == ("hidden", "two-words")


def test_adding_a_part_means_adding_a_file(package: Registry[Any], own_module: Path) -> None:
    (own_module / "parts_nodewise_test" / "later.py").write_text(ORDERED.format(name="third"))
    assert package.names() == ("hidden", "third", "two-words")


def test_a_part_that_comes_along_and_cannot_be_imported_is_not_the_users_mistake(
    package: Registry[Any], own_module: Path
) -> None:
    (own_module / "parts_nodewise_test" / "broken.py").write_text("import no_such_module_at_all")
    for name in ("broken", "nonesuch"):
        with pytest.raises(ModuleNotFoundError):
            package[name]


def test_a_name_is_registered_for_one_class(registry: Registry[Any]) -> None:
    with pytest.raises(ValueError, match=r"the strategy 'far' is registered twice: .*Far and .*Near$"):
        registry.register("far")(Near)
    assert registry["far"] is Far


def test_a_name_that_comes_along_is_not_given_away(package: Registry[Any]) -> None:
    with pytest.raises(InputError, match=r"'two-words' comes with nodewise; register .*Near under another") as told:
        package.register("two-words")(Near)
    assert told.value.code == "own-code-failed"
    assert package["two-words"] is not Near


def test_a_module_may_be_run_again(registry: Registry[Any]) -> None:
    def run() -> type:
        class Mine:
            name = ""

        return registry.register("mine")(Mine)

    first, second = run(), run()
    assert first is not second
    assert registry["mine"] is second, "the one run last is meant"


def test_an_unknown_name_is_refused_with_a_suggestion(registry: Registry[Any]) -> None:
    with pytest.raises(InputError, match=r"^unknown strategy 'farr'; did you mean 'far'\?$"):
        registry["farr"]


def test_the_users_own_class_is_found_in_the_working_folder(registry: Registry[Any], own_module: Path) -> None:
    (own_module / "mine_nodewise_test.py").write_text("class Hardest:\n    pass\n")
    assert registry["mine_nodewise_test:Hardest"].__name__ == "Hardest"
    assert "mine_nodewise_test:Hardest" not in registry.names()


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
        ("", ":X", "unknown strategy ':X'"),
    ],
)
def test_the_users_mistakes_are_told_in_one_line(
    registry: Registry[Any], own_module: Path, source: str, name: str, message: str
) -> None:
    (own_module / "mine_nodewise_test.py").write_text(source)
    with pytest.raises(InputError, match=message) as caught:
        registry[name]
    assert "\n" not in str(caught.value)


def test_a_file_is_the_one_that_is_named_whatever_python_would_find_first(
    registry: Registry[Any], own_module: Path
) -> None:
    for folder, value in (("one", 1), ("two", 2)):
        (own_module / folder).mkdir()
        (own_module / folder / "mine_nodewise_test.py").write_text(f"class Hardest:\n    value = {value}\n")
    assert registry["one/mine_nodewise_test.py:Hardest"].value == 1
    assert registry["two/mine_nodewise_test.py:Hardest"].value == 2
    assert registry["two/mine_nodewise_test.py:Hardest"] is registry["two/mine_nodewise_test.py:Hardest"]


@pytest.mark.parametrize(
    ("file", "message"), [("random.py", "rename random.py, Python has a module random"), ("gone.py", "no such file")]
)
def test_a_file_that_cannot_be_imported_is_told_in_one_line(
    registry: Registry[Any], own_module: Path, file: str, message: str
) -> None:
    (own_module / "random.py").write_text("class Hardest:\n    pass\n")
    with pytest.raises(InputError, match=message):
        registry[f"{file}:Hardest"]


def test_a_name_that_only_a_file_holds_imports_nothing(registry: Registry[Any], own_module: Path) -> None:
    (own_module / "mine_nodewise_test.py").write_text("class Hardest:\n    pass\n")
    with pytest.raises(InputError, match=r"^the strategy 'mine_nodewise_test:Hardest' would load code, .*--set"):
        registry[FileText("mine_nodewise_test:Hardest")]
    assert "mine_nodewise_test" not in sys.modules
    assert str(own_module) not in sys.path
    assert registry[FileText("far")] is registry["far"]


def test_one_that_is_registered_is_found_by_its_place_too_also_where_a_file_names_it(registry: Registry[Any]) -> None:
    named = FileText(f"{__name__}:Far")
    assert name_in_files(Far) == named
    assert registry[named] is Far
    assert not registry.is_own(named)
    assert name_in_files(AdaptiveSampler) == "adaptive", "what comes along needs no place"
