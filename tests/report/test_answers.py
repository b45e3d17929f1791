"""The answer of a report says what the tables say: of none, some and all judges, and where nothing can be told."""

import pytest

from recuse.base.tables import CHECK, ESTIMATES, LEADERBOARD, NOT_ESTIMABLE
from recuse.report.answers import answer_of_ratings
from report_pages import CONCLUSIONS, estimate, ranked, texts


def of_ratings(estimates, *, not_estimable=(), leaderboard=(), conclusions=(), check=(), scales=None, judges=()):
    tables = {
        "main": texts(ESTIMATES, estimates),
        "not_estimable": texts(NOT_ESTIMABLE, not_estimable),
        "leaderboard": texts(LEADERBOARD, leaderboard),
        "conclusions": texts(CONCLUSIONS, conclusions),
        "check": texts(CHECK, check),
        "completeness": [{"judge": judge} for judge in judges],
    }
    return answer_of_ratings(
        tables, confidence=0.9, errors="HC0", scales=scales or {"A": [0, 1]}, checks={"holm": "many tests"}
    )


def point(answer, heading):
    return next(point for point in answer.points if point.heading == heading)


@pytest.mark.parametrize(
    ("gaps", "headline"),
    [
        ((0.1, 0.2, 0.3), "All 3 judges favour themselves."),
        ((0.1, 0.2), "Both judges favour themselves."),
        ((0.1,), "The one judge favours itself."),
        ((0.1, 0.2, 0.0), "2 of 3 judges favour themselves."),
        ((0.1, 0.0, -0.1, -0.2), "1 of 4 judges favours itself; 2 are harsher on themselves."),
        ((0.0, 0.001, -0.001), "None of the 3 judges is shown to favour itself."),
        ((0.0, -0.1), "None of the 2 judges is shown to favour itself; 1 is harsher on itself."),
        ((0.0,), "The one judge is not shown to favour itself."),
        ((-0.1,), "The one judge is harsher on itself."),
        ((), "These ratings cannot say whether their judges favour themselves."),
    ],
)
def test_headline_counts_the_judges(gaps, headline):
    assert of_ratings([estimate(f"J{number}", gap) for number, gap in enumerate(gaps)]).headline == headline


def test_a_judge_without_an_interval_is_not_counted_but_named():
    answer = of_ratings([estimate("A", 0.1), estimate("B", 0.2, None), estimate("A", 9.0, slice="Tone")])
    assert answer.headline == "1 of 2 judges favours itself; of 1 it cannot be told."
    assert point(answer, "Which judges favour themselves?").items == [
        ("B", "+0.200, without an interval"),
        ("A", "+0.100 (0.084 to 0.116), favours itself"),
    ]


@pytest.mark.parametrize(
    ("gaps", "headline"),
    [
        ((0.1, 0.2), "2 of 5 judges favour themselves; of 3 it cannot be told."),
        ((0.1, -0.2), "1 of 5 judges favours itself; 1 is harsher on itself; of 3 it cannot be told."),
        ((0.0,), "None of the 5 judges is shown to favour itself; of 4 it cannot be told."),
    ],
)
def test_judges_of_whom_nothing_is_known_are_counted(gaps, headline):
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
        "1 of 3 models cannot be ranked without the biases. Of the others, taking the biases off moves no model; A is first "
        "with and without them."
    )
    assert [each.heading for each in of_ratings([], leaderboard=raw).points] == ["What these ratings cannot tell"]


def test_ranks_without_sets_are_not_said_to_overlap():
    board = [
        ranked(kind, model, rank, "", "")
        for kind, order in (("raw", "AB"), ("debiased", "BA"))
        for rank, model in enumerate(order, 1)
    ]
    words = point(of_ratings([estimate("A", 0.1)], leaderboard=board), "Does the ranking of models change?").words
    assert words.endswith("How sure these ranks are cannot be told here.")


def test_gaps_are_told_on_the_raw_scale_where_all_dimensions_share_one():
    for scales, told in (({"A": [1, 5], "B": [0, 4]}, True), ({"A": [1, 5], "B": [0, 6]}, False), ({"A": "observed"}, False)):
        ((_, words),) = point(of_ratings([estimate("J", -0.1)], scales=scales), "Which judges favour themselves?").items
        assert ("or −0.40 on the raw scale" in words) == told


def test_what_is_not_estimable_is_said_with_its_reason():
    gap = {"spec": "main", "quantity": "self_bias", "term": "J", "reason": "not estimable: no own rows"}
    other = {"spec": "gam", "quantity": "self_bias", "term": "K", "reason": "another spec"}
    answer = of_ratings([], not_estimable=[gap, other])
    assert [(each.heading, each.items) for each in answer.points] == [
        ("What these ratings cannot tell", [("self-bias of J", "no own rows")])
    ]
    assert of_ratings([]).points[0].words.startswith("No judge rates models of its own")


def test_families_are_told_apart_from_judges():
    answer = of_ratings([estimate("J", 0.0), estimate("F", -0.1, quantity="family_bias")])
    assert answer.headline == "The one judge is not shown to favour itself."
    assert point(answer, "And their families?").items == [("F", "−0.100 (−0.116 to −0.084), harsher on its family")]


BOARD = [ranked("raw", "A", 1, 1, 2), ranked("raw", "B", 2, 1, 2), ranked("raw", "C", 3, 3, 3)]


@pytest.mark.parametrize(
    ("debiased", "said", "moves"),
    [
        ((1, 2, 3), "No: taking the biases off moves no model; A is first with and without them.", []),
        ((2, 1, 3), "B is first instead of A. But no rank is so sure", [("B", "from 2 to 1"), ("A", "from 1 to 2")]),
        (
            (3, 2, 1),
            "2 of 3 models move when the biases are taken off; "
            "C is first instead of A. Of C and A the ranks before and "
            "after exclude each other",
            [("C", "from 3 to 1"), ("A", "from 1 to 3")],
        ),
    ],
)
def test_ranking_says_what_moves_and_whether_it_is_sure(debiased, said, moves):
    sets = {1: (1, 2), 2: (1, 2), 3: (3, 3)}
    after = [ranked("debiased", name, rank, *sets[rank]) for name, rank in zip("ABC", debiased, strict=True)]
    found = point(of_ratings([estimate("A", 0.1)], leaderboard=BOARD + after), "Does the ranking of models change?")
    assert said in found.words
    assert found.items == moves


def test_conclusions_are_held_against_the_other_checks():
    def concluded(term, check, verdict, first="favours itself"):
        return {"quantity": "self_bias", "term": term, "check": check, "verdict": verdict, "first": first}

    rows = [concluded("A", "published", "holds"), concluded("A", "holm", "lost"), concluded("A", "other", "not estimable")]
    rows += [concluded("B", "published", "holds"), concluded("B", "holm", "holds")]
    rows += [
        concluded("C", "published", "holds", "cannot be distinguished from 0"),
        concluded("C", "holm", "new", "cannot be distinguished from 0"),
    ]
    answer = of_ratings([estimate(name, 0.1) for name in "AB"] + [estimate("C", 0.0)], conclusions=rows)
    said = " Of these 2 conclusions 1 stands in the one other check that can be told here; not known: other."
    assert answer.headline.endswith(said)
    assert point(answer, "How sure is that?").items == [
        ("A favours itself", "stands in 0 of 1 other checks that can tell, not in: many tests"),
        ("B favours itself", "stands in the one other check"),
    ]
    rows[1:3] = [rows[1] | {"verdict": "holds"}]
    both = of_ratings([estimate(name, 0.1) for name in "AB"], conclusions=rows)
    assert both.headline.endswith(" Both conclusions stand in every other check.")


def test_checks_that_could_not_be_asked_are_named():
    row = {"quantity": "self_bias", "first": "favours itself"}
    verdicts = {
        "published": "holds",
        "holm": "holds",
        "idiosyncrasy": "holds",
        "noisy": "not estimable",
        "length": "not estimable",
    }
    rows = [{**row, "term": name, "check": check, "verdict": said} for name in "AB" for check, said in verdicts.items()]
    both = [estimate(name, 0.1) for name in "AB"]
    said = "Both conclusions stand in each of the 2 other checks that can be told here; not known: noisy; length."
    assert of_ratings(both, conclusions=rows).headline.endswith(said)
    rows[2] |= {"verdict": "not estimable"}
    answer = of_ratings(both, conclusions=rows)
    assert answer.headline.endswith(
        "in each of the 2 other checks that can be told here; not known: idiosyncrasy (for 1 of 2); noisy; length."
    )
    assert point(answer, "How sure is that?").items[0][1] == "stands in the one other check that can tell"


def finding(topic, level="warning", words="w", **others):
    return {"topic": topic, "level": level, "words": words, **others}


def test_how_sure_says_what_the_check_estimates_beside_chance():
    check = [
        finding("verdict", "fine", "supports"),
        finding("reliability", words="how reliable the human scores of a are is not known", subject="a", advice="score twice"),
        finding("reliability", words="of b", subject="b"),
        finding("reliability", "fine", "of c", subject="c"),
        finding("ordinary preference", words="without any self-bias, one in 41 %", advice="believe C"),
    ]
    answer = of_ratings([estimate("A", 0.1)], check=check)
    assert point(answer, "How sure is that?").words.endswith(
        "by chance alone. Without any self-bias, one in 41 %; believe C. How reliable the human scores of a are is "
        "not known; score twice (so, too, in the table “What the ratings support”: b)."
    )
    assert [each.heading for each in answer.points] == ["Which judges favour themselves?", "How sure is that?"]
    without = point(of_ratings([estimate("A", 0.1)]), "How sure is that?").words
    assert without.endswith("by chance alone.")


def test_warnings_of_the_check_are_in_the_answer_those_that_matter_most_first():
    topics = ("self-bias", "prompts", "own ratings missing", "ceiling", "floor", "missing", "lengths")
    check = [
        finding(topic, words=f"words of {topic}", advice=f"mind {topic}", subject=name) for topic in topics for name in "AB"
    ]
    check += [finding("ceiling", "note", "a note"), finding("families", "fine", "fine")]
    mind = point(of_ratings([estimate("A", 0.1)], check=check), "What to mind")
    where = "in the table “What the ratings support”"
    assert mind.items[0] == ("Self-bias", f"words of self-bias; mind self-bias (so, too, {where}: B)")
    assert [name for name, _ in mind.items[:5]] == ["Self-bias", "Prompts", "Own ratings missing", "Ceiling", "Floor"]
    assert mind.items[5:] == [("", f"4 more {where}")]
