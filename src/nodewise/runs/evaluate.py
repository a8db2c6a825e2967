"""How good vectors are: beside raw features, smoothed features and a random encoder, all under one protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nodewise.core.errors import InputError, did_you_mean, require_seed, require_type, require_whole
from nodewise.core.folder import RunFolder
from nodewise.core.messages import html_table, text_table
from nodewise.core.parts import Unloaded
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.encoders.preparation import units_warning
from nodewise.evaluation.evaluate import METRICS, ORACLE, Report, Summary, evaluate_embeddings
from nodewise.evaluation.folds import FOLDS, OR_FOLDS, REPEATS, corrected, deal_folds, parse_folds, regression_scores
from nodewise.evaluation.inputs import Matrix, check_vectors
from nodewise.evaluation.links import link_prediction
from nodewise.evaluation.paired import PairedDifference
from nodewise.evaluation.presets import get_preset
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph, Split
from nodewise.graph.splits import parse_split
from nodewise.methods.settings import Settings
from nodewise.methods.smoothed import SmoothedFeatures
from nodewise.methods.untrained import random_vectors
from nodewise.runs.held_out import read_held_out, without_edges
from nodewise.runs.labels import KnownLabels, labels_for
from nodewise.runs.source import TABLES, GraphSource, TableColumns
from nodewise.runs.together import Runs, find_graph, read_runs, recorded_graph
from nodewise.training.device import choose_device
from nodewise.vectors.collapse import collapse_warnings

TASKS = ("auto", "classes", "regression", "links")
_RANDOM_SPLITS = 10
_LINKS = "link_auc"
SCORES = (*METRICS, _LINKS)
Tell = Callable[[float], None]
"""Told which share of the work at hand is done."""
_MAIN = {"accuracy": "accuracy", "r2": "R²", "auc": "link AUC"}
"""What a task is judged by, and its title."""


@dataclass(frozen=True)
class Protocol:
    """How to score.

    Attributes:
        probe: preset of the linear probe.
        split: the labels' own, "public", random ones, or folds.
        repeats: number of random splits, or of deals into folds.
        seed: of probes and random splits.
        metrics: of SCORES, and the oracle column if asked for by name.
    """

    probe: str
    split: str
    repeats: int
    seed: int
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """The rows of an evaluation: the last is the runs', those before are what they are compared with.

    Attributes:
        rows: one per thing scored.
        verdict: in words, whether the runs are better than what they are compared with; empty where nothing is.
        intervals: 95% intervals of the main score, by name of the row, where there are folds to estimate them from.
        warnings: where the runs' vectors do not tell nodes apart, or columns in unlike units decide alone.
        notes: what was left out or could not be compared.
    """

    rows: tuple[Report, ...]
    verdict: str = ""
    intervals: dict[str, PairedDifference] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    TITLES = {  # noqa: RUF012  # not a field: it has no annotation
        "knn": "kNN",
        "nmi": "NMI",
        "ari": "ARI",
        "silhouette": "silhouette",
        "macro_f1": "macro-F1",
        "link_auc": "link AUC",
        "average_precision": "average precision",
        "mae": "mean absolute error",
        "oracle_accuracy": "oracle: max test",
    }

    @property
    def main(self) -> str:
        """The score that the rows are judged by: accuracy, r2 or auc."""
        return next(name for name in _MAIN if name in self.rows[-1].scores)

    @property
    def accuracy(self) -> float:
        """The mean test accuracy of the runs, a fraction."""
        return self.rows[-1].scores["accuracy"].mean

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the runs, with the rows it is compared with inside; scores are fractions."""

        def plain(row: Report) -> dict[str, Any]:
            interval = self.intervals.get(row.name)
            return row.to_dict() | ({} if interval is None else {"interval": [interval.low, interval.high]})

        last, others = plain(self.rows[-1]), [plain(row) for row in self.rows[:-1]]
        found = {**last, **({"verdict": self.verdict} if self.verdict else {}), "comparison": others}
        said = {"warnings": list(self.warnings), "notes": list(self.notes)}
        return found | {name: texts for name, texts in said.items() if texts}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles and one row of cells per report, in percent where that makes sense."""
        columns = {metric: title for metric, title in self.TITLES.items() if metric in self.rows[-1].scores}
        interval = ("95% interval",) if self.intervals else ()
        header = ("", _MAIN[self.main], *interval, "std", "n", *columns.values())
        return header, [tuple(self._cells(row, columns)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return the mean scores, which are fractions, as a data frame with a row per thing scored."""
        import pandas as pd

        means = [{name: score.mean for name, score in row.scores.items()} for row in self.rows]
        return pd.DataFrame(means, index=[row.name for row in self.rows])

    def _cells(self, row: Report, columns: dict[str, str]) -> Iterator[str]:
        score = row.scores[self.main]
        yield row.name
        yield f"{100 * score.mean:.2f}"
        if self.intervals:
            found = self.intervals.get(row.name)
            yield "-" if found is None else f"{100 * found.low:.1f} to {100 * found.high:.1f}"
        yield f"{100 * score.std:.2f}" if score.std is not None else "-"
        yield str(score.n)
        for metric in columns:
            scale = 1 if metric == "mae" else 100
            yield f"{scale * row.scores[metric].mean:.4g}" if scale == 1 else _percent(row, metric)

    def __repr__(self) -> str:
        said = [self.verdict] if self.verdict else []
        return "\n".join([text_table(*self.table()), self.rows[-1].protocol, *said, *self.warnings, *self.notes])

    def _repr_html_(self) -> str:
        words = "".join(
            f"<p>{escape(text)}</p>" for text in (self.rows[-1].protocol, self.verdict, *self.notes) if text
        )
        warnings = "".join(f"<p><b>{escape(warning)}</b></p>" for warning in self.warnings)
        return f"{html_table(*self.table())}{words}{warnings}"


def _percent(row: Report, metric: str) -> str:
    return f"{100 * row.scores[metric].mean:.2f}" if metric in row.scores else "-"


class _Entry(NamedTuple):
    """Something to score: its name, its matrices and their seeds."""

    name: str
    matrices: Sequence[Matrix]
    seeds: Sequence[int]


@dataclass(frozen=True)
class _Contest:
    """The runs, and where their graph is known, the untrained baselines of it."""

    runs: Runs
    graph: Graph | None
    device: str
    quiet: bool

    def rows(self, score: Callable[[_Entry, Tell], Report], scaled: bool = False) -> list[Report]:
        """Score everybody, the runs last. `scaled` standardizes raw features, for a score that does not."""
        most, done, found = 1 if self.graph is None else 4, 0, list[Report]()
        with for_terminal(self.quiet).stage("evaluating", 100 * most) as bar:

            def tell(share: float) -> None:
                nonlocal done
                now = int(100 * (len(found) + share))
                if now > done:
                    bar.advance(now - done)
                    done = now

            for entry in (*self._untrained(scaled), _Entry(self.runs.name, self.runs.matrices, self.runs.seeds)):
                found.append(score(entry, tell))
                tell(0)
        return found

    def _untrained(self, scaled: bool) -> Iterator[_Entry]:
        graph, runs = self.graph, self.runs
        if graph is None:
            return
        raw: Any = graph.features
        if scaled and isinstance(raw, np.ndarray):
            raw = (raw - raw.mean(0)) / np.where(raw.std(0) > 0, raw.std(0), 1)
        yield _Entry(f"{'structural' if graph.structural else 'raw'} features", [raw], [0])
        yield _Entry("smoothed features", [SmoothedFeatures(device=self.device).fit(graph).embeddings_.vectors], [0])
        settings = runs.settings if isinstance(runs.settings, Settings) else Settings()
        if isinstance(settings.encoder, Unloaded):
            say(f"no comparison with a random encoder: {settings.encoder.name} is not loaded", self.quiet)
        else:
            place = choose_device(self.device)
            yield _Entry(
                "random encoder", [random_vectors(graph, settings, seed, place) for seed in runs.seeds], runs.seeds
            )


def score_classes(
    entry: _Entry, graph: Graph | None, known: KnownLabels, protocol: Protocol, dataset: str, device: str, tell: Tell
) -> Report:
    """Score how well classes can be read off vectors."""
    report = evaluate_embeddings(
        entry.matrices,
        known.labels,
        protocol.split,
        public=known.split,
        probe=protocol.probe,
        repeats=protocol.repeats,
        seed=protocol.seed,
        encoder_seeds=entry.seeds,
        metrics=[metric for metric in protocol.metrics if metric != _LINKS],
        name=entry.name,
        dataset=dataset,
        class_names=known.class_names,
        device=choose_device(device),
        tell=tell,
    )
    if graph is None or _LINKS not in protocol.metrics or _crowded(graph):
        return report
    areas = [link_prediction(matrix, graph, seed=protocol.seed).auc for matrix in entry.matrices]
    return replace(report, scores=report.scores | {_LINKS: Summary.of(areas)})


def score_targets(entry: _Entry, targets: np.ndarray, splits: Sequence[Split], words: str, dataset: str) -> Report:
    """Score how well measurements can be read off vectors."""
    check_vectors(entry.matrices, len(targets))
    found = [regression_scores(matrix, targets, splits) for matrix in entry.matrices]
    scores = {name: Summary.of(np.stack([pair[i] for pair in found])) for i, name in enumerate(("r2", "mae"))}
    return Report(entry.name, dataset, words, tuple(entry.seeds), (), scores)


def score_links(entry: _Entry, graph: Graph, edges: np.ndarray, seed: int, dataset: str) -> Report:
    """Score how well held-out edges are told from pairs without an edge."""
    found = [link_prediction(matrix, graph, edges=edges, seed=seed) for matrix in entry.matrices]
    scores = {
        "auc": Summary.of([each.auc for each in found]),
        "average_precision": Summary.of([each.average_precision for each in found]),
    }
    words = f"{len(edges):,} edges that training did not see against as many pairs without an edge, by cosine"
    return Report(entry.name, dataset, words, tuple(entry.seeds), (), scores)


def judged(rows: Sequence[Report], fold: Split | None, tested: int = 0) -> Evaluation:
    """Say whether the last row, the runs', is better or worse than the best of the others, or neither.

    Args:
        rows: of everybody, the runs' last.
        fold: one of the folds; None where there are none, and so no interval.
        tested: number of test nodes or edges, by which a difference without an interval is judged.
    """
    bare = Evaluation(tuple(rows))
    by_split = {row.name: _by_split(row, bare.main) for row in rows}
    intervals = {}
    if fold is not None:
        for name, values in by_split.items():
            found = corrected(values, fold)
            # Of few labels it may reach beyond what a score can be, at which nobody should have to wonder.
            low = found.low if bare.main == "r2" else max(found.low, 0.0)
            intervals[name] = replace(found, low=low, high=min(found.high, 1.0))
    if len(rows) < 2:
        return replace(bare, intervals=intervals)
    ours, best = rows[-1], max(rows[:-1], key=lambda row: row.scores[bare.main].mean)
    gap = by_split[ours.name].mean() - by_split[best.name].mean()
    size = f"{100 * gap:+.1f} points of {_MAIN[bare.main]}"
    if fold is None:
        words = _without_interval(by_split, ours, best.name, size, tested)
    else:
        difference = corrected(by_split[ours.name] - by_split[best.name], fold)
        span = f"{size}, 95% interval {100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
        verdicts = {"gain": "better than", "loss": "worse than", "within noise": "not significantly better than"}
        words = f"is {verdicts[difference.verdict]} {best.name}, the best untrained baseline ({span})"
    return Evaluation(tuple(rows), f"{ours.name} {words}", intervals)


def _without_interval(by_split: dict[str, np.ndarray], ours: Report, best: str, size: str, tested: int) -> str:
    """Say of two rows that have no interval what can be said: only a difference beyond the binomial error is one."""
    mine, theirs = (float(by_split[name].mean()) for name in (ours.name, best))
    seeds, splits = len(ours.encoder_seeds), len(by_split[best])
    runs = "one run" if seeds == 1 else f"{seeds} runs"
    alone = f"{runs} on {'one split' if splits == 1 else f'{splits} splits'} {'has' if seeds == 1 else 'have'}"
    reach = noise_of(tested, mine, theirs)
    if abs(mine - theirs) <= reach:
        words = f"{size}; {alone} no interval, so this may be noise"
        return f"cannot be told apart from {best}, the best untrained baseline ({words})"
    said = "better" if mine > theirs else "worse"
    what = "held-out edges" if "auc" in ours.scores else "test nodes"
    beyond = f"more than the {100 * reach:.1f} that {tested:,} {what} leave to chance; {alone} no interval"
    return f"is {said} than {best}, the best untrained baseline ({size}, {beyond})"


def noise_of(tested: int, *shares: float) -> float:
    """Return by how much two shares of the same test nodes may differ by chance: 1.96 sqrt(p (1 - p) / n).

    p is their mean. This is the 95% error of one accuracy. Two that are right of the same nodes with a correlation of
    one half differ as much, and those of vectors of one graph agree more often than that. An area under the curve of n
    edges and n pairs has at most the same variance.
    """
    share = sum(shares) / len(shares)
    return 1.96 * math.sqrt(share * (1 - share) / tested) if tested else math.inf


def _by_split(row: Report, metric: str) -> np.ndarray:
    """Return the score on each split, averaged over encoder seeds."""
    values: np.ndarray = np.asarray(row.scores[metric].values).reshape(len(row.encoder_seeds), -1)
    return np.asarray(values.mean(0))


def _crowded(graph: Graph) -> bool:
    """Tell whether there are too few pairs without an edge to compare edges with."""
    return len(graph.indices) // 2 > 0.45 * graph.num_nodes * (graph.num_nodes - 1)


def evaluate(
    paths: Sequence[Path],
    source: GraphSource | Graph | None = None,
    *,
    labels_file: Path | None = None,
    task: str = "auto",
    probe: str = "mvgrl",
    split: str | None = None,
    repeats: int | None = None,
    seed: int = 0,
    metrics: tuple[str, ...] | None = None,
    oracle: bool = False,
    device: str = "auto",
    tables: TableColumns = TABLES,
    data_dir: Path | None = None,
    quiet: bool = True,
) -> Evaluation:
    """Evaluate run folders or files of vectors, of one or several seeds, beside untrained baselines.

    Args:
        paths: runs that differ in nothing but their seed.
        source: the graph, where the runs cannot find it.
        labels_file: labels; else those beside the run, else the graph's.
        task: "classes"; "regression", for labels that are measurements; "links", edges that were held out of training;
            "auto" decides between the first two.
        probe: preset of the linear probe.
        split: "public" for the labels' own, "random:20x500x1000", or "folds:5"; the labels' own, if there is one, and
            else folds, if not given.
        repeats: number of random splits, or of deals into folds.
        seed: of probes, splits and pairs.
        metrics: of SCORES.
        oracle: whether to add the best test accuracy over probe steps, which is not a fair score.
        device: where to compute.
        tables: which columns of the labels hold what.
        data_dir: where the files of data sets are.
        quiet: no progress and no notes.
    """
    get_preset(probe)  # a misspelled name is told before anything takes time
    require_type("task", task, str, "text")
    if task not in TASKS:
        raise InputError(f"unknown task {task!r}{did_you_mean(task, TASKS)}")
    require_type("split", split, str | None, "text such as folds:5 or random:20x500x1000")
    if repeats is not None:
        require_whole("repeats", repeats)
    require_seed(seed)
    if metrics is not None:
        require_type("metrics", metrics, list | tuple, "a list of scores")
        metrics = tuple(metrics)
    runs = read_runs(paths)
    graph, missing = find_graph(runs, source, data_dir, quiet)
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    dataset = graph.name if graph is not None else str(recorded_graph(paths[0]).get("name", ""))
    contest = _Contest(runs, graph, device, quiet)
    notes: tuple[str, ...] = ()
    if task == "links":
        found = _links(contest, missing, seed, dataset)
    else:
        known = labels_for(runs.ids, paths[0], labels_file, tables=tables, graph=graph)
        if task == "regression" or (task == "auto" and known.targets is not None):
            found = _regression(contest, known, split, repeats, seed, dataset)
        else:
            known.require_classes("leave out the task (--task, or task= in Python)")
            known = known.scorable(bool(tables.strict))
            chosen = (metrics or SCORES) + (ORACLE,) * oracle
            found = _classes(contest, known, Protocol(probe, *_split(known, split, repeats), seed, chosen), dataset)
        notes, labeled = known.notes, known.known
        # Told last, since an error is told in one line and alone.
        if unlabeled := int((~labeled).sum()):
            notes += (f"{unlabeled:,} of {len(labeled):,} nodes have no label and are left out of the scores",)
    if graph is not None and _has_changed(graph, paths[0]):
        notes += (f"{graph.name} has changed since {paths[0]} was made: baselines are of the graph as it is now",)
    if missing:
        notes += (f"no comparison with untrained baselines: {missing}; name it (--graph GRAPH, or graph= in Python)",)
    warnings = tuple(dict.fromkeys(warning for matrix in runs.matrices for warning in collapse_warnings(matrix)))
    if graph is not None and runs.settings is not None and (units := units_warning(graph, runs.settings)):
        warnings += (units,)
    for note in (*(f"warning: {warning}" for warning in warnings), *notes):
        say(note, quiet)
    return replace(found, warnings=warnings, notes=notes)


def _has_changed(graph: Graph, path: Path) -> bool:
    """Tell whether a graph differs from the one a run was made of; of a run that held edges out nobody can say."""
    recorded = recorded_graph(path).get("sha256")
    return recorded is not None and not RunFolder(path).held_out.is_file() and recorded != fingerprint(graph)


def _split(known: KnownLabels, split: str | None, repeats: int | None) -> tuple[str, int]:
    """Return the split to use, and how often."""
    split = split or ("public" if known.split is not None else f"folds:{FOLDS}")
    if split == "public" and known.split is None:
        raise InputError(
            f"{known.source}: the labels came without a split; leave it out for folds, or draw random ones "
            "(--split random:20x500x1000, or split= in Python)",
            code="no-split",
        )
    usual = REPEATS if parse_folds(split) else 1 if split == "public" else _RANDOM_SPLITS
    return split, repeats or usual


def _classes(contest: _Contest, known: KnownLabels, protocol: Protocol, dataset: str) -> Evaluation:
    folds, fold, tested = parse_folds(protocol.split), None, 0
    if folds:
        nodes = np.flatnonzero(known.known)
        fold = deal_folds(nodes, known.labels[nodes], folds, 1, protocol.seed)[0]
    elif (drawn := parse_split(protocol.split, OR_FOLDS)) is not None:
        tested = drawn.num_test
    elif known.split is not None:
        tested = len(known.split.test)
    rows = contest.rows(
        lambda entry, tell: score_classes(entry, contest.graph, known, protocol, dataset, contest.device, tell),
        scaled=fold is not None,
    )
    return judged(rows, fold, tested)


def _regression(
    contest: _Contest, known: KnownLabels, split: str | None, repeats: int | None, seed: int, dataset: str
) -> Evaluation:
    if (targets := known.targets) is None:
        raise InputError(
            f"{known.source}: the labels are classes, not measurements; leave out the task (--task, or task= in Python)"
        )
    if (folds := parse_folds(split or "folds")) is None:
        raise InputError(f"split {split}: measurements are scored by folds; write folds:5, or leave it out")
    nodes, times = np.flatnonzero(known.known), repeats or REPEATS
    if len(nodes) and np.ptp(targets[nodes]) == 0:  # of which any prediction would be perfect
        raise InputError(
            f"{known.source}: all values are equal, {targets[nodes[0]]:g}; there is nothing to predict",
            code="too-few-labels",
        )
    splits = deal_folds(nodes, np.zeros(len(nodes)), folds, times, seed)
    words = f"ridge regression on standardized columns; {folds} folds, dealt {times} times"
    return judged(contest.rows(lambda entry, _: score_targets(entry, targets, splits, words, dataset)), splits[0])


def _links(contest: _Contest, missing: str, seed: int, dataset: str) -> Evaluation:
    if contest.graph is None:
        raise InputError(
            f"held-out edges are compared with the graph, but {missing}; name it (--graph GRAPH, or graph= in Python)"
        )
    edges = read_held_out(contest.runs.paths[0], contest.graph.ids)
    seen = without_edges(contest.graph, edges)
    rows = replace(contest, graph=seen).rows(lambda entry, _: score_links(entry, seen, edges, seed, dataset))
    return judged(rows, None, len(edges))
