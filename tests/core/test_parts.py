"""Sections of settings that are one of several classes; how files name them is in test_config.py."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from typing import Any, ClassVar

import pytest

from nodewise.core.errors import InputError
from nodewise.core.parts import Part, Unloaded
from nodewise.core.registry import FileText, Registry

TOOLS: Registry[Any] = Registry("tool")


class Tool(Part):
    key: ClassVar[str] = "tool"
    registry: ClassVar[Registry[Any]] = TOOLS


@TOOLS.register("saw")
class Saw(Tool):
    teeth: int = 20


class Nameless(Tool):
    """Has no short name."""


TOOLS.register("number")(type("Number", (), {}))


def test_a_subclass_is_a_frozen_dataclass_without_saying_so() -> None:
    assert [field.name for field in fields(Saw)] == ["teeth"]
    assert Saw(teeth=3) == Saw(3) != Saw()
    with pytest.raises(FrozenInstanceError):
        Saw().teeth = 4  # type: ignore[misc]


def test_a_class_is_called_by_its_place_until_it_is_registered() -> None:
    assert (Part.name, Saw.name, Nameless.name) == ("", "saw", f"{__name__}:Nameless")


def test_names_stand_for_classes_of_their_kind_only() -> None:
    assert Tool.named("saw") is Saw
    assert Saw.named("saw") is Saw
    with pytest.raises(InputError, match=r"tool number is not a class derived from .*Tool") as told:
        Tool.named("number")
    assert told.value.code == "own-code-failed"
    with pytest.raises(InputError, match="did you mean 'saw'"):
        Tool.named("saww")


def test_what_registers_an_object_instead_of_a_class_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLS._found, "thing", Saw())
    with pytest.raises(InputError, match=r"but Saw\(teeth=20\)") as told:
        Tool.named("thing")
    assert told.value.code == "own-code-failed"


def test_sections_are_taken_as_they_are_unless_a_class_knows_better() -> None:
    section = {"tool": "saw", "teeth": 3}
    assert Tool.upgraded(section) is section


def test_a_part_that_was_not_loaded_can_be_copied_but_not_used() -> None:
    part = Unloaded(Tool, FileText(f"{__name__}:Nameless"), {"size": 2})
    assert copy.deepcopy(part) == pickle.loads(pickle.dumps(part)) == part
    assert part.values == {"size": 2}
    assert not hasattr(part, "__array__")
    for use in (part.load, lambda: part.size, lambda: part._size):
        with pytest.raises(InputError, match="would load code"):
            use()
