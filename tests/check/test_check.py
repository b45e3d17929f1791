"""The check of what ratings support: every topic on small tables with known answers."""

import math
import random

import numpy as np
import pandas as pd
import pytest

from rated_tables import ASKED, FIVE, by_subject, findings_from, rated
from recuse.base.words import percent
from recuse.check.facts import LEVELS, NOTE, STOP, WARNING, ordered
from recuse.check.page import check_page
from recuse.inference.power import detectable_bias
from recuse.inference.reliability import Reliability
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

SONNET, GPT35, GPT4, LLAMA, MISTRAL = FIVE
TWO = (SONNET, GPT4)


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    """Findings of five judges that rate each other, and the facts."""
    return findings_from(tmp_path_factory.mktemp("five"), rated())


def words_from(report, topic, subject):
    return report[topic, subject].words


def near(value):
    return pytest.approx(value, abs=1e-12)


def test_contents_are_counted(check):
    rows = rated(TWO, FIVE, prompts=3, dimensions=("Tone", "Wit"))
    rows[0]["rating"] = ""
    findings = check(rows)
    counts = {
        subject: each.value for (topic, subject), each in findings.items() if topic == "contents"
    }
    assert counts == {
        "rows": 59,
        "judges": 2,
        "models": 5,
        "dimensions": 2,
        "datasets": 1,
        "prompts": 3,
    }
    assert words_from(findings, "contents", "rows") == "59 complete rows of 60"
    assert words_from(findings, "contents", "judges") == f"2 judges: {SONNET} and {GPT4}"


def test_judges_that_are_models_and_families(check):
    findings = check(rated((GPT4, GPT35, "Cohere Command XLarge"), (GPT4, GPT35, MISTRAL)))
    assert words_from(findings, "names", "") == "2 of 3 judges are also rated as models"
    assert (
        words_from(findings, "families", "GPT")
        == "GPT: 2 judges, 2 models; 2 pairs of a judge and a sibling"
    )
    assert words_from(findings, "families", "Mistral") == "Mistral: 0 judges, 1 model"
    assert findings["estimable", "A: family-bias of GPT"].value == 1
    alone = findings["estimable", "A: self-bias of Cohere Command XLarge"]
    assert (alone.value, alone.level) == (0, NOTE)
    assert "it rates no answers of its own" in alone.words


def test_which_biases_are_estimable(five, check):
    findings = by_subject(five[0])
    values = {
        subject: each.value for (topic, subject), each in findings.items() if topic == "estimable"
    }
    assert len(values) == 3 * (5 + 4)
    assert {subject for subject, value in values.items() if not value} == {
        f"{letter}: family-bias of {family}"
        for letter in "ABC"
        for family in ("Claude", "Llama 3", "Mistral")
    }
    verdict = (
        "self-bias of 5 of 5 judges (A, B, C); family-bias of 1 of 4 families (A, B, C); control"
        " for length"
    )
    assert words_from(findings, "verdict", "supports") == f"supports: {verdict}"
    lacking = words_from(findings, "verdict", "does not support")
    assert lacking.startswith(
        "does not support: family-bias of Claude, Llama 3 and Mistral (A, B, C); correction for"
        " meas"
    )

    of_two = check(rated(TWO, TWO))
    assert (
        words_from(of_two, "verdict", "supports")
        == "supports: self-bias of 2 of 2 judges (A); control for length"
    )
    finding = of_two["estimable", f"B: self-bias of {GPT4}"]
    assert (finding.value, finding.level) == (0, WARNING)
    assert (
        "from how strict Claude 3 Sonnet is, how good the answers of GPT-4o are and the self-bias"
        in finding.words
    )
    assert "judges and models of different families do not link GPT-4o" in words_from(
        of_two, "estimable", f"C: self-bias of {GPT4}"
    )
    assert ("detectable", f"C {GPT4}") not in of_two


def test_no_judge_is_a_model(check):
    findings = check(rated((LLAMA, MISTRAL), TWO))
    first = next(iter(findings.values()))
    assert (first.topic, first.subject, first.level) == ("verdict", "supports", STOP)
    assert first.words == "no self-bias or family-bias can be estimated from these ratings"
    assert "if it is there by another name, write one for both" in first.advice
    assert [each for each in findings.values() if each.level == STOP] == [first]
    assert findings["detectable", ""].value is None


def test_a_judge_of_one_value_supports_nothing(check):
    findings = check(rated(rating=lambda judge, model, gt, noise: 5 if judge == GPT4 else None))
    assert findings["one value", GPT4].level == WARNING
    assert words_from(findings, "verdict", "supports").startswith(
        "supports: self-bias of 4 of 5 judges (A, B, C); family-bias of 1"
    )
    assert words_from(findings, "verdict", "does not support").startswith(
        f"does not support: self-bias of {GPT4} (A, B, C); "
    )
    assert not [subject for topic, subject in findings if topic == "detectable" and GPT4 in subject]
    assert findings["ceiling", GPT4].value == 1
    assert findings["ceiling", GPT4].level == "fine"  # reported above
    assert [subject for topic, subject in findings if topic == "one value"] == [GPT4]


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
    for judge, rows in given.groupby("judge"):
        for topic, end, high in (("ceiling", 5, "highest"), ("floor", 1, "lowest")):
            assert findings[topic, judge].value == near((rows["rating"] == end).mean())
            words = words_from(findings, topic, judge)
            assert words.startswith(f"{judge} gives the {high} level in")
        most_used = pd.crosstab(rows["dimension"], rows["rating"]).max(axis=1).sum()
        assert findings["scale use", judge].value == near(most_used / len(rows))
        own = (rows["model"] == judge).sum()
        others = len(rows) - own
        difference = others / 400 - own / 100
        assert findings["own ratings missing", judge].value == near(difference)


def test_own_ratings_that_are_missing(check):
    rows = [row for row in rated() if not (row["judge"] == row["model"] == GPT4 and row["gt"] < 2)]
    lost = 40 - sum(row["judge"] == row["model"] == GPT4 for row in rows)
    findings = check(rows)
    assert findings["own ratings missing", GPT4].value == lost / 40
    assert findings["own ratings missing", GPT4].level == WARNING
    assert {findings["own ratings missing", judge].level for judge in FIVE if judge != GPT4} == {
        "fine"
    }
    one = rated()
    one.remove(next(row for row in one if row["judge"] == row["model"] == GPT4))
    chance = check(one)["own ratings missing", GPT4]  # 2.5 points, of one rating
    assert (chance.value, chance.level) == (pytest.approx(1 / 40), "fine")


def test_answers_on_several_occasions(check):
    """Human scores are an answer's, not a prompt's, and an occasion without a rating is missing."""
    rows = [
        {**row, "prompt_id": f"p{place % 20}", "occasion": place // 20}
        for row in rated()
        for place in [int(row["prompt_id"][1:])]
    ]
    findings = check(rows)
    assert ("agreement", "human scores") not in findings
    assert (findings["missing", ""].value, findings["prompts", "Tone"].value) == (0, 20)
    findings = check([row for row in rows if (row["judge"], row["occasion"]) != (GPT4, 1)])
    assert findings["missing", f"judge {GPT4}"].value == pytest.approx(0.5)


def test_judges_that_never_rate_themselves_are_not_asked_again(check):
    """Blind designs: without own answers, without the family's, and judges that each rate some of
    the models.
    """
    blind = check([row for row in rated() if row["judge"] != row["model"]])
    assert blind["missing", "own answers"].level == WARNING
    assert (
        "if this is the design, there is no self-bias to estimate"
        in blind["missing", "own answers"].advice
    )
    family = {GPT35: GPT4, GPT4: GPT35}
    unrelated = check(
        [row for row in rated() if row["model"] not in (row["judge"], family.get(row["judge"]))]
    )
    assert unrelated["verdict", "supports"].level == STOP
    assert unrelated["verdict", "supports"].advice.startswith("let the judge rate its own answers")
    places = {name: place for place, name in enumerate(FIVE)}
    parts = check([row for row in rated() if (places[row["model"]] - places[row["judge"]]) % 5 < 3])
    assert ("missing", "own answers") not in parts
    for findings in (blind, unrelated, parts):
        assert not any(
            each.topic == "missing" and "ask the judges again" in each.advice
            for each in findings.values()
        )


def test_a_model_of_few_answers_is_named_with_what_its_judge_can_detect(check):
    """8 of 100 prompts: the noise of the own cell alone makes a much larger bias of it than of the
    other judges' detectable.
    """
    few = [
        row for row in rated(prompts=100) if row["model"] != GPT4 or int(row["prompt_id"][1:]) < 8
    ]
    findings = check(few)
    named = findings["prompts", f"self-bias of {GPT4}"]
    assert (named.value, named.level) == (8, WARNING)
    assert (
        named.words
        == f"the self-bias of {GPT4} rests on ratings of its own answers to 8 of 100 prompts"
    )
    lacking = words_from(findings, "verdict", "does not support")
    assert f"a verdict on the self-bias of {GPT4} (ratings on fewer than 10 prompts)" in lacking
    assert [
        each.subject
        for each in findings.values()
        if each.topic == "prompts" and each.level == WARNING
    ] == [f"self-bias of {GPT4}"]
    assert findings["prompts", "family-bias of GPT"].value == 100  # of GPT-3.5 Turbo by GPT-4o
    sizes = {judge: findings["detectable", f"A {judge}"] for judge in FIVE}
    assert sizes[GPT4].value > 2.5 * max(sizes[judge].value for judge in FIVE if judge != GPT4)
    assert "its own answers are rated for 8 of 100 prompts" in sizes[GPT4].words
    assert ("detectable", f"C {GPT4}") not in findings  # C concludes nothing
    assert findings["detectable", f"C {LLAMA}"].value > 0


def test_prompts_of_unequal_numbers_of_ratings_count_as_fewer(check):
    """Two of 40 prompts have 20 dimensions, the others one: (38 + 40)^2 / (38 + 800) prompts in
    effect.
    """
    dimensions = [f"D{place:02}" for place in range(20)]
    rows = [
        row
        for row in rated(TWO, FIVE, dimensions=dimensions)
        if row["dimension"] == "D00" or row["prompt_id"] in ("p0", "p1")
    ]
    finding = check(rows)["prompts", f"self-bias of {GPT4}"]
    assert (finding.value, finding.level) == (40, WARNING)
    assert finding.words.endswith("to 40 of 40 prompts (as uneven as 7.3)")


def test_judges_of_one_prompt_each_have_no_slope(check):
    """No human score varies within a judge's ratings of a model: no cell is left for C."""
    findings = check(
        [row for row in rated(prompts=5) if int(row["prompt_id"][1:]) == FIVE.index(row["judge"])]
    )
    assert all(not findings["estimable", f"C: self-bias of {judge}"].value for judge in FIVE)


def test_prompts_nested_in_models_are_named(check):
    place = {name: number for number, name in enumerate(FIVE)}
    apart = check([row for row in rated() if int(row["prompt_id"][1:]) % 5 == place[row["model"]]])
    assert apart["prompts", "nested in models"].value == 5
    pairs = check(
        [row for row in rated() if int(row["prompt_id"][1:]) % 2 == (row["model"] in TWO)]
    )
    finding = pairs["prompts", "nested in models"]
    assert (finding.value, finding.level) == (2, WARNING)
    assert finding.words.startswith(
        f"no prompt has answers of both {SONNET} and {GPT4} and {GPT35}, {LLAMA} and {MISTRAL}"
    )
    chained = [
        row
        for row in rated()
        if int(row["prompt_id"][1:]) % 4 in (place[row["model"]], place[row["model"]] - 1)
    ]
    assert ("prompts", "nested in models") not in check(chained)
    assert ("prompts", "nested in models") not in check(rated(FIVE, (GPT4,)))


def test_verdicts_that_will_be_inconclusive_are_named(check):
    """Eight prompts; four of five models of one family."""
    few = words_from(check(rated(prompts=8)), "verdict", "does not support")
    assert (
        f"a verdict on the self-bias of {SONNET}, {GPT35}, {GPT4}, {LLAMA} and {MISTRAL} (ratings"
        " on fewer than 10" in few
    )
    models = {name: {"family": "GPT"} for name in FIVE} | {
        MISTRAL: {"family": "x"},
        LLAMA: {"family": "y"},
    }
    dominated = words_from(check(rated(), models=models), "verdict", "does not support")
    assert f"a verdict on the self-bias of {SONNET}, {GPT35} and {GPT4} (" in dominated


def test_human_scores_that_do_not_vary_for_a_judge(check):
    findings = check([row for row in rated() if row["judge"] != GPT4 or row["gt"] == 5])
    assert "does not vary" in words_from(findings, "estimable", f"C: self-bias of {GPT4}")


def test_coarse_scales_and_ratings_in_the_middle(check):
    findings = check(
        rated(score=lambda model: 1, rating=lambda judge, model, gt, noise: 1 + (noise > 0)),
        scale=(0, 2),
    )
    # 1 is the middle, three times in four
    assert {findings["scale use", judge].level for judge in FIVE} <= {NOTE, WARNING}
    assert words_from(findings, "scale use", GPT4).startswith(f"{GPT4} uses 2 of 3 levels; 7")


@pytest.mark.parametrize(("prompts", "level"), [(1, WARNING), (29, WARNING), (30, "fine")])
def test_few_prompts(prompts, level, check):
    findings = check(rated(prompts=prompts))
    assert (findings["prompts", "Tone"].value, findings["prompts", "Tone"].level) == (
        prompts,
        level,
    )
    assert (
        "anything about other prompts" in words_from(findings, "verdict", "does not support")
    ) == (prompts == 1)


def test_reliability_and_lengths(check):
    known = {
        "Tone": Reliability(0.2, 3.0, 3 / 7, "raters"),
        "Wit": Reliability(0.5, 3.0, 0.75, "raters"),
    }
    rows = rated(dimensions=("Tone", "Wit"), lengths=False)
    findings = check(rows, reliability=known)
    tone = words_from(findings, "reliability", "Tone")
    assert tone == "human scores of Tone have a reliability of 0.43: 3 raters with 0.20 each"
    assert [findings["reliability", name].level for name in ("Tone", "Wit")] == [WARNING, "fine"]
    assert words_from(findings, "verdict", "supports").endswith(
        "; correction for measurement error in the human scores"
    )
    assert "control for length (no lengths)" in words_from(findings, "verdict", "does not support")
    assert findings["lengths", ""].value == 0
    some = [
        row | ({"pred_length": 50 + place % 7} if place % 4 else {})
        for place, row in enumerate(rows)
    ]
    partly = "; control for length (75 % of the rows have one)"
    assert partly in words_from(check(some), "verdict", "supports")
    findings = check([rows[0] | {"pred_length": 50}, *rows[1:]])
    assert "length" not in words_from(findings, "verdict", "supports")
    one = percent(1 / len(rows))
    assert f"control for length ({one} of the rows have one)" in words_from(
        findings, "verdict", "does not support"
    )
    findings = check(rows, reliability={"Tone": known["Tone"]})
    assert findings["reliability", "Wit"].level == WARNING
    assert findings["reliability", "Wit"].value is None
    assert "single raters' scores as `raters:`, or" in findings["reliability", "Wit"].advice
    assert "measurement error in the human scores (unknown reliability)" in words_from(
        findings, "verdict", "does not support"
    )


def test_detectable_size_follows_from_the_errors_of_the_fit(five, check):
    """Without preference, delta times the standard error of Equation 1; four times the prompts
    halve it.
    """
    report, facts = five
    findings = by_subject(report)
    asked = {name: ASKED[name] for name in ("power", "confidence")}
    errors = {
        row["term"]: row["std_error"]
        for row in estimate(Spec.of("main"), facts.study, confidence=0.9).estimates
        if row["quantity"] == "self_bias"
    }
    for judge in FIVE:
        one = findings["detectable", f"A {judge}"]
        assert one.value == pytest.approx(
            detectable_bias(errors[judge], math.inf, **asked), rel=0.15
        )
        assert (
            f"({4 * one.value:.2f} points) would be found with 80 % power (estimated)" in one.words
        )
        assert findings["detectable", f"C {judge}"].value > one.value
        assert (
            findings["detectable", f"floor of A {judge}"].value
            <= findings["detectable", f"floor of C {judge}"].value
        )
    smallest = min(findings["detectable", f"A {judge}"].value for judge in FIVE)
    assert f"finding a self-bias below {smallest:.3f} (A)" in words_from(
        findings, "verdict", "does not support"
    )
    more = check(rated(prompts=160))
    assert more["detectable", f"A {GPT4}"].value == pytest.approx(
        findings["detectable", f"A {GPT4}"].value / 2, rel=0.15
    )


def test_with_strong_preferences_no_number_of_prompts_is_enough(check):
    drawn = random.Random(1)
    liked = {(judge, model): drawn.choice((0, 1)) for judge in FIVE for model in FIVE}
    rows = rated(
        prompts=400,
        rating=lambda judge, model, gt, noise: min(5, max(1, gt + noise + liked[judge, model])),
    )
    findings = check(rows)
    assert "no number of prompts is enough for 0.02" in words_from(
        findings, "detectable", f"A {GPT4}"
    )


def test_most_important_findings_come_first(check):
    rows = [
        row
        for row in rated(prompts=20)
        if not (row["judge"] == row["model"] == GPT4 and row["gt"] < 3)
    ]
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
    assert findings["verdict", "supports"].level == STOP
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
    assert max(map(len, page.splitlines())) < 80
    assert page.isascii()
    assert (
        page.index("supports: ")
        < page.index("Warnings")
        < page.index("Notes")
        < page.index("Contents")
        < page.index("By judge")
    )
    assert f"  1. {LLAMA} always gives the same value" in page
    line = next(line for line in page.splitlines() if line.startswith("A judge of a name that"))
    sizes = [findings["detectable", f"{what} {long}"].value for what in ("A", "C", "floor of C")]
    assert line.split()[-7:] == [
        "ABC",
        "0%",
        percent(findings["ceiling", long].value).replace(" ", ""),
        percent(findings["floor", long].value).replace(" ", ""),
        *map("{:.3f}".format, sizes),
    ]
    silent = next(line for line in page.splitlines() if line.startswith(f"{LLAMA} "))
    assert silent.split()[-7:] == ["-", "0%", "100%", "0%", "-", "-", "-"]


def test_prompts_that_some_models_answer_leave_nothing_to_ask_again(check):
    """Each prompt has answers of two of five models, of which a twentieth of the ratings failed."""
    rows = [
        row
        for row in rated()
        if FIVE.index(row["model"])
        in (int(row["prompt_id"][1:]) % 5, int(row["prompt_id"][1:]) % 4)
    ]
    findings = check(
        [row | ({"rating": ""} if number % 21 == 0 else {}) for number, row in enumerate(rows)]
    )
    assert 0.3 < findings["missing", "design"].value < 0.4
    assert findings["missing", ""].value == pytest.approx(0.05, abs=0.005)
    assert not any("ask the judges again" in finding.advice for finding in findings.values())
