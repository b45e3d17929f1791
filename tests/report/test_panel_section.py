"""The section of the report on panels of judges: what it says follows from the tables."""

from recuse.base.reasons import Reason, because, in_words
from recuse.inference.panel import PANEL
from recuse.inference.round_robin import ROUND_ROBIN
from recuse.report.panel import panel_section
from recuse.report.verdict import scale_unit
from report_pages import texts
from text_tables import csv_rows

ALL_JUDGES, ALL_WITH_FAMILY, TWO_JUDGES = csv_rows("""
panel,size,family_ratings,bias_left,bias_left_ci_low,bias_left_ci_high,error,error_ci_low,error_ci_high,effective,effective_ci_low,effective_ci_high
A; B; C,3,left_out,0.01,0.0,0.02,0.12,0.11,0.13,2.5,2.1,2.9
A; B; C,3,kept,0.04,0.03,0.05,0.13,0.12,0.14,2.4,2.0,2.8
A; B,2,kept,0.03,0.02,0.05,0.15,0.14,0.16,1.8,1.7,1.9
""")
PLANS = csv_rows("""
panel,judges,scheme,answers,ratings,saved,std_error,factor,bias_left
A; B; C,3,all judges,400,1440,0.0,0.0125,1.0,0.02
A; B; C,3,one judge a prompt,400,400,0.722,0.0175,1.84,0.02
A; B,2,one judge a prompt,400,400,0.5,0.0175,1.4,0.05
""")
CHOSEN = {"recommended": "yes"}
ONE_JUDGE = "one judge for each prompt: 28 % of the ratings, 1.8 times the variance"


def section_from(*panels, plans=PLANS):
    tables = texts(PANEL, panels), texts(ROUND_ROBIN, plans)
    return panel_section(*tables, scale_unit({"Tone": [1, 5]}))


def test_the_section_says_what_to_take_and_what_is_left():
    section = section_from(ALL_JUDGES | CHOSEN, ALL_WITH_FAMILY, TWO_JUDGES)
    assert section.sentence == (
        "Take all 3 judges, without ratings of their own families. Judges may treat other models"
        " differently."
    )
    assert section.rows == [
        ["this panel", "0.04 (0.00 to 0.08)", "0.48 (0.44 to 0.52)", "2.5 (2.1 to 2.9)"],
        [
            "all 3 judges, with ratings of their own families",
            "0.16 (0.12 to 0.20)",
            "0.52 (0.48 to 0.56)",
            "2.4 (2.0 to 2.8)",
        ],
        [ONE_JUDGE, "0.08", "–", "–"],
    ]
    assert len(section.headings) == 4
    assert panel_section([], [], None) is None


def test_another_panel_is_compared_with_all_judges():
    section = section_from(ALL_JUDGES, ALL_WITH_FAMILY, TWO_JUDGES | CHOSEN)
    assert section.sentence.startswith("Take A and B, with")
    assert [row[:2] for row in section.rows] == [
        ["this panel", "0.12 (0.08 to 0.20)"],
        ["all 3 judges, without ratings of their own families", "0.04 (0.00 to 0.08)"],
        [ONE_JUDGE, "0.08"],
    ]


def test_without_human_scores_no_bias_is_given():
    unscored = {**CHOSEN, "panel": "A; B; C", "size": 3, "note": Reason.NO_HUMAN_SCORE}
    absent = {"panel": "X", "size": 1, "note": because(Reason.FEW_SHARED_ANSWERS)}
    section = section_from(unscored | {"family_ratings": "left_out"}, absent, plans=[])
    assert "The remaining bias is not given: without human scores," in section.sentence
    left_out = f"Left out: X ({in_words(Reason.FEW_SHARED_ANSWERS)})."
    assert section.sentence.endswith(left_out)
    assert section.headings == ["panel"]


def test_few_prompts_are_the_reason():
    few = {"note": because(Reason.FEW_PROMPTS_OF_PANEL, least=4)}
    names = ("panel", "size", "family_ratings")
    panel = {name: ALL_JUDGES[name] for name in names} | CHOSEN | few
    section = section_from(panel, plans=[PLANS[1] | {"factor": ""}])
    assert "Ratings of fewer than 4 prompts do not show a panel's bias." in section.sentence
    assert len(section.rows) == 1
