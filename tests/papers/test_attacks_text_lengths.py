"""How perturbations change the lengths of the published texts of Chen et al."""

import json

import numpy as np
import pytest

from picked_rows import fields, keyed
from recuse.papers.attacks import LEVELS, PERTURBATIONS, length_confound
from verdict_files import released


def changes(folder):
    results = length_confound(folder, confidence=0.9, seed=3)
    return keyed(results, "perturbation level unit answers")


@pytest.mark.mirror
def test_known_values_of_the_published_texts():
    folder, _ = released("judgement_bias")
    results = changes(folder)
    for perturbation, change, longer in (
        ("factual_error", -0.0079, 40),
        ("reference", 0.5496, 142),
        ("rich_content", 0.2699, 142),
        ("gender", 0.1178, 129),
    ):
        row = results[perturbation, "", "words", "perturbed"]
        assert row["n"] == 142  # one answer of each question
        assert row["relative_change"] == pytest.approx(change, abs=5e-5)
        assert row["longer"] == longer / 142
        assert results[perturbation, "", "words", "both"]["relative_change"] == pytest.approx(
            row["relative_change"] / 2, abs=1e-12
        )
    reference = results["reference", "", "words", "perturbed"]
    normal = 1.645 * 0.3383 / np.sqrt(142)  # standard deviation over the questions
    assert reference["ci_high"] - reference["relative_change"] == pytest.approx(normal, rel=0.05)
    levels = [results["gender", level, "words", "both"]["n"] // 2 for level in LEVELS]
    assert levels == [25, 22, 22, 25, 26, 22]


def question(name, first, second, **more):
    return {
        "question_id": name,
        "answers": {"answer1": {"answer": first}, "answer2": {"answer": second}},
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    """Two questions in the form of the published files."""
    (tmp_path / "data").mkdir()
    applying = question("q_0", "a b", "c d e f", level="Applying")
    write(tmp_path, "raw", applying, question("q_1", "a", "b", level="Creating"))
    for name in PERTURBATIONS:
        first = question(f"q_1-{name}", "a", "b b")
        write(tmp_path, name, first, question(f"q_0-{name}", "a b c", "c d e f"))
    return tmp_path


def write(folder, name, *rows):
    text = "\n".join(map(json.dumps, rows))
    (folder / "data" / f"{name}.json").write_text(text, "utf-8")


def test_a_small_folder_by_hand(folder):
    results = changes(folder)
    words = results["gender", "", "words", "perturbed"]
    assert fields(words, "relative_change longer n") == (0.75, 1.0, 2)  # 1/2 and 1
    assert fields(words, "ci_low ci_high") == (0.5, 1.0)
    both = results["gender", "", "words", "both"]
    assert fields(both, "relative_change longer n") == (0.375, 0.5, 4)
    assert results["gender", "Applying", "characters", "perturbed"][
        "relative_change"
    ] == pytest.approx(2 / 3, abs=1e-12)
    assert np.isnan(results["gender", "Applying", "words", "perturbed"]["ci_low"])  # one question
    absent = results["gender", "Evaluating", "words", "perturbed"]
    assert absent["n"] == 0
    assert "relative_change" not in absent


def test_questions_whose_answers_a_perturbation_leaves_alone_are_not_resampled(folder):
    """One question of two is perturbed: there is nothing to resample it with."""
    as_it_was = question("q_0-gender", "a b", "c d e f")
    write(folder, "gender", question("q_1-gender", "a", "b b"), as_it_was)
    results = changes(folder)
    one = results["gender", "", "words", "perturbed"]
    assert fields(one, "relative_change n") == (1.0, 1)
    assert np.isnan([one["ci_low"], one["ci_high"]]).all()
    both = results["gender", "", "words", "both"]
    assert fields(both, "ci_low ci_high") == (0.0, 0.5)
