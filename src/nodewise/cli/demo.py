"""`nodewise demo`: the main job, start to end, on the bundled graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.cli import common as cli
from nodewise.cli.embed import summarize
from nodewise.cli.evaluate import print_evaluation
from nodewise.core.terminal import printable
from nodewise.runs.source import GraphSource

if TYPE_CHECKING:
    from nodewise.runs.evaluate import Evaluation

_NEXT = """
The run is in {run}. What you can do next:
  papers most similar to paper 17:      nodewise neighbors {run} --node 17
  another way to score the vectors:     nodewise evaluate {run} --probe graphmae
  what is understood of your graph:     nodewise inspect edges.csv
  vectors for it, keyed by your ids:    nodewise embed edges.csv --features nodes.csv -o runs/mine

And a page to look at it all, in any browser: {page}"""


@cli.command("demo", "demo --output runs/quick --set training.steps=10")
def demo(
    *,
    output: cli.RunOutput = Path("runs/demo"),
    overwrite: cli.Overwrite = False,
    shown: cli.Shown,
    data_dir: cli.DataDir = None,
    seed: cli.Seed = 0,
    set: cli.Set = None,
    device: cli.Device = "auto",
    limits: cli.Limits,
) -> None:
    """Train on the bundled graph, evaluate, leave a run and a page.

    The graph is Citeseer: papers, their words, and who cites whom. It takes a minute or two on two CPU cores and
    needs no other file.
    """
    from nodewise.methods.node_embedder import NodeEmbedder
    from nodewise.runs.embed import EmbedPlan
    from nodewise.runs.embed import embed as leave_run

    source, settings = GraphSource("citeseer", data_dir=data_dir), cli.load_settings(None, None, set)
    run = leave_run(
        NodeEmbedder(settings, seed=seed, device=device),
        source,
        output,
        EmbedPlan(quiet=shown.quiet, overwrite=overwrite),
    )
    if run is None:
        return
    options: dict[str, Any] = {"device": device, "data_dir": data_dir}
    headline = run.evaluate(**options, quiet=shown.quiet)
    # scikit-learn's classifier is the one most people know.
    familiar = run.evaluate(**options, probe="sklearn", metrics=("accuracy",))
    page = run.report(data_dir=data_dir, seed=seed, quiet=shown.quiet).path
    if shown.json:
        evaluations = {"evaluation": headline.to_dict(), "evaluation_sklearn": familiar.to_dict()}
        cli.print_json(summarize(run) | evaluations | {"report": str(page)})
    else:
        cli.print_line(f"Learned a vector for each of {len(run.embeddings):,} papers, without a single label.")
        print_evaluation(headline)
        cli.print_line(f"accuracy by scikit-learn's logistic regression: {_accuracies(familiar)}")
        print(_NEXT.format(run=printable(output), page=printable(page)))


def _accuracies(found: Evaluation) -> str:
    return ", ".join(f"{row.name} {100 * row.scores['accuracy'].mean:.1f}" for row in found.rows)
