"""Names for parts that are imported only when asked for, and the user's own as ``module:Class``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Generic, TypeVar, cast

from nodewise.core.errors import InputError
from nodewise.core.filetext import FileText
from nodewise.core.suggest import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to ``"module:attribute"``; `kind` says in error messages what is being named."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._targets: dict[str, str] = {}

    def register(self, name: str, target: str) -> None:
        """Let `name` stand for ``"module:attribute"``, which is imported at the first `get`."""
        if name in self._targets:
            raise ValueError(f"the {self.kind} {name!r} is registered twice")
        self._targets[name] = target

    def names(self) -> tuple[str, ...]:
        """Return the registered names in the order of registration."""
        return tuple(self._targets)

    def is_own(self, name: str) -> bool:
        """Whether `name` is the user's own ``module:attribute``."""
        return name not in self._targets and ":" in name

    def get(self, name: str) -> T:
        """Return what `name` stands for: a registered name or the user's own ``module:attribute``.

        One's own is refused where the name was read from a file: files are data, and importing runs code.
        """
        if name in self._targets:
            module, _, attribute = self._targets[name].partition(":")
            return cast(T, getattr(import_module(module), attribute))
        if self.is_own(name):
            if isinstance(name, FileText):
                raise InputError(
                    f"the {self.kind} {name[:60]!r} would load code, and only a file of settings names it; "
                    "if the code is yours, name it in the command line too (--set), or in Python"
                )
            return cast(T, self._import_own(name))
        raise InputError(f"unknown {self.kind} {name!r}{did_you_mean(name, self._targets)}")

    def _import_own(self, name: str) -> object:
        module_name, _, attribute = name.partition(":")
        # An installed command does not see the folder it is run in; last, so that nothing is shadowed.
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)
        try:
            module = import_module(module_name)
        except Exception as error:  # whatever goes wrong in the user's module is theirs to see in one line
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"cannot import the {self.kind} {name!r}: {reason}") from error
        if not hasattr(module, attribute):
            public = [entry for entry in vars(module) if not entry.startswith("_")]
            near = did_you_mean(attribute, public)
            raise InputError(f"module {module_name!r} has no {self.kind} {attribute!r}{near}")
        return getattr(module, attribute)
