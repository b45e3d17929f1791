"""Self-preference by a key: every contrast against a loop over verdicts, planted values recovered,
refusals.
"""

import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.random import default_rng
from scipy.stats import t

from picked_rows import fields, only
from planted_keys import assert_recovered
from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError
from recuse.base.reasons import Reason, code
from recuse.inference.gold import (
    BASELINES,
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
CASES = {
    (True, False): LEGITIMATE,
    (False, True): HARMFUL,
    (True, True): "both right",
    (False, False): "both wrong",
}
WORLD = {
    "questions": 150,
    "accuracy": {"A": 0.85, "B": 0.6, "C": 0.5, "D": 0.7, "E": 0.4, "F": 0.6},
    "first": 0.1,
    "convincing": {"A": 0.1},
    "judges": {
        "A": {"mistake": 0.15, "harmful": 0.2, "legitimate": 0.05},
        "B": {"mistake": 0.3, "struggle": 0.2},
        "C": {"mistake": 0.35, "harmful": 0.1, "legitimate": 0.1, "struggle": 0.1},
        "D": {"mistake": 0.2},
        "E": {"mistake": 0.45, "struggle": 0.1, "harmful": 0.1},
        "F": {"mistake": 0.25, "harmful": 0.15, "legitimate": 0.1},
    },
}
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
    names = ("judge", "item", "model_a", "model_b", "outcome", "right_a", "right_b")
    rows = []
    for judge, item, a, b, outcome, *right in zip(*(columns[name] for name in names), strict=True):
        if pd.notna(right).all() and outcome != "error":
            is_right = [mark == "true" for mark in right]
            for_a = {"a": 1.0, "tie": 0.5, "b": 0.0}[outcome]
            rows.append((judge, item, a, b, CASES[*is_right], for_a))
            rows.append((judge, item, b, a, CASES[*is_right[::-1]], 1 - for_a))
    return pd.DataFrame(rows, columns=["judge", "item", "model", "other", "case", "won"])


def naive(columns, families):
    """(quantity, term, case, baseline) -> contrasts by item, by loops over answers."""
    by = ["case", "item", "judge", "model", "other"]
    marks = sides(columns).groupby(by)["won"].mean().to_dict()
    family = lambda name: families.get(name, name)  # noqa: E731
    answers = defaultdict(list)  # of neither judge's family: case, item, judge -> pairs
    for case, item, judge, model, other in marks:
        if family(judge) not in (family(model), family(other)):
            answers[case, item, judge].append((model, other))
    judges = sorted({key[2] for key in marks})
    by_term = defaultdict(list)
    for case, item, judge, model, other in marks:
        if judge == model:
            by_term["self_bias", judge, case].append((item, judge, model, other))
        elif family(judge) == family(model) != family(other):
            by_term["family_bias", family(judge), case].append((item, judge, model, other))
    result = {}
    for (quantity, term, case), pairs in by_term.items():
        contrasts = {
            baseline: defaultdict(list) for baseline in BASELINES if baseline != OTHER_ANSWERS
        }
        for item, judge, model, other in pairs:
            y = marks[case, item, judge, model, other]
            judging = [
                k for k in judges if (case, item, k, model, other) in marks
                and family(k) not in (family(model), family(other), family(judge))
            ]  # fmt: skip
            if judging:
                contrasts[OTHER_JUDGES][item].append(
                    y - np.mean([marks[case, item, k, model, other] for k in judging])
                )
            if answers[case, item, judge]:
                mean = np.mean(
                    [marks[case, item, judge, *pair] for pair in answers[case, item, judge]]
                )
                contrasts[SAME_QUESTIONS][item].append(y - mean)
            differences = []
            for k in judging:
                common = [
                    pair for pair in answers[case, item, judge] if pair in answers[case, item, k]
                ]
                if common:
                    expected = np.mean(
                        [marks[case, item, judge, *p] - marks[case, item, k, *p] for p in common]
                    )
                    differences.append(y - marks[case, item, k, model, other] - expected)
            if differences:
                contrasts[BOTH][item].append(float(np.mean(differences)))
        for baseline, by_item in contrasts.items():
            if by_item:
                result[quantity, term, case, baseline] = by_item
    return result


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
    expected = naive(columns, families)
    rows = {
        tuple(row[key] for key in ("quantity", "term", "case", "baseline")): row
        for row in rows_from(columns, families)
        if "n" in row
    }
    compared = {key for key in rows if key[3] != OTHER_ANSWERS and key[2] != LEGITIMATE_SHARE}
    assert compared == set(expected)
    assert len(compared) > 60
    for key, by_item in expected.items():
        values = np.concatenate([np.array(each) for each in by_item.values()])
        row = rows[key]
        assert row["estimate"] == pytest.approx(values.mean(), abs=1e-9)
        assert row["share"] - row["baseline_share"] == pytest.approx(row["estimate"], abs=1e-9)
        assert fields(row, "n questions") == (len(values), len(by_item))
        groups = np.repeat(np.arange(len(by_item)), [len(each) for each in by_item.values()])
        if len(by_item) < 2 or row["std_error"] == 0:
            continue
        fit = sm.OLS(values, np.ones(len(values))).fit()
        robust = fit.get_robustcov_results("cluster", groups=groups, use_correction=False)
        error = robust.bse[0] * math.sqrt(len(by_item) / (len(by_item) - 1))
        assert row["std_error"] == pytest.approx(error, rel=1e-9)
        reach = t.ppf((1 + CONFIDENCE) / 2, len(by_item) - 1) * error
        assert fields(row, "ci_low ci_high") == pytest.approx(
            (values.mean() - reach, values.mean() + reach), abs=1e-9
        )


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
    fit = sm.OLS(marks["won"], sm.add_constant(of_self.astype(float))).fit()
    groups = pd.factorize(marks["item"])[0]
    robust = fit.get_robustcov_results("cluster", groups=groups, use_correction=False)
    questions = marks["item"][of_self].nunique()
    assert row["estimate"] == pytest.approx(robust.params[1], abs=1e-9)
    assert row["std_error"] == pytest.approx(
        robust.bse[1] * math.sqrt(questions / (questions - 1)), rel=1e-9
    )


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
    columns = drawn(questions=40)

    def reasons(**parts):
        kept = np.ones(len(columns["judge"]), bool)
        for name, values in parts.items():
            kept &= np.isin(columns[name].astype(str), values)
        rows = rows_from({name: values[kept] for name, values in columns.items()})
        return {
            row["reason"]
            for row in rows
            if row.get("verdict") == Verdict.INCONCLUSIVE and row["case"] == HARMFUL
        }

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
