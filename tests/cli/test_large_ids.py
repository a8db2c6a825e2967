"""Integer ids that int64 does not hold, through every command that reads them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import SMALL, Nodewise

HALF = 2**63


def write_parquet(first: Any, second: Any) -> None:
    columns = {"source": pa.array(first, pa.int64()), "target": pa.array(second, pa.uint64())}
    pq.write_table(pa.table(columns), "edges.parquet", row_group_size=7)


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("start", [0, HALF, "beside"])
def test_ids_beyond_int64_come_back(nodewise: Nodewise, start: int | str, store: bool) -> None:
    edges = "edges.parquet"
    if start == HALF:
        edges = "edges.csv"
        Path(edges).write_text("".join(f"{HALF + i},{HALF + (i + 1) % 20}\n" for i in range(20)))
    elif start == "beside":
        write_parquet(range(20), [*range(10), *range(HALF, HALF + 9), 10])
    else:
        write_parquet(range(20), [(i + 1) % 20 for i in range(20)])
    asked = HALF + 3 if start else 3
    if store:
        assert nodewise("convert", edges, "-o", "store", "-q").code == 0
    outcome = nodewise("embed", "store" if store else edges, "-o", "run", *SMALL, "-q")
    assert outcome.code == 0, outcome
    outcome = nodewise("neighbors", "run", "--node", asked, "-k", 30)
    assert outcome.code == 0, outcome
    Path("labels.csv").write_text("id,label\n" + "".join(f"{asked // HALF * HALF + i},{i % 2}\n" for i in range(9)))
    outcome = nodewise("evaluate", "run", "--labels", "labels.csv", "--split", "random:1x1x1")
    assert outcome.code == 0, outcome


@pytest.mark.parametrize("command", [("inspect",), ("convert", "-o", "store")])
def test_ids_that_no_integer_type_holds_together_are_refused(nodewise: Nodewise, command: tuple[str, ...]) -> None:
    write_parquet([-1, 0, 1], [HALF, HALF + 1, HALF + 2])
    outcome = nodewise(*command, "edges.parquet")
    assert outcome.code == 2
    assert "edges.parquet: negative integers" in outcome.err
    assert "as text" in outcome.err
    assert not Path("store").exists()
