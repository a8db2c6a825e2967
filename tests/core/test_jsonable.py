import json
import os

import numpy as np
import pytest

from nodewise.core.files import to_json


def test_numbers_of_numpy_become_plain_numbers() -> None:
    value = {
        "a": np.float32(0.5),
        "b": np.int64(3),
        "c": np.array([[1, 2]]),
        "d": (np.bool_(True), "x", None),
    }
    assert json.loads(to_json(value)) == {"a": 0.5, "b": 3, "c": [[1, 2]], "d": [True, "x", None]}


def test_what_json_cannot_say_becomes_null() -> None:
    assert to_json([float("nan"), float("inf"), np.array([-np.inf])]) == "[null, null, [null]]"


def test_keys_of_any_type_become_text() -> None:
    assert to_json({np.int64(7): 1, "é": 2}) == '{"7": 1, "é": 2}'


def test_a_file_name_that_is_not_utf_8_comes_back() -> None:
    name = os.fsdecode(b"no\xe9 \xc3\xa9")
    text = to_json({"graph": name})
    assert text == '{"graph": "no\\udce9 é"}'
    assert json.loads(text.encode()) == {"graph": name}


def test_an_object_that_is_no_data_is_refused() -> None:
    with pytest.raises(TypeError):
        to_json({"a": object()})
