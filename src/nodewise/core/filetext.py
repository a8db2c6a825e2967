"""Text that came from a file, and may therefore not name code."""

from __future__ import annotations


class FileText(str):
    """A string read from a file of settings: equal to the plain string, but `Registry` imports nothing for it.

    A researcher may name a class of their own as ``module:Class``, and importing it runs code. Someone who types
    the name means it; a settings file or run folder may be somebody else's, and opening it must not run anything.
    """

    __slots__ = ()
