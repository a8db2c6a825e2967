"""Choose among settings by validation accuracy, and by nothing else: test accuracy has no way in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nodewise.core.errors import InputError


def select_by_validation(accuracies: ArrayLike) -> int:
    """Return the position of the best setting.

    Args:
        accuracies: validation accuracies (settings, ...); what follows the first axis (seeds, restarts) is
            averaged. A setting with a NaN (a run that diverged) never wins; of equals, the first does.
    """
    table = np.asarray(accuracies, dtype=np.float64)
    if not table.size:
        raise InputError("there is no setting to choose from")
    means = table.reshape(len(table), -1).mean(1)
    if np.isnan(means).all():
        raise InputError("every setting has a NaN among its validation accuracies: none can be chosen")
    return int(np.nanargmax(means))
