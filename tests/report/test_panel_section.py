"""The section of the report on panels of judges: what it says follows from the tables."""

import pytest
from numpy.random import default_rng

from recuse.base.reasons import Reason, because, in_words
from recuse.inference.judge_levels import linked_judges
from recuse.inference.panel import PANEL, panel_rows
from recuse.inference.round_robin import ROUND_ROBIN, round_robin_rows
from recuse.report.panel import panel_section
from recuse.report.verdict import scale_unit
from recuse.validation.world import MonteCarloWorld
from report_pages import texts as as_texts

DIALS = {
    "families": [2, 1, 1, 1],
    "dimensions": 2,
    "prompts": 80,
    "intercept": 0.1,
    "slope": 1.0,
    "noise": 0.2,
}
UNIT = scale_unit({"Tone": [1, 5]})


def tables_from(error_of_one=0.0, **dials):
    study = MonteCarloWorld(**DIALS | {"self_bias": 0.1} | dials).draw(default_rng(2))
    study.rating[:, :, 4, 2] += error_of_one
    judges = linked_judges(study)
    rows = panel_rows(judges, study, {}, [], least=5, confidence=0.9)
    return rows, list(round_robin_rows(judges, study, rows))


@pytest.fixture(scope="module")
def rows():
    return tables_from()


@pytest.fixture(scope="module")
def without_one():
    return tables_from(0.5)


def section_from(rows, plans):
    section = panel_section(as_texts(PANEL, rows), as_texts(ROUND_ROBIN, plans), UNIT)
    return section, section.sentence


def test_the_section_says_what_to_take_and_what_is_left(rows):
    section, sentence = section_from(*rows)
    first = rows[0][0]
    assert sentence == (
        "Take all 5 judges, without ratings of their own families. Judges may treat other models"
        " differently."
    )
    take, everyone, one = section.rows
    assert take[0] == "this panel"
    low, high = (4 * first[f"bias_left_ci_{end}"] for end in ("low", "high"))
    assert take[1] == f"{4 * first['bias_left']:.2f} ({low:.2f} to {high:.2f})"
    assert take[3].startswith(f"{first['effective']:.1f} (")
    assert everyone[0] == "all 5 judges, with ratings of their own families"
    assert one[0].startswith("one judge for each prompt: 28 % of the ratings, ")  # 5 of 18
    assert one[1:] == [f"{4 * first['bias_left']:.2f}", "–", "–"]
    assert {len(row) for row in section.rows} == {len(section.headings)}
    assert panel_section([], [], UNIT) is None


def test_another_panel_is_compared_with_all_judges(without_one):
    section, sentence = section_from(*without_one)
    first = without_one[0][0]
    (chosen,) = (row for row in without_one[0] if "recommended" in row)
    assert sentence.startswith("Take Model 1, Model 2, Model 3 and Model 4, with")
    assert section.rows[1][0] == "all 5 judges, without ratings of their own families"
    assert section.rows[2][0].startswith("one judge for each prompt: ")
    for shown, row in zip(section.rows, (chosen, first), strict=False):
        for cell, name in zip(shown[1:], ("bias_left", "error"), strict=False):
            assert cell.startswith(f"{4 * row[name]:.2f} (")


def test_without_human_scores_no_bias_is_given():
    rows, plans = tables_from(humans=False)
    absent = {"panel": "X", "size": 1, "note": because(Reason.FEW_SHARED_ANSWERS)}
    section, sentence = section_from([*rows, absent], plans)
    assert "The remaining bias is not given: without human scores," in sentence
    assert sentence.endswith(f"Left out: X ({in_words(Reason.FEW_SHARED_ANSWERS)}).")
    assert section.headings == ["panel"]


def test_few_prompts_are_the_reason():
    _, sentence = section_from(*tables_from(prompts=3))
    assert "Ratings of fewer than 4 prompts do not show a panel's bias." in sentence
