"""Biases over wordings of the rubric: against statsmodels on rows, against formulas, and in studies
that lack some ratings.
"""

import math
from dataclasses import replace
from operator import attrgetter

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng

import recuse
from conftest import CONFIG
from picked_rows import fields, keyed, where
from rated_tables import FIVE, rated, study_of_rows
from recuse.inference.idiosyncrasy import idiosyncrasies
from recuse.inference.power import detectable_bias, reaches
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions
from recuse.inference.verdict import Verdict, verdicts_on_ratings
from recuse.inference.wordings import Crossed, Part, errors_with_twice, wording_rows
from recuse.model.least_squares import quantile
from recuse.model.spec import Spec
from recuse.validation.statsmodels import fits_by_formula
from text_tables import csv_rows

SPECS = {name: CONFIG["specs"][name] for name in ("main", "clustered", "model_effects")}
A = "clustered"
B = "model_effects"
C = "idiosyncrasy"
CHECKS = yaml.safe_load("""
clustered: {title: A, specs: [clustered], asks: "?"}
model_effects: {title: B, specs: [model_effects], asks: "?"}
idiosyncrasy: {title: C, specs: [main], asks: "?", table: idiosyncrasy}
""")
WORDINGS = ("plain", "strict", "short")
pytestmark = pytest.mark.usefixtures("few_sweeps")


def asked(wordings=WORDINGS, replicates=2):
    """Ratings in each wording and replicate; GPT-4o favours itself by a point more in each
    further wording.
    """
    rows = []
    for number, wording in enumerate(wordings):
        for replicate in range(replicates):
            drawn = default_rng([3, number, replicate])
            for row in rated(prompts=30, rating=lambda judge, model, score, noise: score):
                own = row["judge"] == row["model"] == "GPT-4o"
                value = row["rating"] + drawn.integers(-1, 2) + (1 + number) * own
                rows.append(
                    {
                        **row,
                        "rating": int(np.clip(value, 1, 5)),
                        "wording": wording,
                        "replicate": replicate,
                    }
                )
    return rows


def rows_by(study, *checks):
    """The rows of the table by check and bias, of all three checks if none is named."""
    named = {name: CHECKS[name] for name in checks or CHECKS}
    table = wording_rows(named, SPECS, study, confidence=0.9, power=0.8)
    return keyed(table, "check quantity term")


@pytest.fixture(scope="module")
def rows():
    """A tenth of the ratings is missing."""
    drawn = default_rng(8)
    return [row for row in asked() if drawn.random() < 0.9]


@pytest.fixture(scope="module")
def study(rows, tmp_path_factory):
    return study_of_rows(tmp_path_factory.mktemp("wordings"), rows)


@pytest.fixture(scope="module")
def table(study):
    return rows_by(study)


def by_statsmodels(study, folder, rows):
    """Self-biases under Equation 1 with errors by prompt, by judge; rows: SQL."""
    path = f"{folder}/part.parquet"
    duckdb.sql(f"copy ({rows}) to '{path}'")
    part = replace(study, ratings_from=[path], _read={})
    (fitted,) = fits_by_formula(Spec.of("main", covariance="CR1"), part)
    return {each.term: each for each in fitted.coefficients if each.quantity == "self_bias"}


def test_errors_over_wordings_are_those_of_fits_by_statsmodels(study, table, tmp_path):
    rows = f"from '{study.ratings[0]}'"
    whole = by_statsmodels(study, tmp_path, rows)
    parts = [
        by_statsmodels(study, tmp_path, f"{rows} where wording = '{name}'") for name in WORDINGS
    ]
    for term in FIVE:
        numbers = attrgetter("estimate", "std_error", "n_term")
        estimates, errors, n = np.transpose([numbers(part[term]) for part in parts])
        variances, variance = errors**2, whole[term].std_error ** 2
        q = n / n.sum()
        noise = max(0, (q @ variances - variance) / (1 - q @ q))
        spread = max(0, q @ (estimates - q @ estimates) ** 2 / (1 - q @ q) - noise)
        row = table["clustered", "self_bias", term]
        assert row["estimate"] == pytest.approx(whole[term].estimate, abs=1e-9)
        assert row["one_std_error"] == pytest.approx(whole[term].std_error, abs=1e-9)
        assert row["std_error"] == pytest.approx(math.sqrt(variance + q @ q * spread), abs=1e-9)
        assert row["df"] == pytest.approx(1 / (q @ q) - 1, abs=1e-9)
        assert row["ci_high"] == pytest.approx(
            row["estimate"] + quantile(0.9, row["df"]) * row["std_error"], abs=1e-9
        )


def test_the_bias_that_moves_with_the_wording_has_the_spread(table):
    for check in CHECKS:
        moved = table[check, "self_bias", "GPT-4o"]
        others = [
            table[check, "self_bias", term]["sd_wordings"] for term in FIVE if term != "GPT-4o"
        ]
        assert moved["sd_wordings"] > max(0.05, 2 * max(others))
        assert moved["ci_low"] < moved["one_ci_low"] < moved["one_ci_high"] < moved["ci_high"]
        assert fields(moved, "wordings replicates note") == (3, 2, "")


def test_c_is_that_of_the_table_of_idiosyncrasy(study, table):
    (each,) = idiosyncrasies(Spec.of("main", **SPECS["main"]), study)
    for test in each.tests():
        row = table.get(("idiosyncrasy", test.quantity, test.term))
        assert (row is None) == bool(test.reason)
        if row is not None:
            assert fields(row, "estimate one_std_error") == pytest.approx(
                (test.estimate, test.std_error)
            )
            assert "twice_prompts" not in row


def test_components_of_balanced_variances():
    """By hand: prompts 4, of prompt and wording 3, of one request 2, of the wording 5, on 3
    wordings and 2 replicates.
    """
    wordings = 3
    replicates = 2
    variance = 4 + 3 / wordings + 2 / (wordings * replicates)
    in_one_wording = 4 + 3 + 2 / replicates
    in_one_replicate = 4 + 3 / wordings + 2 / wordings
    step = math.sqrt(5 + 3 + 2 / replicates)  # of estimates: with variance 5, and their noise
    whole = Part(0.0, math.sqrt(variance), 99, 60)
    between = Crossed(
        whole, [Part(value, math.sqrt(in_one_wording), 99, 20) for value in (-step, 0.0, step)]
    )
    again = Crossed(whole, [Part(0.0, math.sqrt(in_one_replicate), 99, 30) for _ in range(2)])
    assert (between.noise, between.spread, again.noise) == pytest.approx((4, 5, 2 / wordings))
    assert between.generalised() == pytest.approx((math.sqrt(variance + 5 / wordings), 2))
    found = errors_with_twice(whole, between, again)
    assert found["prompts"] == pytest.approx(math.sqrt(variance / 2 + 5 / 3))
    assert found["wordings"] == pytest.approx(math.sqrt(4 + (1 + 1 / 3 + 5 / 3) / 2))
    assert found["replicates"] == pytest.approx(math.sqrt(4 + 1 + 1 / 6 + 5 / 3))
    of_one = errors_with_twice(whole, None, again)
    assert "wordings" not in of_one
    assert of_one["replicates"] == pytest.approx(math.sqrt(variance - 1 / 6))


def test_a_study_in_one_wording_has_no_rows_and_replicates_alone_no_interval(tmp_path):
    (tmp_path / "once").mkdir()
    assert not rows_by(study_of_rows(tmp_path / "once", asked(["plain"], 1)))
    again = rows_by(study_of_rows(tmp_path, asked(["plain"], 3)), A)[
        "clustered", "self_bias", "GPT-4o"
    ]
    assert "ci_low" not in again
    assert again["sd_replicates"] > 0
    assert again["twice_prompts"] == pytest.approx(again["one_std_error"] / math.sqrt(2))
    assert again["twice_replicates"] < again["one_std_error"]
    assert "one wording" in again["note"]


def test_a_judge_counts_the_wordings_by_which_it_was_asked(tmp_path):
    """Mistral 7B lacks one, Llama 3 8B has only one, and a fourth wording, of one model's answers,
    tells of no self-bias.
    """
    wordings_of = {"Mistral 7B": WORDINGS[:2], "Llama 3 8B": WORDINGS[:1]}
    rows = [
        row
        for row in asked(replicates=1)
        if row["wording"] in wordings_of.get(row["judge"], WORDINGS)
    ]
    rows += [{**row, "wording": "rare"} for row in asked(["rare"], 1) if row["model"] == "GPT-4o"]
    table = rows_by(study_of_rows(tmp_path, rows), A)
    counts = {term: table["clustered", "self_bias", term]["wordings"] for term in FIVE}
    assert counts == {**dict.fromkeys(FIVE, 3), "Mistral 7B": 2, "Llama 3 8B": 1}
    assert table["clustered", "self_bias", "Mistral 7B"]["df"] == pytest.approx(1)
    assert "ci_low" not in table["clustered", "self_bias", "Llama 3 8B"]


(NUMBERS,) = csv_rows("""
estimate,ci_low,ci_high,p_value,std_error,df
0.1,0.05,0.15,0.001,0.03,99
""")
(WIDER,) = csv_rows("""
ci_low,ci_high,p_value,detectable,wordings
-0.05,0.25,0.2,0.2,3
""")
BIAS = {"slice": "", "quantity": "self_bias", "term": "J"}


def concluded(check=C, **changes):
    """The conclusions by check where all find a bias, and the table of wordings has a row of one
    check.
    """
    checks = RobustnessCheck.from_config(CHECKS)
    tables = {
        "estimates": [{**BIAS, "spec": spec, "estimand": "", **NUMBERS} for spec in (A, B)],
        "idiosyncrasy": [{**BIAS, "spec": "main", "estimand": "", **NUMBERS}],
    }
    (spec,) = CHECKS[check]["specs"]
    tables = Tables(tables, [], [{**BIAS, "check": check, "spec": spec, **WIDER, **changes}])
    return keyed(conclusions(Robustness(checks, SPECS, 0.9, 0.8), tables, order={}), "check")


def verdict_from(**changes):
    letters = dict(zip("ABC", CHECKS, strict=True))
    (row,) = verdicts_on_ratings(
        concluded(**changes).values(), ["J"], {}, checks=letters, confidence=0.9
    )
    return row


def test_conclusions_are_over_wordings_and_say_which_are_not():
    rows = concluded()
    assert [fields(row, "conclusion wordings") for row in rows.values()] == [
        ("favours", 1),
        ("favours", 1),
        ("no_bias", 3),
    ]
    assert [rows[C][name] for name in ("ci_low", "ci_high", "detectable", "verdict", "note")] == [
        -0.05,
        0.25,
        0.2,
        "lost",
        "",
    ]
    assert rows[A]["note"] == rows[B]["note"] == "for the wordings of the rubric that were asked"
    assert all(
        math.isnan(row["wordings"]) and not row["note"] for row in concluded(ci_low="").values()
    )


def test_the_verdict_rests_on_intervals_over_wordings():
    """C is wider, and no longer finds the bias; A and B, which do, do not decide."""
    row = verdict_from()
    assert fields(row, "verdict wordings A B") == (Verdict.NOT_SHOWN, 3, 0.1, 0.1)
    row = verdict_from(ci_low="0.01", ci_high="0.19", p_value="0.08")
    assert fields(row, "verdict wordings") == (Verdict.ESTABLISHED, 3)
    assert fields(row, "ci_low ci_high p_value detectable") == (0.01, 0.19, 0.08, 0.2)


def test_an_interval_over_wordings_never_narrows_that_of_the_check():
    row = verdict_from(ci_low="0.08", ci_high="0.12", p_value="0.0001", detectable="0.03")
    (reach,) = reaches(np.array([0.03]), np.array([99.0]), np.array([0.1]), confidence=0.9)
    least = detectable_bias(0.03, 99, power=0.8, confidence=0.9, reach=reach)
    assert [row[name] for name in ("ci_low", "ci_high", "p_value")] == [0.05, 0.15, 0.001]
    assert row["detectable"] == pytest.approx(least)


def test_verdicts_in_python_are_over_wordings(rows):
    """GPT-4o favours itself most in the last wording."""
    table = pd.DataFrame(where(rows, replicate=0)).drop(columns=["pred_length", "replicate"])
    over, alone = (
        recuse.verdict(recuse.ratings(each, human="gt", scale=(1, 5)))
        .frame.set_index("term")
        .loc["GPT-4o"]
        for each in (table, table[table["wording"] == "short"])
    )
    assert fields(over, "wordings verdict") == (3, Verdict.LIKELY)
    assert pd.isna(alone["wordings"])
    assert alone["verdict"] == Verdict.ESTABLISHED
