"""The "did you mean" half of an error message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """Return the end of a sentence that names the option nearest to `name`, or all of them if none is near.

    >>> did_you_mean("coar", ["cora", "pubmed"])
    "; did you mean 'cora'?"
    >>> did_you_mean("x", ["cora", "pubmed"])
    '; choose from cora, pubmed'
    """
    spelled = {option.casefold(): option for option in options}
    if near := get_close_matches(name.casefold(), spelled, n=1):
        return f"; did you mean {spelled[near[0]]!r}?"
    return f"; choose from {', '.join(spelled.values())}" if spelled else ""
