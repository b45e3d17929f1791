"""The answer to a study of comparisons says what their tables say: own answers first, against
people if there are any.
"""

import pytest

from recuse.base.reasons import SENTENCES, Reason, because, cure, in_words
from recuse.base.templates import said
from recuse.base.words import entries
from recuse.inference.verdict import VERDICTS, Verdict
from recuse.pairwise.choices import CHOICES, LABEL_NOISE
from recuse.pairwise.verbosity import PAIRWISE_AGREEMENT
from recuse.papers.attacks import ASR
from recuse.papers.cobbler import RBO
from recuse.papers.cognitive import COGNITIVE_BIASES
from recuse.papers.points import further_points
from recuse.report.pairwise import NOTHING, answer_of_comparisons
from report_pages import texts
from text_tables import csv_rows

DRAWS = because(Reason.DEPENDS_ON_DRAWS, half=8.0, excluded=-7.3)
KINDS = {"longer": "shares", "first": "position"}


def verdict(quantity, term, estimate, found=Verdict.NOT_SHOWN, *, kind="shares", **columns):
    ends = {"ci_low": estimate - 0.02, "ci_high": estimate + 0.02, "detectable": 0.05}
    row = {
        "kind": KINDS.get(quantity, kind),
        "quantity": quantity,
        "term": term,
        "verdict": found,
        "estimate": estimate,
    }
    favours = (
        {"favours": "yes" if estimate > 0 else "no"}
        if found in (Verdict.LIKELY, Verdict.ESTABLISHED)
        else {}
    )
    return row | ends | favours | columns


def inconclusive(quantity, term, reason, *, kind="shares"):
    row = {
        "kind": KINDS.get(quantity, kind),
        "quantity": quantity,
        "term": term,
        "verdict": Verdict.INCONCLUSIVE,
    }
    return row | {"reason": str(reason)}


def answer(verdicts=(), **tables):
    kinds = {
        "choices": CHOICES,
        "label_noise": LABEL_NOISE,
        "agreement": PAIRWISE_AGREEMENT,
        "asr": ASR,
        "rbo": RBO,
    }
    kinds |= {"cognitive_biases": COGNITIVE_BIASES}
    rows = {name: texts(kinds[name], of) for name, of in tables.items()}
    rows["verdicts"] = texts(VERDICTS, verdicts)
    return answer_of_comparisons(rows, confidence=0.9, further=further_points(rows))


def test_own_answers_come_first_then_length_and_the_place():
    result = answer(
        [
            verdict("self_bias", "A", -0.03),
            inconclusive("self_bias", "B", DRAWS),
            verdict("self_bias", "C", 0.055, Verdict.LIKELY),
            inconclusive("self_bias", "D", Reason.NO_OWN_COMPARED),
            verdict("longer", "A", 0.004),
            inconclusive("longer", "C", DRAWS),
            verdict("first", "A", 0.2, Verdict.ESTABLISHED),
            verdict("first", "B", -0.1, Verdict.ESTABLISHED),
        ]
    )
    assert result.headline == "No self-bias is established."
    assert result.further == (
        "Established: A (+20.0 points) favours the first answer and B (−10.0 points) favours the"
        " second answer. Likely, but not established: C favours itself."
    )
    assert result.caveats == [
        "Some results depend on draws, including verdicts that change with the order. If a draw is"
        " half a win, judges with weak answers seem to favour themselves; if draws are left out,"
        " judges with strong answers do."
    ]
    assert result.next_steps == [
        "A and B: judge each pair in both orders, so that position cancels out.",
        "C: do not rely on verdicts on own answers.",
    ]
    assert [row.name for row in result.verdicts[:2]] == ["C", "A"]
    assert len(result.untested) == 3
    assert result.unit.name == "percentage points"
    assert not result.points


@pytest.mark.parametrize("kind", ["pairs", "shares"])
def test_where_no_judge_compares_its_own_answers_the_headline_says_so(kind):
    rows = [inconclusive("self_bias", name, Reason.NO_OWN_COMPARED, kind=kind) for name in "AB"]
    result = answer([*rows, verdict("first", "A", 0.2, Verdict.ESTABLISHED)])
    assert result.headline == "Self-bias is untested: no judge judged its own answers."
    assert result.further == "Established: A (+20.0 points) favours the first answer."


def test_sizes_of_the_regression_are_explained():
    result = answer([verdict("self_bias", "A", 0.1, Verdict.LIKELY, kind="pairs")])
    (point,) = result.points
    assert point.heading == "What the sizes mean"
    assert point.words == (
        "On own and family answers, a size says how much more often than half the time a judge"
        " chooses such an answer over an equally strong one, by a regression that holds fixed the"
        " strengths of models and the places and lengths of answers. On longer answers, it says how"
        " much more often the judge chooses them than people do."
    )


MANY_TESTED = "not confirmed after correcting for the number of judges"
OTHERWISE_BY_PEOPLE = "the gap to people points the other way"
SHARES_ALONE = "errors in the human labels could explain it"
BY_ALL_JUDGES = "90 % probable, given all judges"
OVER_WORDINGS = {"kind": "ratings", "wordings": 3}
MISSING = because(Reason.MISSING_OWN, share="10 %")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"kind": "pairs"}, MANY_TESTED),
        (
            {"kind": "pairs", "A_ci_low": -0.03, "A_ci_high": -0.01},
            f"{MANY_TESTED}; {OTHERWISE_BY_PEOPLE}",
        ),
        ({"kind": "pairs", "A_ci_low": -0.03, "A_ci_high": 0.01}, MANY_TESTED),
        ({"kind": "shares"}, SHARES_ALONE),
        ({"kind": "ratings", "probability_positive": 0.9}, BY_ALL_JUDGES),
        # Over wordings, either may be what is missing
        ({"probability_positive": 0.97, "adjusted_p_value": 0.2, **OVER_WORDINGS}, MANY_TESTED),
        (
            {"probability_positive": 0.9, "adjusted_p_value": 0.15, **OVER_WORDINGS},
            BY_ALL_JUDGES,
        ),
        ({"kind": "ratings", "probability_positive": 0.9, "adjusted_p_value": 0.3}, BY_ALL_JUDGES),
        (
            {"kind": "ratings", "probability_positive": 0.9, "note": MISSING},
            f"{in_words(MISSING)}; {BY_ALL_JUDGES}",
        ),
    ],
)
def test_a_likely_bias_says_why_it_is_not_established(columns, why):
    (shown,) = answer([verdict("self_bias", "A", 0.1, Verdict.LIKELY, **columns)]).verdicts
    assert shown.detail == f"favours itself; {why}"


def test_a_bias_against_own_answers_is_as_probable_as_it_is_below_0():
    against = {"kind": "ratings", "probability_positive": 0.1}
    for found in (Verdict.LIKELY, Verdict.ESTABLISHED):
        (shown,) = answer([verdict("self_bias", "A", -0.1, found, **against)]).verdicts
        assert shown.detail == f"is harsher on itself; {BY_ALL_JUDGES}"


def test_likely_and_not_shown_differ_in_words_where_one_doubt_holds_both_back():
    doubt = {"kind": "pairs", "note": Reason.NO_SPREAD_FOUND}
    rows = [
        verdict("self_bias", name, 0.1, found, **doubt)
        for name, found in (("A", Verdict.LIKELY), ("B", Verdict.NOT_SHOWN))
    ]
    rows.append(verdict("self_bias", "C", 0.0, detectable=1.2, **doubt))
    likely, not_shown, doubt_alone = (each.detail for each in answer(rows).verdicts)
    in_doubt = f"the test is in doubt: {in_words(Reason.NO_SPREAD_FOUND)}"
    assert likely == f"favours itself, but {in_doubt}"
    assert not_shown == f"its interval excludes 0, but is not confirmed, and {in_doubt}"
    assert doubt_alone == in_doubt


def test_without_people_quality_is_not_held_fixed():
    untold = [
        inconclusive(quantity, "A", Reason.NO_HUMAN_LABELS)
        for quantity in ("self_bias", "family_bias", "longer")
    ]
    result = answer([*untold, verdict("first", "A", 0.2, Verdict.ESTABLISHED)])
    assert f"Self-bias is untested: {in_words(Reason.NO_HUMAN_LABELS)}." in result.headline
    caveat = (
        "There are no human labels, so quality is not held fixed: judges may choose {} because"
        " these are better."
    )
    assert result.caveats == [
        caveat.format("their own answers or their family's answers or longer answers")
    ]
    assert result.next_steps[1:] == [f"A: {cure(Reason.NO_HUMAN_LABELS)}."]
    assert answer([untold[2]]).caveats == [caveat.format("longer answers")]


@pytest.mark.parametrize(
    ("judge", "human", "doubted"),
    [(0.4, 0.3, True), (0.6, 0.3, False), (0.8, 0.7, False), (0.6, 0.7, True)],
)
def test_what_errors_at_random_would_do_is_said(judge, human, doubted):
    row = {
        "quantity": "self_bias",
        "term": "A",
        "model": "A",
        "draws": "half",
        "judge_share": judge,
        "human_share": human,
        "n": 9,
    }
    result = answer([verdict("self_bias", "A", judge - human, Verdict.LIKELY)], choices=[row])
    assert [caveat.startswith("A judge that errs at random") for caveat in result.caveats] == [
        True
    ] * doubted


def test_single_orders_must_be_drawn_at_random():
    assert answer([inconclusive("first", "A", Reason.ONE_ORDER)]).caveats == [
        said("caveat_on", reason=Reason.ONE_ORDER)
    ]


def test_reasons_that_differ_in_facts_are_one_sentence():
    reasons = [because(Reason.DEPENDS_ON_DRAWS, half=size, excluded=-size) for size in (8.0, 9.0)]
    rows = [
        inconclusive("self_bias", name, reason) for name, reason in zip("AB", reasons, strict=True)
    ]
    assert (
        answer(rows).headline
        == f"Self-bias is untested: {entries(SENTENCES)[Reason.DEPENDS_ON_DRAWS]['short']}."
    )


def test_label_noise_is_a_caveat():
    rows = csv_rows("""
quantity,term,origin,flip_rate,changes_at,agreement
self_bias,C,assumed,0.0,0.08,
self_bias,A,assumed,0.0,0.04,
self_bias,B,assumed,0.0,,
self_bias,A,votes,0.18,,0.65
""")
    votes = "Two human votes agree in 65 % of cases, as if 18 % of them were wrong."
    changes = (
        "If 4.0 % of the human labels were wrong, the result of A on their own answers would"
        " change."
    )
    assert answer([verdict("self_bias", "A", 0.1)], label_noise=rows).caveats == [votes, changes]
    assert answer([verdict("self_bias", "A", 0.1, kind="pairs")], label_noise=rows).caveats == [
        votes
    ]


def test_agreement_and_win_rates():
    # Judge C was asked in one order only.
    agreement = csv_rows("""
judge,order,value,ci_low,ci_high
A,debiased,0.5,0.4,0.7
B,debiased,0.6,0.4,0.7
C,pooled,0.55,,
""")
    choices = csv_rows("""
quantity,term,model,draws,n,judge_share,human_share,question
self_bias,A,A,half,10,0.8,0.5,A
wins,A,M,half,10,0.2,0.6,
longer,A,,half,10,0.9,0.6,
""")
    result = answer([verdict("self_bias", "A", 0.3)], agreement=agreement, choices=choices)
    space = "\N{NO-BREAK SPACE}"
    assert result.tracking.rows == [
        ["B", f"60{space}% (40 to 70{space}%)"],
        ["C", f"55{space}%"],
        ["A", f"50{space}% (40 to 70{space}%)"],
    ]
    assert result.leaderboard.headings == ["model", "people", "A"]
    assert result.leaderboard.rows == [
        ["M", f"60{space}%", f"20{space}%"],
        ["A", f"50{space}%", f"80{space}%"],
    ]


def test_cognitive_biases_are_compared_with_random_choices_unless_humans_say_more():
    rows = csv_rows("""
bias,judge,share,above_random,random,origin,chance,ci_low,ci_high
egocentric_order,A,0.5,yes,0.25,quoted,,,
egocentric_order,B,0.4,yes,0.25,quoted,,,
egocentric_order,C,0.3,yes,0.25,quoted,,,
egocentric_order,D,0.2,no,0.25,quoted,,,
egocentric_order,E,0.1,no,0.25,quoted,,,
egocentric_order,Human,0.9,yes,0.25,quoted,,,
bandwagon,A,0.3,,0.25,quoted,0.2,0.22,0.4
""")
    result = answer(cognitive_biases=rows)
    assert result.headline == "Choosing its own answer more often than at random: 3 of 5 judges."
    (point,) = result.points
    assert [name for name, _ in point.items] == [
        "Choosing its own answer",
        "Following a made-up majority",
    ]
    assert point.items[1][1] == "more often than at random: 1 of 1 judge"
    assert "quoted from the authors' table" in point.words
    labelled = [{"quantity": "longer", "term": "A", "draws": "half", "question": "A"}]
    (point,) = answer(
        [verdict("self_bias", "A", 0.3)], cognitive_biases=rows, choices=labelled
    ).points
    assert [name for name, _ in point.items] == ["Following a made-up majority"]


def test_attacks_and_overlap_and_nothing():
    attacks = csv_rows("""
experiment,condition,judge,asr
perturbations,rich_content,A,0.4
perturbations,fake_reference,A,0.1
""")
    overlap = csv_rows("""
statistic,form,systems,ties,judge,value,ci_low,ci_high
judges_with_annotators,truncated,13,listed,A,0.55,-0.1,-0.01
""")
    result = answer(asr=attacks, rbo=overlap)
    assert (
        result.headline
        == "Rich content wins judges over in 40\N{NO-BREAK SPACE}% of samples on average. 1 of 1"
        " judge agree less with the annotators than the listing order does."
    )
    assert answer().headline == NOTHING
