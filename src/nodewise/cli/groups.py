"""Options that belong together travel as one dataclass; the command line still shows each of them."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

from nodewise.core.errors import InputError

_PLACES = ("FILE", "DIR", "RUN", "STORE")
"""How the help shows options that take a file or folder; of their types, versions of typer know different things."""
_NAMES = (*_PLACES, "GRAPH", "RUN_OR_FILE", "RUN_OR_GRAPH")


class Command(TyperCommand):
    """A command that refuses two files for an option that takes one; of other options the last counts, as usual.

    An empty name, such as an unset variable leaves, is refused: a path would take it for the working folder.
    """

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Look at the options before they are taken apart as usual."""
        values, _, parsed = self.make_parser(context).parse_args(args=list(arguments))
        given: list[Any] = parsed
        for place in (each for each in self.params if each.metavar in _NAMES):
            value = values.get(place.name)
            if "" in (value if isinstance(value, list | tuple) else [value]):
                name = max(place.opts, key=len) if place.param_type_name == "option" else place.metavar
                raise InputError(f"the name given as {name} is empty; name a file or a folder", code="missing-file")
        for option, times in Counter(given).items():
            if times > 1 and option.metavar in _PLACES and not option.multiple:
                raise InputError(f"{max(option.opts, key=len)} is given {times} times; give it once", code="usage")
        return super().parse_args(context, arguments)


_KIND = inspect.Parameter.KEYWORD_ONLY


def option(says: str, metavar: str | None = None, *names: str, panel: str | None = None, **limits: float) -> Any:
    """Return an option with its help; named after its parameter, beside a short name such as -o if one is given.

    That a file cannot be read is said by whoever reads it, under a code of its own.
    """
    return typer.Option(..., *names, metavar=metavar, help=says, rich_help_panel=panel, readable=False, **limits)  # type: ignore[arg-type]


def _named(name: str, annotation: Any) -> None:
    """Name an option after its parameter, --weight-column, unless it has a long name; -k needs none."""
    info = get_args(annotation)[1] if get_origin(annotation) is Annotated else None
    if isinstance(info, OptionInfo) and len(name) > 1:
        given = info.param_decls or ()
        if not any(each.startswith("--") for each in given):
            info.param_decls = (f"--{name.replace('_', '-')}", *given)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as typer should see it: parameters that are dataclasses replaced by their fields.

    A field may be such a group itself. A group's `panel`, if it has one, is the heading that its options stand under
    in the help. A group that is a context manager is entered around the command.
    """
    signature = inspect.signature(command, eval_str=True)
    groups = {name: each.annotation for name, each in signature.parameters.items() if is_dataclass(each.annotation)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        _named(name, parameter.annotation)
        parameters += _options(groups[name]) if name in groups else [parameter.replace(kind=_KIND)]

    @wraps(command)
    def expanded(**given: Any) -> None:
        gathered = {name: _gather(group, given) for name, group in groups.items()}
        with ExitStack() as around:
            for group in gathered.values():
                if isinstance(group, AbstractContextManager):
                    around.enter_context(group)
            command(**gathered | given)

    expanded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def _options(group: Any) -> list[inspect.Parameter]:
    kinds, found = get_type_hints(group, include_extras=True), []
    for field in fields(group):
        kind = kinds[field.name]
        if is_dataclass(kind):
            found += _options(kind)
        if get_origin(kind) is not Annotated:
            continue  # no option of the command line
        _named(field.name, kind)
        option = get_args(kind)[1]
        option.rich_help_panel = option.rich_help_panel or getattr(group, "panel", None)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        found.append(inspect.Parameter(field.name, _KIND, default=default, annotation=kind))
    return found


def _gather(group: Any, given: dict[str, Any]) -> Any:
    """Take the options of a group out of those given."""
    kinds, found = get_type_hints(group), {}
    for field in fields(group):
        if is_dataclass(kinds[field.name]):
            found[field.name] = _gather(kinds[field.name], given)
        elif field.name in given:
            found[field.name] = given.pop(field.name)
    return group(**found)
