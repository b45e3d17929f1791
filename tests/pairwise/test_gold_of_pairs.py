"""Self-preference by a key: every contrast against a loop over verdicts, planted values recovered,
refusals.
"""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import yaml
from numpy.random import default_rng
from scipy.stats import t

from picked_rows import fields, keyed, only, where
from planted_keys import assert_recovered
from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError
from recuse.base.reasons import Reason, code
from recuse.inference.gold import (
    BOTH,
    CASES_OF_PAIRS,
    FEW,
    GOLD,
    HARMFUL,
    LEGITIMATE,
    LEGITIMATE_SHARE,
    OTHER_ANSWERS,
    OTHER_JUDGES,
    SAME_QUESTIONS,
    gold,
)
from recuse.inference.verdict import FOUND, Verdict
from recuse.pairwise.gold import create_marks_of_pairs
from recuse.simulate.gold import declared_key_world, planted_by_key, simulate_keyed

CONFIDENCE = 0.9
KEY = ["quantity", "term", "case", "baseline"]
CASES = {
    (True, False): LEGITIMATE,
    (False, True): HARMFUL,
    (True, True): "both right",
    (False, False): "both wrong",
}
WORLD = yaml.safe_load("""
questions: 150
accuracy: {A: 0.85, B: 0.6, C: 0.5, D: 0.7, E: 0.4, F: 0.6}
first: 0.1
convincing: {A: 0.1}
judges:
  A: {mistake: 0.15, harmful: 0.2, legitimate: 0.05}
  B: {mistake: 0.3, struggle: 0.2}
  C: {mistake: 0.35, harmful: 0.1, legitimate: 0.1, struggle: 0.1}
  D: {mistake: 0.2}
  E: {mistake: 0.45, struggle: 0.1, harmful: 0.1}
  F: {mistake: 0.25, harmful: 0.15, legitimate: 0.1}
""")
FAMILIES = {"A": "one", "B": "one", "C": "two", "D": "two", "E": "two"}


def rows_from(columns, families=()):
    """The table of gold references, of verdicts in columns of COMPARISONS."""
    connection = connect()
    connection.register("given", pd.DataFrame(columns))
    connection.execute("""
        create temp table keyed_verdicts as
        select * replace (right_a = 'true' as right_a, right_b = 'true' as right_b) from given""")
    judges = create_marks_of_pairs(connection, "keyed_verdicts")
    rows = list(
        gold(
            connection,
            families=dict(families),
            judges=judges,
            cases=CASES_OF_PAIRS,
            confidence=CONFIDENCE,
            power=0.8,
        )
    )
    assert not {name for row in rows for name in row} - set(GOLD)
    return rows


def drawn(seed=1, **changes):
    return simulate_keyed(declared_key_world(WORLD | changes), seed=seed)


def thinned(columns, share, seed=0):
    """A random part of the verdicts: pairs in one order, judges that did not see every pair."""
    kept = default_rng(seed).random(len(columns["judge"])) < share
    return {name: values[kept] for name, values in columns.items()}


def spoilt(columns, seed=0):
    """With a second vote, ties and errors in some verdicts, and a tenth of the questions without a
    key.
    """
    votes = [pd.DataFrame(columns).assign(vote=vote) for vote in (1, 2)]
    twice = pd.concat(votes, ignore_index=True)
    changed = default_rng(seed).random(len(twice))
    twice.loc[changed < 0.2, "outcome"] = "error"
    twice.loc[changed < 0.1, "outcome"] = "tie"
    twice.loc[twice["item"].str.endswith("7"), ["right_a", "right_b"]] = None
    return twice


def sides(columns):
    """Each answer of each valid verdict, and its points; `case` is that of the answer."""
    one = pd.DataFrame(columns).query("outcome != 'error'").dropna(subset=["right_a", "right_b"])
    one["won"] = one["outcome"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    turned = {
        "model_a": "model_b",
        "model_b": "model_a",
        "right_a": "right_b",
        "right_b": "right_a",
    }
    other = one.rename(columns=turned).assign(won=1 - one["won"])
    both = pd.concat([one, other]).rename(columns={"model_a": "model", "model_b": "other"})
    marks = zip(both["right_a"] == "true", both["right_b"] == "true", strict=True)
    return both.assign(case=[CASES[pair] for pair in marks])


def naive(columns, families):
    """The contrast of each answer with each baseline, by joins of marks with those of the judges
    (`_k`) that have nothing to do with either answer.
    """
    answer, of_judge = ["case", "item", "model", "other"], ["case", "item", "judge"]
    marks = sides(columns).groupby([*answer, "judge"], as_index=False)["won"].mean()
    family = marks[["judge", "model", "other"]].replace(families)
    is_self = marks["judge"] == marks["model"]
    of_family = family["judge"] == family["model"]
    is_other = family["judge"] != family["other"]
    own = marks.assign(
        quantity=np.where(is_self, "self_bias", "family_bias"),
        term=np.where(is_self, marks["judge"], family["judge"]),
    )[is_self | (of_family & is_other)]
    neutral = marks[~of_family & is_other]
    judged = own.merge(neutral, on=answer, suffixes=("", "_k"))
    judged["value"] = judged["won"] - judged["won_k"]
    same = own.merge(neutral.groupby(of_judge)["won"].mean(), on=of_judge, suffixes=("", "_k"))
    same["value"] = same["won"] - same["won_k"]
    common = neutral.merge(neutral, on=answer, suffixes=("", "_k"))
    common["expected"] = common["won"] - common["won_k"]
    pairs = [*of_judge, "judge_k"]
    both = judged.merge(common.groupby(pairs)["expected"].mean(), on=pairs)
    both["value"] -= both["expected"]
    contrasts = pd.concat(
        {OTHER_JUDGES: judged, SAME_QUESTIONS: same, BOTH: both}, names=["baseline"]
    )
    return contrasts.groupby([*KEY, *answer[1:], "judge"])["value"].mean().reset_index()


def clustered(values, design, items):
    """Coefficients of a regression, and their errors by question as of a small sample."""
    settings = {"groups": pd.factorize(items)[0], "use_correction": False}
    fit = sm.OLS(values, design).fit(cov_type="cluster", cov_kwds=settings)
    return fit.params, fit.bse


@pytest.mark.parametrize(
    ("columns", "families"),
    [
        (drawn(questions=40), {}),
        (thinned(drawn(questions=40), 0.5), {}),
        (thinned(drawn(questions=40), 0.7), FAMILIES),
        (thinned(spoilt(drawn(questions=40)), 0.8), FAMILIES),
    ],
    ids=["whole", "thinned", "families", "spoilt"],
)
def test_every_contrast_equals_a_loop_over_verdicts(columns, families):
    """Estimates to 1e-9; errors and intervals those of statsmodels' cluster-robust mean."""
    expected = naive(columns, families).groupby(KEY)
    rows = keyed((row for row in rows_from(columns, families) if "n" in row), " ".join(KEY))
    compared = {key for key in rows if key[3] != OTHER_ANSWERS and key[2] != LEGITIMATE_SHARE}
    assert compared == {*expected.groups}
    assert len(compared) > 60
    for key, contrasts in expected:
        values, row, questions = contrasts["value"], rows[key], contrasts["item"].nunique()
        assert row["estimate"] == pytest.approx(values.mean(), abs=1e-9)
        assert row["share"] - row["baseline_share"] == pytest.approx(row["estimate"], abs=1e-9)
        assert fields(row, "n questions") == (len(values), questions)
        if questions < 2 or row["std_error"] == 0:
            continue
        (mean,), (error,) = clustered(values.to_numpy(), np.ones(len(values)), contrasts["item"])
        error *= math.sqrt(questions / (questions - 1))
        assert row["std_error"] == pytest.approx(error, rel=1e-9)
        ends = t.interval(CONFIDENCE, questions - 1, mean, error)
        assert fields(row, "ci_low ci_high") == pytest.approx(ends, abs=1e-9)


def test_all_other_answers_are_two_clustered_means():
    """Against an OLS of marks on a dummy of own answers, clustered by question."""
    columns = drawn(questions=60)
    row = only(
        [row for row in rows_from(columns) if row.get("baseline") == OTHER_ANSWERS],
        term="C",
        case=HARMFUL,
    )
    of_judge = sides(columns).query("judge == 'C' and case == @HARMFUL and other != 'C'")
    marks = of_judge.groupby(["item", "model", "other"], as_index=False)["won"].mean()
    of_self = marks["model"] == "C"
    design = sm.add_constant(of_self.astype(float))
    (_, difference), (_, error) = clustered(marks["won"], design, marks["item"])
    questions = marks["item"][of_self].nunique()
    error *= math.sqrt(questions / (questions - 1))
    assert row["estimate"] == pytest.approx(difference, abs=1e-9)
    assert row["std_error"] == pytest.approx(error, rel=1e-9)


def test_planted_preferences_are_recovered(long):
    """Means within 4 standard errors of what is planted, and 90 % intervals in their place, judge
    by judge.
    """
    planted = {
        fields(row, "judge quantity"): row["planted"]
        for row in planted_by_key(declared_key_world(WORLD))
    }
    found = [
        (fields(row, "term case"), row)
        for seed in range(40 if long else 6)
        for row in rows_from(drawn(seed))
        if row.get("baseline") == BOTH
    ]
    assert_recovered(found, planted)


def test_refusals_have_codes():
    columns = pd.DataFrame(drawn(questions=40))

    def reasons(**parts):
        rows = rows_from(columns[columns[[*parts]].isin(parts).all(axis=1)])
        refused = [row for row in rows if row.get("verdict") == Verdict.INCONCLUSIVE]
        return {row["reason"] for row in where(refused, case=HARMFUL)}

    assert Reason.NO_OTHER_JUDGE in reasons(judge=["A"])
    assert Reason.NO_OTHER_ANSWERS in reasons(model_a=["A"], judge=["A", "B", "C"])
    assert Reason.NO_OWN_OF_CASE in reasons(
        model_a=["A", "B"], model_b=["B", "C"], judge=["A", "F"]
    )
    few = [f"Question {number:02}" for number in range(1, FEW)]
    assert {code(reason) for reason in reasons(item=few)} == {
        Reason.FEW_QUESTIONS,
        Reason.NO_OWN_OF_CASE,
    }


def test_verdicts_follow_the_intervals():
    rows = [row for row in rows_from(drawn()) if row.get("baseline") == BOTH]
    assert {row["verdict"] for row in rows} >= {Verdict.ESTABLISHED, Verdict.NOT_SHOWN}
    for row in rows:
        excludes = row["ci_low"] > 0 or row["ci_high"] < 0
        by_odds = row["log_odds_ci_low"] > 0 or row["log_odds_ci_high"] < 0
        if row["verdict"] in FOUND:
            assert (excludes, by_odds) == (True, True)
            assert row["favours"] == ("yes" if row["estimate"] > 0 else "no")
            assert row["detectable"] > 2.4 * row["std_error"]
        elif row["verdict"] == Verdict.NOT_SHOWN:
            assert (excludes, by_odds) == (False, False)
        else:
            assert excludes != by_odds
            assert row["reason"] == Reason.DEPENDS_ON_SCALE


def test_comparisons_without_a_key_are_refused():
    columns = drawn(questions=2)
    columns["right_a"] = np.full(len(columns["judge"]), None)
    with pytest.raises(
        DataError, match="no comparison has a key; write columns right_a and right_b"
    ):
        rows_from(columns)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({"mistake": 0.1, "harmful": 0.95}, "probabilities from"),
        ({"mistake": 0.05, "legitimate": 0.2}, "probabilities from -0.175"),
    ],
)
def test_worlds_that_are_none(judge, message):
    with pytest.raises(ConfigError, match=message):
        declared_key_world({"accuracy": {"A": 0.5, "B": 0.5}, "judges": {"A": judge}})


def test_the_legitimate_share_is_that_of_own_answers_that_win():
    """Right ones among own wins where one answer is right, and the same of the other judges."""
    columns = drawn(questions=60)
    answers = sides(columns).query("model == 'C' and judge != other")
    is_self = (answers["judge"] == "C").rename("is_self")
    marks = answers.groupby([is_self, "case", "item", "other"])["won"].mean()
    wins = marks.groupby(level=["is_self", "case"]).sum()
    row = only(rows_from(columns), term="C", case=LEGITIMATE_SHARE)
    shares = [
        wins[is_self, LEGITIMATE] / (wins[is_self, LEGITIMATE] + wins[is_self, HARMFUL])
        for is_self in (True, False)
    ]
    assert fields(row, "share baseline_share") == pytest.approx(shares, abs=1e-9)
    assert row["estimate"] == pytest.approx(shares[0] - shares[1], abs=1e-9)
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    assert "verdict" not in row
