"""Put the page together: markup, style, scripts and data in one file that loads nothing else.

Its content security policy allows the style and the scripts written here, by their hash, and nothing besides: no
request, no eval, no script that a node's name might try to smuggle in. Names reach the document as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nodewise.core.files import atomic_write, to_json

_ASSETS = files("nodewise.report") / "assets"
# Of each page its styles and its one script, in the order of use: a file may use what the files before it define.
_STYLES = {"report": ("page.css",), "compare": ("page.css", "compare.css")}
_SCRIPTS = {
    "report": (
        *("dom.js", "data.js", "colours.js", "points.js", "overlay.js", "grid.js", "map.js", "selection.js"),
        *("download.js", "legend.js", "details.js", "search.js", "group.js", "axes.js", "curves.js", "tables.js"),
        *("theme.js", "main.js"),
    ),
    "compare": ("dom.js", "colours.js", "axes.js", "theme.js", "compare.js"),
}

Kind = Literal["report", "compare"]
_LONGEST_TITLE = 160


def page(contents: dict[str, Any], kind: Kind = "report") -> str:
    """Return the whole page as text: that of a run, or of a comparison."""
    style, script = "".join(map(_asset, _STYLES[kind])), _program(_SCRIPTS[kind])
    policy = "; ".join(
        (
            "default-src 'none'",
            "script-src " + _hash(script),
            "style-src " + _hash(style),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "policy": policy,
        "title": escape(_title(contents, kind)),
        "style": style,
        "body": _asset(f"{kind}.html"),
        "data": json_for_script(contents),
        "script": script,
    }
    # Split, not replaced one after another: the data may hold what looks like a place to fill in.
    first, *rest = _asset("frame.html").split("{{")
    return first + "".join(parts[name] + text for name, text in (piece.split("}}", 1) for piece in rest))


def write_page(contents: dict[str, Any], path: Path, kind: Kind = "report") -> None:
    """Write the page to a file."""
    with atomic_write(path) as temporary:
        temporary.write_text(page(contents, kind), encoding="utf-8", newline="\n")


def _title(contents: dict[str, Any], kind: Kind) -> str:
    """Return what the tab of a browser shows, in which a reader tells several pages apart."""
    title = " ".join(str(contents.get("title", "")).split())
    return f"{title[:_LONGEST_TITLE]} · nodewise {kind}" if title else f"nodewise {kind}"


def _program(names: Sequence[str]) -> str:
    return "(() => {\n" + '"use strict";\n' + "\n".join(_asset(f"scripts/{name}") for name in names) + "})();\n"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def packed_array(array: np.ndarray) -> dict[str, str]:
    """Return an array as its type and base64 of its compressed little-endian bytes."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return {"type": array.dtype.name, "data": _compressed(little.tobytes())}


def packed_texts(texts: Sequence[str]) -> dict[str, str]:
    """Return texts as base64 of their compressed JSON."""
    return {"type": "json", "data": _compressed(json.dumps(list(texts), ensure_ascii=False).encode())}


def packed_codes(codes: np.ndarray, categories: int) -> dict[str, str]:
    """Return codes from -1 up in the narrowest type; the largest value of the type stands for -1."""
    narrow = np.uint8 if categories < 255 else np.uint16 if categories < 65535 else np.uint32
    return packed_array(np.where(codes < 0, np.iinfo(narrow).max, codes).astype(narrow))


def json_for_script(value: object) -> str:
    """Return JSON that may stand inside a script element.

    ``<`` could begin ``</script>`` or ``<!--``; escaped, it is the same text to a JSON parser and nothing to HTML.
    """
    return to_json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _compressed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")
