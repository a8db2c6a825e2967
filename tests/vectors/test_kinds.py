from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings, read_embeddings
from nodewise.vectors.kinds import NodeKinds, joined

KINDS = NodeKinds(np.array([0, 1, -1, 1]), ("customer", "product"))


def vectors(kinds: NodeKinds | None = KINDS) -> Embeddings:
    return Embeddings(NodeIds(["a", "b", "c", "d"]), np.eye(4, 3, dtype=np.float32), kinds)


def test_they_come_back_from_a_file_and_add_no_column(folder: Path) -> None:
    vectors().to_parquet("with.parquet")
    vectors().write("written.parquet")
    vectors(None).to_parquet("without.parquet")
    for name in ("with.parquet", "written.parquet"):
        found = read_embeddings(name)
        assert pq.read_schema(name).names == ["id", "embedding"]
        assert found.kinds is not None
        assert (found.kinds.codes.tolist(), found.kinds.names) == ([0, 1, -1, 1], ("customer", "product"))
    assert read_embeddings("without.parquet").kinds is None


def test_some_nodes_keep_theirs() -> None:
    some = vectors().of(NodeIds(["d", "c"])).kinds
    assert some is not None
    assert some.codes.tolist() == [1, -1]


def test_which_nodes_are_of_a_kind() -> None:
    assert KINDS.which("product", "run").tolist() == [False, True, False, True]
    with pytest.raises(InputError, match="run has no such type; did you mean 'product'") as told:
        KINDS.which("productt", "run")
    assert told.value.code == "unknown-type"


def test_two_lots_are_joined_under_one_numbering() -> None:
    found = joined(NodeKinds(np.array([0, -1]), ("product",)), KINDS, (2, 4))
    assert found is not None
    assert found.names == ("product", "customer")
    assert found.codes.tolist() == [0, -1, 1, 0, -1, 0]
    assert joined(None, None, (2, 3)) is None
    one = joined(None, KINDS, (1, 4))
    assert one is not None
    assert one.codes.tolist() == [-1, 0, 1, -1, 1]


@pytest.mark.parametrize("damage", ["codes", "names", "long", "high", "none"])
def test_what_a_file_says_is_checked(damage: str) -> None:
    text = KINDS.to_text()
    facts = json.loads(text)
    facts |= {
        "codes": {"codes": "AAAA"},
        "names": {"names": [None, 1.5]},
        "long": json.loads(NodeKinds(np.zeros(10**6, np.int64), ("a",)).to_text()),
        "high": json.loads(NodeKinds(np.array([0, 1, 2, 3]), ("a", "b", "c", "d")).to_text()) | {"names": ["a"]},
        "none": {"names": 3},
    }[damage]
    with pytest.raises(InputError) as told:
        NodeKinds.from_text(json.dumps(facts).encode(), 4, "file")
    assert told.value.code == "damaged-file"
