"""What a table says of its oracle column: what it is, and for which rows it was measured."""

from __future__ import annotations

from collections.abc import Mapping

from nodewise.reproduce.paper_values import ORACLE_NOTE
from nodewise.reproduce.results import Results


def oracle_notes(results: Results, titles: Mapping[str, str]) -> list[str]:
    """Return the notes; `titles` are the rows of the table as it calls them."""
    passes = []
    for row, title in titles.items():
        measured = [name for name in results.datasets if results.by_seed(row, name, "oracle", "oracle")]
        where = "" if measured == results.datasets else f" ({', '.join(name.capitalize() for name in measured)})"
        passes += [f"'{title}'{where}"] if measured else []
    made = f"Oracle passes were made for {', '.join(passes)} only" if passes else "No oracle pass was made"
    return [ORACLE_NOTE, f"{made}; a dash is a pass that was not made."]
