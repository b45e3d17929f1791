"""The scorecard: what matches, what differs and by how much, and what there is no data for."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import CONFIG, DATA
from picked_rows import column, fields, keyed, where
from planted_comparisons import as_texts
from recuse.base.errors import DataError
from recuse.data.describe import correlations, mean_scores
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.papers.claims import judged_claims, read_claims
from recuse.papers.results import Results, Value
from recuse.papers.scorecard import (
    ABSENT,
    DIFFERS,
    EARLY_STOP,
    EXACT_HALF,
    MATCH,
    SCORECARD,
    scorecard,
)
from recuse.papers.values import FILES, ORDER, read_published
from text_tables import csv_rows

CLAIMS = read_claims(DATA / "play_favorites_claims.csv")
PAPER = read_published(DATA)
THEIRS = Results.from_tables(**PAPER)
NUMBERS = {"estimate": 361, "mean_score": 630, "correlation": 162}
KEYS = {
    "estimates": ("by_dimension", "Faithfulness", "self_bias", "GPT-4o"),
    "mean_scores": ("Faithfulness", "GPT-4o", "Mistral 7B"),
    "correlations": ("Faithfulness", "GPT-4o", "pearson"),
}


NAMES = {
    "estimates": ["spec", "slice", "quantity", "term"],
    "mean_scores": ["slice", "term", "model"],
    "correlations": ["slice", "term", "quantity"],
}


def values(results, kind="published"):
    return pd.DataFrame(scorecard(PAPER, results, [], study="s", kind=kind))


def with_value(table, key, value):
    """The paper's results with another value."""
    return replace(THEIRS, **{table: {**getattr(THEIRS, table), key: value}})


def is_repeated(rows):
    """Figures 7, 9 and 10 show the values of Figure 3 again, read off a second time."""
    return (rows["spec"] == "main") & (rows["figure"] != "Figure 3")


def row_from(rows, table, key):
    return rows[(rows[NAMES[table]] == list(key)).all(axis=1)].iloc[0]


def row_with(table, key, value, kind="published"):
    """The row of a value of which the study has another than the paper."""
    return row_from(values(with_value(table, key, value), kind), table, key)


@pytest.fixture(scope="module")
def themselves():
    """The scorecard of the paper's own results."""
    return values(THEIRS)


def results_from(study, names):
    """What the library finds in a study with some of config's specs."""
    specs = [spec for name, spec in Spec.from_config(CONFIG["specs"]).items() if name in names]
    rows = [
        row for spec in specs for row in estimate(spec, study, confidence=0.9)[0] if "ci_low" in row
    ]
    cells = study.cells()
    return Results.from_tables(
        estimates=as_texts(rows),
        mean_scores=as_texts(mean_scores(cells)),
        correlations=as_texts(correlations(cells, confidence=0.9)),
    )


def test_published_values_are_all_there_and_match_themselves(themselves):
    rows = themselves
    assert rows["item"].value_counts().to_dict() == NUMBERS
    assert set(rows["figure"]) == set(ORDER)
    repeated = rows[is_repeated(rows)]
    assert len(repeated) == 13 + 13 + 9
    first = rows[~is_repeated(rows)]
    assert (first[["verdict", "deviation", "cause"]] == [MATCH, 0.0, ""]).all(axis=None)
    # Here both sides are read off a drawing: within the sum of their tolerances, the larger of
    # which is Figure 3's.
    largest = rows.loc[rows["figure"] == "Figure 3", "tolerance"].max()
    size = repeated["deviation"].abs() * repeated["tolerance"]
    assert (size < largest + repeated["tolerance"]).all()
    assert not rows.reindex(columns=SCORECARD[1:9]).duplicated().any()


def test_repeated_values_have_the_errors_of_figure_3():
    """The variants Human and All data are HC0 like Figure 3: classical errors would be nearly equal
    for all judges.
    """
    main = where(PAPER["estimates"], spec="main")
    first = keyed(where(main, figure="Figure 3"), "quantity term")
    for row in main:
        known = float(first[fields(row, "quantity term")]["std_error"])
        assert float(row["std_error"]) == pytest.approx(known, abs=3e-6)


@pytest.mark.parametrize("table", KEYS)
@pytest.mark.parametrize("side", [-1, 1])
def test_two_tolerances_away_differs(table, side, themselves):
    key = KEYS[table]
    known = getattr(THEIRS, table)[key]
    before = row_from(themselves, table, key)
    for size, verdict in ((0.9, MATCH), (2, DIFFERS)):
        moved = replace(known, value=known.value + side * size * before["tolerance"])
        rows = values(with_value(table, key, moved))
        after = row_from(rows, table, key)
        assert after["deviation"] == pytest.approx(side * size, rel=1e-6)
        assert after["verdict"] == verdict
        assert after["cause"] == ("unknown" if verdict == DIFFERS else "")
        differing = (rows["verdict"] == DIFFERS) & ~is_repeated(rows)
        assert differing.sum() == (verdict == DIFFERS)
    assert row_with(table, key, moved, "user")["cause"].startswith("other ratings")


def test_an_end_of_the_interval_may_decide(themselves):
    key = KEYS["estimates"]
    known = THEIRS.estimates[key]
    tolerance = row_from(themselves, "estimates", key)["tolerance"]
    row = row_with("estimates", key, replace(known, ci_low=known.ci_low - 3 * tolerance))
    assert fields(row, "verdict deviation") == (DIFFERS, pytest.approx(-3, rel=1e-6))
    ends = f"the lower end of the interval decides, {3 * tolerance:.2g} off"
    assert row["cause"] == f"unknown; {ends}: the estimate, 0 off, would match"
    moved = replace(known, value=known.value + 2 * tolerance, ci_high=known.ci_high + 3 * tolerance)
    row = row_with("estimates", key, moved)
    assert fields(row, "verdict cause") == (DIFFERS, "unknown")  # the estimate also differs


def test_tolerances(themselves):
    rows = themselves
    estimates = pd.DataFrame(PAPER["estimates"])
    resolution = estimates["resolution"].astype(float)
    tolerance = row_from(rows, "estimates", KEYS["estimates"])["tolerance"]
    assert tolerance == pytest.approx(1.3 * resolution[estimates["spec"] == "by_dimension"].iloc[0])
    tolerance = row_from(rows, "mean_scores", KEYS["mean_scores"])["tolerance"]
    assert tolerance == pytest.approx(0.005, abs=2e-9)
    tolerances = rows.loc[rows["figure"] == "Figure 8", "tolerance"]
    ordinal = 2e-3 + 1.3 * resolution[estimates["figure"] == "Figure 8"]
    assert tolerances.to_list() == pytest.approx(ordinal.to_list(), rel=1e-12)
    assert tolerances.max() < 2.21e-3


def test_simulated_ratings_may_miss_by_chance():
    key = KEYS["estimates"]
    known = THEIRS.estimates[key].value
    ours = Value(known + 0.02, 0.01, -9.0, 9.0)  # its interval is not planted
    row = row_with("estimates", key, ours, "simulated")
    assert row["tolerance"] == pytest.approx(2.576 * 0.01, abs=2e-5)
    assert row["verdict"] == MATCH
    assert row["cause"].startswith("simulated: Equation 1 is expected to estimate this value;")


def test_error_of_a_mean_is_the_largest_possible():
    rows = csv_rows("""
dimension,judge,model,mean,n
,one,m,0.8,400
,two,m,0.8,400
,Human,m,0.8,400
""")
    means = Results.from_tables(estimates=(), mean_scores=rows, correlations=()).mean_scores
    assert means["", "one", "m"].std_error == pytest.approx(0.4 / 20)
    # Two judges repeat each human score
    assert means["", "Human", "m"].std_error == pytest.approx(0.4 / math.sqrt(200))


def test_causes_that_are_known():
    key = ("Faithfulness", "Claude 3 Sonnet", "Llama 3 8B")
    row = row_with("mean_scores", key, Value(0.965))
    assert fields(row, "published verdict cause") == (0.97, MATCH, EXACT_HALF)
    key = ("ordinal_as_coded", "Faithfulness", "self_bias", "GPT-4o")
    known = THEIRS.estimates[key]
    for error, cause in ((1.0, EARLY_STOP), (0.2, "unknown")):
        ours = Value(known.value + 0.004, error, known.ci_low, known.ci_high)
        row = row_with("estimates", key, ours)
        assert fields(row, "verdict cause") == (DIFFERS, cause)


def test_a_pooled_value_is_absent_where_a_dimension_is():
    two = ("", "Faithfulness", "Logical correctness")
    means = {key: value for key, value in THEIRS.mean_scores.items() if key[0] in two}
    rows = values(replace(THEIRS, mean_scores=means))
    absent = rows[rows["verdict"] == ABSENT]
    causes = absent["cause"].value_counts()
    assert causes["the study has no ratings of Helpfulness"] == 9 + 9 + 90 + 27
    assert causes["pools the paper's six dimensions; the study has 2"] == 361 - 108 + 90
    assert (rows["verdict"] == MATCH).sum() == 18 + 18 + 180 + 54
    assert absent["ours"].isna().all()


def test_other_models_are_other_data():
    for judge, model in (("GPT-4o", "a tenth model"), ("a tenth judge", "GPT-4o")):
        rows = values(with_value("mean_scores", ("Faithfulness", judge, model), Value(0.5)))
        assert set(rows["cause"]) == {"the study has other judges or models than the paper"}


def claim_rows(judged, kind):
    """The rows of the scorecard that judged claims make."""
    return where(scorecard(PAPER, THEIRS, judged, study="s", kind=kind), item="claim")


def test_claims_are_rows():
    judged = list(judged_claims(CLAIMS, "s", THEIRS, THEIRS, kind="published"))
    rows = claim_rows(judged, "published")
    assert column(rows, "term") == column(judged, "claim")
    by_name = keyed(rows, "term")
    assert by_name["llama_8b_negative"]["verdict"] == MATCH
    failing = (DIFFERS, "on the published values it fails")
    assert fields(by_name["rho_above_0_4"], "verdict cause") == failing
    assert by_name["helm_positive"]["verdict"] == ABSENT
    assert by_name["helm_positive"]["cause"].startswith("no ratings of")


def test_a_claim_on_a_users_ratings_is_not_called_simulated():
    judged = csv_rows("""
claim,kind,verdict,published,evidence
one,simulated,holds,data absent,1 of 1
other,user,holds,data absent,1 of 1
""")
    causes = column(claim_rows(judged, "simulated"), "cause")
    assert causes == ["simulated: no claim is planted as such", ""]


def test_a_figure_that_no_spec_made_is_named(tmp_path):
    for file in FILES.values():
        (tmp_path / file).write_text((DATA / file).read_text("utf-8"), "utf-8")
    with open(tmp_path / FILES["estimates"], "a", encoding="utf-8") as table:
        table.write("new_figure,99,self_bias,GPT-4o,,,0,0,0,0,1e-6\n")
    with pytest.raises(DataError, match="no spec is known for figure 'new_figure'"):
        read_published(tmp_path)


@pytest.mark.mirror
def test_the_published_ratings_give_the_published_values(published):
    rows = values(results_from(published, {"main", "by_dimension", "ordinal_as_coded"}))
    judged = rows[rows["verdict"] != ABSENT]
    assert judged[["figure", "verdict"]].value_counts().to_dict() == {
        ("Figure 4", MATCH): 18,
        ("Figure 5", MATCH): 18,
        ("Pearson", MATCH): 18,
        ("Goodman–Kruskal gamma", MATCH): 18,
        ("Figure 6", MATCH): 180,
        ("Figure 8", MATCH): 17,
        ("Figure 8", DIFFERS): 1,
    }
    assert (rows["cause"] == EXACT_HALF).sum() == 9
    ((_, differing),) = rows[rows["verdict"] == DIFFERS].iterrows()
    assert fields(differing, "slice term") == ("Logical correctness", "Claude 3 Sonnet")
    ends = (
        "; the upper end of the interval decides, 0.0024 off: the estimate, 0.0016 off, would match"
    )
    assert differing["cause"] == EARLY_STOP + ends
    assert differing["deviation"] == pytest.approx(-0.002418 / 0.002206, abs=2e-3)


def test_the_twin_is_compared_throughout(twin):
    rows = values(results_from(twin, {"main", "by_dimension"}), "simulated")
    is_expected = rows["cause"].str.startswith(
        "simulated: Equation 1 is expected to estimate this value"
    )
    expected = rows[is_expected]
    assert expected["figure"].value_counts().to_dict() == {
        "Figure 4": 54,
        "Figure 3": 4,
        "Figure 7": 4,
        "Figure 9": 4,
        "Figure 10": 2,
    }
    assert (expected["verdict"] == MATCH).sum() >= 60
    is_absent = rows["verdict"] == ABSENT
    assert np.isfinite(rows.loc[~is_absent, "deviation"]).all()
    specs = {row["spec"] for row in PAPER["estimates"]}
    assert set(rows.loc[is_absent, "spec"]) == specs - {"main", "by_dimension"}
