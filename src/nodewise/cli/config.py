"""`nodewise config`: the settings, to read or to start a file from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.terminal import say

Init = Annotated[Path | None, cli.option("Write them to a new file.", "FILE", panel=cli.OUTPUT)]


@cli.command("config", "config --preset paper --init mine.toml")
def config(*, init: Init = None, start: cli.Start, shown: cli.Shown) -> None:
    """Print all settings, or start a file of them.

    They are resolved as 'embed' would: a preset or file first, then --set.
    """
    from nodewise.core.config import to_mapping, to_toml
    from nodewise.core.files import atomic_write

    settings = start.settings()
    if init is not None:
        if init.exists():
            raise InputError(f"{init}: exists already; name a new file")
        with atomic_write(init) as temporary:
            temporary.write_text(to_toml(settings), encoding="utf-8")
        say(f"wrote {init}; use it with 'nodewise embed GRAPH --config {init} -o RUN'", shown.quiet)
    elif shown.json:
        cli.print_json(to_mapping(settings))
    else:
        print(to_toml(settings), end="")
