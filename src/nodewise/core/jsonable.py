"""JSON that any reader accepts, of values that came from numpy or torch; and JSON that anybody may have written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from nodewise.core.errors import InputError


def to_json(value: object, indent: int | None = None) -> str:
    """Return `value` as JSON; numbers of numpy and torch are plain numbers, NaN and infinities are null."""
    text = json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    # Names of files that are not UTF-8 hold lone surrogates; spelt out, these are JSON and come back as they were.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_object(data: bytes | str, source: str) -> dict[str, Any]:
    """Return the JSON object in `data`; `source` names where it came from in the error for anything else."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not JSON: {error}", code="damaged-file") from None
    if not isinstance(found, dict):
        raise InputError(f"{source}: holds {type(found).__name__} where a JSON object is expected")
    return found


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array or scalar of numpy or torch
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
