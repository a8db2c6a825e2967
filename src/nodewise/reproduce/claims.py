"""The paper's claims, each answered from the measured numbers.

The answers are yes, no, within noise, unclear, seeds only, one seed only, and not measured yet. A claim that compares
accuracies holds if it does on the test nodes and on all other unseen nodes, by intervals over seeds and nodes together;
where fewer than two rows know which nodes were answered rightly, as rows of earlier versions do not, the answer is
"seeds only". Words such as "sharply" are given a number here, and the table says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.reproduce import tables
from nodewise.reproduce.experiments import parameters
from nodewise.reproduce.measure import FEATURES
from nodewise.reproduce.paper_values import OURS, PLAIN, TABLE2
from nodewise.reproduce.results import Comparison, Results, paired

Answer = Literal["yes", "no", "within noise", "unclear", "seeds only", "one seed only", "not measured yet"]

HARDLY = 1.0
"""Points between the best and the worst value of a parameter below which it hardly matters."""
SHARP = 1.0
"""Points by which a sharp drop is at least one."""
NEW_NODES = 2.0
"""Points that an inductive method may lose on nodes it has not seen."""

Seeds = Mapping[int, float]


@dataclass(frozen=True)
class Claim:
    """A claim on one data set, its answer, and the numbers behind it."""

    text: str
    dataset: str
    answer: Answer
    evidence: str


def check(found: Mapping[str, Results]) -> list[Claim]:
    """Answer every claim from the results of the experiments, by name."""
    return [
        *_beats_unsupervised(found["table2"]),
        *_beats_one(found["table2"], OURS, "dgi-s", "ours beats DGI trained on S"),
        *_beats_one(
            found["table2"], PLAIN, "dgi", "the plain loss is strong (beats DGI) on Cora and Pubmed", ("cora", "pubmed")
        ),
        *_parts_help(found["ablation"]),
        *_order_of_parts(found["ablation"]),
        *_hardly_matters(found["parameters"], parameters.BATCH_SIZE),
        *_hardly_matters(found["parameters"], parameters.BATCH_PASSES),
        *_hardly_matters(found["parameters"], parameters.WALK_LENGTH),
        *_drops_near_one(found["parameters"]),
        *_separates(found["figure"]),
        *_inductive(found["inductive"]),
    ]


def render(claims: list[Claim]) -> list[tables.Table]:
    """Return the checklist."""
    rows = [(claim.text, claim.dataset.capitalize(), claim.answer, claim.evidence) for claim in claims]
    notes = (
        "Differences are in points of accuracy unless said otherwise, on the test nodes and, after the stroke, on the "
        "other unseen nodes; rows of Table 2 are compared post-processed, all from one grid, where they are. One seed "
        "has no interval, and answers nothing.",
        VERDICT_NOTE + " What separates in maps, and values of a parameter, are compared over seeds only.",
        f"Hardly matters: best and worst value less than {HARDLY:g} point apart on the test nodes and on the others "
        f"alike; unclear where only on one of them. Sharply: at least {SHARP:g} point. "
        f"Inductive: at most {NEW_NODES:g} points lost on nodes that training has not seen.",
    )
    return [tables.Table("The paper's claims", ("claim", "data set", "answer", "evidence"), rows, notes, numbers=4)]


_ANSWERS: dict[str, Answer] = {"gain": "yes", "loss": "no", "within noise": "within noise", "seeds only": "seeds only"}


def compare(ours: Seeds, theirs: Seeds, digits: int = 2) -> tuple[Answer, str]:
    """Say whether ours is higher over seeds, and by how much."""
    difference = paired(ours, theirs)
    if difference is None:
        return _too_few(ours, theirs, digits)
    return _ANSWERS[difference.verdict], tables.interval(difference, digits)


def judge(results: Results, ours: str, theirs: str, dataset: str) -> tuple[Answer, str]:
    """Say whether one row is more accurate than another, and by how much; post-processed where both are."""
    both = all(results.by_seed(row, dataset, "post_test") for row in (ours, theirs))
    prefix = "post_" if both else ""
    found = results.compare(ours, theirs, dataset, prefix=prefix)
    if found is None:
        first, second = (results.by_seed(row, dataset, f"{prefix}test") for row in (ours, theirs))
        return _too_few(first, second)
    return _ANSWERS[found.verdict], _words(found)


def _words(found: Comparison) -> str:
    return tables.interval(found.test) + ("" if found.others is None else f" / {tables.interval(found.others)}")


def _too_few(ours: Seeds, theirs: Seeds, digits: int = 2) -> tuple[Answer, str]:
    """Say what is known where there is no interval."""
    shared = ours.keys() & theirs.keys()
    if not shared:
        return "not measured yet", "no runs to compare"
    (seed,) = shared
    return "one seed only", f"{ours[seed] - theirs[seed]:+.{digits}f} for the only seed in common"


def _all_of(answers: list[Answer]) -> Answer:
    for worst in ("no", "not measured yet", "one seed only", "seeds only", "within noise"):
        if worst in answers:
            return worst
    return "yes" if answers else "not measured yet"


def _beats_unsupervised(results: Results) -> Iterator[Claim]:
    rivals = [name for name, row in TABLE2.items() if "Y" not in row.uses and name not in (OURS, PLAIN)]
    for dataset in results.datasets:
        judged = [name for name in rivals if (name, dataset) != ("mvgrl", "cora")]
        each = {name: judge(results, OURS, name, dataset) for name in judged}
        but = " but MVGRL" if dataset == "cora" else ""
        absent = [TABLE2[name].title for name in judged if not results.by_seed(name, dataset)]
        telling = [
            f"{TABLE2[name].title}: {words}" for name, (_, words) in each.items() if words != "no runs to compare"
        ]
        telling += [f"not measured: {', '.join(absent)}"] if absent else []
        yield Claim(
            f"ours beats every unsupervised row of the paper's table{but}",
            dataset,
            _all_of([answer for answer, _ in each.values()]),
            "; ".join(telling),
        )


def _beats_one(
    results: Results, row: str, rival: str, text: str, where: tuple[str, ...] | None = None
) -> Iterator[Claim]:
    for dataset in results.datasets:
        if where is None or dataset in where:
            yield Claim(text, dataset, *judge(results, row, rival, dataset))


_PARTS = ("with α", "with DPP", "with w")


def _parts_help(results: Results) -> Iterator[Claim]:
    for part in _PARTS:
        for dataset in results.datasets:
            answer = judge(results, part, "without all", dataset)
            yield Claim(f"{part.removeprefix('with ')} alone helps", dataset, *answer)


def _order_of_parts(results: Results) -> Iterator[Claim]:
    for dataset in results.datasets:
        for text, pairs in (
            ("of the three DPP helps most", [("with DPP", "with α"), ("with DPP", "with w")]),
            ("of the three w helps least", [("with α", "with w"), ("with DPP", "with w")]),
        ):
            each = [(f"{high} - {low}", *judge(results, high, low, dataset)) for high, low in pairs]
            evidence = "; ".join(f"{names}: {words}" for names, _, words in each)
            yield Claim(text, dataset, _all_of([answer for _, answer, _ in each]), evidence)


def _hardly_matters(results: Results, name: str) -> Iterator[Claim]:
    (sweep,) = (each for each in parameters.SWEEPS if each.name == name)
    planned = [value for value in sweep.values if sweep.row(value) in results.methods]
    for dataset in results.datasets:
        tested = {value: results.summary(sweep.row(value), dataset) for value in planned}
        others = {value: results.summary(sweep.row(value), dataset, "unseen") for value in planned}
        means = {value: found.mean for value, found in tested.items() if found is not None}
        text = f"{name} hardly matters"
        if len(means) < len(planned) or not means:
            yield Claim(text, dataset, "not measured yet", f"{len(means)} of {len(planned)} values")
            continue
        best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        spans = [means[best] - means[worst]]
        evidence = f"best {best:g}: {means[best]:.2f}, worst {worst:g}: {means[worst]:.2f}, {spans[0]:.2f} apart"
        known = [found.mean for found in others.values() if found is not None]
        if len(known) == len(planned):
            spans.append(max(known) - min(known))
            evidence += f" / best and worst {spans[1]:.2f} apart"
        apart = {span >= HARDLY for span in spans}
        answer: Answer = "unclear" if len(apart) > 1 else "no" if apart == {True} else "yes"
        if len(spans) == 1:
            answer = "seeds only"
        if any(found is not None and found.n < 2 for found in tested.values()):
            answer = "one seed only"
        yield Claim(text, dataset, answer, evidence)


def _drops_near_one(results: Results) -> Iterator[Claim]:
    (sweep,) = (each for each in parameters.SWEEPS if each.name == parameters.ALPHA)
    for dataset in results.datasets:
        at = {value: results.by_seed(sweep.row(value), dataset) for value in (0.9, 1.0)}
        drop = results.compare(sweep.row(0.9), sweep.row(1.0), dataset)
        text = "accuracy drops sharply as α nears 1 (0.9 to 1.0)"
        if drop is None:
            answer, words = _too_few(at[0.9], at[1.0])
            yield Claim(text, dataset, answer, f"drop {words}")
            continue
        parts = [part for part in (drop.test, drop.others) if part is not None]
        if drop.verdict == "gain" and all(part.mean >= SHARP for part in parts):
            answer = "yes"
        elif any(part.high < SHARP for part in parts) or drop.verdict in ("gain", "loss"):
            answer = "no"  # an interval that ends below a sharp drop rules one out, whether or not it holds zero
        else:
            answer = _ANSWERS[drop.verdict]
        yield Claim(text, dataset, answer, f"drop {_words(drop)}")


def _separates(results: Results) -> Iterator[Claim]:
    for dataset in results.datasets:
        for rival, name in ((FEATURES, "raw features"), ("mvgrl", "MVGRL")):
            each = []
            for column in ("map_silhouette", "map_purity"):
                ours = results.by_seed(OURS, dataset, column, "separation")
                theirs = results.by_seed(rival, dataset, column, "separation")
                each.append((column, *compare(ours, theirs, digits=3)))  # scores between 0 and 1
            evidence = "; ".join(f"{column.replace('_', ' ')}: {words}" for column, _, words in each)
            text = f"classes separate better in our map than in that of {name}"
            yield Claim(text, dataset, _all_of([answer for _, answer, _ in each]), evidence)


def _inductive(results: Results) -> Iterator[Claim]:
    for dataset in results.datasets:
        seen, new = results.by_seed(OURS, dataset), results.by_seed(OURS, dataset, kind="inductive")
        loss, _ = results.difference(OURS, OURS, dataset, "test", against="inductive")
        text = "the method is inductive"
        if loss is None:
            answer, words = _too_few(seen, new)
            yield Claim(text, dataset, answer, f"lost on new nodes {words}")
            continue
        answer = "yes" if loss.high <= NEW_NODES else "no" if loss.low > NEW_NODES else "within noise"
        yield Claim(text, dataset, answer, f"lost on new nodes {tables.interval(loss)}")
