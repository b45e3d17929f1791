"""Conclusions in words: the answer in a sentence, counts, numbers, and the page."""

import pytest
from conclusions import conclude

from conftest import ROOT
from recuse.base.tables import CONCLUSIONS, ESTIMATES, IDIOSYNCRASY, NOT_ESTIMABLE, SCORECARD, read_table, write_table
from recuse.inference.idiosyncrasy import MIXED
from recuse.inference.robustness import INDISTINGUISHABLE
from recuse.report.robustness import answers, conclusions_in, detectable_in, of_term, of_the_paper, outcome
from report_pages import Elements
from tables_of_conclusions import (
    ABSENT,
    CHECKS,
    ESTIMATED,
    FIRST,
    OTHER,
    PREFERENCE,
    RESIDUALS,
    SPECS,
    absent,
    asked,
    at,
    row,
    table,
)

PUBLISHED = {"published": 0.031, "published_ci_low": 0.02, "published_ci_high": 0.06, "ours": 0.03, "verdict": "match"}
BOTH = [row("main", "Ada", 0.03, 0.01, 0.05), row("b", "Ada", 0.03, 0.01, 0.05)]
NONE_OF_B = [absent("b", "Ada", "one family")]


def answer_of(estimates, idiosyncrasy=(), not_estimable=(), **settings):
    checks = settings.pop("checks", CHECKS)
    rows = table(*checks, estimates=estimates, idiosyncrasy=idiosyncrasy, not_estimable=not_estimable, **settings)
    return answers(rows, asked(*checks))[0]


def test_the_answer_counts_what_holds_and_what_others_find():
    rows = [each for each in table() if not each["slice"]]
    assert answers(rows, asked()) == [
        "Equation 1: of 4 judges, 2 favour themselves, 1 is harsher on itself and 1 cannot be distinguished from unbiased; 1 "
        "of 3 conclusions holds in all 2 robustness checks that can be estimated; not estimable: B (of 1). Other checks "
        "find a bias of 1 other (Cy).",
        "Equation 1: of 2 families, 1 favours its own models and 1 cannot be tested (no rows); no robustness check can be "
        "estimated.",
    ]
    tone = [each for each in table() if each["slice"]]
    assert answers(tone, asked(), label="Tone") == [
        "Tone, Equation 1: of 1 judge, 1 cannot be distinguished from unbiased. Other checks find a bias of 1 other (Ada).",
        "",
    ]


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (
            answer_of(
                [],
                not_estimable=[absent("main", "Ada", "not estimable: no row: x"), absent("main", "Bo", "no row"), *NONE_OF_B],
            ),
            "Equation 1: of 2 judges, 2 cannot be tested (no row).",
        ),
        (
            answer_of([], not_estimable=[absent("main", "Ada", "no row"), absent("main", "Bo", "x")]),
            "Equation 1: of 2 judges, 2 cannot be tested (no row; x).",
        ),
        (
            answer_of([row("main", "Ada", 0.01, -0.01, 0.05), row("b", "Ada", 0.03, 0.01, 0.05)]),
            "Equation 1: of 1 judge, 1 cannot be distinguished from unbiased. Other checks find a bias of 1 other (Ada).",
        ),
        (
            answer_of([row("main", "Ada", 0.03, 0.01, 0.05)], not_estimable=NONE_OF_B),
            "Equation 1: of 1 judge, 1 favours itself; no robustness check can be estimated.",
        ),
        (
            answer_of(
                [row("b", "Ada", 0.03, 0.01, 0.05)], not_estimable=[absent("main", "Ada", "no row")], checks=(FIRST, OTHER)
            ),
            "Equation 1: of 1 judge, 1 cannot be tested (no row). Other checks find a bias of 1 other (Ada).",
        ),
        (
            answer_of(BOTH),
            "Equation 1: of 1 judge, 1 favours itself; this conclusion holds in 1 of 1 robustness check that can be "
            "estimated; not estimable: C.",
        ),
        (
            answer_of([*BOTH, row("main", "Bo", 0.03, 0.01, 0.05)], checks=(FIRST, OTHER)),
            "Equation 1: of 2 judges, 2 favour themselves; 1 of 2 conclusions holds in all 1 robustness check that can "
            "be estimated; not estimable: B (of 1).",
        ),
        (
            answer_of(BOTH, [row("main", "Ada", 0.03, -0.01, 0.05, method=MIXED)]),
            "Equation 1: of 1 judge, 1 favours itself; this conclusion holds in 1 of 2 robustness checks.",
        ),
        (answer_of(BOTH[:1], checks=(FIRST,)), "Equation 1: of 1 judge, 1 favours itself."),
        (
            answer_of([BOTH[0], BOTH[1] | {"df": "11"}], checks=(FIRST, OTHER)),
            "Equation 1: of 1 judge, 1 favours itself (12 prompts, fewer than 30: standard errors may be too small); this "
            "conclusion holds in 1 of 1 robustness check.",
        ),
        (
            answer_of([row("main", "Ada", 0.03, -0.01, 0.05), row("b", "Ada", 0.03, 0.01, 0.05)], checks=(FIRST, OTHER)),
            "Equation 1: of 1 judge, 1 cannot be distinguished from unbiased. Other checks find a bias of 1 other (Ada, "
            "only because standard errors differ).",
        ),
    ],
)
def test_every_case_has_an_answer(case, answer):
    assert case == answer


def test_the_answer_names_the_model_of_the_first_check():
    clustered = SPECS | {"main": {"covariance": "CR1"}}
    rows = table(FIRST, estimates=BOTH[:1], specs=clustered)
    by_cr1 = answers(rows, asked(FIRST, specs=clustered))[0]
    assert by_cr1 == "Equation 1 with prompt-clustered (CR1) standard errors: of 1 judge, 1 favours itself."
    preferences = [each for each in table(PREFERENCE, FIRST) if not each["slice"]]
    assert answers(preferences, asked(PREFERENCE, FIRST))[0].startswith("“C”: of 4 judges, 1 favours itself,")


def test_what_the_paper_prints():
    scorecard = [row("main", "Ada", "") | PUBLISHED | {"published_ci_low": -0.001}]
    rows = table(scorecard=scorecard)
    assert "prints 1 of these estimates for the same ratings; 1 equal ours" in of_the_paper(rows, asked())
    assert "and 0 lead to the same conclusion" in of_the_paper(rows, asked())
    assert "Conclusions are not compared: its intervals are at 90 %." in of_the_paper(rows, asked(confidence=0.99))
    assert of_the_paper(table(), asked()) == "The paper prints none of these estimates for these ratings alone."
    assert of_the_paper(table(PREFERENCE, FIRST), asked(PREFERENCE, FIRST)) == ""


def test_counts_by_check_are_of_what_it_estimates():
    rows = [each for each in table() if not each["slice"]]

    def counts(check, quantity):
        return outcome([each for each in rows if (each["check"], each["quantity"]) == (check, quantity)])[0]

    assert counts("other", "self_bias") == "0 of 2 hold, 1 lost, 1 reversed, 1 not estimable, 1 new"
    assert counts("preference", "self_bias") == "2 of 3 hold, 1 lost"
    assert counts("other", "family_bias") == "1 not estimable"


def test_words_for_a_judge():
    rows = table()
    terms = {each.first["term"]: each for each in conclusions_in(each for each in rows if not each["slice"])}
    ada = of_term(terms["Ada"], asked())
    assert (ada["numbers"], ada["again"]) == ("+0.030 [+0.010, +0.050]", "0 of 2")
    (_, b), (_, c) = ada["changed"]
    assert b == f"+0.015 [−0.010, +0.040], {INDISTINGUISHABLE}: the others say so too"
    assert c.endswith("ordinary preference; detects a bias of 0.055 with 80 % power")
    di = of_term(terms["Di"], asked())
    assert (di["again"], di["changed"]) == ("1 of 2", [("B", "not estimable: why")])


def test_what_ordinary_preference_can_find():
    rows = table()
    size = at(rows, "preference", "Ada")["detectable"]
    assert detectable_in(rows, asked()) == f"“C” finds a self-bias of {size / 4:.3f} to {size:.3f} with 80 % power."


def written(folder, estimates=ESTIMATED, not_estimable=ABSENT, kind="published", run="one"):
    """What the script writes: the rows of the table, and the page."""
    for name, columns, rows in (
        ("estimates", ESTIMATES, estimates),
        ("idiosyncrasy", IDIOSYNCRASY, RESIDUALS),
        ("not_estimable", NOT_ESTIMABLE, not_estimable),
        ("scorecard", SCORECARD, []),
    ):
        write_table(
            folder / f"{name}.csv", columns, [{key: value for key, value in each.items() if key in columns} for each in rows]
        )
    checks = {
        "first": {"title": "A <1>", "specs": ["main", "by_dimension"], "asks": "x"},
        "other": vars(OTHER) | {"title": "B"},
    }
    del checks["other"]["name"]
    conclude(
        study="s",
        inputs={
            "estimates": [folder / "estimates.csv"],
            "not_estimable": str(folder / "not_estimable.csv"),
            "scorecard": [folder / "scorecard.csv"],
            "template": ROOT / "workflow" / "report" / "conclusions.html.j2",
        },
        checks=checks,
        specs=SPECS,
        confidence=0.9,
        power=0.8,
        instead={},
        order={},
        label="a <study>",
        kind=kind,
        outputs={"conclusions": folder / f"{run}.csv", "page": folder / f"{run}.html"},
    )
    html = (folder / f"{run}.html").read_text("utf-8")
    return read_table(folder / f"{run}.csv"), html, Elements(html).text


def test_the_script_writes_the_same_table_and_page_twice(tmp_path):
    rows, html, text = written(tmp_path)
    assert written(tmp_path, run="two") == (rows, html, text)
    assert tuple(rows[0]) == CONCLUSIONS
    assert len(rows) == 6 * 2 + 1
    assert "Equation 1: of 4 judges, 2 favour themselves, 1 is harsher on itself and 1 cannot be distinguished from" in text
    assert "does not mean “no bias”" in text
    assert "“A <1>” is Equation 1 with its own errors (HC0). A bias is found if the 90 % interval excludes 0" in text
    assert "Not by dimension: B." in text
    assert "The paper prints none" in text
    assert "A &lt;1&gt;" in html
    assert "://" not in html


def test_a_page_without_biases_begins_with_that(tmp_path):
    _, _, text = written(tmp_path, estimates=[], not_estimable=[], kind="user")
    assert "a <study> No self- or family-bias can be estimated. USER'S DATA" in text
    assert "The paper" not in text
    _, _, text = written(
        tmp_path, estimates=[], not_estimable=[absent("main", "Ada", "no ratings by this judge of its own answers")]
    )
    assert "a <study> Equation 1: of 1 judge, 1 cannot be tested (no ratings by this judge of its own answers)." in text
