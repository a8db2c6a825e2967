"""`nodewise report`: a page to look at a run with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from nodewise.cli import common as cli


@dataclass(frozen=True)
class Look:
    """What the page shows, and where it is written."""

    panel = cli.OUTPUT

    output: Annotated[Path | None, cli.option("The page; report.html in the run if not given.", "FILE", "-o")] = None
    projection: Annotated[str, cli.option("How vectors become a map: auto, tsne, pca or umap.", "NAME")] = "auto"
    seed: Annotated[int, cli.seed_option("Seed of map, clusters and probe.", cli.OUTPUT)] = 0
    attributes: cli.Attributes = None
    open: Annotated[bool, cli.option("Open the page in the browser.")] = False


@cli.command(
    "report runs/first --open",
    "report runs/mine --attributes people.csv --labels labels.csv",
    "report runs/large --projection pca -o large.html",
)
def report(*, run: cli.RunName, look: Look, files: cli.RunFiles, shown: cli.Shown, limits: cli.Limits) -> None:
    """Make an offline, interactive page of a run.

    A map of the nodes to search, color and select from, the curves of training, how well classes can be predicted,
    and the settings, in one file that any browser opens and that loads nothing from elsewhere.
    """
    inputs = files.keywords(look.attributes)
    from nodewise.runs.page import write_report

    options: dict[str, Any] = {"attributes_file": look.attributes, "projection": look.projection, "seed": look.seed}
    page = write_report(run, look.output, **inputs, **options, quiet=shown.quiet)
    facts = {"report": str(page.path), "bytes": page.path.stat().st_size}
    opened = look.open and page.open()
    shown.tell(facts, f"the page is {page.path}{'' if opened else '; open it in a browser'}")
