"""Parts by name: strategies, encoders, methods and data sets register themselves where they are written.

A part of the package is found by its name because the modules of its folder are imported when it is first asked for;
a part of the user's own is registered by the same decorator, or named as ``file.py:attribute`` or ``module:attribute``,
which is also how files name it: whoever reads them may not have registered it. Adding a part means adding a file.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar, cast

from nodewise.core.errors import (
    InputError,
    NodewiseError,
    did_you_mean,
    in_one_line,
    is_out_of_memory,
    require_type,
    seen,
)

T = TypeVar("T")
C = TypeVar("C")

_OWN = re.compile(r"(?:[\w.]+|[^:\0]+\.py):[\w.]+")


class Registry(Mapping[str, T]):
    """Classes of one kind by name: a mapping that imports what is asked for.

    Args:
        kind: what is being named, in error messages.
        packages: where the parts that come along are.
    """

    remedy = "name it in the command line too (--set), or in Python"

    def __init__(self, kind: str, *packages: str) -> None:
        self.kind = kind
        self._packages = packages
        self._found: dict[str, T] = {}
        self._own: dict[str, T] = {}  # those of the user's own that are registered, as files name them
        self._searched = False
        self.base: type[Any] | None = None  # what a part has to derive from, if it is a class

    def register(self, name: str) -> Callable[[C], C]:
        """Return a decorator that lets `name` stand for a class, and tells the class so."""
        decorator = f'@nodewise.{self.kind.replace(" ", "")}("my-name")'
        if not isinstance(name, str) or not name.strip() or "+" in name:
            told = f"{self._one} is registered by a name without +, as {decorator}, not {seen(name)}"
            raise InputError(told, code="bad-argument")

        def keep(part: C) -> C:
            self._require_fit(part)
            if self._is_guest(part) and name not in self._found:
                self._import_all()  # later, one that comes along would find its name taken
            earlier: Any = self._found.get(name)
            if earlier is not None and _place(earlier) != _place(part):
                if self._is_guest(part) and not self._is_guest(earlier):
                    told = f"the {self.kind} {name!r} comes with nodewise; register {_place(part)} under another name"
                else:
                    told = f"the {self.kind} {name!r} is registered twice: {_place(earlier)} and {_place(part)}"
                raise InputError(told, code="own-code-failed")
            part.name = name  # type: ignore[attr-defined]  # every part has a name
            self._found[name] = cast(T, part)  # the same class again is its module run again, as in a notebook
            if ":" in (written := name_in_files(part)):
                self._own[written] = cast(T, part)
            return part

        return keep

    @property
    def _one(self) -> str:
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    def _require_fit(self, part: Any) -> None:
        """Refuse to register what could never be used."""
        known = inspect.isfunction(part) or (isinstance(part, type) and part.__module__ != "builtins")
        fits = known if self.base is None else isinstance(part, type) and issubclass(part, self.base)
        if not fits:
            wanted = "a function" if self.base is None else f"a class derived from nodewise.{self.base.__name__}"
            raise InputError(f"{self._one} is {wanted}, not {seen(part)}", code="own-code-failed")

    def _is_guest(self, part: Any) -> bool:
        """Whether a part is neither of the package nor in a folder that this registry looks through."""
        return is_own(part) and not part.__module__.startswith(tuple(f"{package}." for package in self._packages))

    def names(self) -> tuple[str, ...]:
        """Return all registered names in alphabetical order, importing the parts that come along."""
        self._import_all()
        return tuple(sorted(self._found))

    def is_own(self, name: str) -> bool:
        """Whether `name` is the user's own ``module:attribute``, and not registered in this process."""
        return bool(_OWN.fullmatch(name)) and name not in self._found and name not in self._own

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __getitem__(self, name: str) -> T:
        """Return what `name` stands for: a registered name or the user's own ``module:attribute``.

        One's own is refused where the name was read from a file: files are data, and importing runs code.
        """
        require_type(f"the name of a {self.kind}", name, str, "text")
        if name in self._own:
            return self._own[name]
        if name not in self._found:
            self._import_namesake(name)
        if name in self._found:
            return self._found[name]
        if self.is_own(name):
            if isinstance(name, FileText):
                raise InputError(
                    f"the {self.kind} {name[:60]!r} would load code, and only a file names it; if the code is yours, "
                    f"{self.remedy}",
                    code="own-code",
                )
            return cast(T, self._import_own(name))
        self._import_all()
        if name in self._found:
            return self._found[name]
        raise InputError(
            f"unknown {self.kind} {name[:60]!r}{did_you_mean(name, self._found)}",
            code=f"unknown-{self.kind.replace(' ', '-')}",
        )

    def _import_namesake(self, name: str) -> None:
        """Import the module called like the part, if there is one: all of them would take longer."""
        stem = name.replace("-", "_")
        for package in self._packages if stem.isidentifier() else ():
            if any(module.name == stem for module in iter_modules(import_module(package).__path__)):
                import_module(f"{package}.{stem}")

    def _import_all(self) -> None:
        if self._searched:
            return
        for package in self._packages:
            for module in iter_modules(import_module(package).__path__):
                import_module(f"{package}.{module.name}")
        self._searched = True

    def _import_own(self, name: str) -> object:
        module_name, _, attribute = name.partition(":")
        file = Path(module_name).resolve() if module_name.endswith(".py") else None
        module_name = module_name if file is None else file.stem
        # An installed command does not see the folder it is run in; last, so that nothing is shadowed.
        if (here := str(Path.cwd() if file is None else file.parent)) not in sys.path:
            sys.path.append(here)
        try:
            module = import_module(module_name) if file is None else _module_of(file)
        except (NodewiseError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever goes wrong in the user's module, in one line; exits too
            raise InputError(
                f"cannot import the {self.kind} {name!r}: {in_one_line(error)}", code="own-code-failed"
            ) from error
        if not hasattr(module, attribute):
            written = ((entry, getattr(part, "__module__", None)) for entry, part in vars(module).items())
            public = [entry for entry, place in written if place == module.__name__ and not entry.startswith("_")]
            near = did_you_mean(attribute, public)
            raise InputError(f"module {module_name!r} has no {self.kind} {attribute!r}{near}", code="own-code-failed")
        return getattr(module, attribute)


def _module_of(file: Path) -> ModuleType:
    """Import a file, and not another one that Python would find first under its name."""
    found = sys.modules.get(file.stem)
    if found is not None and getattr(found, "__file__", None) == str(file):
        return found
    if file.stem in sys.stdlib_module_names or not file.is_file():
        raise ImportError(f"rename {file.name}, Python has a module {file.stem}" if file.is_file() else "no such file")
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError("no file of Python code")
    module = sys.modules[file.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    return module


def name_in_files(part: Any) -> str:
    """Return what a file calls a class: its name, or, of the user's own, where its code is."""
    return f"{part.__module__}:{part.__qualname__}" if is_own(part) else str(part.name)


def is_own(part: Any) -> bool:
    """Tell whether a class or function is the user's own, and does not come with the package."""
    return bool(part.__module__.partition(".")[0] != __name__.partition(".")[0])


@contextmanager
def told_as_own(kind: str, part: Any, others: Collection[BaseException] = ()) -> Iterator[None]:
    """Say in one line how code of the user's own fails inside; what comes with the package fails as it does.

    Args:
        kind: what the code is.
        part: its class or function.
        others: errors that are not of this code, and pass as they are.
    """
    try:
        yield
    except (NodewiseError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an exit would end the command as if all were well
        # That memory is out has a remedy of its own.
        if is_out_of_memory(error) or not is_own(part) or any(error is other for other in others):
            raise
        told = f"{kind} {name_in_files(part)} {failure(part, error)}"
        raise InputError(told, code="own-code-failed") from error


def failure(own: object, error: BaseException) -> str:
    """Say in one line how a class of the user's own failed, and where in its file."""
    file = file_of(own)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if file and frame.filename == file]
    place = f" at {Path(file).name}, line {lines[-1]}" if lines else ""
    return f"failed{place}: {in_one_line(error)}"


def unusable(tensor: Any) -> str:
    """Say what a tensor is that is no plain array of values, as most of torch needs; empty where it is one."""
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.is_meta:
        return "a tensor without values"
    layout = str(tensor.layout).removeprefix("torch.")
    return "" if layout == "strided" else f"a tensor of the layout {layout}"


def file_of(own: object) -> str:
    """Return the file that a class is defined in; empty where there is none."""
    try:
        return inspect.getsourcefile(own) or ""  # type: ignore[arg-type]  # what is no class or function has no file
    except TypeError:
        return ""


def _place(part: Any) -> str:
    return f"{part.__module__}.{part.__qualname__}"


class FileText(str):
    """A string read from a file of settings: equal to the plain string, but `Registry` imports nothing for it.

    A researcher may name a class of their own as ``module:Class``, and importing it runs code. Someone who types
    the name means it; a settings file or run folder may be somebody else's, and opening it must not run anything.
    """

    __slots__ = ()
