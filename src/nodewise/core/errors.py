"""Errors that carry the exit status of the command line."""

from __future__ import annotations

from numbers import Integral
from typing import Any


class NodewiseError(Exception):
    """Base of every error raised on purpose; the command line prints its one line and exits with `exit_code`."""

    exit_code = 1


class LostProcess(NodewiseError):
    """Another process of the same work was lost; what is done so far can be gone on from."""


class InputError(NodewiseError, ValueError):
    """Something the user gave cannot be used: the message names what was seen, where, and the remedy."""

    exit_code = 2


def require_type(name: str, value: object, kind: Any, wanted: str) -> None:
    """Refuse an argument of another type, before whatever is below fails in words of its own."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is Integral):
        raise InputError(f"{name} must be {wanted}, not {value!r:.60}")
