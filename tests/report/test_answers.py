"""The answer of a report says what the tables say: of none, some and all judges, and without any estimate."""

import pytest

from recuse.base.tables import CHECK, ESTIMATES, LEADERBOARD, NOT_ESTIMABLE
from recuse.inference.robustness import HARSHER, INDISTINGUISHABLE
from recuse.report.answers import answer_of_ratings
from report_pages import CONCLUSIONS, estimate, ranked, texts


def of_ratings(estimates, *, not_estimable=(), leaderboard=(), conclusions=(), check=(), scales=None, judges=(), pooled=()):
    tables = {
        "main": texts(ESTIMATES, estimates),
        "not_estimable": texts(NOT_ESTIMABLE, not_estimable),
        "leaderboard": texts(LEADERBOARD, leaderboard),
        "conclusions": texts(CONCLUSIONS, conclusions),
        "check": texts(CHECK, check),
        "completeness": [{"judge": judge} for judge in judges],
        "pooled": pooled,
    }
    return answer_of_ratings(
        tables, confidence=0.9, errors="HC0", scales=scales or {"A": [0, 1]}, checks={"holm": "many tests"}
    )


def point(answer, heading):
    return next(point for point in answer.points if point.heading == heading)


@pytest.mark.parametrize(
    ("gaps", "headline"),
    [
        ((0.1, 0.2, 0.3), "Of 3 judges, 3 favour themselves."),
        ((0.1,), "Of 1 judge, 1 favours itself."),
        ((0.1, 0.2, 0.0), "Of 3 judges, 2 favour themselves and 1 cannot be distinguished from unbiased."),
        (
            (0.1, 0.0, -0.1, -0.2),
            "Of 4 judges, 1 favours itself, 2 are harsher on themselves and 1 cannot be distinguished from unbiased.",
        ),
        ((0.0, 0.001, -0.001), "Of 3 judges, 3 cannot be distinguished from unbiased."),
        ((-0.1,), "Of 1 judge, 1 is harsher on itself."),
        ((), "These ratings cannot say whether the judges favour themselves."),
    ],
)
def test_headline_counts_the_judges(gaps, headline):
    assert of_ratings([estimate(f"J{number}", gap) for number, gap in enumerate(gaps)]).headline == headline


def test_a_judge_without_an_interval_is_untested():
    answer = of_ratings([estimate("A", 0.1), estimate("B", 0.2, None), estimate("A", 9.0, slice="Tone")])
    assert answer.headline == "Of 2 judges, 1 favours itself and 1 cannot be tested."
    assert point(answer, "Which judges favour themselves?").items == [
        ("B", "+0.200, without an interval"),
        ("A", "+0.100 (0.084 to 0.116), favours itself"),
    ]


@pytest.mark.parametrize(
    ("gaps", "headline"),
    [
        ((0.1, 0.2), "Of 5 judges, 2 favour themselves and 3 cannot be tested."),
        ((0.1, -0.2), "Of 5 judges, 1 favours itself, 1 is harsher on itself and 3 cannot be tested."),
        ((0.0,), "Of 5 judges, 1 cannot be distinguished from unbiased and 4 cannot be tested."),
    ],
)
def test_judges_without_an_estimate_are_counted(gaps, headline):
    estimates = [estimate(judge, gap) for judge, gap in zip("ABC", gaps, strict=False)]
    assert of_ratings(estimates, judges="ABCDEEE").headline == headline


def test_models_without_a_score_are_left_out_of_both_rankings():
    raw = [ranked("raw", model, rank, 1, 3) for rank, model in enumerate("XAB", 1)]
    words = point(
        of_ratings(
            [estimate("A", 0.1)], leaderboard=[*raw, ranked("debiased", "A", 1, 1, 2), ranked("debiased", "B", 2, 1, 2)]
        ),
        "Does the ranking of models change?",
    ).words
    assert words == (
        "1 of 3 models cannot be ranked without the biases. None of 2 models moves when the biases are removed; A is first "
        "with and without them."
    )
    assert [each.heading for each in of_ratings([], leaderboard=raw).points] == ["What these ratings cannot tell"]


def test_ranks_without_rank_sets_are_of_unknown_certainty():
    board = [
        ranked(kind, model, rank, "", "")
        for kind, order in (("raw", "AB"), ("debiased", "BA"))
        for rank, model in enumerate(order, 1)
    ]
    words = point(of_ratings([estimate("A", 0.1)], leaderboard=board), "Does the ranking of models change?").words
    assert words.endswith("How certain these ranks are is not known.")


def test_gaps_are_on_the_raw_scale_too_if_all_dimensions_share_one():
    for scales, shared in (({"A": [1, 5], "B": [0, 4]}, True), ({"A": [1, 5], "B": [0, 6]}, False), ({"A": "observed"}, False)):
        ((_, words),) = point(of_ratings([estimate("J", -0.1)], scales=scales), "Which judges favour themselves?").items
        assert ("or −0.40 on the raw scale" in words) == shared


def test_what_is_not_estimable_has_its_reason():
    gap = {"spec": "main", "quantity": "self_bias", "term": "J", "reason": "not estimable: no own rows"}
    other = {"spec": "gam", "quantity": "self_bias", "term": "K", "reason": "another spec"}
    answer = of_ratings([], not_estimable=[gap, other])
    assert [(each.heading, each.items) for each in answer.points] == [
        ("What these ratings cannot tell", [("self-bias of J", "no own rows")])
    ]
    assert of_ratings([]).points[0].words.startswith("No judge rates its own models")


def test_families_are_separate_from_judges():
    answer = of_ratings([estimate("J", 0.0), estimate("F", -0.1, quantity="family_bias")])
    assert answer.headline == "Of 1 judge, 1 cannot be distinguished from unbiased."
    assert point(answer, "And their families?").items == [("F", f"−0.100 (−0.116 to −0.084), {HARSHER['family_bias']}")]


BOARD = [ranked("raw", "A", 1, 1, 2), ranked("raw", "B", 2, 1, 2), ranked("raw", "C", 3, 3, 3)]


@pytest.mark.parametrize(
    ("debiased", "words", "moves"),
    [
        ((1, 2, 3), "None of 3 models moves when the biases are removed; A is first with and without them.", []),
        (
            (2, 1, 3),
            "B is first instead of A. The rank sets before and after, at 90\N{NO-BREAK SPACE}%, overlap for all of them.",
            [("B", "from 2 to 1"), ("A", "from 1 to 2")],
        ),
        (
            (3, 2, 1),
            "2 of 3 models move when the biases are removed; C is first instead of A. The rank sets before and after, at "
            "90\N{NO-BREAK SPACE}%, do not overlap for C and A.",
            [("C", "from 3 to 1"), ("A", "from 1 to 3")],
        ),
    ],
)
def test_ranking_says_what_moves_and_how_certain_it_is(debiased, words, moves):
    sets = {1: (1, 2), 2: (1, 2), 3: (3, 3)}
    after = [ranked("debiased", name, rank, *sets[rank]) for name, rank in zip("ABC", debiased, strict=True)]
    ranking = point(of_ratings([estimate("A", 0.1)], leaderboard=BOARD + after), "Does the ranking of models change?")
    assert words in ranking.words
    assert ranking.items == moves


def test_conclusions_are_compared_with_the_other_checks():
    def concluded(term, check, verdict, first="favours itself"):
        return {"quantity": "self_bias", "term": term, "check": check, "verdict": verdict, "first": first}

    rows = [concluded("A", "published", "holds"), concluded("A", "holm", "lost"), concluded("A", "other", "not estimable")]
    rows += [concluded("B", "published", "holds"), concluded("B", "holm", "holds")]
    rows += [
        concluded("C", "published", "holds", INDISTINGUISHABLE),
        concluded("C", "holm", "new", INDISTINGUISHABLE),
    ]
    answer = of_ratings([estimate(name, 0.1) for name in "AB"] + [estimate("C", 0.0)], conclusions=rows)
    assert answer.headline.endswith(
        " 1 of 2 conclusions holds in all 1 robustness check that can be estimated; not estimable: other."
    )
    assert point(answer, "How sure is that?").items == [
        ("A favours itself", "holds in 0 of 1 robustness check that can be estimated, not in: many tests"),
        ("B favours itself", "holds in 1 of 1 robustness check"),
    ]
    rows[1:3] = [rows[1] | {"verdict": "holds"}]
    both = of_ratings([estimate(name, 0.1) for name in "AB"], conclusions=rows)
    assert both.headline.endswith(" All 2 conclusions hold in all 1 robustness check.")


def test_checks_that_cannot_be_estimated_are_named():
    row = {"quantity": "self_bias", "first": "favours itself"}
    verdicts = {
        "published": "holds",
        "holm": "holds",
        "idiosyncrasy": "holds",
        "noisy": "not estimable",
        "length": "not estimable",
    }
    rows = [{**row, "term": name, "check": check, "verdict": verdict} for name in "AB" for check, verdict in verdicts.items()]
    both = [estimate(name, 0.1) for name in "AB"]
    words = "All 2 conclusions hold in all 2 robustness checks that can be estimated; not estimable: noisy; length."
    assert of_ratings(both, conclusions=rows).headline.endswith(words)
    rows[2] |= {"verdict": "not estimable"}
    answer = of_ratings(both, conclusions=rows)
    assert answer.headline.endswith(
        "in all 2 robustness checks that can be estimated; not estimable: idiosyncrasy (of 1); noisy; length."
    )
    assert point(answer, "How sure is that?").items[0][1] == "holds in 1 of 1 robustness check that can be estimated"


def finding(topic, level="warning", words="w", **others):
    return {"topic": topic, "level": level, "words": words, **others}


def test_how_sure_adds_what_the_check_says_of_the_tests():
    check = [
        finding("verdict", "fine", "supports"),
        finding("reliability", words="how reliable the human scores of a are is not known", subject="a", advice="score twice"),
        finding("reliability", words="of b", subject="b"),
        finding("reliability", "fine", "of c", subject="c"),
        finding("ordinary preference", words="without any self-bias, one in 41 %", advice="believe C"),
    ]
    answer = of_ratings([estimate("A", 0.1)], check=check)
    assert point(answer, "How sure is that?").words.endswith(
        "are called biased. Without any self-bias, one in 41 %; believe C. How reliable the human scores of a are is "
        "not known; score twice (also b: see the table “What the ratings support”)."
    )
    assert [each.heading for each in answer.points] == ["Which judges favour themselves?", "How sure is that?"]
    without = point(of_ratings([estimate("A", 0.1)]), "How sure is that?").words
    assert without.endswith("many more than 10\xa0% of unbiased judges are called biased.")


def test_warnings_of_the_check_are_in_the_answer_most_important_first():
    topics = ("self-bias", "prompts", "own ratings missing", "ceiling", "floor", "missing", "lengths")
    check = [
        finding(topic, words=f"words of {topic}", advice=f"mind {topic}", subject=name) for topic in topics for name in "AB"
    ]
    check += [finding("ceiling", "note", "a note"), finding("families", "fine", "fine")]
    items = point(of_ratings([estimate("A", 0.1)], check=check), "Warnings").items
    table = "the table “What the ratings support”"
    assert items[0] == ("Self-bias", f"words of self-bias; mind self-bias (also B: see {table})")
    assert [name for name, _ in items[:5]] == ["Self-bias", "Prompts", "Own ratings missing", "Ceiling", "Floor"]
    assert items[5:] == [("", f"4 more in {table}")]


def average(estimate, low, high, *, left_out="", spec="main", slice_=""):
    ends = {"ci_low": str(low), "ci_high": str(high)}
    plain = {"unweighted": "0.004", "unweighted_ci_low": "-0.011", "unweighted_ci_high": "0.02"}
    about = {"spec": spec, "slice": slice_, "quantity": "self_bias", "left_out": left_out, "biases": "3"}
    return {**about, "estimate": str(estimate), **ends, **plain, "tau": "0.01"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            average(0.03, 0.01, 0.05),
            "On average judges like these 3 favour themselves by 0.030 of the scale (90\xa0% interval 0.010 to 0.050)",
        ),
        (average(-0.03, -0.05, -0.01), "On average judges like these 3 are harsher on themselves by 0.030 of the scale"),
        (average(0.01, -0.01, 0.03), "The mean self-bias of judges like these 3 cannot be distinguished from 0: +0.010"),
    ],
)
def test_the_pooled_mean_comes_first_and_not_without_the_unweighted_one(row, words):
    answer = of_ratings([estimate("A", 0.1)], pooled=[row, average(1, 1, 1, spec="by_dimension", slice_="d")])
    assert answer.headline.startswith(words)
    assert (
        "; the plain mean of these 3 alone is +0.004 (−0.011 to 0.020). By Equation 1 alone: Of 1 judge, 1 favours itself."
        in answer.headline
    )


def test_judges_without_whom_the_pooled_conclusion_changes_are_named():
    rows = [average(0.03, 0.01, 0.05), average(0.02, 0.005, 0.04, left_out="A"), average(0.01, -0.01, 0.03, left_out="B")]
    items = dict(point(of_ratings([estimate("A", 0.1)], pooled=rows), "On average over judges").items)
    assert items["without B"].endswith(", which includes 0")
    assert "without A" not in items
