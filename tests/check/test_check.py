"""The check of what ratings support: every topic on small tables with known answers."""

import math
import random

import numpy as np
import pandas as pd
import pytest

from rated_tables import (
    ASKED,
    FIVE,
    by_subject,
    expect,
    findings_from,
    rated,
    rows_where,
    subjects,
)
from recuse.base.words import percent
from recuse.check.contents import own_missing
from recuse.check.facts import LEVELS, STOP, WARNING, ordered
from recuse.check.page import check_page
from recuse.check.support import prompts
from recuse.inference.power import detectable_bias
from recuse.inference.reliability import Reliability
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

SONNET, GPT35, GPT4, LLAMA, MISTRAL = FIVE
TWO = (SONNET, GPT4)
ROWS = rated()


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    """Findings of five judges that rate each other, and the facts."""
    return findings_from(tmp_path_factory.mktemp("five"), ROWS)


def near(value):
    return pytest.approx(value, abs=1e-12)


def test_contents_are_counted(check):
    rows = rated(TWO, FIVE, prompts=3, dimensions=("Tone", "Wit"))
    rows[0]["rating"] = ""
    findings = check(rows)
    expect(
        findings,
        """
        contents | rows       | | 59 | 59 complete rows of 60
        contents | judges     | | 2 | 2 judges: Claude 3 Sonnet and GPT-4o
        contents | models     | | 5
        contents | dimensions | | 2
        contents | datasets   | | 1
        contents | prompts    | | 3
        """,
    )
    assert len(subjects(findings, "contents")) == 6


def test_judges_that_are_models_and_families(check):
    expect(
        check(rated((GPT4, GPT35, "Cohere Command XLarge"), (GPT4, GPT35, MISTRAL))),
        """
        names | | | | 2 of 3 judges are also rated as models
        families | GPT | | | GPT: 2 judges, 2 models; 2 pairs of a judge and a sibling
        families | Mistral | | | Mistral: 0 judges, 1 model
        estimable | A: family-bias of GPT | | 1
        estimable | A: self-bias of Cohere Command XLarge | note | 0
            | *it rates no answers of its own*
        """,
    )


def test_which_biases_are_estimable(five, check):
    findings = by_subject(five[0])
    expect(
        findings,
        """
        estimable | ?: self-bias of * | | 1
        estimable | ?: family-bias of GPT | | 1
        estimable | ?: family-bias of Claude | | 0
        estimable | ?: family-bias of Llama 3 | | 0
        estimable | ?: family-bias of Mistral | | 0
        verdict | supports | | | supports: self-bias of 5 of 5 judges (A, B, C); family-bias of *
        verdict | supports | | | *; family-bias of 1 of 4 families (A, B, C); control for length
        verdict | does not support | |
            | does not support: family-bias of Claude, Llama 3 and Mistral (A, B, C); *
        verdict | does not support | | | *(A, B, C); correction for meas*
        """,
    )
    assert len(subjects(findings, "estimable")) == 3 * (5 + 4)
    of_two = check(rated(TWO, TWO))
    expect(
        of_two,
        """
        verdict | supports | |
            | supports: self-bias of 2 of 2 judges (A); control for length
        estimable | B: self-bias of GPT-4o | warning | 0 | *from how strict Claude 3 Sonnet is, *
        estimable | B: self-bias of GPT-4o | |
            | *, how good the answers of GPT-4o are and the self-bias*
        estimable | C: self-bias of GPT-4o | |
            | *judges and models of different families do not link GPT-4o*
        """,
    )
    assert ("detectable", f"C {GPT4}") not in of_two


def test_no_judge_is_a_model(check):
    findings = check(rated((LLAMA, MISTRAL), TWO))
    assert next(iter(findings)) == ("verdict", "supports")
    expect(
        findings,
        """
        verdict | supports | stop |
            | no self-bias or family-bias can be estimated from these ratings
            | *if it is there by another name, write one for both*
        detectable | | | none
        """,
    )
    assert [each.level for each in findings.values()].count(STOP) == 1


def test_a_judge_of_one_value_supports_nothing(check):
    findings = check(rated(rating=lambda judge, model, gt, noise: 5 if judge == GPT4 else None))
    expect(  # the ceiling is reported as one value
        findings,
        """
        one value | GPT-4o | warning
        ceiling | GPT-4o | fine | 1
        verdict | supports | |
            | supports: self-bias of 4 of 5 judges (A, B, C); family-bias of 1*
        verdict | does not support | | | does not support: self-bias of GPT-4o (A, B, C); *
        """,
    )
    assert not [subject for subject in subjects(findings, "detectable") if GPT4 in subject]
    assert subjects(findings, "one value") == [GPT4]


def test_shares_are_those_of_the_rows(check):
    """Missing rows and ratings, ends and levels of the scale, against sums over the rows."""
    whole = pd.DataFrame(rated(prompts=50, dimensions=("Tone", "Wit")))
    drawn = np.random.default_rng(3).random(len(whole))
    given = whole[drawn > 0.15]
    lost = whole[(drawn > 0.1) & (drawn <= 0.15)].assign(rating="")
    findings = check(pd.concat([given, lost]).to_dict("records"))
    for factor in ("judge", "model", "dimension"):
        missing = 1 - given.groupby(factor).size() / whole.groupby(factor).size()
        for name, share in missing.items():
            assert findings["missing", f"{factor} {name}"].value == near(share)
    expect(findings, "ceiling | * | | | * gives the highest level in*")
    expect(findings, "floor | * | | | * gives the lowest level in*")
    for judge, rows in given.groupby("judge"):
        most_used = pd.crosstab(rows["dimension"], rows["rating"]).max(axis=1).sum()
        own = (rows["model"] == judge).sum()
        shares = {
            "ceiling": (rows["rating"] == 5).mean(),
            "floor": (rows["rating"] == 1).mean(),
            "scale use": most_used / len(rows),
            "own ratings missing": (len(rows) - own) / 400 - own / 100,
        }
        for topic, share in shares.items():
            assert findings[topic, judge].value == near(share)


def test_own_ratings_that_are_missing(check):
    """A sixth of them or so; one, 2.5 points of them, may be chance."""
    own = "judge == model == 'GPT-4o'"
    rows = rows_where(f"not ({own} and gt < 2)", ROWS)
    findings = check(rows, find=own_missing)
    lost = len(ROWS) - len(rows)
    assert findings["own ratings missing", GPT4].value == near(lost / 40)
    expect(
        findings,
        """
        own ratings missing | GPT-4o          | warning
        own ratings missing | Claude 3 Sonnet | fine
        own ratings missing | GPT-3.5 Turbo   | fine
        own ratings missing | Llama 3 8B      | fine
        own ratings missing | Mistral 7B      | fine
        """,
    )
    one = rows_where(f"not ({own} and p == 0)", ROWS)
    findings = check(one, find=own_missing)
    expect(findings, "own ratings missing | GPT-4o | fine | 0.025")


def test_answers_on_several_occasions(check):
    """Human scores are an answer's, not a prompt's, and an occasion without a rating is missing."""
    rows = [
        {**row, "prompt_id": f"p{place % 20}", "occasion": place // 20}
        for row in ROWS
        for place in [int(row["prompt_id"][1:])]
    ]
    findings = check(rows)
    assert ("agreement", "human scores") not in findings
    expect(findings, "missing | | | 0\nprompts | Tone | | 20")
    findings = check(rows_where("not (judge == 'GPT-4o' and occasion == 1)", rows))
    expect(findings, "missing | judge GPT-4o | | 0.5")


def test_judges_that_never_rate_themselves_are_not_asked_again(check):
    """Blind designs: without own answers, without the family's, and judges that each rate some of
    the models.
    """
    blind, unrelated, parts = (
        check(rows_where(condition, ROWS))
        for condition in (
            "judge != model",
            "judge != model and not (j in (1, 2) and m in (1, 2))",
            "(m - j) % 5 < 3",
        )
    )
    expect(
        blind,
        "missing | own answers | warning | |"
        " | *if this is the design, there is no self-bias to estimate*",
    )
    expect(unrelated, "verdict | supports | stop | | | let the judge rate its own answers*")
    assert ("missing", "own answers") not in parts
    for findings in (blind, unrelated, parts):
        assert not any(
            each.topic == "missing" and "ask the judges again" in each.advice
            for each in findings.values()
        )


def test_a_model_of_few_answers_is_named_with_what_its_judge_can_detect(check):
    """8 of 100 prompts: the noise of the own cell alone makes a much larger bias of it than of the
    other judges' detectable. C concludes nothing.
    """
    findings = check(rows_where("model != 'GPT-4o' or p < 8", rated(prompts=100)))
    expect(
        findings,
        """
        prompts | self-bias of GPT-4o | warning | 8
            | the self-bias of GPT-4o rests on ratings of its own answers to 8 of 100 prompts
        prompts | family-bias of GPT | | 100
        verdict | does not support | |
            | *a verdict on the self-bias of GPT-4o (ratings on fewer than 10 prompts)*
        detectable | A GPT-4o | | | *its own answers are rated for 8 of 100 prompts*
        """,
    )
    assert [
        each.subject
        for each in findings.values()
        if each.topic == "prompts" and each.level == WARNING
    ] == [f"self-bias of {GPT4}"]
    others, own = sorted(findings["detectable", f"A {judge}"].value for judge in FIVE)[-2:]
    assert own == findings["detectable", f"A {GPT4}"].value > 2.5 * others
    assert ("detectable", f"C {GPT4}") not in findings
    assert findings["detectable", f"C {LLAMA}"].value > 0


def test_prompts_of_unequal_numbers_of_ratings_count_as_fewer(check):
    """Two of 40 prompts have 20 dimensions, the others one: (38 + 40)^2 / (38 + 800) prompts in
    effect.
    """
    dimensions = [f"D{place:02}" for place in range(20)]
    rows = rated(TWO, FIVE, dimensions=dimensions)
    expect(
        check(rows_where("dimension == 'D00' or p < 2", rows), find=prompts),
        """
        prompts | self-bias of GPT-4o | warning | 40
            | * to 40 of 40 prompts (as uneven as 7.3)
        """,
    )


def test_prompts_nested_in_models_are_named(check):
    apart, pairs, chained = (
        check(rows_where(condition, ROWS), find=prompts)
        for condition in ("p % 5 == m", "p % 2 == (m in (0, 2))", "p % 4 == m or p % 4 == m - 1")
    )
    expect(apart, "prompts | nested in models | | 5")
    expect(
        pairs,
        """
        prompts | nested in models | warning | 2
            | no prompt has answers of both Claude 3 Sonnet and GPT-4o and GPT-3.5 Turbo, Llama*
        prompts | nested in models | | | *, Llama 3 8B and Mistral 7B*
        """,
    )
    for findings in (chained, check(rated(FIVE, (GPT4,)), find=prompts)):
        assert ("prompts", "nested in models") not in findings


def test_verdicts_that_will_be_inconclusive_are_named(check):
    """Eight prompts; four of five models of one family."""
    expect(
        check(rated(prompts=8)),
        """
        verdict | does not support | | | *a verdict on the self-bias of Claude 3 Sonnet, *
        verdict | does not support | | | *, GPT-3.5 Turbo, GPT-4o, Llama 3 8B and Mistral 7B (*
        verdict | does not support | | | * and Mistral 7B (ratings on fewer than 10*
        """,
    )
    families = dict(zip(FIVE, ("GPT", "GPT", "GPT", "y", "x"), strict=True))
    models = {name: {"family": family} for name, family in families.items()}
    expect(
        check(ROWS, models=models),
        """
        verdict | does not support | |
            | *a verdict on the self-bias of Claude 3 Sonnet, GPT-3.5 Turbo and GPT-4o (*
        """,
    )


def test_coarse_scales_and_ratings_in_the_middle(check):
    """1 is the middle, three times in four."""
    findings = check(
        rated(score=lambda model: 1, rating=lambda judge, model, gt, noise: 1 + (noise > 0)),
        scale=(0, 2),
    )
    expect(
        findings,
        """
        scale use | Claude 3 Sonnet | note
        scale use | GPT-3.5 Turbo   | warning
        scale use | GPT-4o          | note | | GPT-4o uses 2 of 3 levels; 7*
        """,
    )


@pytest.mark.parametrize(("number", "level"), [(1, "warning"), (29, "warning"), (30, "fine")])
def test_few_prompts(number, level, check):
    findings = check(rated(prompts=number), find=prompts)
    expect(findings, f"prompts | Tone | {level} | {number}")
    expect(findings, "prompts | self-bias of * | fine")  # own answers are to all prompts


def test_one_prompt_says_nothing_about_others_but_two_do(check):
    lacking = "anything about other prompts"
    expect(check(rated(prompts=1)), f"verdict | does not support | | | *{lacking}*")
    assert lacking not in check(rated(prompts=2))["verdict", "does not support"].words


def test_reliability_and_lengths(check):
    tone = {"Tone": Reliability(0.2, 3.0, 3 / 7, "raters")}
    known = tone | {"Wit": Reliability(0.5, 3.0, 0.75, "raters")}
    rows = rated(dimensions=("Tone", "Wit"), lengths=False)
    expect(
        check(rows, reliability=known),
        """
        reliability | Tone | warning |
            | human scores of Tone have a reliability of 0.43: 3 raters with 0.20 each
        reliability | Wit | fine
        verdict | supports | | | *; correction for measurement error in the human scores
        verdict | does not support | | | *control for length (no lengths)*
        lengths | | | 0
        """,
    )
    some = [
        row | ({"pred_length": 50 + place % 7} if place % 2 else {})
        for place, row in enumerate(rows)
    ]
    partly = "*; control for length (50 % of the rows have one)*"
    expect(check(some), f"verdict | supports | | | {partly}")
    findings = check([rows[0] | {"pred_length": 50}, *rows[1:]])
    assert "length" not in findings["verdict", "supports"].words
    one = f"*control for length ({percent(1 / len(rows))} of the rows have one)*"
    expect(findings, f"verdict | does not support | | | {one}")
    expect(
        check(rows, reliability=tone),
        """
        reliability | Wit | warning | none | | *single raters' scores as `raters:`, or*
        verdict | does not support | |
            | *measurement error in the human scores (unknown reliability)*
        """,
    )
    beyond = check(rows, reliability=known | {"Wit": Reliability(1.1, 3.0, 1.03, "raters")})
    expect(beyond, "reliability | Wit | warning | 1.03")
    assert "measurement error" in beyond["verdict", "does not support"].words


def test_detectable_size_follows_from_the_errors_of_the_fit(five, check):
    """Without preference, delta times the standard error of Equation 1; four times the prompts
    halve it.
    """
    report, facts = five
    findings = by_subject(report)
    asked = {name: ASKED[name] for name in ("power", "confidence")}
    fit = pd.DataFrame(estimate(Spec.of("main"), facts.study, confidence=0.9).estimates)
    errors = fit[fit["quantity"] == "self_bias"].set_index("term")["std_error"]
    smallest = []
    for judge in FIVE:
        one = findings["detectable", f"A {judge}"]
        smallest.append(one.value)
        expected = detectable_bias(errors[judge], math.inf, **asked)
        assert one.value == pytest.approx(expected, rel=0.15)
        points = f"({4 * one.value:.2f} points) would be found with 80 % power (estimated)"
        assert points in one.words
        beyond, floor, floor_beyond = (
            findings["detectable", f"{what} {judge}"].value
            for what in ("C", "floor of A", "floor of C")
        )
        assert beyond > one.value
        assert floor <= floor_beyond
    lacking = f"*finding a self-bias below {min(smallest):.3f} (A)*"
    expect(findings, f"verdict | does not support | | | {lacking}")
    fewer, more = (
        each["detectable", f"A {GPT4}"].value for each in (findings, check(rated(prompts=160)))
    )
    assert more == pytest.approx(fewer / 2, rel=0.15)


def test_with_strong_preferences_no_number_of_prompts_is_enough(check):
    drawn = random.Random(1)
    liked = {(judge, model): drawn.choice((0, 1)) for judge in FIVE for model in FIVE}
    rows = rated(
        prompts=400,
        rating=lambda judge, model, gt, noise: min(5, max(1, gt + noise + liked[judge, model])),
    )
    never = "*no number of prompts is enough for 0.02*"
    expect(check(rows), f"detectable | A GPT-4o | | | {never}")


def test_most_important_findings_come_first(check):
    rows = rows_where("not (judge == model == 'GPT-4o' and gt < 3)", rated(prompts=20))
    findings = list(check(rows).values())
    assert [each.topic for each in findings[:3]] == ["verdict", "verdict", "prompts"]
    levels = [LEVELS.index(each.level) for each in findings[2:]]
    assert levels == sorted(levels)
    assert ordered(reversed(findings))[:3] == ordered(findings)[:3]
    assert all(each.advice for each in findings if each.level == WARNING)


@pytest.mark.parametrize(
    ("judges", "models"),
    [((GPT4,), (GPT4,)), ((GPT35, GPT4), (GPT35, GPT4)), ((GPT35, MISTRAL), (GPT4,))],
)
def test_tables_of_very_few_judges_and_models_support_nothing(judges, models, check):
    findings = check(rated(judges, models))
    expect(findings, "verdict | supports | stop")
    assert check_page("made up", list(findings.values()))


def test_page_is_read_at_80_columns(tmp_path):
    long = "A judge of a name that is longer than the column for it"
    models = {name: {"family": "one" if name in TWO else name} for name in (*FIVE, long)}
    rows = rated(
        (*TWO, LLAMA, long),
        (*FIVE, long),
        prompts=20,
        rating=lambda judge, *given: 5 if judge == LLAMA else None,
    )
    report = findings_from(tmp_path, rows, models=models)[0]
    findings, page = by_subject(report), check_page("made up", report)
    lines = page.splitlines()
    assert max(map(len, lines)) < 80
    assert page.isascii()
    parts = [
        page.index(heading)
        for heading in ("supports: ", "Warnings", "Notes", "Contents", "By judge")
    ]
    assert parts == sorted(parts)
    assert f"  1. {LLAMA} always gives the same value" in page
    ends = [percent(findings[end, long].value).replace(" ", "") for end in ("ceiling", "floor")]
    sizes = [
        f"{findings['detectable', f'{of} {long}'].value:.3f}" for of in ("A", "C", "floor of C")
    ]
    for name, cells in (
        ("A judge of a name that", ["ABC", "0%", *ends, *sizes]),
        (f"{LLAMA} ", ["-", "0%", "100%", "0%", "-", "-", "-"]),
    ):
        line = next(line for line in lines if line.startswith(name))
        assert line.split()[-7:] == cells


def test_prompts_that_some_models_answer_leave_nothing_to_ask_again(check):
    """Each prompt has answers of two of five models, of which a twentieth of the ratings failed."""
    rows = rows_where("m == p % 5 or m == p % 4", ROWS)
    findings = check(
        [row | ({"rating": ""} if number % 21 == 0 else {}) for number, row in enumerate(rows)]
    )
    assert 0.3 < findings["missing", "design"].value < 0.4
    assert findings["missing", ""].value == pytest.approx(0.05, abs=0.005)
    assert not any("ask the judges again" in finding.advice for finding in findings.values())
