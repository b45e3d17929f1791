"""The answer to a study of comparisons says what their tables say: own answers first, against humans if there are any."""

import pytest

from recuse.base.tables import ASR, CHOICES, COGNITIVE_BIASES, LABEL_NOISE, PAIRWISE_AGREEMENT, RBO, VERDICTS
from recuse.pairwise.choices import ABSENT, ADVICE, ASK_HUMANS, DEPENDS, FIRST, NO_HUMANS, SELF, STEADIER
from recuse.report.pairwise import BY_DRAWS, NOT_FIXED, NOTHING, ONE_ORDER, answer_of_comparisons
from report_pages import texts


def verdict(quantity, term, estimate, words="no clear bias", *, question="A", **columns):
    ends = {} if estimate is None else {"ci_low": estimate - 0.02, "ci_high": estimate + 0.02}
    row = {"quantity": quantity, "term": term, "estimate": estimate, "verdict": words, "question": question, **ends}
    favours = {} if words in ("no clear bias", "cannot be told") else {"favours": "yes" if estimate > 0 else "no"}
    return row | {"advice": "keep it", "missed": 0.05} | favours | columns


def answer(verdicts=(), **tables):
    kinds = {"choices": CHOICES, "label_noise": LABEL_NOISE, "agreement": PAIRWISE_AGREEMENT, "asr": ASR, "rbo": RBO}
    kinds |= {"cognitive_biases": COGNITIVE_BIASES}
    rows = {name: texts(kinds[name], of) for name, of in tables.items()}
    return answer_of_comparisons({"verdicts": texts(VERDICTS, verdicts), **rows}, confidence=0.9)


def test_own_answers_come_first_by_size_then_length_then_the_place():
    depends = {"reason": f"{DEPENDS} (+8.0 if a draw is half a win, −7.3 if draws are left out)", "advice": STEADIER}
    result = answer(
        [
            verdict("self_bias", "A", -0.03),
            verdict("self_bias", "B", 0.08, "cannot be told", **depends),
            verdict("self_bias", "C", 0.055, "suggestive", rests_on="A", advice=ADVICE[SELF]),
            verdict("self_bias", "D", None, "cannot be told", reason="none of its own answers is compared", advice="compare"),
            verdict("longer", "A", 0.004),
            verdict("longer", "C", 0.061, "cannot be told", **depends),
            verdict("first", "A", 0.2, "established", question="", advice=ADVICE[FIRST]),
            verdict("first", "B", -0.1, "established", question="", advice=ADVICE[FIRST]),
        ]
    )
    assert result.headline == (
        "How much more often judges choose their own answers than humans do, in percentage points: B +8.0, C +5.5 and A −3.0. "
        "Suggestive: C (+5.5 points) favours itself. There is no clear bias in A; the result depends on how draws count, for "
        "B. On longer answers there is no clear bias in A; the result depends on how draws count, for C. "
        "Established: A (+20.0 points) favours the first answer; B (−10.0 points) favours the second answer."
    )
    assert result.caveats == [BY_DRAWS]
    assert result.next_steps == [
        "Do not rely on C's verdicts on its own answers.",
        "Keep judging both orders: that already balances the order bias of A and B.",
        "For B, the result on own answers cannot be separated from how draws are counted: a judge that draws less often would "
        "settle it.",
    ]
    assert [row.name for row in result.verdicts[:2]] == ["A", "B"]
    assert result.unit == "percentage points"


def test_results_alike_for_all_judges_are_said_once():
    depends = {"reason": f"{DEPENDS} (+1.0 if a draw is half a win, −1.0 if draws are left out)", "advice": STEADIER}
    result = answer(
        [
            *(verdict("self_bias", name, 0.1, "suggestive", advice=ADVICE[SELF]) for name in "AB"),
            *(verdict("longer", name, 0.01, "cannot be told", **depends) for name in "AB"),
            *(verdict("first", name, 0.01, question="") for name in "AB"),
        ]
    )
    assert result.headline.endswith("themselves. On longer answers the result depends on how draws count, for all 2 judges.")
    assert result.next_steps == ["Do not rely on the verdicts of A and B on their own answers."]


def test_without_humans_the_headline_says_what_cannot_be_told_and_gives_no_sizes():
    untold = {"question": "", "reason": NO_HUMANS, "advice": ASK_HUMANS}
    longer = verdict("longer", "A", 0.2, "cannot be told", **untold)
    first = verdict("first", "A", 0.2, "established", question="", advice=ADVICE[FIRST])
    result = answer([verdict("self_bias", "A", 0.12, "cannot be told", **untold), longer, first])
    assert result.headline == (
        "Without human labels, self-preference cannot be told from quality. Established: A (+20.0 points) favours the first "
        "answer."
    )
    assert result.caveats == [NOT_FIXED]
    assert result.next_steps[1:] == ["Have people judge some of these comparisons."]
    assert answer([longer]).headline == "Without human labels, preference for longer answers cannot be told from quality."


@pytest.mark.parametrize(
    ("judge", "human", "doubted"), [(0.4, 0.3, True), (0.6, 0.3, False), (0.8, 0.7, False), (0.6, 0.7, True)]
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
    result = answer([verdict("self_bias", "A", judge - human, "suggestive")], choices=[row])
    assert [caveat.startswith("A judge that errs at random") for caveat in result.caveats] == [True] * doubted


def test_single_orders_must_be_drawn_at_random():
    reason, advice = ABSENT[FIRST]
    result = answer([verdict("first", "A", None, "cannot be told", question="", reason=reason, advice=advice)])
    assert result.caveats == [ONE_ORDER]
    assert result.next_steps == ["A: judge each pair in both orders."]


def test_label_noise_is_a_caveat():
    rows = [
        {"quantity": "self_bias", "term": "C", "origin": "assumed", "flip_rate": 0.0, "changes_at": 0.08},
        {"quantity": "self_bias", "term": "A", "origin": "assumed", "flip_rate": 0.0, "changes_at": 0.04},
        {"quantity": "self_bias", "term": "B", "origin": "assumed", "flip_rate": 0.0},
        {"quantity": "self_bias", "term": "A", "origin": "votes", "flip_rate": 0.18, "agreement": 0.65},
    ]
    assert answer([verdict("self_bias", "A", 0.1)], label_noise=rows).caveats == [
        "Two human votes agree in 65 % of cases, as if 18 % of the labels were wrong. If 4.0 % of the human labels "
        "were wrong, A's result on own answers would change; for C, 8.0 %."
    ]


def test_agreement_and_win_rates():
    shares = {"condition": "", "order": "debiased", "ci_low": 0.4, "ci_high": 0.7}
    agreement = [shares | {"judge": "A", "value": 0.5}, shares | {"judge": "B", "value": 0.6}]
    agreement.append({"judge": "C", "condition": "", "order": "pooled", "value": 0.55})  # one order only
    wins = {"draws": "half", "n": 10}
    choices = [
        wins | {"quantity": "self_bias", "term": "A", "model": "A", "judge_share": 0.8, "human_share": 0.5},
        wins | {"quantity": "wins", "term": "A", "model": "M", "judge_share": 0.2, "human_share": 0.6},
        wins | {"quantity": "longer", "term": "A", "model": "", "judge_share": 0.9, "human_share": 0.6},
    ]
    result = answer([verdict("self_bias", "A", 0.3)], agreement=agreement, choices=choices)
    space = "\N{NO-BREAK SPACE}"
    assert result.tracking.rows == [
        ["B", f"60{space}% (40 to 70{space}%)"],
        ["C", f"55{space}%"],
        ["A", f"50{space}% (40 to 70{space}%)"],
    ]
    assert result.leaderboard.headings == ["model", "humans", "A"]
    assert result.leaderboard.rows == [["M", f"60{space}%", f"20{space}%"], ["A", f"50{space}%", f"80{space}%"]]


def test_cognitive_biases_are_compared_with_random_choices_unless_humans_say_more():
    shares = {"random": 0.25, "origin": "quoted"}
    rows = [
        shares | {"bias": "egocentric_order", "judge": name, "share": 0.5 - 0.1 * place} for place, name in enumerate("ABCDE")
    ]
    rows = [row | {"above_random": "yes" if row["share"] > 0.25 else "no"} for row in rows]
    rows += [shares | {"bias": "egocentric_order", "judge": "Human", "share": 0.9, "above_random": "yes"}]
    rows += [shares | {"bias": "bandwagon", "judge": "A", "share": 0.3, "chance": 0.2, "ci_low": 0.22, "ci_high": 0.4}]
    result = answer(cognitive_biases=rows)
    assert result.headline == "Choosing its own answer more often than at random: 3 of 5 judges."
    (point,) = result.points
    assert [name for name, _ in point.items] == ["Choosing its own answer", "Following a made-up majority"]
    assert point.items[1][1] == "more often than at random: 1 of 1 judge"
    assert "quoted from the authors' table" in point.words
    (point,) = answer([verdict("self_bias", "A", 0.3)], cognitive_biases=rows).points
    assert [name for name, _ in point.items] == ["Following a made-up majority"]


def test_attacks_and_overlap_and_nothing():
    attacks = [{"condition": "rich_content", "judge": "A", "asr": 0.4, "ci_low": 0.3, "ci_high": 0.5}]
    form = {"statistic": "judges_with_annotators", "form": "truncated", "systems": "13", "ties": "listed"}
    overlap = [form | {"judge": "A", "value": 0.55, "ci_low": -0.1, "ci_high": -0.01}]
    result = answer(asr=attacks, rbo=overlap)
    assert result.headline == (
        "Rich content wins judges over in 40\N{NO-BREAK SPACE}% of samples on average. 1 of 1 judge agree less with the "
        "annotators than the listing order does."
    )
    assert answer().headline == NOTHING
