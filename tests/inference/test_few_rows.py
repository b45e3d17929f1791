"""Studies of one or few prompts, judges or scores: every empty number has its reason, and no table
breaks.
"""

import pytest

from rated_tables import study_by_hash
from recuse.base.reasons import Reason, because
from recuse.inference.measurement_error import corrected_rows, curve_rows
from recuse.inference.sensitivity import sensitivity_rows
from recuse.model.spec import Spec

MAIN = Spec.of("main")


def tables(study):
    known = {"A": 0.8, "B": 0.9}
    yield from corrected_rows(MAIN, study, known, confidence=0.9)
    yield from curve_rows(MAIN, study, confidence=0.9)
    yield from sensitivity_rows(MAIN, study, confidence=0.9)


@pytest.mark.parametrize("prompts", [1, 4])
def test_an_estimate_without_error_has_a_reason_and_one_of_few_prompts_a_note(tmp_path, prompts):
    rows = [row for row in tables(study_by_hash(tmp_path, prompts)) if "estimate" in row]
    assert len(rows) > 180
    if prompts == 1:
        assert {row["reason"] for row in rows} == {because(Reason.NO_STANDARD_ERROR)}
        assert not any("ci_low" in row or "note" in row for row in rows)
    else:
        assert all(row["std_error"] > 0 and "reason" not in row for row in rows)
        assert all(row["note"].startswith("CR1: 4 clusters, fewer than 30") for row in rows)


def test_length_that_explains_half_of_a_term_has_a_reason(tmp_path):
    study = study_by_hash(tmp_path, 40, length="if(m = 0, 100, 10) + hash(p, m) % 3")
    rows = list(sensitivity_rows(Spec.of("length_control", length="prompt"), study, confidence=0.9))
    without = [row for row in rows if row["length_with_term"] >= 0.5]
    assert without
    for row in rows:
        assert ("bias_as_length" in row) == (row["length_with_term"] < 0.5)
    assert {row["reason"] for row in without} == {because(Reason.LENGTH_LIKE_HALF)}
