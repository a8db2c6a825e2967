"""Classes for rows that have none."""

from __future__ import annotations

import numpy as np
import pytest

from nodewise.evaluation import classifier
from nodewise.evaluation.classifier import STRENGTHS, ClassScores, HeldOut, calibrated_temperature, classify


def points(noise: float, labeled: int, count: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points about three centers, their classes 0, 2 and 3, and the same but for -1 after the first ones."""
    generator = np.random.default_rng(0)
    which = generator.choice(3, count, p=[0.6, 0.2, 0.2])
    truth = np.array([0, 2, 3])[which]  # numbers of classes need not be consecutive
    rows = np.eye(3, 8)[which] + noise * generator.normal(size=(count, 8))
    return rows.astype(np.float32), truth, np.where(np.arange(count) < labeled, truth, -1)


def test_rows_without_a_label_get_the_likeliest_class() -> None:
    rows, truth, labels = points(0.3, 60)
    found = classify(rows, labels)
    assert found.rows.tolist() == list(range(60, 600))
    assert (found.classes == truth[60:]).mean() > 0.9
    assert ((found.probabilities > 1 / 3) & (found.probabilities <= 1)).all()
    assert found.strength in STRENGTHS


@pytest.mark.parametrize("factor", [1e-25, 1e-4, 1.0, 1e3, 1e25])
def test_neither_length_nor_place_of_the_vectors_matters(factor: float) -> None:
    rows, _, labels = points(0.3, 60)
    usual, other = classify(rows, labels), classify(rows * np.float32(factor) + np.float32(5 * factor), labels)
    assert (other.classes == usual.classes).mean() > 0.995
    np.testing.assert_allclose(other.probabilities, usual.probabilities, atol=0.02)


@pytest.mark.parametrize("noise", [0.3, 0.6, 1.0])
def test_probabilities_are_as_often_right_as_they_say(noise: float) -> None:
    rows, truth, labels = points(noise, 1000, 5000)
    found = classify(rows, labels)
    right = (found.classes == truth[1000:]).mean()
    assert found.probabilities.mean() == pytest.approx(right, abs=0.05)
    assert found.expected_accuracy == pytest.approx(right, abs=0.05)


def test_a_vector_far_away_does_not_make_all_others_alike() -> None:
    rows, truth, labels = points(0.3, 60)
    rows[100] *= 1e5
    found = classify(rows, labels)
    assert (found.classes == truth[60:]).mean() > 0.9


def test_who_else_is_asked_about_does_not_matter() -> None:
    rows, _, labels = points(0.6, 60)
    whole, part = classify(rows, labels), classify(rows[:100], labels[:100])
    assert np.array_equal(whole.classes[:40], part.classes)
    np.testing.assert_allclose(whole.probabilities[:40], part.probabilities, atol=1e-3)


def test_too_few_labels_say_nothing_of_how_many_will_be_right() -> None:
    rows, truth, labels = points(0.1, 9)
    found = classify(rows, labels)
    assert found.expected_accuracy is None
    assert found.temperature == 1
    assert (found.classes == truth[9:]).mean() > 0.9


def test_of_many_labels_a_part_chooses_the_strength_and_all_are_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _, labels = points(0.6, 400)
    whole = classify(rows, labels)
    monkeypatch.setattr(classifier, "_MOST_JUDGED", 200)
    part = classify(rows, labels)
    assert part.expected_accuracy is not None
    assert whole.expected_accuracy is not None
    assert part.expected_accuracy * 400 == pytest.approx(round(part.expected_accuracy * 400))
    assert part.expected_accuracy == pytest.approx(whole.expected_accuracy, abs=0.03)


@pytest.mark.parametrize("factor", [0.2, 1.0, 4.0])
def test_the_temperature_undoes_what_made_scores_too_flat_or_too_sharp(factor: float) -> None:
    generator = np.random.default_rng(0)
    chances = np.log(generator.dirichlet([0.7] * 3, size=4000))
    drawn = np.array([generator.choice(3, p=np.exp(row)) for row in chances])
    parts = [
        (ClassScores(np.arange(3), factor * chances[some]), drawn[some]) for some in (slice(2000), slice(2000, None))
    ]
    assert calibrated_temperature(HeldOut(parts)) == pytest.approx(factor, rel=0.1)


def test_a_class_that_was_not_learned_is_a_rare_event_not_an_impossible_one() -> None:
    scores = ClassScores(np.array([0, 2]), np.log([[0.5, 0.5], [0.9, 0.1]]))
    found = scores.log_likelihood(np.array([1, 2]), 1.0)
    np.testing.assert_allclose(np.exp(found), [1e-6, 0.1])
    assert np.isfinite(calibrated_temperature(HeldOut([(scores, np.array([1, 2]))])))
