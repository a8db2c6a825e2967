from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.read.feature_table import feature_names, require_same_order


def test_names_are_those_of_columns_that_hold_features(tmp_path: Path) -> None:
    text = tmp_path / "nodes.csv"
    text.write_text("id,height,label,weight\na,1,x,2\nb,3,y,4\n")
    assert feature_names(text) == ("height", "weight")
    table = tmp_path / "nodes.parquet"
    pq.write_table(pa.table({"height": [1.0], "who": ["a"]}), table)
    assert feature_names(table, "who") == ("height",)


def test_some_files_name_nothing(tmp_path: Path) -> None:
    bare = tmp_path / "bare.csv"
    bare.write_text("1,0.5,0.25\n2,0.5,0.75\n")
    assert feature_names(bare) == feature_names(tmp_path / "absent.csv") == feature_names(None) == ()
    np.save(tmp_path / "array.npy", np.eye(2))
    assert feature_names(tmp_path / "array.npy") == ()


def test_only_another_order_of_the_same_names_is_refused() -> None:
    for found, expected in ((("a", "b"), ("a", "b")), (("a", "c"), ("a", "b")), ((), ("a",)), (("a",), ())):
        require_same_order(Path("f"), found, expected)
    with pytest.raises(InputError, match=r"another order \('c' where 'b' was\)"):
        require_same_order(Path("f"), ("a", "c", "b"), ("a", "b", "c"))
