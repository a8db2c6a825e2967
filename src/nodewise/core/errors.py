"""Errors that carry a code, which stays when their words are improved, and the exit status of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from nodewise.core.terminal import printable


class NodewiseError(Exception):
    """Base of every error raised on purpose; the command line prints its one line and exits with `exit_code`.

    Attributes:
        code: what kind of error it is, for programs and for docs/errors.md.
    """

    exit_code = 1
    code = "failed"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(printable(message))  # it may quote a file, or an error of somebody else's
        if code is not None:
            self.code = code


class LostProcess(NodewiseError):
    """Another process of the same work was lost; what is done so far can be gone on from."""

    code = "lost-process"


class InputError(NodewiseError, ValueError):
    """Something the user gave cannot be used: the message names what was seen, where, and the remedy."""

    exit_code = 2
    code = "input"


class NotFitted(InputError, AttributeError):
    """What training gives is asked for before it; an AttributeError too, so that `hasattr` says no."""

    code = "not-fitted"


def seen(value: object) -> str:
    """Return a value as a short piece of a sentence; arrays, tensors and tables by their type and shape.

    >>> seen([1, 2])
    '[1, 2]'
    """
    try:
        shape = getattr(value, "shape", None)
    except RuntimeError:  # of a nested tensor
        shape = None
    if isinstance(shape, tuple) and shape and not isinstance(value, type):
        kind = type(value)
        return f"a {kind.__module__.partition('.')[0]}.{kind.__name__} of the shape {tuple(shape)}"
    return printable(f"{value!r:.60}")


_MOST_SAID = 400


def in_one_line(error: BaseException) -> str:
    """Return the type of an exception and what it says, cut short; it may be somebody else's, and fail to say it."""
    try:
        said = str(error)
    except Exception:
        said = "an error that cannot be shown"
    line = " ".join(f"{type(error).__name__}: {said}".split())
    return line if len(line) <= _MOST_SAID else f"{line[:_MOST_SAID]}..."


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an exception says that memory is out, in the words of Python or of torch."""
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named or "DefaultCPUAllocator" in in_one_line(error)


def require_type(name: str, value: object, kind: Any, wanted: str) -> None:
    """Refuse an argument of another type, before whatever is below fails in words of its own."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is Integral):
        raise InputError(f"{name} must be {wanted}, not {seen(value)}", code="bad-argument")


def require_whole(name: str, value: Any, least: int = 1, most: int = 2**63 - 1) -> None:
    """Refuse what is no whole number, or one out of bounds."""
    require_type(name, value, Integral, "a whole number")
    if not least <= value <= most:
        bounds = f"at least {least}" if value < least else f"at most {most}"
        raise InputError(f"{name} is {value!r:.60}; it must be {bounds}", code="bad-argument")


def require_seed(seed: Any) -> None:
    """Refuse a seed that numpy and scikit-learn would refuse only when the work is half done."""
    require_whole("seed", seed, least=0, most=2**32 - 1)


_MOST_NAMED = 60


def nearest(name: str, options: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the option nearest to `name`: one that differs in leading zeros of numbers, else in a few letters.

    >>> nearest("C-12", ["C-0212", "C-0012"])
    'C-0012'
    """
    spelled: dict[str, str] = {}
    for option in options:
        spelled.setdefault(option.casefold(), option)
    bare = _without_zeros(name.casefold())
    # Only where there is a digit can there be zeros before it.
    if any(map(str.isdigit, bare)):
        for folded, option in spelled.items():
            if _without_zeros(folded) == bare:
                return option
    near = get_close_matches(name.casefold(), spelled, n=1, cutoff=cutoff)
    return spelled[near[0]] if near else None


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """Return the end of a sentence that names the option nearest to `name`, or all of them if none is near.

    >>> did_you_mean("coar", ["cora", "pubmed"])
    "; did you mean 'cora'?"
    >>> did_you_mean("x", ["cora", "pubmed"])
    '; choose from cora, pubmed'
    """
    known = list(dict.fromkeys(options))
    if (near := nearest(name, known)) is not None:
        return f"; did you mean {near!r}?"
    named = [*known[:_MOST_NAMED], *(["..."] if len(known) > _MOST_NAMED else [])]
    return f"; choose from {', '.join(named)}" if known else ""
