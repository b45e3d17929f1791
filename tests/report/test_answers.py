"""The answer of a report says what the tables say, in the reader's unit."""

import numpy as np
import pandas as pd
import pytest

from drawings import prose, subject
from picked_rows import fields
from recuse.base.reasons import Reason, because, cure, in_words
from recuse.base.templates import said
from recuse.check.facts import CHECK
from recuse.data.describe import CORRELATIONS
from recuse.inference.leaderboard import LEADERBOARD
from recuse.inference.verdict import VERDICTS, Verdict
from recuse.model.estimates import ESTIMATES
from recuse.model.spec import BIASES
from recuse.plot.verdicts import verdicts_figure
from recuse.report.answers import LIKELY as LIKELY_AT
from recuse.report.answers import NO_TRUTH, OF_FAMILIES, QUESTION, answer_of_ratings
from recuse.report.verdict import (
    MOST,
    MOST_WORDS,
    bias_sentences,
    name_in,
    scale_unit,
    summary,
)
from report_pages import ranking, texts
from text_tables import csv_rows


def verdict(term, name, estimate=None, *, favours="", quantity="self_bias", **others):
    numbers = (
        {}
        if estimate is None
        else {"estimate": estimate, "ci_low": estimate - 0.01, "ci_high": estimate + 0.01}
    )
    about = {
        "kind": "ratings",
        "quantity": quantity,
        "term": term,
        "verdict": name,
        "favours": favours,
    }
    return about | numbers | others


NO_SCORE = in_words(Reason.NO_HUMAN_SCORE)


def answer_from(verdicts, *, scales=None, relative="", **tables):
    columns = {
        "check": CHECK,
        "leaderboard": LEADERBOARD,
        "correlations": CORRELATIONS,
        "main": ESTIMATES,
    }
    read = {
        name: texts(columns[name], rows) if name in columns else rows
        for name, rows in tables.items()
    }
    read["verdicts"] = texts(VERDICTS, verdicts)
    return answer_of_ratings(
        read, confidence=0.9, scales=scales or {"Tone": [1, 5]}, relative=relative
    )


FEW = because(Reason.FEW_PROMPTS, names="M", prompts=8, least=10)
FOUR = [
    verdict("J", Verdict.ESTABLISHED, 0.1, favours="yes", A=0.2, A_ci_low=0.1, A_ci_high=0.3),
    verdict("K", Verdict.LIKELY, -0.05, favours="no"),
    verdict("L", Verdict.NOT_SHOWN, 0.005, detectable=0.05, A=0.02, A_ci_low=0.01, A_ci_high=0.03),
    verdict("M", Verdict.INCONCLUSIVE, reason=FEW),
]
LIKELY = LIKELY_AT.format("10 %")
FAMILY = verdict("GPT", Verdict.LIKELY, 0.05, favours="yes", quantity="family_bias")


def test_the_first_table_says_what_holds_its_size_and_what_to_do():
    answer = answer_from(FOUR)
    assert [(each.verdict, each.detail) for each in answer.verdicts] == [
        ("established", "favours itself"),
        ("likely", "is harsher on itself; not confirmed after correcting for the number of judges"),
        ("not shown", "only a bias of 0.20 points or more would reliably show"),
    ]
    assert answer.unit.name == "points, scale 1 to 5"
    assert [(each.size, each.interval) for each in answer.verdicts] == [
        ("+0.40", "0.36 to 0.44"),
        ("−0.20", "−0.24 to −0.16"),
        ("+0.02", "−0.02 to 0.06"),
    ]
    assert [each.advice for each in answer.verdicts] == [
        "leave out ratings of own answers, or use the debiased ones (debiased.parquet)",
        "do not rely on ratings of own answers (likely bias)",
        "no action",
    ]
    assert answer.untested == [
        "Self-bias is untested for M: answers of M to only 8 prompts are judged, and 10 are needed."
        " To test it, rate answers to more prompts."
    ]


def test_a_bias_whose_error_is_hardly_known_says_so():
    (shown,) = answer_from([verdict("L", Verdict.NOT_SHOWN, 0.005)]).verdicts
    assert shown.detail == "too few data to say how large a bias would show"
    bare = verdict("L", Verdict.NOT_SHOWN, 0.005) | {"ci_low": None, "ci_high": None}
    assert answer_from([bare]).verdicts[0].detail == ""


def test_likely_self_biases_are_one_sentence_below_the_headline():
    assert answer_from(FOUR).further == "Likely, but not established: K is harsher on itself."
    also = verdict("N", Verdict.LIKELY, 0.02, favours="yes")
    assert answer_from([*FOUR, also, FAMILY]).further == (
        "Likely, but not established: N favours itself and K is harsher on itself."
    )
    assert answer_from(FOUR[2:]).further == ""


def test_rows_are_sorted_by_kind_verdict_and_size():
    rows = [FAMILY, *reversed(FOUR), verdict("N", Verdict.NOT_SHOWN, -0.04)]
    shown = answer_from([*rows[1:], rows[0]]).verdicts
    assert [(each.kind, each.name) for each in shown] == [
        *(("self-bias", name) for name in "JKNL"),
        ("family-bias", "GPT family"),
    ]


def test_one_axis_holds_all_marks():
    answer = answer_from(FOUR)
    first, second, third = (each.places for each in answer.verdicts)
    assert first["ci_low"] < first["estimate"] < first["ci_high"] < first["A"] < 1
    assert 0 < second["estimate"] < answer.zero < third["estimate"] < first["estimate"]
    labels = [label for _, label in answer.ticks()]
    assert labels == ["0", "+0.5"]
    assert dict(map(reversed, answer.ticks()))["0"] == pytest.approx(answer.zero)
    wide = verdict("W", Verdict.NOT_SHOWN, 0.0) | {"ci_low": -0.42, "ci_high": 0.42}
    *_, cut = answer_from([*FOUR, wide]).verdicts
    assert (cut.places["ci_low"], cut.places["ci_high"]) == (0, 1)


def test_the_cure_would_help():
    rows = [
        verdict("M", Verdict.INCONCLUSIVE, reason=reason)
        for reason in (Reason.NO_OWN_ANSWERS, Reason.NO_RESIDUAL, Reason.NO_INTERVAL)
    ]
    answer = answer_from(rows)
    assert [words.partition(" To test it, ")[2] for words in answer.untested] == [
        f"{cure(Reason.NO_OWN_ANSWERS)}.",
        f"{cure(Reason.ONE_FAMILY)}.",
        "",
    ]
    assert not any(step.endswith(": .") for step in answer.next_steps)


@pytest.mark.parametrize(
    ("columns", "hardly"),
    [
        ({"disagreement": because(Reason.HARDLY_AGREES)}, True),
        ({"agreement": 0.25, "disagreement": because(Reason.HARDLY_AGREES)}, True),
        ({"agreement": 0.25}, False),
        ({}, False),
    ],
)
def test_a_judge_that_hardly_agrees_with_people_is_not_to_be_used(columns, hardly):
    answer = answer_from([verdict("J", Verdict.NOT_SHOWN, 0.0, **columns)])
    (shown,) = answer.verdicts
    advice = "do not use (hardly any agreement with people)"
    assert (shown.hardly_agrees, shown.advice) == (hardly, advice if hardly else "no action")
    assert shown.agreement == ("0.25" if "agreement" in columns else "")
    words = " J hardly agrees with people: do not use it as a judge."
    assert answer.headline == "No self-bias is established." + words * hardly
    assert answer.next_steps[:1] == [f"J: {advice}."][:hardly] or not hardly


def test_many_judges_that_hardly_agree_with_the_others_are_counted():
    astray = {"disagreement": because(Reason.HARDLY_AGREES_WITH_JUDGES)}
    names = [f"{30 * 'a '}judge {number}" for number in range(9)]
    answer = answer_from([verdict(name, Verdict.NOT_SHOWN, 0.0, **astray) for name in names])
    assert answer.headline.endswith("9 judges hardly agree with the other judges.")


def test_the_headline_names_what_is_established():
    assert answer_from(FOUR).headline == "J (+0.40 points) favours itself."
    assert answer_from(FOUR[1:3]).headline == "No self-bias is established."
    more = [
        verdict(f"a judge called {name}", Verdict.ESTABLISHED, size, favours="yes")
        for name, size in zip("VWXYZ", (0.1, 0.2, 0.3, 0.4, 0.5), strict=True)
    ]
    largest = "a judge called Z (+2.00 points), a judge called Y (+1.60 points)"
    assert answer_from(more).headline == f"{largest} and 3 more favour themselves."
    assert (
        answer_from(FOUR[3:]).headline
        == "Self-bias is untested: answers of M to only 8 prompts are judged, and 10 are needed."
    )
    none_own = verdict("N", Verdict.INCONCLUSIVE, reason=because(Reason.NO_OWN_ANSWERS))
    assert "only 8 prompts are judged" in answer_from([*FOUR[3:], none_own]).headline
    family = {**FAMILY, "verdict": Verdict.ESTABLISHED}
    assert (
        answer_from([*FOUR[2:3], family]).headline
        == "No self-bias is established. The GPT family (+0.20 points) favours its own models."
    )


DOUBTS = {
    Reason.LONE_LEVEL: {"level": "0", "others": "9 %", "own": "0 %"},
    Reason.COPIED_RATINGS: {"whose": "Q", "share": "100 %"},
}


def test_judges_that_hardly_agree_come_first_and_there_are_at_most_four_steps():
    astray = {"disagreement": because(Reason.HARDLY_AGREES)}
    rows = [
        *FOUR,
        verdict("N", Verdict.NOT_SHOWN, 0.0, agreement=0.1, agreement_least=0.3, **astray),
        verdict("O", Verdict.INCONCLUSIVE, reason=FEW, **astray),
        verdict("Q", Verdict.NOT_SHOWN, 0.0, agreement_least=0.2),
        *(
            verdict("P", Verdict.INCONCLUSIVE, reason=because(reason, judge="P", **facts))
            for reason, facts in DOUBTS.items()
        ),
        verdict("GPT", Verdict.INCONCLUSIVE, reason=FEW, quantity="family_bias"),
    ]
    answer = answer_from(rows)
    assert [step.partition(": ")[0] for step in answer.next_steps[:-1]] == ["O and N", *"JKP"]
    assert answer.next_steps[0].endswith(": do not use (hardly any agreement with people).")
    assert answer.headline.endswith(
        ". O and N hardly agree with people: do not use them as judges."
    )
    assert answer.least == "0.30"
    assert answer_from(rows[-1:]).next_steps == []


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 200))]
)
def test_a_headline_has_at_most_thirty_words_and_agrees_with_the_table(seed):
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(rng.integers(1, 20)):
        name = " ".join(["judge", *map(str, range(rng.integers(0, 4))), str(number)])
        found, size = rng.choice(list(Verdict)), float(rng.normal(0, 0.1))
        if found == Verdict.INCONCLUSIVE:
            reason = rng.choice([FEW, because(Reason.NO_OWN_ANSWERS), because(Reason.NO_INTERVAL)])
            rows.append(verdict(name, found, reason=str(reason)))
            continue
        columns = {}
        favours = "" if found == Verdict.NOT_SHOWN else "yes" if size > 0 else "no"
        quantity = str(rng.choice(["self_bias", "family_bias"]))
        if quantity == "self_bias" and rng.random() < 0.5:
            columns["disagreement"] = because(Reason.HARDLY_AGREES)
        rows.append(verdict(name, found, size, favours=favours, quantity=quantity, **columns))
    answer = answer_from(rows)
    assert 0 < len(answer.headline.split()) <= MOST_WORDS
    established = [each.name for each in answer.verdicts if each.verdict == Verdict.ESTABLISHED]
    others = {each.name for each in answer.verdicts} - {*established}
    of_bias = answer.headline.partition(" hardly agree")[0]
    claims = [words for words in of_bias.split(". ") if "favour" in words or "harsher" in words]
    assert bool(claims) == bool(established)
    assert not any(f"{name} (" in claim for name in others for claim in claims)
    check_one_rule(answer, rows)


def check_one_rule(answer, verdicts):
    """The headline, the table, the titles of figures and the summary agree on every judge."""
    rows = texts(VERDICTS, verdicts)
    about = {"subject": {"label": "mine", "kind": "user"}, "confidence": 0.9}
    content = summary("s", about, answer, rows)
    tested = [row for row in rows if row["verdict"] != Verdict.INCONCLUSIVE]
    assert sorted((each.name, each.verdict) for each in answer.verdicts) == sorted(
        (name_in(row), row["verdict"]) for row in tested
    )
    assert [each["verdict"] for each in content["verdicts"]] == [row["verdict"] for row in rows]
    headings = content["table"]["headings"]
    if "verdict" in headings:  # what the terminal prints
        column = headings.index("verdict")
        shown = [(row[0], row[column]) for row in content["table"]["rows"]]
        assert shown == [(each.name, each.verdict) for each in answer.verdicts]
    assert content["headline"] == answer.headline
    for count in (MOST, 3, 2, 0):
        sentences = list(bias_sentences(rows, answer.unit, count))
        if all(sentence in answer.headline for sentence in sentences):
            break
    else:
        found = [row["quantity"] for row in rows if row["verdict"] == Verdict.ESTABLISHED]
        counts = {quantity: found.count(quantity) for quantity in BIASES}
        assert answer.headline.startswith(said("how_many", counts=counts))
    table = pd.DataFrame(verdicts).reindex(columns=VERDICTS)
    if tested:
        drawn = prose(verdicts_figure(table, subject(), confidence=0.9))
        assert " ".join(bias_sentences(rows)) in drawn


@pytest.mark.parametrize(
    ("own", "family", "words"),
    [
        (0, 2, "No self-bias and 2 family-biases are established."),
        (1, 0, "1 self-bias and no family-bias are established."),
        (2, 1, "2 self-biases and 1 family-bias are established."),
    ],
)
def test_biases_are_counted_where_there_are_too_many_to_name(own, family, words):
    assert said("how_many", counts={"self_bias": own, "family_bias": family}) == words


@pytest.mark.parametrize(
    ("scales", "unit", "size"),
    [
        ({"a": [1, 10], "b": [1, 10]}, "points, scale 1 to 10", "+0.90"),
        ({"a": [0, 100]}, "points, scale 0 to 100", "+10.0"),
        ({"a": [0, 50]}, "points, scale 0 to 50", "+5.0"),
        ({"a": [0, 0.5]}, "points, scale 0 to 0.5", "+0.050"),
        ({"a": [0, 1]}, "% of the scale", "+10.0"),
        ({"a": [1, 5], "b": [1, 10]}, "% of the scale", "+10.0"),
        ({"a": "observed"}, "% of the scale", "+10.0"),
    ],
)
def test_sizes_are_points_of_the_users_scale_where_there_is_one(scales, unit, size):
    assert (scale_unit(scales).name, scale_unit(scales).text("0.1")) == (unit, size)


def average(estimate, low, high, **others):
    (row,) = csv_rows("""
spec,slice,quantity,left_out,reason,biases,missing,favouring_at_least,unweighted,unweighted_ci_low,unweighted_ci_high
main,,self_bias,,,3,,0,0.004,-0.011,0.02
""")
    return {**row, "estimate": str(estimate), "ci_low": str(low), "ci_high": str(high), **others}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (average(0.03, 0.01, 0.05), "+3.0\xa0% (90\xa0% interval 1.0 to 5.0), which excludes 0"),
        (
            average(-0.03, -0.05, -0.01),
            "−3.0\xa0% (90\xa0% interval −5.0 to −1.0), which excludes 0",
        ),
        (average(0.01, -0.01, 0.03), "+1.0\xa0% (90\xa0% interval −1.0 to 3.0), which includes 0"),
    ],
)
def test_there_is_one_average(row, words):
    rows = [average(1, 1, 1, spec="by_dimension", slice="d"), row]
    pooled = answer_from(FOUR, scales={"a": [0, 1]}, pooled=rows).pooled
    assert (
        pooled == f"Average self-bias beyond ordinary preference, for judges like these 3: {words}."
    )


def test_an_end_that_rounds_to_zero_shows_its_sign():
    row = average(0.01, -0.0004, 0.03)
    assert "−0.04 to 3.0" in answer_from(FOUR, scales={"a": [0, 1]}, pooled=[row]).pooled


def test_a_mean_that_one_judge_keeps_at_zero_depends_on_it():
    pooled = [average(0.01, -0.01, 0.03), average(0.03, 0.01, 0.05, left_out="B")]
    _, depends = answer_from(FOUR, pooled=pooled).caveats
    assert "its conclusion changes without B (+0.12, 0.04 to 0.20)" in depends


def test_at_most_three_caveats_the_largest_first():
    pooled = [
        average(0.03, 0.01, 0.05),
        average(0.02, 0.005, 0.04, left_out="A"),
        average(0.01, -0.01, 0.03, left_out="B"),
        average("", "", "", left_out="C"),  # not estimable
    ]
    check = csv_rows("""
topic,level,words,advice
verdict,warning,supports nothing,
ceiling,warning,high ratings,mind them
floor,note,a note,
human scores,warning,no row has a human score,get some
""")
    caveats = answer_from(FOUR, pooled=pooled, check=check).caveats
    assert caveats == [
        LIKELY,
        (
            "The average depends on single judges: its conclusion changes without B (+0.04, −0.04"
            " to 0.12)."
        ),
        "High ratings; mind them.",
    ]
    without = answer_from(FOUR, relative=NO_SCORE, pooled=pooled, check=check)
    assert without.caveats == caveats
    assert without.truth == NO_TRUTH.format(NO_SCORE)
    assert without.headline == "J (+0.40 points) favours itself, compared with the other judges."
    check[2]["level"] = "stop"
    assert answer_from(FOUR[2:], check=check).caveats == ["High ratings; mind them.", "A note."]


FOLLOWS = {"judge": "J", "statistic": "pearson", "value": 0.5, "ci_low": 0.4, "ci_high": 0.6}


def test_do_the_judges_track_the_humans():
    rows = csv_rows("""
judge,dimension,statistic,value,ci_low,ci_high
J,,pearson,0.5,0.4,0.6
J,,weighted_kappa,0.3,0.2,0.4
J,Tone,pearson,0.9,0.8,1.0
K,,pearson,0.1,-0.1,0.3
L,,pearson,,,
""")
    slopes = csv_rows("""
spec,slice,quantity,term,estimate,ci_low,ci_high
main,,slope,J,0.6,0.5,0.7
main,Tone,slope,J,0.9,0.8,1.0
""")
    # K rates A and B alike
    scores = mean_scores(Human=[0, 1, 2], J=[0, 2, 1], K=[1, 1, 0])
    section = answer_from(FOUR, correlations=rows, main=slopes, mean_scores=scores).tracking
    assert section.rows == [
        ["J", "0.50 (0.40 to 0.60)", "0.30", "0.60 (0.50 to 0.70)", "2 of 3"],
        ["K", "0.10 (−0.10 to 0.30)", "", "", "0 of 3"],
        ["L", "–", "", "", ""],
    ]
    assert section.sentence.startswith("The human scores are not followed by K and L,")
    assert section.sentence.endswith("(correlation 0.10 to 0.50).")
    assert answer_from(FOUR, correlations=rows[:2]).tracking.sentence.endswith(
        "(correlation 0.50)."
    )
    assert answer_from(FOUR, correlations=rows, relative=NO_SCORE).tracking is None


def mean_scores(**means):
    """The table of mean scores that each judge gives the models A, B and C; in the dimension Tone,
    all are 0.
    """
    by_model = pd.DataFrame({"dimension": "", "model": [*"ABC"], **means})
    rows = by_model.melt(["dimension", "model"], var_name="judge", value_name="mean")
    rows = pd.concat([rows, rows.assign(dimension="Tone", mean=0)])
    return rows.astype(str).to_dict("records")


CHANGED = "2 of 3 models change rank when the estimated biases are removed"
BOARD = ranking("raw", "ABC")


@pytest.mark.parametrize(
    ("debiased", "ends", "words", "arrows"),
    [
        ("ABC", {}, "None of 3 models change rank when", ["–", "–", "–"]),
        ("BAC", {}, f"{CHANGED}, within the ranks that other prompts", ["▲ 1", "▼ 1", "–"]),
        ("CBA", {"rank_high": 2}, f"{CHANGED}; C is first instead of A.", ["▲ 2", "–", "▼ 2"]),
        ("CBA", {"rank_low": 2}, f"{CHANGED}; C is first instead of A.", ["▲ 2", "–", "▼ 2"]),
    ],
)
def test_the_leaderboard_has_one_row_a_model(debiased, ends, words, arrows):
    board = BOARD + ranking("debiased", debiased, **ends)
    for other in ({"spec": "by_dimension"}, {"slice": "Tone"}):
        board += ranking("raw", "CAB", **other)
    section = answer_from(FOUR, leaderboard=board).leaderboard
    assert section.sentence.startswith(words)
    assert [row[5] for row in section.rows] == arrows
    assert [row[0] for row in section.rows] == ["1", "2", "3"]


def test_the_leaderboard_ends_with_the_ranks_by_people_or_as_they_would_be():
    board = BOARD + ranking("debiased", "ABC")
    section = answer_from(
        FOUR, leaderboard=board, mean_scores=mean_scores(Human=[1, 3, 2])
    ).leaderboard
    assert section.headings[-1] == "rank by humans"
    assert [row[-1] for row in section.rows] == ["3", "1", "2"]
    section = answer_from(FOUR, leaderboard=board + ranking("as_people", "CAB")).leaderboard
    assert section.headings[-1] == "as people would rate them"
    assert [row[-1] for row in section.rows] == ["2 (1 to 3)", "3 (1 to 3)", "1 (1 to 3)"]


def test_a_draw_for_human_scores_that_nobody_states_is_doubted_once():
    def answer_with(reason, **tables):
        people = ranking("as_people", "ABC", note=reason)
        board = BOARD + ranking("debiased", "ABC") + people
        return answer_from(FOUR, leaderboard=board, **tables)

    reason = because(Reason.UNDECLARED_DRAW)
    check = csv_rows(f"""
topic,subject,level,words,advice
human scores,draw,warning,"{in_words(reason)}",
""")
    answer = answer_with(reason, check=check)
    assert (
        "does not say that the answers with human scores were drawn" in answer.leaderboard.sentence
    )
    assert answer.leaderboard.sentence.endswith(" otherwise a column.")
    assert not any("human scores" in caveat for caveat in answer.caveats)
    few = answer_with(because(Reason.FEW_AND_UNDECLARED, prompts=12, few=30)).leaderboard.sentence
    assert "12 prompts, fewer than 30, have human scores" in few
    assert few.endswith(" otherwise a column.")
    short = answer_with(because(Reason.SHORT_INTERVALS, prompts=12, few=30)).leaderboard.sentence
    assert short.endswith(" with and without them.")


def test_models_without_a_score_are_left_out_of_both_rankings():
    board = ranking("raw", "XAB") + ranking("debiased", "AB")
    sentence = answer_from(FOUR, leaderboard=board).leaderboard.sentence
    assert sentence.startswith("None of 2 models change rank")


def test_the_summary_has_numbers():
    verdicts = texts(VERDICTS, [{**FOUR[0], "term": "7"}, *FOUR[1:]])
    about = {"subject": {"label": "mine", "kind": "user"}, "confidence": 0.9}
    content = summary("s", about, answer_from(FOUR), verdicts)
    assert content["verdicts"][0]["term"] == "7"  # names stay texts
    assert content["verdicts"][0]["estimate"] == pytest.approx(0.1)
    assert content["verdicts"][3]["estimate"] is None
    assert fields(content["verdicts"][3], "reason advice") == (FEW, "rate answers to more prompts")


@pytest.mark.parametrize(
    "judges", [[], [verdict("M", Verdict.INCONCLUSIVE, reason=because(Reason.NO_OWN_ANSWERS))]]
)
def test_where_no_judge_rates_itself_the_headline_is_about_families(judges):
    words = "Self-bias is untested: no judge rated its own answers."
    answer = answer_from([*judges, FAMILY])
    assert answer.headline == words
    assert (answer.question, answer.caveats) == (QUESTION if judges else OF_FAMILIES, [LIKELY])
    clear = verdict("GPT", Verdict.NOT_SHOWN, 0.01, quantity="family_bias")
    assert fields(vars(answer_from([*judges, clear])), "headline caveats") == (words, [])


def test_the_answer_says_for_which_wordings_of_the_rubric_it_holds():
    assert answer_from(FOUR).wordings.startswith("These verdicts apply to the rubric wording used")
    assert answer_from(FOUR[3:]).wordings == ""
    three = [
        verdict("J", Verdict.ESTABLISHED, 0.1, favours="yes", wordings=3),
        verdict("K", Verdict.NOT_SHOWN, 0.0, wordings=1),
    ]
    assert (
        answer_from(three).wordings
        == "Verdicts and intervals generalise over wordings of the rubric; the judges were asked in"
        " 3; those of K apply to one wording only."
    )
    assert (
        "two say little" in answer_from([verdict("J", Verdict.NOT_SHOWN, 0.1, wordings=2)]).wordings
    )


def test_the_mean_over_wordings_has_its_interval_and_counts_no_judges():
    pooled = average(0.1, 0.05, 0.15) | {"favouring_at_least": "2", "missing": "0.1"}

    def words(*ends):
        about = {"spec": "main", "quantity": "self_bias", "term": "all judges"}
        wordings = [about | {"spec": "by_dimension", "ci_low": "-9", "ci_high": "9"}]
        wordings += [about | dict(zip(("ci_low", "ci_high"), ends, strict=True))] if ends else []
        return answer_from(FOUR, pooled=[pooled], wordings=wordings).pooled

    alone, wider, narrow = words(), words("-0.1", "0.3"), words("0.07", "0.3")
    assert "excludes 0" in alone
    assert "At least 2 of the 3 favour themselves (90\xa0% confidence)." in alone
    assert "More ratings of judges' own answers are missing than of others'" in alone
    assert "interval −0.40 to 1.20), which includes 0." in wider
    assert "interval 0.20 to 1.20)" in narrow  # the lower end allows for missing ratings
    assert "At least" not in narrow


def test_a_bias_that_is_not_shown_is_said_to_be_within_reach_if_its_interval_includes_0():
    unsupported = because(Reason.UNSUPPORTED, share="60 %")
    few_families = because(Reason.FEW_FAMILIES, least=4)
    rows = [
        verdict("J", Verdict.NOT_SHOWN, estimate, detectable=0.05, note=note, A_ci_low=-0.1)
        for estimate, note in ((0.1, unsupported), (0.1, few_families), (0, ""))
    ]
    doubtful, doubted, other = answer_from(rows).verdicts
    # Nor does it say that the gap to people points the other way
    assert doubtful.detail == (
        "its own interval excludes 0, but given all judges a bias on this side is only 60 % probable"
    )
    assert doubted.detail.startswith("its interval excludes 0, but is not confirmed")
    assert doubted.detail.endswith(f"the test is in doubt: {in_words(few_families)}")
    assert other.detail == "only a bias of 0.20 points or more would reliably show"


def test_a_partly_scored_study_says_on_how_many_prompts_agreement_rests():
    check = csv_rows("""
topic,subject,finding,level
contents,A,24,fine
contents,"B, C and the ranking",120,fine
""")
    sentence = answer_from(FOUR, correlations=[FOLLOWS], check=check).tracking.sentence
    assert sentence.endswith(" This rests on 24 of 120 prompts, those with human scores.")
    section = answer_from(FOUR, correlations=[FOLLOWS], check=check).tracking
    assert section.headings == ["judge", "correlation (90\xa0% interval)"]  # which alone has values
    whole = answer_from(FOUR, correlations=[FOLLOWS], check=check[1:]).tracking.sentence
    assert "This rests on" not in whole


@pytest.mark.parametrize(
    ("rows", "who"),
    [(FOUR, "judge"), ([FAMILY], "family"), ([*FOUR, FAMILY], "judge or family"), ([], "judge")],
)
def test_the_column_of_names_says_what_they_are(rows, who):
    assert answer_from(rows).who == who


def test_next_steps_ask_what_only_the_user_knows_and_leave_further_data_to_the_lines_below():
    level = because(Reason.LONE_LEVEL, judge="K", level="0", others="9 %", own="0 %")
    prompts = because(Reason.FEW_PROMPTS, names="L", prompts=8, least=10)
    rows = [
        verdict("K", "inconclusive", reason=level),
        verdict("L", "inconclusive", reason=prompts),
    ]
    asked = f"K: {cure(Reason.LONE_LEVEL)}."
    # Without any judge that could be tested, what would allow that is a next step
    assert answer_from(rows).next_steps == [asked, f"L: {cure(Reason.FEW_PROMPTS)}."]
    assert answer_from([*FOUR, *rows]).next_steps.count(asked) == 1
    assert not any(step.startswith("L:") for step in answer_from([*FOUR, *rows]).next_steps)
