"""From a run to what the page holds: a map, columns, neighbors, curves, scores and settings, all of it JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.progress import Progress, SilentProgress
from nodewise.graph.graph import Graph
from nodewise.report.classes import Predictions, class_scores, predict
from nodewise.report.cluster_names import name_clusters
from nodewise.report.columns import Column, categories, distinct_names, numbers
from nodewise.report.coordinates import NAMES, Projection, chosen_projection, coordinates
from nodewise.report.neighbors import MOST_EXACT, Neighbors, adjacent, cluster_number, clusters, nearest
from nodewise.report.page import packed_array, packed_codes, packed_texts
from nodewise.report.subject import Subject, drawn, folders_of, without_folders
from nodewise.vectors.collapse import collapse_warnings, scaled
from nodewise.vectors.search import unit_rows

MOST_SHOWN = 100_000
"""Of more nodes than this, a page shows a sample."""

_NEIGHBORS = 10
_NEIGHBORS_OF_MANY = 5
_MANY = 50_000
_MOST_CLUSTERS = 40
_MOST_TEXT = 20_000_000
_MOST_FEATURES, _MOST_FEATURES_IN_FOLDS = 30_000_000, 2_000_000  # numbers that a baseline is fitted on


def contents(
    subject: Subject,
    projection: Projection = "auto",
    *,
    seed: int = 0,
    most_shown: int = MOST_SHOWN,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return everything the page shows of a run, computed and packed.

    Args:
        subject: the run.
        projection: how the map is drawn.
        seed: of projection, clusters and probe.
        most_shown: of more nodes than this, the page is of a random sample.
        progress: told about the slow parts.
    """
    notes = list(subject.notes)
    if len(subject.embeddings) > most_shown:
        subject = subject.take(drawn(len(subject.embeddings), subject.labels, most_shown, seed))
    vectors, number = scaled(subject.embeddings.vectors), len(subject.embeddings)
    subject = replace(subject, embeddings=replace(subject.embeddings, vectors=vectors))
    if subject.sample is not None:
        notes.append(sample_note(number, subject.total))
    with (progress or SilentProgress()).stage("report", 4) as bar:
        guess = _predictions(subject, seed, notes)
        bar.advance()
        columns = _columns(subject, guess, seed)
        bar.advance()
        way = chosen_projection(projection, number)
        points = coordinates(vectors, way, seed)
        if projection == "auto" and way == "pca":
            notes.append(
                "The map is a PCA, since t-SNE of so many nodes takes very long; --projection tsne waits for it."
            )
        bar.advance()
        lists = _neighbors(subject, seed, notes)
        bar.advance()
    scores = None
    if guess is not None and subject.labels is not None:
        scores = class_scores(subject.labels, subject.class_names, guess, _without_training(subject, seed))
    return {
        "name": subject.name,
        "title": subject.title,
        "facts": _facts(subject),
        "projection": NAMES[way],
        "nodes": number,
        "ids": packed_texts([str(name) for name in subject.embeddings.ids]),
        "points": packed_array(points),
        "columns": _packed_columns(columns, notes),
        "opening": _opening(columns),
        **lists,
        "metrics": list(subject.metrics),
        "labelled": subject.labels is not None,
        "classes": scores,
        **without_folders(
            {
                "settings": subject.settings,
                "environment": subject.environment,
                "warnings": [*subject.warnings, *collapse_warnings(vectors)],
                "notes": notes,
            },
            folders_of(subject.environment),
        ),
    }


def sample_note(shown: int, total: int) -> str:
    """Return the sentence that says a page is of a sample."""
    return (
        f"The page shows a random sample, {shown:,} of {total:,} nodes; "
        "clusters, scores and neighbors were computed among them."
    )


def _facts(subject: Subject) -> list[tuple[str, str]]:
    nodes, dimensions = subject.embeddings.vectors.shape
    nodes = subject.total or nodes
    graph: Mapping[str, Any] = subject.environment.get("graph", {})
    facts = {"nodes": nodes, "edges": graph.get("edges"), "features": graph.get("features"), "dimensions": dimensions}
    if subject.labels is not None:
        facts["classes"] = len(np.unique(subject.labels[subject.labels >= 0]))
    return [(name, f"{value:,}") for name, value in facts.items() if value is not None]


def _predictions(subject: Subject, seed: int, notes: list[str]) -> Predictions | None:
    if subject.labels is None:
        return None
    kinds, asked = subject.embeddings.kinds, None
    if kinds is not None:
        labeled = kinds.with_labels(subject.labels)
        asked = np.flatnonzero(labeled)
        if left := kinds.counted(~labeled):
            notes.append(f"No label is predicted where no node of that type has one: {left}.")
    name = subject.name.lower()
    try:
        return predict(subject.embeddings.vectors, subject.labels, subject.split, asked=asked, dataset=name, seed=seed)
    except InputError as error:
        notes.append(f"Labels are shown but not predicted: {error}.")
        return None


def _without_training(subject: Subject, seed: int) -> dict[str, Predictions]:
    """Return what the same classifier makes of vectors that learned nothing, where that takes no longer than the rest.

    Raw features in raw units would look worse than they are, so where they are dense and in folds they are
    standardized, as `nodewise evaluate` does it.
    """
    graph, found = subject.graph, dict[str, Predictions]()
    if graph is None or subject.labels is None:
        return found
    others: dict[str, Any] = dict(subject.untrained)
    fits = _MOST_FEATURES if subject.split is not None else _MOST_FEATURES_IN_FOLDS
    if len(subject.embeddings) * graph.num_features <= fits:
        rows: Any = graph.features if subject.sample is None else graph.features[subject.sample]
        if isinstance(rows, np.ndarray) and subject.split is None:
            spread = rows.std(0)
            rows = (rows - rows.mean(0)) / np.where(spread > 0, spread, 1)
        others[f"{'structural' if graph.structural else 'raw'} features"] = rows
    for name, rows in others.items():
        dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float32)
        with suppress(InputError):
            found[name] = predict(
                dense, subject.labels, subject.split, asked=np.empty(0), dataset=subject.name.lower(), seed=seed
            )
    return found


def _columns(subject: Subject, guess: Predictions | None, seed: int) -> tuple[Column, ...]:
    columns = []
    if subject.labels is not None:
        columns.append(categories("label", subject.labels, subject.class_names))
    if guess is not None and subject.labels is not None:
        columns.append(
            categories(
                "predicted label", guess.predicted, subject.class_names, unknown="not predicted", note=guess.meaning
            )
        )
        columns.append(_outcomes(subject.labels, guess))
    columns.append(_clusters(subject, seed))
    if subject.graph is not None:
        columns.append(numbers("degree", _degrees(subject.graph, subject), logarithmic=True))
    found = [replace(column, origin="found") for column in columns]
    return distinct_names([*found, *subject.attributes])


def _opening(columns: Sequence[Column]) -> str:
    """Return the column that the map is colored by at first: the first, unless it leaves most of the map gray."""
    first, *others = columns
    if first.kind == "category" and 2 * np.count_nonzero(first.values < 0) > len(first.values):
        return next((column.name for column in others if column.name in ("predicted label", "cluster")), first.name)
    return first.name


def _outcomes(labels: np.ndarray, guess: Predictions) -> Column:
    """Whether each node was given its own class; of those that were fitted on, nothing can be said."""
    alone = np.isin(labels, np.flatnonzero(np.bincount(labels[labels >= 0]) == 1))  # no classifier can know its class
    codes = np.where((labels < 0) | alone, -1, guess.predicted == labels)
    codes[guess.fitted] = 2
    names = ("wrong", "right", "used for fitting")
    used = names if len(guess.fitted) else names[:2]
    note = "Right: the predicted label is the true one. Validation nodes are shown too; Classes counts test nodes only."
    if not len(guess.fitted):
        note = "Right: the predicted label is the true one, which the classifier had not seen."
    outcomes = categories("prediction right?", codes, used, unknown="no label to compare", note=note)
    return replace(outcomes, tones=("wrong", "right", "fitted")[: len(used)])


def _clusters(subject: Subject, seed: int) -> Column:
    # By cosine, and numbered from 0, as `nodewise clusters` does.
    vectors, labels = unit_rows(subject.embeddings.vectors), subject.labels
    classes = 0 if labels is None else len(np.unique(labels[labels >= 0]))
    if classes < 2:
        number, why = cluster_number(vectors, seed), "chosen by silhouette"
    else:
        number = min(classes, _MOST_CLUSTERS)
        why = "as many as classes" if number == classes else "fewer than classes"
    found = clusters(vectors, number, seed)
    names = range(found.max(initial=0) + 1)
    column = categories("cluster", found, names, note=f"k-means, k = {len(names)}, {why}.")
    return replace(column, meanings=_cluster_meanings(subject, found))


def _cluster_meanings(subject: Subject, found: np.ndarray) -> tuple[str, ...]:
    """Return what the members of each cluster have in common, by the features of training; "" where nothing tells."""
    graph = subject.graph
    if graph is None or (len(found) * graph.num_features > _MOST_FEATURES and isinstance(graph.features, np.ndarray)):
        return ()
    known = tuple(subject.environment.get("graph", {}).get("feature_names", ()))
    if len(known) != graph.num_features:  # "high feature 17" says nothing to anybody
        return ()
    names = name_clusters(found, graph, known, (), subject.sample)
    return tuple("" if name == f"cluster {each}" else name for each, name in enumerate(names))


def _packed_columns(columns: Sequence[Column], notes: list[str]) -> list[dict[str, Any]]:
    packed = []
    for column in columns:
        fields = ("name", "kind", "tones", "unknown", "note", "origin", "meanings")
        entry: dict[str, Any] = {name: getattr(column, name) for name in fields}
        if column.kind == "number":
            scale = {"logarithmic": column.logarithmic, "dates": column.dates}
            packed.append(entry | scale | {"values": packed_array(column.values)})
            continue
        if sum(map(len, column.names)) > _MOST_TEXT:
            notes.append(f"The column {column.name!r} was left out: its texts are too large for a page.")
            continue
        codes = packed_codes(column.values, len(column.names))
        names = packed_texts(column.names)
        packed.append(entry | {"names": names, "coloured": column.colored, "values": codes})
    return packed


def _neighbors(subject: Subject, seed: int, notes: list[str]) -> dict[str, Any]:
    number = len(subject.embeddings)
    k = _NEIGHBORS if number <= _MANY else _NEIGHBORS_OF_MANY
    if k < _NEIGHBORS:
        notes.append(f"Lists of neighbors end after {k}, to keep the page small.")
    if number > MOST_EXACT:
        notes.append("Neighbors in the embedding are approximate: they were looked for in nearby groups of nodes only.")
    unit = unit_rows(subject.embeddings.vectors)
    lists = {"neighbours": _packed_neighbors(nearest(unit, k, seed=seed)), "adjacent": None, "degrees": None}
    if subject.graph is not None:
        lists["degrees"] = packed_array(_degrees(subject.graph, subject).astype(np.uint32))
        part = subject.graph.adjacency()
        if subject.sample is not None:
            part = part[subject.sample][:, subject.sample]
        lists["adjacent"] = _packed_neighbors(adjacent(unit, part.indptr, part.indices, k))
    return lists


def _degrees(graph: Graph, subject: Subject) -> np.ndarray:
    """Return in how many edges of the whole graph each node is."""
    return graph.degrees if subject.sample is None else graph.degrees[subject.sample]


def _packed_neighbors(found: Neighbors) -> dict[str, Any]:
    # Cosines near one may differ in the sixth decimal only; in two bytes, angles tell them apart and cosines do not.
    angles = np.arccos(np.clip(found.cosines.astype(np.float64), -1, 1))
    return {
        "k": found.nodes.shape[1],
        "nodes": packed_array(found.nodes),
        "angles": packed_array(np.round(angles / np.pi * 65535).astype(np.uint16)),
    }
