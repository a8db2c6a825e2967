"""What people read on a terminal: text of a file cannot drive it, and a stream that is closed or full ends no work."""

from __future__ import annotations

import os
import sys
import threading
from typing import TextIO


def printable(text: object) -> str:
    """Return a text as one line whose control characters, such as those that clear a screen, are spelled out."""
    joined = " ".join(part.strip() for part in str(text).splitlines())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)


def say(message: object, quiet: bool = False) -> None:
    """Print a line for the person at the terminal, on stderr, so that stdout holds results only.

    Within a command a line is said once, and of more than a screen of them only warnings. It is held back until the
    inputs turn out to be good: see `begin_notes`.
    """
    text = str(message)
    if quiet or (_SAID is not None and text in _SAID):
        return
    if _SAID is not None:
        _SAID.append(text)
        if len(_SAID) > _MOST_NOTES and not text.startswith("warning"):
            if len(_SAID) > _MOST_NOTES + 1:
                return
            text = "further notes are left out"
    with _HOLDING:
        if _HELD is not None:
            _HELD.append(text)
            return
    tell(text)


_MOST_NOTES = 20
_SAID: list[str] | None = None
_HELD: list[str] | None = None
_HOLDING = threading.Lock()  # the first line of a progress is written by a thread of its own


def begin_notes() -> None:
    """Begin a command, in which nothing has been said yet.

    Somebody whose input is refused is to find one line, and not to look for it below what was noted of the other files.
    So notes are held back until there is progress or a result to show, or the command ends, and are dropped where it
    ends because of its inputs.
    """
    global _SAID, _HELD
    _SAID, _HELD = [], []


def release_notes() -> None:
    """Say what was held back; whatever comes after it is said at once."""
    global _HELD
    with _HOLDING:
        held, _HELD = _HELD, None
        for text in held or ():
            tell(text)


def drop_notes() -> None:
    """Forget what was held back."""
    global _HELD
    _HELD = None


def end_notes() -> None:
    """End the command: from here on everything is said."""
    global _SAID
    release_notes()
    _SAID = None


def tell(message: object) -> None:
    """Print a line on stderr; if nobody can read it, carry on without."""
    try:
        print(f"nodewise: {printable(message)}", file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let whatever else is printed there, also when Python exits, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def open_streams() -> None:
    """Make sure that there are standard streams, and that they take any character, spelled out where need be."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # closed; a file of ours would be given the number, and be written to by whoever prints
            os.open(os.devnull, os.O_RDWR)
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number:
            stream.reconfigure(errors="backslashreplace")
