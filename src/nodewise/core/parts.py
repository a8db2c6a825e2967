"""A section of settings that is one of several classes, chosen by one of its keys such as ``sampling.strategy``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, dataclass_transform

from nodewise.core.errors import InputError
from nodewise.core.registry import FileText, Registry


@dataclass_transform(frozen_default=True)
class Part:
    """One of several classes that a section of settings may be; its fields are the section's other keys.

    A subclass is a frozen dataclass without saying so.

    Attributes:
        key: the setting that names the class.
        registry: the classes by name.
        name: this class's.
    """

    key: ClassVar[str]
    registry: ClassVar[Registry[Any]]
    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.name = f"{cls.__module__}:{cls.__qualname__}"  # until it is registered under a shorter one
        dataclass(frozen=True)(cls)

    @classmethod
    def named(cls, name: str) -> type[Any]:
        """Return the class that a name stands for."""
        found = cls.registry[name]
        if not (isinstance(found, type) and issubclass(found, cls)):
            base = f"{cls.__module__}.{cls.__qualname__}"
            raise InputError(
                f"{cls.registry.kind} {name} is not a class derived from {base}, but {found!r:.60}",
                code="own-code-failed",
            )
        return found

    @classmethod
    def upgraded(cls, section: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a section that an earlier version may have written as this one would."""
        return section


@dataclass(frozen=True)
class Unloaded:
    """A part of somebody's own that only a file names: its settings are kept, its code is not loaded."""

    kind: type[Part]
    name: str
    values: Mapping[str, Any]

    def load(self) -> NoReturn:
        """Say why the part cannot be used."""
        self.kind.named(FileText(self.name))
        raise AssertionError("a file's own name is always refused")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # copy and pickle ask what there is; everybody else wants the part itself
            raise AttributeError(name)
        self.load()
