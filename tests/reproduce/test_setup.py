from __future__ import annotations

from pathlib import Path

import pytest
from tests.reproduce.planted import SMALL, small_setup

from nodewise.core.errors import InputError
from nodewise.methods.settings import Settings
from nodewise.reproduce.setup import QUICK_LIMITS, QUICK_WORDS, Setup, reduced


def test_settings_come_from_the_configs_or_are_the_defaults(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    assert setup.ours("cora") == setup.settings("nodewise", "cora") == SMALL
    plain = setup.ours_plain("cora")
    assert plain.training.steps == 1
    assert not (plain.sampling.collision)
    assert not (plain.sampling.dpp)
    assert not (plain.sampling.weights)
    assert Setup().ours("cora") == Settings()
    with pytest.raises(InputError, match=r"karate\.toml"):
        setup.ours("karate")


def test_quick_lowers_what_it_says_and_nothing_else() -> None:
    quick, full = reduced(Settings()), Settings()
    assert quick.training.steps == QUICK_LIMITS["steps"]
    assert quick.encoder.dimension == QUICK_LIMITS["dimension"]
    assert quick.sampling.class_collision.clusterings == QUICK_LIMITS["clusterings"]
    assert quick.sampling.class_collision.steps == full.sampling.class_collision.steps, "it is below the limit"
    assert (quick.loss, quick.views) == (full.loss, full.views)
    assert Setup(quick=True).ours("citeseer") == quick
    for name, limit in QUICK_LIMITS.items():
        assert f"{name} at most {limit}" in QUICK_WORDS


def test_rows_that_are_not_there_are_refused() -> None:
    setup = Setup(methods=("full", "ful"))
    assert setup.wants("full")
    assert not setup.wants("other")
    with pytest.raises(InputError, match="no row 'ful' in this experiment; did you mean 'full'"):
        setup.check_methods(("full", "other"))
    with pytest.raises(InputError) as refused:
        Setup(methods=("xyz",)).check_methods(("full", "other"))
    assert str(refused.value).count("other") == 1, "the rows are listed once"
