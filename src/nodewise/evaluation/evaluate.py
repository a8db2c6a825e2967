"""From embeddings and labels to a table row, under a stated protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nodewise.core.errors import InputError, did_you_mean
from nodewise.evaluation.clustering import class_silhouette, cluster_scores
from nodewise.evaluation.folds import OR_FOLDS, deal_folds, parse_folds
from nodewise.evaluation.inputs import Stack, as_matrices, check_labels, check_split, check_vectors
from nodewise.evaluation.knn import knn_accuracy
from nodewise.evaluation.presets import Preset, ProbeResult
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Split
from nodewise.graph.splits import parse_split, random_split

METRICS = ("accuracy", "macro_f1", "knn", "nmi", "ari", "silhouette")
ORACLE = "oracle_accuracy"
"""Asked for by name only: the highest test accuracy over probe steps, from a pass of its own."""


def evaluate_embeddings(
    vectors: Stack,
    labels: np.ndarray | Tensor | Sequence[int],
    split: Split | str = "public",
    *,
    public: Split | None = None,
    probe: str | Preset = "mvgrl",
    restarts: int = 1,
    repeats: int = 1,
    seed: int = 0,
    encoder_seeds: Sequence[int] | None = None,
    metrics: Sequence[str] = METRICS,
    k: int = 5,
    name: str = "embeddings",
    dataset: str = "",
    class_names: Sequence[str | int] = (),
    device: torch.device | str = "cpu",
    tell: Callable[[float], None] = lambda share: None,
) -> Report:
    """Evaluate the embeddings of one or several encoder seeds, or raw features, under one protocol.

    The standard deviation is over encoder seeds and random splits. Restarts of the probe on one embedding are
    averaged first and count as one value: their spread says nothing about the method.

    Args:
        vectors: (N, d), (S, N, d) or S matrices (N, d); dense or CSR.
        labels: (N,), -1 where unknown.
        split: the positions; "public" for the split that came with the graph; or "random:20x500x1000" for
            20 training nodes per class, 500 validation and 1000 test nodes; or "folds:5", see `folds`.
        public: the split that came with the graph, if any.
        probe: preset of the linear probe.
        restarts: probes per embedding and split.
        repeats: number of random splits, or of deals into folds.
        seed: names probe weights, random splits (seed, seed + 1, ...) and k-means starts.
        encoder_seeds: names of the embeddings; 0..S-1 unless given. Equal names get equal probe weights.
        metrics: what to compute, of METRICS and ORACLE.
        k: neighbors of the kNN classifier; all training nodes where there are fewer.
        name: what is evaluated ("raw features", a method's name).
        dataset: the graph's name.
        class_names: what messages call the classes; their numbers if not given.
        device: where probes and neighbors are computed.
        tell: told on the way which share of the probes, which take longest, is done.
    """
    for metric in metrics:
        if metric not in (*METRICS, ORACLE):
            raise InputError(f"unknown metric {metric!r}{did_you_mean(metric, (*METRICS, ORACLE))}")
    matrices = as_matrices(vectors)
    labels, _ = check_labels(labels)
    check_vectors(matrices, len(labels))
    names = tuple(range(len(matrices))) if encoder_seeds is None else tuple(encoder_seeds)
    if len(names) != len(matrices) or len(set(names)) != len(names):
        raise InputError(f"{len(matrices)} embeddings need as many distinct encoder seeds, not {list(names)}")
    splits, split_seeds, split_words = _splits(split, public, labels, repeats, seed, dataset, class_names)

    def probe_all(oracle: bool) -> ProbeResult:
        return linear_probe(
            [matrix for matrix in matrices for _ in splits],
            labels,
            splits * len(matrices),
            probe,
            dataset=dataset,
            restarts=restarts,
            seed=[seed + encoder for encoder in names for _ in splits],
            oracle=oracle,
            device=device,
            tell=tell,
        )

    scores: dict[str, Summary] = {}
    result = probe_all(oracle=False)
    # Axis 1 holds restarts: averaged, one value per (encoder, split).
    scores["accuracy"] = Summary.of(result.test_accuracy.mean(1))
    if "macro_f1" in metrics:
        scores["macro_f1"] = Summary.of(_macro_f1(result, labels, splits * len(matrices)))
    if "knn" in metrics:
        scores["knn"] = Summary.of(
            [knn_accuracy(m, labels, s, k=min(k, len(s.train)), device=device) for m in matrices for s in splits]
        )
    if "nmi" in metrics or "ari" in metrics:
        clusters = [cluster_scores(matrix, labels, seed=seed) for matrix in matrices]
        scores["nmi"] = Summary.of([each.nmi for each in clusters])
        scores["ari"] = Summary.of([each.ari for each in clusters])
    if "silhouette" in metrics:
        scores["silhouette"] = Summary.of([class_silhouette(matrix, labels, seed=seed) for matrix in matrices])
    if ORACLE in metrics:
        curves = probe_all(oracle=True).oracle
        assert curves is not None
        scores[ORACLE] = Summary.of(curves.max_test.mean(1))
    kind = "folds" if isinstance(split, str) and parse_folds(split) else "random splits"
    spread_words = _spread_words(len(matrices), len(splits), result.test_accuracy.shape[1], kind)
    return Report(
        name=name,
        dataset=dataset,
        protocol=f"{result.protocol}; {split_words}; {spread_words}",
        encoder_seeds=names,
        split_seeds=split_seeds,
        scores={metric: scores[metric] for metric in (*METRICS, ORACLE) if metric == "accuracy" or metric in metrics},
    )


def _splits(
    split: Split | str,
    public: Split | None,
    labels: np.ndarray,
    repeats: int,
    seed: int,
    dataset: str,
    class_names: Sequence[str | int],
) -> tuple[list[Split], tuple[int, ...], str]:
    """Return the splits to use, the seeds of the random ones, and the words for the protocol."""
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, not {repeats}")
    seeds: tuple[int, ...] = ()
    folds = parse_folds(split) if isinstance(split, str) else None
    spec = None if folds or isinstance(split, Split) else parse_split(str(split), OR_FOLDS)
    if folds:
        known = np.flatnonzero(labels >= 0)
        drawn = deal_folds(known, labels[known], folds, repeats, seed)
        words = f"{folds} stratified folds" + (f", dealt {repeats} times" if repeats > 1 else "")
    elif spec is not None:
        seeds = tuple(range(seed, seed + repeats))
        sizes = (spec.per_class, spec.num_val, spec.num_test)
        drawn = [random_split(labels, *sizes, one, class_names=class_names) for one in seeds]
        words = f"random split, {spec.per_class} training nodes per class"
    else:
        if repeats > 1:
            raise InputError(f"{repeats} repeats of one given split would all be the same: use random splits")
        given = split if isinstance(split, Split) else public
        if given is None:
            raise InputError(
                f"{dataset or 'the graph'} came without a split: ask for random ones, such as random:20x500x1000"
            )
        drawn = [given]
        words = "given split" if isinstance(split, Split) else "public split"
    drawn = [check_split(one, labels) for one in drawn]
    parts = f"{len(drawn[0].train)}/{len(drawn[0].val)}/{len(drawn[0].test)} train/val/test nodes"
    return drawn, seeds, f"{words}, {parts}"


def _spread_words(encoders: int, splits: int, restarts: int, kind: str) -> str:
    over = [f"{encoders} encoder seeds"] * (encoders > 1) + [f"{splits} {kind}"] * (splits > 1)
    spread = f"mean and standard deviation over {' x '.join(over)}" if over else "one encoder, one split"
    return spread + (f", {'each ' * bool(over)}the mean of {restarts} probe restarts" if restarts > 1 else "")


def _macro_f1(result: ProbeResult, labels: np.ndarray, splits: list[Split]) -> list[float]:
    from sklearn.metrics import f1_score

    return [
        float(np.mean([f1_score(labels[split.test], one[0], average="macro", zero_division=0) for one in classes]))
        for classes, split in zip(result.predictions, splits, strict=True)
    ]


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (None for a single value) of independent values."""

    mean: float
    std: float | None
    n: int
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: np.ndarray | Sequence[float]) -> Summary:
        """Summarize values of any shape, in row-major order."""
        flat = np.asarray(values, dtype=np.float64).ravel()
        std = float(flat.std(ddof=1)) if len(flat) > 1 else None
        return cls(float(flat.mean()), std, len(flat), tuple(flat.tolist()))


@dataclass(frozen=True)
class Report:
    """A row of a table.

    Attributes:
        name: what was evaluated.
        dataset: the graph's name.
        protocol: how, in words: probe, split, and what the standard deviation is over.
        encoder_seeds: one per embedding.
        split_seeds: one per random split; empty for a given split.
        scores: metric -> summary. Values that depend on the split go encoder by encoder, split by split.
    """

    name: str
    dataset: str
    protocol: str
    encoder_seeds: tuple[int, ...]
    split_seeds: tuple[int, ...]
    scores: dict[str, Summary]

    def by_seed(self, metric: str = "accuracy") -> dict[int, float]:
        """Return each encoder seed's score, averaged over splits: the input of a paired comparison."""
        rows = np.reshape(self.scores[metric].values, (len(self.encoder_seeds), -1))
        return dict(zip(self.encoder_seeds, rows.mean(1).tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, words and lists, ready for JSON; scores are fractions."""
        return asdict(self)
