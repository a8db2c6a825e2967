"""Strict settings: nested frozen dataclasses, read from TOML, changed by ``key=value``, written back.

A settings class is a frozen dataclass whose fields are bool, int, float, str, ``Literal[...]``,
``tuple[T, ...]``, an optional one of these, or another such dataclass, which becomes a TOML section. An
unknown key or a value of the wrong type is an error that names the key, where it came from, and the nearest
valid name. TOML has no null, so an optional setting is switched off by the word "none", or, where this means that it is
chosen from the graph (`FROM_GRAPH`), left open by the word "auto".

A section may be a `Part`: one of several classes, chosen by a key of the section such as ``sampling.strategy``, whose
other keys are then the fields of the class chosen.

Text that comes from a file is a `FileText` and stays one through `override`: a file of settings is data, and a
`Registry` imports no code that only a file names.
"""

from __future__ import annotations

import json
import tomllib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from nodewise.core.errors import InputError, did_you_mean, in_one_line
from nodewise.core.files import content_of
from nodewise.core.parts import Part, Unloaded
from nodewise.core.registry import FileText, failure, is_own, name_in_files

T = TypeVar("T")


MOST = 10_000_000
"""Of whatever is counted or weighed without a bound of its own; more steps or walks than this are a slip."""
MOST_DIMENSIONS, MOST_LAYERS = 1 << 16, 64

_NONE, _AUTO = "none", "auto"
FROM_GRAPH = "from graph"
"""An annotation of an optional setting: None does not switch it off but chooses it from the graph."""
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def from_mapping(cls: type[T], mapping: Mapping[str, Any], source: str) -> T:
    """Build settings of type `cls` from what a file holds; keys that it leaves out keep their defaults.

    `source` names the file and begins every error message. Texts become `FileText`.
    """
    try:
        marked = _from_file(mapping)
    except RecursionError:
        raise InputError(f"{source}: sections are nested too deep to be settings", code="bad-settings-file") from None
    return _build(cls, marked, source)


def _build(cls: type[T], mapping: Mapping[str, Any], source: str) -> T:
    try:
        return _section(cls, mapping, "", cls)
    except InputError as error:
        raise InputError(f"{source}: {error}", code=error.code) from None


def load_toml(cls: type[T], path: str | Path) -> T:
    """Read settings of type `cls` from a TOML file."""
    try:
        mapping = tomllib.loads(content_of(path).decode("utf-8-sig"))  # Windows editors write a mark
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not a TOML file: byte {error.start} is not UTF-8", code="bad-settings-file"
        ) from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid TOML: {error}", code="bad-settings-file") from None
    return from_mapping(cls, mapping, str(path))


def override(settings: T, assignments: Iterable[str], source: str = "--set") -> T:
    """Return a copy of `settings` with assignments such as ``"sampling.alpha=0.9"`` applied, all at once.

    The value is read as TOML; what is not TOML is a bare string, so ``encoder.readout=mean`` needs no quotes. Of a
    section, such as ``training={steps=1}``, only what is named changes.
    """
    return changed(settings, parse_assignments(assignments, source), source)


def parse_assignments(assignments: Iterable[str], source: str = "--set") -> dict[tuple[str, ...], Any]:
    """Return the values that assignments such as ``"sampling.alpha=0.9"`` give, by the path of each key."""
    changes: dict[tuple[str, ...], Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        path = tuple(part.strip() for part in key.split("."))
        if not equals or not path[-1]:
            raise InputError(f"{source}: expected key=value, not {_quoted(assignment)}", code="bad-setting")
        changes[path] = _parse_value(text.strip())
    return changes


def changed(settings: T, changes: Mapping[tuple[str, ...], Any], source: str) -> T:
    """Return a copy of `settings` with values put at paths such as ``("sampling", "alpha")``, all at once."""
    # Parts go by their classes meanwhile: one that was handed in as an object need not have a name to find it by.
    mapping, chosen = _mapping(settings, type), part_keys(type(settings))
    # A part chosen anew brings settings of its own; those of the one before it would mean nothing to it.
    single = (change for path, value in changes.items() for change in _leaves(path, value))
    for path, value in sorted(single, key=lambda change: change[0] not in chosen):
        section = mapping
        for depth, part in enumerate(path[:-1], start=1):
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise InputError(
                    f"{source}: {_quoted('.'.join(path[:depth]))} is a value, not a section", code="bad-setting"
                )
        before: Any = section.get(path[-1])
        same = (before.name, name_in_files(before)) if _is_part(before) else (before,)
        if path in chosen and value not in same:
            section.clear()
        elif (path in chosen and isinstance(before, type)) or (isinstance(before, dict) and value == {}):
            continue
        section[path[-1]] = value
    return _build(type(settings), mapping, source)


def part_keys(cls: type[object], prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the paths of the settings that choose a part."""
    found, kinds = set(), _types(cls)
    for item in _fields(cls):
        kind: Any = kinds[item.name]
        if _is_choice(kind):
            found.add((*prefix, item.name, kind.key))
        elif is_dataclass(kind):
            found |= part_keys(kind, (*prefix, item.name))  # type: ignore[arg-type]  # a class, not an instance
    return found


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)


def _is_choice(kind: Any) -> bool:
    """Whether a field leaves open which part it is: its type is the class that says which key names it."""
    return _is_part(kind) and "key" in vars(kind)


@dataclass(frozen=True)
class Range:
    """The values that a setting may have, as an annotation of its type."""

    low: float
    high: float = MOST


Size = Annotated[int, Range(1, MOST_DIMENSIONS)]
Layers = Annotated[int, Range(1, MOST_LAYERS)]
Count = Annotated[int, Range(1)]
CountOrNone = Annotated[int, Range(0)]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1)]


def require_settings(cls: type[Part]) -> None:
    """Refuse a class of the user's own with a setting that no file could hold."""
    try:
        kinds = get_type_hints(cls)
    except NameError:  # of a type that is not defined yet
        return
    for item in _fields(cls):
        if not _can_be_written(kinds[item.name]):
            raise cls._unfit(f"{item.name} is of the type {getattr(kinds[item.name], '__name__', kinds[item.name])}")


def _can_be_written(kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        others = [each for each in arguments if each is not type(None)]
        return len(others) == 1 and _can_be_written(others[0])
    if origin is tuple:
        return len(arguments) == 2 and arguments[1] is Ellipsis and _can_be_written(arguments[0])
    return kind in _KINDS or origin is Literal or is_dataclass(kind)


@dataclass(frozen=True)
class Checked:
    """Settings whose annotations say which values are allowed, such as ``dimension: Size = 64``; NaN never is.

    A subclass gives what it inherits another default where it names its base, ``class Long(Short, epochs=500)``. A
    class that is always the same section of the settings names it, ``class LossSettings(Checked, section="loss")``,
    for messages to name it too.
    """

    _section = ""

    def __init_subclass__(cls, section: str | None = None, **defaults: Any) -> None:
        for name, default in defaults.items():
            bases = (base for base in cls.__mro__[1:] if name in vars(base).get("__annotations__", ()))
            if (first := next(bases, None)) is None:
                raise TypeError(f"{cls.__name__} inherits no setting {name} to give another default")
            cls.__annotations__[name] = get_type_hints(first, include_extras=True)[name]
            setattr(cls, name, default)
        if section is not None:
            cls._section = f"{section}."
        super().__init_subclass__()
        if issubclass(cls, Part) and is_own(cls):
            require_settings(cls)

    def __post_init__(self) -> None:
        for name, allowed in _ranges(type(self)).items():  # type: ignore[arg-type]  # a class has a hash
            value = getattr(self, name)
            if not allowed.low <= value <= allowed.high:
                rule = f"at most {allowed.high:,}" if value > allowed.high else f"at least {allowed.low:,}"
                shown = value if isinstance(value, int) else f"{value:g}"
                raise InputError(f"{self._section}{name} is {shown}; it must be {rule}", code="bad-setting")


def _types(settings: type[object], extras: bool = False) -> dict[str, Any]:
    """Return the types of all settings of a class; annotations of the user's own may name what is not there."""
    try:
        return get_type_hints(settings, include_extras=extras)
    except Exception as error:
        if not is_own(settings):
            raise
        raise InputError(
            f"{settings.__module__}:{settings.__qualname__}: the type of a setting is unknown: {in_one_line(error)}; "
            "import it also at run time, or correct its name",
            code="own-code-failed",
        ) from error


@cache
def _from_graph(settings: Any) -> frozenset[str]:
    hints = _types(settings, extras=True)
    return frozenset(name for name, kind in hints.items() if FROM_GRAPH in getattr(kind, "__metadata__", ()))


@cache
def _ranges(settings: type[Checked]) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for cls in settings.__mro__:
        for name, kind in _types(cls, extras=True).items():
            for each in getattr(kind, "__metadata__", ()):
                if isinstance(each, Range):
                    found.setdefault(name, each)
    return found


def to_mapping(settings: object) -> dict[str, Any]:
    """Return settings as nested plain dictionaries; tuples become lists, a part's class its name in files."""
    return _mapping(settings, lambda part: name_in_files(type(part)))


def _mapping(settings: object, called: Callable[[Part], Any], auto: bool = False) -> dict[str, Any]:
    if isinstance(settings, Unloaded):
        return {settings.kind.key: settings.name, **settings.values}
    mapping: dict[str, Any] = {settings.key: called(settings)} if isinstance(settings, Part) else {}
    for item in _fields(type(settings)):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            mapping[item.name] = inner = _mapping(value, called, auto)
            if isinstance(value, Part) and not _is_choice(_types(type(settings))[item.name]):
                del inner[value.key]  # a part of a composition: which one it is, the composition says
        elif auto and value is None and item.name in _from_graph(type(settings)):  # type: ignore[arg-type]  # it has a hash
            mapping[item.name] = _AUTO
        else:
            mapping[item.name] = list(value) if isinstance(value, tuple) else value
    return mapping


def to_toml(settings: object) -> str:
    """Return settings as TOML that `load_toml` reads back to an equal object."""
    mapping = _mapping(settings, lambda part: name_in_files(type(part)), auto=True)
    return "\n".join(_toml_lines(mapping, "")).lstrip("\n") + "\n"


def keys(cls: type[object], prefix: str = "") -> Iterator[str]:
    """Yield the dotted name of every setting of `cls`, sections before their members; of a part, the default's."""
    if _is_part(cls):
        yield f"{prefix}{cls.key}"  # type: ignore[attr-defined]  # mypy does not see that it is one
    for item in _fields(cls):
        yield prefix + item.name
        kind = _types(cls)[item.name]
        if _is_choice(kind):
            kind = type(_default(item))
        if is_dataclass(kind):
            yield from keys(kind, f"{prefix}{item.name}.")  # type: ignore[arg-type]  # a class, not an instance


def _default(item: Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _fields(cls: Any) -> tuple[Field[Any], ...]:
    return tuple(item for item in fields(cls) if item.init)


def _section(cls: type[T], mapping: object, key: str, root: type[object]) -> T:
    if not isinstance(mapping, Mapping):
        raise InputError(f"'{key}' is a section of settings, not {_describe(mapping)}", code="bad-setting")
    prefix = f"{key}." if key else ""
    known = {item.name: item for item in _fields(cls)}
    earlier: dict[str, str] = getattr(cls, "renamed", {})  # names that settings had before, accepted for a while
    values_then: dict[str, str] = getattr(cls, "renamed_values", {})
    given: dict[str, Any] = {earlier.get(str(name), str(name)): value for name, value in mapping.items()}
    given |= {
        name: values_then[value] for name, value in given.items() if isinstance(value, str) and value in values_then
    }
    for name in given:
        if name not in known:
            raise InputError(
                f"unknown key {_quoted(prefix + name)}{_suggest(prefix, name, cls, root)}", code="unknown-setting"
            )
    kinds = _types(cls)
    values = {}
    for name, item in known.items():
        if name in given:
            named_auto = isinstance(given[name], str) and given[name] == _AUTO
            left_open = named_auto and name in _from_graph(cls)  # type: ignore[arg-type]  # a class has a hash
            values[name] = _value(kinds[name], None if left_open else given[name], prefix + name, root)
        elif item.default is MISSING and item.default_factory is MISSING:
            raise InputError(f"the key '{prefix}{name}' is missing", code="bad-setting")
    try:
        return cls(**values)
    except InputError as error:
        # The class knows its own fields, not which section of the settings it is.
        said = f"{error}" if str(error).startswith(key) else f"[{key}] {error}"
        # Nor need it say that what it refuses is a setting.
        code = "bad-setting" if error.code == InputError.code else error.code
        raise InputError(said, code=code) from None
    except Exception as error:
        if cls.__module__.startswith("nodewise."):
            raise
        raise InputError(
            f"{cls.__module__}:{cls.__qualname__} {failure(cls, error)}", code="own-code-failed"
        ) from error


def _suggest(prefix: str, name: str, cls: type[object], root: type[object]) -> str:
    # A right name in the wrong place is the likelier mistake; only then is it a misspelling. A section that is a part
    # has the keys of the class chosen, not those of the default.
    beyond = (key for key in keys(root) if not prefix or not key.startswith(prefix))
    elsewhere = [key for key in (*keys(cls, prefix), *beyond) if key.rpartition(".")[2] == name]
    plural = {item.name for item in _fields(cls)} & {f"{name}s", name.removesuffix("s")}  # nearer than another section
    if elsewhere and not plural:
        return f"; did you mean '{elsewhere[0]}'?"
    return did_you_mean(prefix + name, (prefix + item.name for item in _fields(cls)))


def _value(kind: Any, value: Any, key: str, root: type[object]) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if _is_choice(kind):
        return _part(kind, value, key, root)
    if is_dataclass(kind):
        if isinstance(value, kind):  # type: ignore[arg-type]  # a class, not an instance
            return value
        return _section(kind, value, key, root)  # type: ignore[arg-type]  # a class, not an instance
    if origin in (Union, types.UnionType):
        if value is None or value == _NONE:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _value(inner, value, key, root)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise InputError(f"'{key}' must be a list, not {_describe(value)}", code="bad-setting")
        return tuple(_value(arguments[0], item, f"{key}[{i}]", root) for i, item in enumerate(value))
    if origin is Literal:
        for choice in arguments:
            if (type(choice) is type(value) or isinstance(value, FileText)) and choice == value:
                return choice
        raise InputError(
            f"'{key}' cannot be {_describe(value)}{did_you_mean(str(value), map(str, arguments))}", code="bad-setting"
        )
    if kind is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"'{key}' is too large for a number", code="bad-setting") from None
    if type(value) is not kind and not (kind is str and isinstance(value, FileText)):  # true is no whole number
        raise InputError(f"'{key}' must be {_KINDS[kind]}, not {_describe(value)}", code="bad-setting")
    return value


def _part(kind: type[Part], value: Any, key: str, root: type[object]) -> Part | Unloaded:
    """Return the part that a section describes; in Python it may be given as an object, or by its name alone."""
    if isinstance(value, kind):
        return value
    section = {kind.key: value} if isinstance(value, str) else value
    if not isinstance(section, Mapping):
        raise InputError(f"'{key}' is a section of settings, not {_describe(value)}", code="bad-setting")
    named = section.get(kind.key, _default_name(root, key))
    if isinstance(named, kind):
        section, named = {**_mapping(named, type), **section}, type(named)
    if isinstance(named, type) and issubclass(named, kind):
        return _section(named, {name: each for name, each in section.items() if name != kind.key}, key, root)
    section = kind.upgraded(section)
    if not isinstance(named, str):
        raise InputError(f"'{key}.{kind.key}' must be text, not {_describe(named)}", code="bad-setting")
    rest = {name: each for name, each in section.items() if name != kind.key}
    if isinstance(named, FileText) and any(map(kind.registry.is_own, named.split("+"))):  # one, or of a composition
        return Unloaded(kind, named, rest)
    return cast(Part, _section(kind.named(named), rest, key, root))


def _default_name(root: type[object], key: str) -> str:
    cls: Any = root
    for name in key.split("."):
        part = _default(next(item for item in _fields(cls) if item.name == name))
        cls = type(part)
    return str(part.name)


def _from_file(value: Any) -> Any:
    """Return what a file holds with its texts marked as such."""
    if isinstance(value, Mapping):
        return {name: _from_file(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_from_file(each) for each in value]
    return FileText(value) if isinstance(value, str) else value


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


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the changes that a section stands for: what it leaves out stays as it is."""
    if not (isinstance(value, dict) and value):
        yield path, value
        return
    for name, each in value.items():
        yield from _leaves((*path, name), each)


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
