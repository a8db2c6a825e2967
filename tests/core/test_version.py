import re

import nodewise
from nodewise.core.version import __version__


def test_one_version_everywhere() -> None:
    assert nodewise.__version__ == __version__
    assert re.match(r"\d+\.\d+\.\d+|0\+uninstalled", __version__)
