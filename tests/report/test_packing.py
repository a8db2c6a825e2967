from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.report.page import json_for_script, packed_array, packed_codes, packed_texts


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def unpacked(packed: dict[str, str]) -> Any:
    data = zlib.decompress(base64.b64decode(packed["data"]))
    return json.loads(data) if packed["type"] == "json" else np.frombuffer(data, packed["type"])


@pytest.mark.parametrize("kind", ["<u2", ">u2", "<f4", ">i4"])
def test_arrays_come_back_whatever_their_byte_order(kind: str) -> None:
    array = np.array([[0, 1], [2, 300]], kind)
    packed = packed_array(array)
    np.testing.assert_array_equal(unpacked(packed), array.ravel())


@pytest.mark.parametrize(
    ("categories", "kind"), [(254, "uint8"), (255, "uint16"), (65534, "uint16"), (65535, "uint32")]
)
def test_codes_take_the_narrowest_type_and_unknown_is_beyond_all(categories: int, kind: str) -> None:
    packed = packed_codes(np.array([0, categories - 1, -1]), categories)
    assert packed["type"] == kind
    first, last, unknown = unpacked(packed)
    assert (first, last) == (0, categories - 1)
    assert unknown >= categories


def test_texts_come_back() -> None:
    texts = ["</script>", "שלום", 'a"b\n', ""]
    packed = packed_texts(texts)
    assert unpacked(packed) == texts
    assert "<" not in packed["data"]


def test_json_in_a_script_element_cannot_end_it() -> None:
    value = {"</script><!--": ["<script>", "&lt;", float("nan")]}
    text = json_for_script(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"</script><!--": ["<script>", "&lt;", None]}
