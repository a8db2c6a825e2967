"""What is compared: who stands for what, what is refused, and what makes two entries the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import nodewise as nw
from nodewise.comparison.entries import DIAGNOSES, PLAIN, QUICK, Entry, about_name, entries, every_strategy
from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.methods.settings import Settings
from nodewise.sampling.oracle import Oracle

SETTINGS = config.override(Settings(), ["training.steps=7"])
CPU = torch.device("cpu")


class Mine(nw.Strategy):
    """An idea of one's own."""

    share: float = 0.4

    def choose(self, batch: nw.Candidates) -> nw.PairSets:
        return nw.PairSets(batch.negatives)


def one(given: nw.Strategy | str) -> Entry:
    return entries([given], SETTINGS)[-1]


def test_all_negatives_come_first_and_everybody_once() -> None:
    found = entries(["hard", Mine(), "all", "hard", Mine(share=0.4), "hard@concentration=2"], SETTINGS)
    assert [entry.label for entry in found] == ["all", "hard", "Mine(share=0.4)", "hard@concentration=2"]
    assert [entry.label for entry in entries([], SETTINGS)] == [PLAIN]


def test_settings_behind_the_name_are_the_strategys_and_the_rest_stays() -> None:
    found = one("hard@concentration=2,")
    assert found.settings.sampling.name == "hard"
    assert found.settings.sampling.concentration == 2  # type: ignore[attr-defined]
    assert replace(found.settings, sampling=SETTINGS.sampling) == SETTINGS
    assert found.about == {"diagnosis": False, "kind": "weigh, repel", "values": {}}
    assert one(Mine(share=0.1)).settings.sampling == Mine(share=0.1)


def test_a_diagnosis_is_built_from_the_labels_of_its_graph() -> None:
    found = one("oracle@precision=0.8,recall=0.5")
    assert (found.diagnosis, dict(found.values)) == ("oracle", {"precision": 0.8, "recall": 0.5})
    assert found.settings.sampling.name == PLAIN
    assert found.about == {"diagnosis": True, "kind": "diagnosis", "values": dict(found.values)}
    graph = block_model(12, num_classes=3, num_features=9, words_per_node=3, seed=0)
    built = found.settings_for(graph, CPU).sampling
    assert isinstance(built, Oracle)
    assert (built.precision, built.recall) == (0.8, 0.5)
    assert built.labels.tolist() == list(graph.labels)  # type: ignore[arg-type]
    assert built.labels.dtype == torch.int64
    plain = one("hard")
    assert plain.settings_for(graph, CPU) is plain.settings


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("oracle@precisions=0.8", "unknown-setting", "did you mean 'precision'"),
        ("oracle@labels=3", "unknown-setting", "'labels'"),
        ("oracle@precision", "bad-setting", "'precision' is not a setting such as precision=0.8"),
        ("oracle@precision=much", "bad-setting", "'precision=much'"),
        ("oracle@recall=1.5", "bad-setting", "recall"),
        ("hard@concentration=x", None, "hard@concentration=x"),
        (3, "bad-argument", "not 3"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_trained(given: str, code: str | None, words: str) -> None:
    with pytest.raises(InputError) as told:
        one(given)
    assert words in str(told.value)
    assert code is None or told.value.code == code


def test_all_that_decides_the_numbers_is_in_the_hash_and_nothing_else() -> None:
    def longer(entry: Entry) -> Entry:
        return replace(entry, settings=config.override(entry.settings, ["training.steps=8"]))

    hard = one("hard")
    different = [
        hard.config(),
        hard.config("graph"),
        longer(hard).config(),
        one("hard@concentration=2").config(),
        one("oracle").config(),
        one("oracle@recall=0.5").config(),
        one(PLAIN).config(),
        one(Mine()).config(),
        replace(one(Mine()), code="another").config(),
    ]
    assert len(set(different)) == len(different)
    assert all(len(text) == 12 for text in different)
    assert replace(hard, label="another word").config("graph") == one("hard").config("graph")


def test_only_code_of_ones_own_is_hashed(tmp_path: Path) -> None:
    assert one("hard").code == ""
    file = tmp_path / "entry_of_tests.py"
    text = (
        "import nodewise as nw\nclass Far(nw.Strategy):\n    def choose(self, batch):\n        return batch.negatives\n"
    )
    file.write_text(text)
    before = one(f"{file}:Far")
    assert len(before.code) == 12
    file.write_text(text + "# changed\n")
    assert one(f"{file}:Far").code != before.code


def test_of_a_name_alone_is_said_what_is_known_without_loading_code() -> None:
    assert about_name("hard")["kind"] == "weigh, repel"
    assert about_name("oracle@recall=0.5") == {"diagnosis": True, "kind": "diagnosis", "values": {"recall": 0.5}}
    for unknown in ("hard@concentration=2", "no/such/file.py:Far", "Mine(share=0.4)"):
        assert about_name(unknown) == {}


def test_the_short_list_and_the_whole_one_name_strategies_that_come_along() -> None:
    assert set(QUICK) <= set(every_strategy())
    assert not DIAGNOSES.keys() & set(every_strategy())
    assert PLAIN in every_strategy()
