"""Numbers and texts in as few characters of a page as possible, and in none that could end it early."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence

import numpy as np

from nodewise.core.jsonable import to_json


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
