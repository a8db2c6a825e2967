"""The methods: ours, its rivals, and those that learn from labels.

The package itself is the catalog: ``nodewise.methods["dgi"]`` is a class, ``list(nodewise.methods)`` the names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


class _Catalog(ModuleType):
    def __getitem__(self, name: str) -> type[Any]:
        from nodewise.methods.estimator import METHODS

        return METHODS[name]

    def __iter__(self) -> Iterator[str]:
        from nodewise.methods.estimator import METHODS

        return iter(METHODS)


sys.modules[__name__].__class__ = _Catalog
