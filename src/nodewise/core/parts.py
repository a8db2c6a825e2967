"""A section of settings that is one of several classes, chosen by one of its keys such as ``sampling.strategy``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, NoReturn, dataclass_transform

from nodewise.core.errors import InputError, seen
from nodewise.core.registry import FileText, Registry, is_own


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
        own = is_own(cls)
        if own and "__init__" in vars(cls):
            raise cls._unfit("it has an __init__ of its own")
        try:
            dataclass(frozen=True)(cls)
        except (TypeError, ValueError) as error:  # a list as a default, or one setting without behind one with
            raise (cls._unfit(str(error).partition(":")[0]) if own else error) from error
        for item in fields(cls) if own else ():  # type: ignore[arg-type]  # just made one
            if item.init and item.default is MISSING and item.default_factory is MISSING:
                raise cls._unfit(f"{item.name} has no default")

    @classmethod
    def _unfit(cls, why: str) -> InputError:
        return InputError(
            f"{cls.registry.kind} {cls.name}: {why}; its settings are annotated attributes with a default, each "
            "true or false, a number, text, one of a Literal, or a tuple of these, such as share: float = 0.5",
            code="own-code-failed",
        )

    @classmethod
    def named(cls, name: str) -> type[Any]:
        """Return the class that a name stands for."""
        found = cls.registry[name]
        if not (isinstance(found, type) and issubclass(found, cls)):
            base = f"{cls.__module__}.{cls.__qualname__}"
            raise InputError(
                f"{cls.registry.kind} {name} is not a class derived from {base}, but {seen(found)}",
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
