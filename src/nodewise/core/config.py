"""Strict settings: nested frozen dataclasses, read from TOML, changed by ``key=value``, written back.

A settings class is a frozen dataclass whose fields are bool, int, float, str, ``Literal[...]``,
``tuple[T, ...]``, an optional one of these, or another such dataclass, which becomes a TOML section. An
unknown key or a value of the wrong type is an error that names the key, where it came from, and the nearest
valid name. TOML has no null, so an optional setting is switched off by the word "none".

Text that comes from a file is a `FileText` and stays one through `override`: a file of settings is data, and a
`Registry` imports no code that only a file names.
"""

from __future__ import annotations

import json
import tomllib
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nodewise.core.errors import InputError
from nodewise.core.files import read_bytes
from nodewise.core.filetext import FileText
from nodewise.core.suggest import did_you_mean

T = TypeVar("T")

MOST = 10_000_000
"""Of whatever is counted or weighed without a bound of its own; more steps or walks than this are a slip."""
MOST_DIMENSIONS, MOST_LAYERS = 1 << 16, 64

_NONE = "none"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def from_mapping(cls: type[T], mapping: Mapping[str, Any], source: str) -> T:
    """Build settings of type `cls` from what a file holds; keys that it leaves out keep their defaults.

    `source` names the file and begins every error message. Texts become `FileText`.
    """
    return _from_file(_build(cls, mapping, source))


def _build(cls: type[T], mapping: Mapping[str, Any], source: str) -> T:
    try:
        return _section(cls, mapping, "", cls)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def load_toml(cls: type[T], path: str | Path) -> T:
    """Read settings of type `cls` from a TOML file."""
    try:
        mapping = tomllib.loads(read_bytes(path).decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the settings: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a TOML file: byte {error.start} is not UTF-8") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    return from_mapping(cls, mapping, str(path))


def override(settings: T, assignments: Iterable[str], source: str = "--set") -> T:
    """Return a copy of `settings` with assignments such as ``"sampling.alpha=0.9"`` applied, all at once.

    The value is read as TOML; what is not TOML is a bare string, so ``encoder.readout=mean`` needs no quotes.
    """
    mapping = to_mapping(settings)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        *path, leaf = (part.strip() for part in key.split("."))
        if not equals or not leaf:
            raise InputError(f"{source}: expected key=value, not {_quoted(assignment)}")
        section = mapping
        for depth, part in enumerate(path, start=1):
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise InputError(f"{source}: {_quoted('.'.join(path[:depth]))} is a value, not a section")
        section[leaf] = _parse_value(text.strip())
    return _build(type(settings), mapping, source)


def check_ranges(settings: object, section: str = "", /, **bounds: tuple[float, float | None]) -> None:
    """Refuse a setting below its lower or above its upper bound, which is `MOST` where None is given; NaN always.

    For settings classes to call when they are made; `section` is what they are called among the settings.
    """
    for name, (low, most) in bounds.items():
        value, high = getattr(settings, name), MOST if most is None else most
        if not low <= value <= high:
            rule = f"at most {high:,}" if value > high else f"at least {low:,}"
            key = f"{section}.{name}" if section else name
            raise InputError(f"{key} is {value if isinstance(value, int) else f'{value:g}'}; it must be {rule}")


def to_mapping(settings: object) -> dict[str, Any]:
    """Return settings as nested plain dictionaries; tuples become lists."""
    mapping: dict[str, Any] = {}
    for item in _fields(type(settings)):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            mapping[item.name] = to_mapping(value)
        else:
            mapping[item.name] = list(value) if isinstance(value, tuple) else value
    return mapping


def to_toml(settings: object) -> str:
    """Return settings as TOML that `load_toml` reads back to an equal object."""
    return "\n".join(_toml_lines(to_mapping(settings), "")).lstrip("\n") + "\n"


def keys(cls: type[object], prefix: str = "") -> Iterator[str]:
    """Yield the dotted name of every setting of `cls`, sections before their members."""
    for item in _fields(cls):
        yield prefix + item.name
        kind = get_type_hints(cls)[item.name]
        if is_dataclass(kind):
            yield from keys(kind, f"{prefix}{item.name}.")  # type: ignore[arg-type]  # a class, not an instance


def _fields(cls: Any) -> tuple[Field[Any], ...]:
    return tuple(item for item in fields(cls) if item.init)


def _section(cls: type[T], mapping: object, key: str, root: type[object]) -> T:
    if not isinstance(mapping, Mapping):
        raise InputError(f"'{key}' is a section of settings, not {_describe(mapping)}")
    prefix = f"{key}." if key else ""
    known = {item.name: item for item in _fields(cls)}
    for name in mapping:
        if name not in known:
            raise InputError(f"unknown key {_quoted(prefix + name)}{_suggest(prefix, str(name), list(known), root)}")
    kinds = get_type_hints(cls)
    values = {}
    for name, item in known.items():
        if name in mapping:
            values[name] = _value(kinds[name], mapping[name], prefix + name, root)
        elif item.default is MISSING and item.default_factory is MISSING:
            raise InputError(f"the key '{prefix}{name}' is missing")
    try:
        return cls(**values)
    except InputError as error:
        # The class knows its own fields, not which section of the settings it is.
        raise InputError(f"{error}" if str(error).startswith(key) else f"[{key}] {error}") from None


def _suggest(prefix: str, name: str, siblings: list[str], root: type[object]) -> str:
    # A right name in the wrong place is the likelier mistake; only then is it a misspelling.
    elsewhere = [key for key in keys(root) if key.rpartition(".")[2] == name]
    if elsewhere:
        return f"; did you mean '{elsewhere[0]}'?"
    return did_you_mean(prefix + name, (prefix + sibling for sibling in siblings))


def _value(kind: Any, value: Any, key: str, root: type[object]) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _section(kind, value, key, root)  # type: ignore[arg-type]  # a class, not an instance
    if origin in (Union, types.UnionType):
        if value is None or value == _NONE:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _value(inner, value, key, root)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise InputError(f"'{key}' must be a list, not {_describe(value)}")
        return tuple(_value(arguments[0], item, f"{key}[{i}]", root) for i, item in enumerate(value))
    if origin is Literal:
        for choice in arguments:
            if (type(choice) is type(value) or isinstance(value, FileText)) and choice == value:
                return choice
        raise InputError(f"'{key}' cannot be {_describe(value)}{did_you_mean(str(value), map(str, arguments))}")
    if kind is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"'{key}' is too large for a number") from None
    if type(value) is not kind and not (kind is str and isinstance(value, FileText)):  # true is no whole number
        raise InputError(f"'{key}' must be {_KINDS[kind]}, not {_describe(value)}")
    return value


def _from_file(settings: T) -> T:
    """Return settings whose texts are marked as a file's."""
    marked: dict[str, Any] = {}
    for item in _fields(type(settings)):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            marked[item.name] = _from_file(value)
        elif isinstance(value, str):
            marked[item.name] = FileText(value)
    return replace(settings, **marked)  # type: ignore[type-var]  # settings are dataclasses, which T does not say


def _describe(value: object) -> str:
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a section"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"{value!r:.40}" if isinstance(value, (int, float)) else f"a {type(value).__name__}"


def _quoted(text: str) -> str:
    """Return what somebody wrote as a short piece of one line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in the text could smuggle in more keys.
    return parsed["value"] if list(parsed) == ["value"] else text


def _toml_lines(mapping: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in mapping.items():
        if not isinstance(value, dict):
            yield f"{name} = {_toml_value(value)}"
    for name, value in mapping.items():
        if isinstance(value, dict):
            yield f"\n[{prefix}{name}]"
            yield from _toml_lines(value, f"{prefix}{name}.")


def _toml_value(value: Any) -> str:
    if value is None:
        return f'"{_NONE}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)  # of int and float: valid TOML, inf and nan included, and exact
