import tomllib
from pathlib import Path

import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.methods.settings import EmbeddingSettings, Settings


def test_the_paper_preset_is_the_literal_reading() -> None:
    paper = Settings.preset("paper")
    # Section 4.1: walks of 25 steps without restart, two layers, each with its activation, dropout 0.7, Eq. R.
    assert (paper.views.length, paper.views.restart, paper.views.lazy) == (25, 0.0, 0.0)
    encoder = paper.encoder
    assert (encoder.name, encoder.dimension, encoder.layers) == ("gcn", 512, 2)
    assert (encoder.readout, encoder.final_activation, encoder.dropout) == ("sigmoid_mean_max", True, 0.7)
    assert (encoder.feature_mask, encoder.propagation) == (0.0, 0)
    # Section 4.2: F looks at the embeddings, alpha = 0.9. Section 4.3: det(B_A). Section 4.4: w = h.h / tau_w.
    sampling = paper.sampling
    assert (sampling.name, sampling.collision, sampling.dpp, sampling.weights) == ("adaptive", True, True, True)
    assert (sampling.class_collision.alpha, sampling.class_collision.evidence) == (0.9, "embedding")
    assert sampling.class_collision.hidden > 0
    assert (sampling.diversity.law, sampling.diversity.kernel) == ("literal", "gaussian")
    assert (sampling.weighting.form, sampling.weighting.temperature) == ("clamped", 1.0)
    assert (paper.loss.score, paper.loss.temperature, paper.loss.positives) == ("dot", 1.0, "pair")
    # Section 5: Adam with 0.001, at most 2000 epochs, batches of 50 to 2000. Its patience of 20 would keep step 0.
    training = paper.training
    assert (training.steps, training.patience) == (2000, 0)
    assert (training.learning_rate, training.weight_decay) == (0.001, 0.0)
    assert 50 <= training.batch_size <= 2000
    # Section 3.3: H = G(X, A), as it is.
    assert (paper.embedding.mode, paper.embedding.propagation, paper.embedding.length) == ("graph", 0, None)


def test_the_default_preset_is_the_defaults() -> None:
    assert Settings.preset("default") == Settings()
    assert Settings.preset("paper") != Settings()


def test_an_unknown_preset_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="unknown preset 'papr'; did you mean 'paper'"):
        Settings.preset("papr")


@pytest.mark.parametrize("name", ["default", "paper"])
def test_settings_survive_a_file(name: str, tmp_path: Path) -> None:
    chosen = Settings.preset(name)
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml(chosen), encoding="utf-8")
    assert config.load_toml(Settings, path) == chosen


@pytest.mark.parametrize(("name", "value"), [("walks", 0), ("propagation", -1), ("teleport", 1.5)])
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"embedding\.{name}"):
        EmbeddingSettings(**{name: value})  # type: ignore[arg-type]


def test_the_whole_config_of_an_earlier_run_is_still_read() -> None:
    # The start of a config.toml as it was written before parts owned their settings; the other sections are unchanged.
    text = config.to_toml(Settings()).replace("neighbors =", "neighbors =")
    rivals = "[sampling.rivals]\nshare = 0.5\nconcentration = 0.5\npositive_prior = 0.1\nquantile = 0.1\n\n[loss]"
    text = text.replace("[loss]", rivals)
    assert config.from_mapping(Settings, tomllib.loads(text), "config.toml") == Settings()


def test_only_the_papers_strategy_has_parts_to_switch() -> None:
    assert Settings().adaptive is not None
    with pytest.raises(InputError, match=r"sampling\.strategy is 'uniform'; only 'adaptive' has parts to switch off"):
        _ = config.override(Settings(), ["sampling.strategy=uniform"]).adaptive
