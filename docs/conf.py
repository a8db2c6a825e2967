"""Sphinx: `make docs` builds docs/_build/html; a warning is an error."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import pictures  # noqa: E402

import nodewise  # noqa: E402
from nodewise.methods.estimator import METHODS  # noqa: E402

project = "nodewise"
author = "The nodewise developers"
copyright = f"2026, {author}"
release = version = nodewise.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_generated"]
html_theme = "furo"
html_title = "nodewise"
html_static_path = ["static"]
html_css_files = ["tables.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_use_ivar = True  # attributes are listed once, in the class docstring
nitpicky = False


def _methods_table() -> str:
    lines = ["| name | method | uses | new nodes | Cora | Citeseer | Pubmed | cost | from |", "|" + "---|" * 9]
    for each in map(METHODS.__getitem__, METHODS):
        found = [each.measured().get(name) for name in ("cora", "citeseer", "pubmed")]
        scores = " | ".join(f"{one['mean']:.1f} (n={one['n']})" if one else "–" for one in found)
        new = "yes" if each.inductive else "no"
        cost = each.cost.replace("|", "\\|")  # as in |S|, which is no column's end
        lines.append(f"| `{each.name}` | {each.title} | {each.uses} | {new} | {scores} | {cost} | {each.paper} |")
    return "\n".join(lines) + "\n"


generated = HERE / "_generated"
generated.mkdir(exist_ok=True)
(generated / "methods.md").write_text(_methods_table(), encoding="utf-8")
pictures.draw_all(HERE / "_pictures")
