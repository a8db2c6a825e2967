"""Commands whose names are settled and whose work comes with a later version."""

from __future__ import annotations

import typer

from nodewise.core.errors import InputError

_PLANNED = {
    "convert": "write a graph as a memory-mapped store.",
    "report": "make an offline interactive page of a run.",
}


def register(app: typer.Typer) -> None:
    """Add the commands, which take any arguments and say that they are not there yet."""
    for name, summary in _PLANNED.items():
        app.command(
            name,
            help=f"Not there yet: {summary}",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )(_refuse)


def _refuse(context: typer.Context) -> None:
    raise InputError(f"'nodewise {context.info_name}' is not part of this version yet")
