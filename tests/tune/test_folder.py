from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodewise.core.config import load_toml, override, to_mapping
from nodewise.core.errors import InputError
from nodewise.methods.settings import Settings
from nodewise.tune.folder import claimed, write_best


def line(trial: int, outcomes: list[tuple[int, list[float]]], *, temperature: float, first_seed: int) -> str:
    settings = override(Settings(), [f"loss.temperature={temperature}"])
    return json.dumps(
        {
            "variant": "full",
            "trial": trial,
            "seeds": [first_seed, first_seed + 1],
            "settings": to_mapping(settings),
            "outcomes": [
                {
                    "training.steps": steps,
                    "embedding.propagation": 4,
                    "embedding.length": 1.0,
                    "scores": scores,
                }
                for steps, scores in outcomes
            ],
        }
    )


@pytest.fixture
def searched(folder: Path) -> Path:
    """Two processes' logs: trials 0 and 2 are equally good in the end, and 1 was never confirmed."""
    trials = [line(i, [(10, [0.9, 0.9])], temperature=0.1 * (i + 1), first_seed=1000) for i in range(3)]
    (folder / "trials-0.jsonl").write_text("".join(f"{each}\n" for each in trials))
    second = line(2, [(10, [0.8, 0.8]), (20, [0.5, 0.5])], temperature=0.3, first_seed=1100)
    first = line(0, [(10, [0.2, 0.2]), (40, [0.7, 0.9])], temperature=0.1, first_seed=1100)
    (folder / "confirmed-0.jsonl").write_text(f"{second}\n")
    (folder / "confirmed-1.jsonl").write_text(f'{first}\n{{"variant": "fu')
    return folder


def test_the_best_confirmed_settings_are_written_ties_to_the_first_trial(searched: Path) -> None:
    best = write_best(searched, "full", "cora", "validation")
    assert best == {"file": str(searched / "best-full.toml"), "score": 0.8, "trials": 3, "confirmed": 2}
    settings = load_toml(Settings, searched / "best-full.toml")
    assert (settings.loss.temperature, settings.training.steps, settings.embedding.propagation) == (0.1, 40, 4)


def test_the_file_says_what_chose_it(searched: Path) -> None:
    write_best(searched, "full", "cora", "validation")
    header = " ".join((searched / "best-full.toml").read_text().split("\n\n")[0].split())
    for part in ("full variant for cora", "validation accuracy (mvgrl probe): 0.8000", "1100 to 1101", "of 3 trials"):
        assert part in header


def test_without_confirmed_trials_there_is_no_best(searched: Path) -> None:
    assert write_best(searched, "plain", "cora", "validation") is None
    assert not (searched / "best-plain.toml").exists()


class TestClaim:
    IDENTITY: dict[str, Any] = {"graph": "cora", "objective": "links", "seed": 0}  # noqa: RUF012

    def test_a_search_may_come_back(self, folder: Path) -> None:
        for _ in range(2):
            with claimed(folder / "a" / "b", self.IDENTITY):
                pass
        assert [path.name for path in (folder / "a" / "b").iterdir()] == ["search.json"]
        with (
            pytest.raises(InputError, match="holds a search with seed 0, not 1"),
            claimed(folder / "a" / "b", self.IDENTITY | {"seed": 1}),
        ):
            pytest.fail("the search began")

    @pytest.mark.parametrize("begun", [False, True])
    def test_a_second_process_is_refused(self, folder: Path, begun: bool) -> None:
        if begun:
            with claimed(folder, self.IDENTITY):
                pass
        with (
            claimed(folder, self.IDENTITY),
            pytest.raises(InputError, match=r"process .* is at work on this search; wait until it ends"),
            claimed(folder, self.IDENTITY),
        ):
            pytest.fail("the search began")

    def test_a_folder_of_other_things_is_left_alone(self, folder: Path) -> None:
        Path("chapter.tex").write_text("years of work")
        with pytest.raises(InputError, match="not a search's"), claimed(folder, self.IDENTITY):
            pytest.fail("the search began")
        assert [path.name for path in folder.iterdir()] == ["chapter.tex"]

    def test_a_file_is_no_folder(self, folder: Path) -> None:
        Path("file").write_text("")
        with pytest.raises(InputError, match="file: cannot be the folder"), claimed(Path("file"), self.IDENTITY):
            pytest.fail("the search began")

    def test_a_damaged_record(self, folder: Path) -> None:
        Path("search.json").write_text("{")
        with pytest.raises(InputError, match=r"search\.json: not JSON"), claimed(folder, self.IDENTITY):
            pytest.fail("the search began")


def test_a_search_on_another_graph_is_refused(tmp_path):
    from nodewise.tune.folder import CONTENT

    with claimed(tmp_path / "tuned", {"graph": "g", CONTENT: "one"}):
        pass
    with pytest.raises(InputError) as refused, claimed(tmp_path / "tuned", {"graph": "g", CONTENT: "two"}):
        pass
    assert refused.value.code == "other-run"
