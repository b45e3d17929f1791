"""How conclusions are said: the answer in a sentence, counts, numbers, and the page."""

import pytest
from conclusions import conclude

from conftest import ROOT
from recuse.base.tables import CONCLUSIONS, ESTIMATES, IDIOSYNCRASY, NOT_ESTIMABLE, SCORECARD, read_table, write_table
from recuse.inference.robustness import RobustnessCheck
from recuse.report.robustness import answers, conclusions_in, detectable_in, of_term, of_the_paper, outcomes, so_many
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


def said(estimates, idiosyncrasy=(), not_estimable=(), **settings):
    checks = settings.pop("checks", CHECKS)
    rows = table(*checks, estimates=estimates, idiosyncrasy=idiosyncrasy, not_estimable=not_estimable, **settings)
    return answers(rows, asked(*checks))[0]


def test_the_answer_counts_what_stands_and_what_others_find():
    rows = [each for each in table() if not each["slice"]]
    assert answers(rows, asked()) == [
        "Of 4 judges, 2 favour themselves and 1 is harsher on itself by Equation 1; of these 3 conclusions 1 stands in all "
        "other checks that can be estimated (Di, favours itself); “B” can only in part. Other checks find a bias of 1 "
        "other (Cy).",
        "Of 1 family (1 not estimable: no rows), 1 favours its family by Equation 1; no other check can be estimated.",
    ]
    tone = [each for each in table() if each["slice"]]
    assert answers(tone, asked(), label="Tone") == [
        "In Tone, of 1 judge, none has a bias told apart from 0 by Equation 1. Other checks find a bias of 1 other (Ada).",
        "",
    ]


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (
            said(
                [],
                not_estimable=[absent("main", "Ada", "not estimable: no row: x"), absent("main", "Bo", "no row"), *NONE_OF_B],
            ),
            "No self-bias of 2 judges can be estimated by Equation 1: no row.",
        ),
        (
            said(
                [], not_estimable=[absent("main", "Ada", "no row"), absent("main", "Bo", "no row"), absent("main", "Cy", "x")]
            ),
            "No self-bias of 3 judges can be estimated by Equation 1: no row, 2 of 3.",
        ),
        (
            said([row("main", "Ada", 0.01, -0.01, 0.05), row("b", "Ada", 0.03, 0.01, 0.05)]),
            "Of 1 judge, none has a bias told apart from 0 by Equation 1; “C” cannot be estimated. Other checks find a bias of "
            "1 other (Ada).",
        ),
        (
            said([row("main", "Ada", 0.03, 0.01, 0.05)], not_estimable=NONE_OF_B),
            "Of 1 judge, 1 favours itself by Equation 1; no other check can be estimated.",
        ),
        (
            said([row("b", "Ada", 0.03, 0.01, 0.05)], not_estimable=[absent("main", "Ada", "no row")], checks=(FIRST, OTHER)),
            "No self-bias of 1 judge can be estimated by Equation 1: no row. Other checks find a bias of 1 other (Ada).",
        ),
        (
            said(BOTH),
            "Of 1 judge, 1 favours itself by Equation 1; this conclusion stands in all other checks that can be estimated; “C” "
            "cannot be estimated.",
        ),
        (
            said([*BOTH, row("main", "Bo", 0.03, 0.01, 0.05)], checks=(FIRST, OTHER)),
            "Of 2 judges, 2 favour themselves by Equation 1; of these 2 conclusions 1 can be checked, not that of Bo; it "
            "stands in all other checks that can be estimated; “B” can only in part.",
        ),
        (
            said(BOTH, [row("main", "Ada", 0.03, -0.01, 0.05)]),
            "Of 1 judge, 1 favours itself by Equation 1; this conclusion stands in 1 of 2 other checks.",
        ),
        (said(BOTH[:1], checks=(FIRST,)), "Of 1 judge, 1 favours itself by Equation 1."),
        (
            said([BOTH[0], BOTH[1] | {"df": "11"}], checks=(FIRST, OTHER)),
            "Of 1 judge, 1 favours itself by Equation 1 (12 prompts, fewer than 30: standard errors may be too small); this "
            "conclusion stands in all other checks.",
        ),
        (
            said([row("main", "Ada", 0.03, -0.01, 0.05), row("b", "Ada", 0.03, 0.01, 0.05)], checks=(FIRST, OTHER)),
            "Of 1 judge, none has a bias told apart from 0 by Equation 1. Other checks find a bias of 1 other (Ada, only "
            "because standard errors differ).",
        ),
    ],
)
def test_every_case_has_an_answer(case, answer):
    assert case == answer


def test_what_is_said_of_judges_is_not_said_again_of_families():
    family = [row(spec, "F", 0.03, 0.01, 0.05, quantity="family_bias") for spec in ("main", "b")]
    of_judges, of_families = answers(table(estimates=[*BOTH, *family], idiosyncrasy=(), not_estimable=()), asked())
    assert of_judges.endswith("; “C” cannot be estimated.")
    assert of_families.endswith(
        "; this conclusion stands in all other checks that can be estimated; the same checks can be estimated."
    )
    alone = answers(table(estimates=[BOTH[0], family[0]], idiosyncrasy=(), not_estimable=()), asked())
    assert all(text.endswith("; no other check can be estimated.") for text in alone)


def test_as_published_are_printed_rows_by_the_papers_settings():
    def by(scorecard, *, confidence=0.9, specs=SPECS):
        rows = table(FIRST, scorecard=scorecard, estimates=[BOTH[0], row("main", "Bo", 0.01, -0.01, 0.02)], specs=specs)
        return answers(rows, asked(FIRST, confidence=confidence, specs=specs))[0].split(" by ")[1]

    both = [row("main", name, "") | PUBLISHED for name in ("Ada", "Bo")]
    assert by(both) == "Equation 1 as published."
    assert by(both[:1]) == "Equation 1."
    assert by([both[0], both[1] | {"verdict": "differs"}]) == "Equation 1."
    assert by(both, confidence=0.95) == "Equation 1."
    clustered = SPECS | {"main": {"covariance": "CR1"}}
    assert by(both, specs=clustered) == "Equation 1 with prompt-clustered (CR1) standard errors."
    preferences = [each for each in table(PREFERENCE, FIRST) if not each["slice"]]
    assert (
        "Of 3 judges (1 not estimable: no cell), 1 favours itself and 1 is harsher on itself by “C”;"
        in answers(preferences, asked(PREFERENCE, FIRST))[0]
    )


def test_what_the_paper_prints():
    scorecard = [row("main", "Ada", "") | PUBLISHED | {"published_ci_low": -0.001}]
    rows = table(scorecard=scorecard)
    assert "prints 1 of these estimates for the same ratings; 1 of them equal ours" in of_the_paper(rows, asked())
    assert "and 0 lead to the same conclusion" in of_the_paper(rows, asked())
    assert "Its intervals are of 90 %, not of 99 %" in of_the_paper(rows, asked(confidence=0.99))
    assert of_the_paper(table(), asked()) == "The paper prints none of these estimates for these ratings alone."
    assert of_the_paper(table(PREFERENCE, FIRST), asked(PREFERENCE, FIRST)) == ""


def test_counts_by_check_are_of_what_it_estimates():
    rows = [each for each in table() if not each["slice"]]
    other, preference = of_judges = outcomes(rows, asked(), "self_bias").values()
    assert str(other) == "0 of 2 stand, 1 lost, 1 reversed; 1 not estimable; 1 new"
    assert str(preference) == "2 of 3 stand, 1 lost"
    assert so_many(of_judges) == "Of 3, in each check so many stand: B 0 of 2; C 2."
    of_families = outcomes(rows, asked(), "family_bias")
    assert so_many(of_families.values()) == ""
    assert str(of_families["other"]) == "not estimable"


def test_words_for_a_judge():
    rows = table()
    terms = {each.first["term"]: each for each in conclusions_in(each for each in rows if not each["slice"])}
    ada = of_term(terms["Ada"], asked())
    assert (ada["numbers"], ada["again"]) == ("+0.030 [+0.010, +0.050]", "")
    (_, b), (_, c) = ada["changed"]
    assert b == "+0.015 [−0.010, +0.040], cannot be distinguished from 0: the others say so too"
    assert c.endswith(
        "ordinary preference; a bias of 0.055 would most likely be found; p 0.25 by its rank among cells that are "
        "neither self nor family"
    )
    di = of_term(terms["Di"], asked())
    assert (di["again"], di["changed"]) == ("C", [("B", "not estimable: why")])
    others = [RobustnessCheck(str(number), f"check {number}", ["main"], "asks") for number in range(4)]
    for checks, words in ((others, "in all 4 other checks"), ([*others, OTHER], "in the other 4 checks")):
        (only,) = conclusions_in(table(FIRST, *checks, estimates=BOTH[:1], not_estimable=()))
        assert of_term(only, asked(FIRST, *checks))["again"] == words


def test_what_ordinary_preference_can_find():
    rows = table()
    size = at(rows, "preference", "Ada")["detectable"]
    assert detectable_in(rows, asked()) == f"“C” finds a self-bias of {size / 4:.3f} to {size:.3f} with a probability of 80 %."


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


def test_script_writes_the_table_and_the_page_twice_the_same(tmp_path):
    rows, html, text = written(tmp_path)
    assert written(tmp_path, run="two") == (rows, html, text)
    assert tuple(rows[0]) == CONCLUSIONS
    assert len(rows) == 6 * 2 + 1
    assert "Of 4 judges, 2 favour themselves and 1 is harsher on itself by Equation 1; of these 3 conclusions 2 can be" in text
    assert "does not mean “no bias”" in text
    assert "“A <1>” is Equation 1 with its own errors (HC0): a conclusion is an interval of 90 % that leaves out 0" in text
    assert "By dimension there is nothing of B." in text
    assert "The paper prints none" in text
    assert "A &lt;1&gt;" in html
    assert "://" not in html


def test_a_page_without_biases_begins_with_that(tmp_path):
    _, _, text = written(tmp_path, estimates=[], not_estimable=[], kind="user")
    assert "a <study> Nothing is concluded: no self- or family-bias is estimated. USER'S DATA" in text
    assert "The paper" not in text
    _, _, text = written(tmp_path, estimates=[], not_estimable=[absent("main", "Ada", "no row of this judge rates itself")])
    assert "a <study> No self-bias of 1 judge can be estimated by Equation 1: no row of this judge rates itself." in text
