"""The answer of a report says what the tables say, in the reader's unit."""

import pytest

from recuse.base.tables import CHECK, CORRELATIONS, ESTIMATES, LEADERBOARD, VERDICTS
from recuse.inference.verdict import CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, NO_OWN_ANSWERS, SUGGESTIVE
from recuse.report.answers import NO_TRUTH, OF_FAMILIES, QUESTION, WEAK, WEAK_OF_FAMILIES, answer_of_ratings
from recuse.report.verdict import summary, unit_of
from report_pages import ranked, texts


def verdict(term, name, estimate=None, *, favours="", rests_on="", quantity="self_bias", **others):
    numbers = {} if estimate is None else {"estimate": estimate, "ci_low": estimate - 0.01, "ci_high": estimate + 0.01}
    about = {"quantity": quantity, "term": term, "verdict": name, "favours": favours, "rests_on": rests_on, "advice": "keep it"}
    return about | numbers | others


def answer_of(verdicts, *, scales=None, relative=False, **tables):
    columns = {"check": CHECK, "leaderboard": LEADERBOARD, "correlations": CORRELATIONS, "main": ESTIMATES}
    read = {name: texts(columns[name], rows) if name in columns else rows for name, rows in tables.items()}
    read["verdicts"] = texts(VERDICTS, verdicts)
    return answer_of_ratings(read, confidence=0.9, scales=scales or {"Tone": [1, 5]}, relative=relative)


FOUR = [
    verdict("J", ESTABLISHED, 0.1, favours="yes", rests_on="A B C", question="C"),
    verdict("K", SUGGESTIVE, -0.05, favours="no", rests_on="A", question="A"),
    verdict("L", NO_CLEAR_BIAS, 0.01, missed=0.05),
    verdict("M", CANNOT_BE_TOLD, reason="8 prompts"),
]


def test_the_first_table_says_size_basis_and_what_to_do():
    answer = answer_of(FOUR)
    assert [each.verdict for each in answer.verdicts] == [
        "established: favours itself",
        "suggestive: is harsher on itself",
        "no clear bias",
        "cannot be told: 8 prompts",
    ]
    assert answer.unit == "points, scale 1 to 5"
    assert [(each.size, each.interval) for each in answer.verdicts] == [
        ("+0.40 C", "0.36 to 0.44"),
        ("−0.20 A", "−0.24 to −0.16"),
        ("+0.04", "0.00 to 0.08"),
        ("", ""),
    ]
    assert answer.verdicts[0].rests_on == "A against humans, B against other judges and C beyond ordinary preference"
    assert answer.verdicts[2].advice == "keep it: a bias below 0.20 would often be missed"


def test_the_headline_names_what_is_established_and_what_is_suggestive():
    assert answer_of(FOUR).headline == (
        "Established: J (+0.40 points by C) favours itself. Suggestive: K (−0.20 points by A) is harsher on itself. "
        "Cannot be told: M."
    )
    assert answer_of(FOUR[2:3]).headline == "No judge has an established self-preference."
    assert answer_of(FOUR[3:]).headline == "These data cannot tell whether any judge favours itself: 8 prompts."
    family = verdict("GPT", SUGGESTIVE, 0.05, favours="yes", rests_on="B", quantity="family_bias")
    assert answer_of([*FOUR[2:3], family]).headline.endswith(
        "Suggestive: the GPT family (+0.20 points) favours its own models."
    )


@pytest.mark.parametrize(
    ("scales", "unit", "size"),
    [
        ({"a": [1, 10], "b": [1, 10]}, "points, scale 1 to 10", "+0.90"),
        ({"a": [0, 100]}, "points, scale 0 to 100", "+10.0"),
        ({"a": [0, 1]}, "% of the scale", "+10.0"),
        ({"a": [1, 5], "b": [1, 10]}, "% of the scale", "+10.0"),
        ({"a": "observed"}, "% of the scale", "+10.0"),
    ],
)
def test_sizes_are_points_of_the_users_scale_where_there_is_one(scales, unit, size):
    assert (unit_of(scales).name, unit_of(scales).text("0.1")) == (unit, size)


def average(estimate, low, high, *, left_out="", spec="main", slice_=""):
    ends = {"ci_low": str(low), "ci_high": str(high)}
    plain = {"unweighted": "0.004", "unweighted_ci_low": "-0.011", "unweighted_ci_high": "0.02"}
    about = {"spec": spec, "slice": slice_, "quantity": "self_bias", "left_out": left_out, "biases": "3", "reason": ""}
    return {**about, "estimate": str(estimate), **ends, **plain}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (average(0.03, 0.01, 0.05), "+3.0\xa0% (90\xa0% interval 1.0 to 5.0) for judges like these, which excludes 0;"),
        (average(-0.03, -0.05, -0.01), "−3.0\xa0% (90\xa0% interval −5.0 to −1.0) for judges like these, which excludes 0;"),
        (average(0.01, -0.01, 0.03), "+1.0\xa0% (90\xa0% interval −1.0 to 3.0) for judges like these, which includes 0;"),
    ],
)
def test_the_pooled_mean_is_not_without_the_plain_one(row, words):
    rows = [average(1, 1, 1, spec="by_dimension", slice_="d"), row]
    pooled = answer_of(FOUR, scales={"a": [0, 1]}, pooled=rows).pooled
    assert pooled == f"Average self-bias beyond ordinary preference: {words} +0.4\xa0% (−1.1 to 2.0) for these 3 alone."


def test_an_end_that_rounds_to_zero_shows_its_sign():
    row = average(0.01, -0.0004, 0.03)
    assert "−0.04 to 3.0" in answer_of(FOUR, scales={"a": [0, 1]}, pooled=[row]).pooled


def test_at_most_three_caveats_the_largest_first():
    pooled = [average(0.03, 0.01, 0.05), average(0.02, 0.005, 0.04, left_out="A"), average(0.01, -0.01, 0.03, left_out="B")]
    check = [
        {"topic": "verdict", "level": "warning", "words": "supports nothing"},
        {"topic": "ceiling", "level": "warning", "words": "high ratings", "advice": "mind them"},
        {"topic": "floor", "level": "note", "words": "a note"},
        {"topic": "ordinary preference", "level": "fine", "words": "one in 41 %", "advice": "believe C"},
    ]
    caveats = answer_of(FOUR, pooled=pooled, check=check).caveats
    assert caveats == [
        WEAK,
        "The average depends on single judges: its conclusion changes without B (+0.04, −0.04 to 0.12).",
        "High ratings; mind them.",
    ]
    assert answer_of(FOUR, relative=True, pooled=pooled, check=check).caveats == [NO_TRUTH, *caveats[:2]]
    assert WEAK not in answer_of(FOUR[2:]).caveats


def correlation(judge, value, low, statistic="pearson", dimension=""):
    ends = {"ci_low": low, "ci_high": 2 * value - low}
    return {"judge": judge, "dimension": dimension, "statistic": statistic, "value": value, **ends}


def test_do_the_judges_track_the_humans():
    rows = [
        correlation("J", 0.5, 0.4),
        correlation("J", 0.3, 0.2, "weighted_kappa"),
        correlation("J", 0.9, 0.8, dimension="Tone"),
    ]
    rows += [correlation("K", 0.1, -0.1)]
    slopes = [{"spec": "main", "quantity": "slope", "term": "J", "estimate": 0.6, "ci_low": 0.5, "ci_high": 0.7}]
    means = {"Human": "ABC", "J": "ACB", "K": "CBA"}
    scores = [
        {"judge": judge, "dimension": "", "model": model, "mean": str(place)}
        for judge, models in means.items()
        for place, model in enumerate(models)
    ]
    section = answer_of(FOUR, correlations=rows, main=slopes, mean_scores=scores).tracking
    assert section.rows == [
        ["J", "0.50 (0.40 to 0.60)", "0.30", "0.60 (0.50 to 0.70)", "2 of 3"],
        ["K", "0.10 (−0.10 to 0.30)", "", "", "0 of 3"],
    ]
    assert section.sentence.startswith("K does not follow the human scores")
    assert answer_of(FOUR, correlations=rows[:2]).tracking.sentence.startswith("The judge follows the human scores")
    assert answer_of(FOUR, correlations=rows, relative=True).tracking is None


BOARD = [ranked("raw", "A", 1, 1, 2), ranked("raw", "B", 2, 1, 2), ranked("raw", "C", 3, 3, 3)]


@pytest.mark.parametrize(
    ("debiased", "words", "arrows"),
    [
        ((1, 2, 3), "None of 3 models change rank when", ["–", "–", "–"]),
        ((2, 1, 3), "2 of 3 models change rank when", ["▲ 1", "▼ 1", "–"]),
        (
            (3, 2, 1),
            "2 of 3 models change rank when the estimated biases are removed; C is first instead of A.",
            ["▲ 2", "–", "▼ 2"],
        ),
    ],
)
def test_the_leaderboard_has_one_row_a_model(debiased, words, arrows):
    after = [ranked("debiased", name, rank, 1, 2) for name, rank in zip("ABC", debiased, strict=True)]
    section = answer_of(FOUR, leaderboard=BOARD + after).leaderboard
    assert section.sentence.startswith(words)
    assert [row[5] for row in section.rows] == arrows
    assert [row[0] for row in section.rows] == ["1", "2", "3"]


def test_models_without_a_score_are_left_out_of_both_rankings():
    raw = [ranked("raw", model, rank, 1, 3) for rank, model in enumerate("XAB", 1)]
    board = [*raw, ranked("debiased", "A", 1, 1, 2), ranked("debiased", "B", 2, 1, 2)]
    assert answer_of(FOUR, leaderboard=board).leaderboard.sentence.startswith("None of 2 models change rank")


def test_the_summary_has_numbers():
    verdicts = texts(VERDICTS, FOUR)
    about = {"subject": {"label": "mine", "kind": "user"}, "confidence": 0.9}
    content = summary("s", about, answer_of(FOUR), verdicts)
    assert content["verdicts"][0]["estimate"] == pytest.approx(0.1)
    assert content["verdicts"][3]["estimate"] is None
    assert content["headline"] == answer_of(FOUR).headline


def test_a_judge_whose_ratings_do_not_vary_does_not_follow_the_humans():
    constant = {"judge": "L", "dimension": "", "statistic": "pearson"}
    section = answer_of(FOUR, correlations=[correlation("J", 0.5, 0.4), constant]).tracking
    assert section.sentence.startswith("L does not follow the human scores")
    assert section.rows[1][:2] == ["L", "–"]


def test_families_are_named_where_no_judge_has_a_self_bias():
    family = verdict("GPT", SUGGESTIVE, 0.05, favours="yes", rests_on="B", quantity="family_bias", question="B")
    outsider = verdict("M", CANNOT_BE_TOLD, reason=NO_OWN_ANSWERS)
    answer = answer_of([outsider, family])
    assert answer.headline.endswith("Suggestive: the GPT family (+0.20 points by B) favours its own models.")
    assert answer.next_steps[-1].startswith("Have the judges rate answers of their own models too")


def test_names_of_the_summary_stay_texts():
    about = {"subject": {"label": "mine", "kind": "user"}, "confidence": 0.9}
    verdicts = texts(VERDICTS, [verdict("7", NO_CLEAR_BIAS, 0.1), verdict("nan", NO_CLEAR_BIAS, 0.1)])
    assert [row["term"] for row in summary("s", about, answer_of(FOUR), verdicts)["verdicts"]] == ["7", "nan"]


def test_the_leaderboard_has_the_rank_by_the_humans():
    after = [ranked("debiased", name, rank, 1, 2) for rank, name in enumerate("ABC", 1)]
    scores = [
        {"judge": "Human", "dimension": "", "model": model, "mean": mean} for model, mean in zip("ABC", "132", strict=True)
    ]
    section = answer_of(FOUR, leaderboard=BOARD + after, mean_scores=scores).leaderboard
    assert [row[-1] for row in section.rows] == ["3", "1", "2"]
    assert section.headings[-1] == "rank by humans"


def test_where_no_judge_rates_itself_the_headline_is_about_families():
    family = verdict("GPT", SUGGESTIVE, 0.05, favours="yes", rests_on="B", quantity="family_bias", question="B")
    words = "No judge rates its own answers: only family-biases can be told. "
    assert answer_of([family]).headline == f"{words}Suggestive: the GPT family (+0.20 points by B) favours its own models."
    clear = verdict("GPT", NO_CLEAR_BIAS, 0.01, quantity="family_bias", missed=0.05)
    assert answer_of([clear]).headline == f"{words}None is established or suggestive."
    assert answer_of([family]).question == OF_FAMILIES
    assert answer_of([family]).caveats == [WEAK_OF_FAMILIES]
    assert answer_of([clear]).caveats == []
    assert answer_of(FOUR).question == QUESTION


def test_the_answer_says_for_which_wordings_of_the_rubric_it_holds():
    assert answer_of(FOUR).wordings.startswith("The verdicts hold for the wording of the rubric")
    assert answer_of([verdict("M", CANNOT_BE_TOLD, reason="8 prompts")]).wordings == ""
    three = [
        verdict("J", ESTABLISHED, 0.1, question="C", favours="yes", wordings=3),
        verdict("K", NO_CLEAR_BIAS, 0.0, wordings=1),
    ]
    assert answer_of(three).wordings == (
        "Verdicts and intervals are over wordings of the rubric, by 3 of which the judges were asked; those of K hold for one "
        "wording only."
    )
    assert "two say little" in answer_of([verdict("J", NO_CLEAR_BIAS, 0.1, wordings=2)]).wordings


def test_the_mean_has_its_interval_over_wordings():
    pooled = {"spec": "main", "slice": "", "quantity": "self_bias", "left_out": "", "biases": "3", "reason": ""}
    pooled |= {"estimate": "0.1", "ci_low": "0.05", "ci_high": "0.15"}
    pooled |= {"unweighted": "0.1", "unweighted_ci_low": "0.05", "unweighted_ci_high": "0.15"}
    wider = {"spec": "main", "quantity": "self_bias", "term": "all judges", "ci_low": "-0.1", "ci_high": "0.3"}
    assert "excludes 0" in answer_of(FOUR, pooled=[pooled]).pooled
    told = answer_of(FOUR, pooled=[pooled], wordings=[wider]).pooled.replace("\N{MINUS SIGN}", "-")
    assert "interval -0.40 to 1.20) for judges like these, which includes 0" in told
    assert told.endswith("for these 3 alone, in the wordings asked.")
