"""Values of columns, written in whatever way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nodewise.tables.values import DATE_STYLES, DateForm, seconds


@pytest.mark.parametrize("style", DATE_STYLES)
def test_days_that_no_month_has_are_none(style: str) -> None:
    days = [(2023, 2, 29), (2024, 2, 29), (2022, 4, 31), (2022, 3, 1), (2022, 12, 31)]
    for form in DATE_STYLES[style]:
        names = {2: "Feb", 3: "Mar", 4: "Apr", 12: "Dec"}
        told = [
            form.replace("%Y", str(y)).replace("%m", f"{m:02}").replace("%d", f"{d:02}").replace("%b", names[m])
            for y, m, d in days
        ]
        known = np.isfinite(seconds(pa.array(told), DateForm(style, form)))
        assert known.tolist() == [False, True, False, True, True], form
