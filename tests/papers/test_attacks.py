"""Attack success rates against means of single votes, cases counted by hand, and exact
intervals.
"""

import pandas as pd
import pytest
from scipy.stats import binomtest

from attack_votes import SCORES, random_votes, sample, tabulated, write_votes
from picked_rows import column, fields, only
from recuse.base.database import connect
from recuse.base.errors import ConfigError
from recuse.base.tables import read_table
from recuse.papers.attacks import (
    average_ranks,
    create_samples,
    create_votes,
    exact_interval,
    success_rates,
    with_ranks,
    worsening_among,
)

pytestmark = pytest.mark.usefixtures("own_folder")

PAIR = ["experiment", "model_a", "model_b", "judge"]


def rates_from(path, worsening=("factual_error",)):
    connection = connect()
    create_votes(connection, path)
    create_samples(connection)
    return success_rates(connection, worsening=worsening, confidence=0.9)


def tables_from(path):
    return [read_table(output) for output in tabulated(path, ".").values()]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_count_is_that_of_mean_votes_on_samples(seed):
    rows = random_votes(seed)
    results = rates_from(write_votes("votes.parquet", rows))
    votes = pd.DataFrame(rows)
    groups = dict([*votes.assign(score=votes["outcome"].map(SCORES)).groupby(PAIR)])
    conditions = sum(group["condition"].nunique() - 1 for group in groups.values())
    assert len(results) == conditions == 11
    for row in results:
        group = groups[tuple(row[name] for name in PAIR)]
        own = group[group["condition"].isin(["control", row["condition"]])]
        samples = own.pivot_table("score", "item", "condition", ["mean", "count"], dropna=False)
        before, after = (samples["mean"][name] for name in ("control", row["condition"]))
        complete = before.notna() & after.notna()
        if row["condition"] == "factual_error":
            eligible = complete & (before >= 0.5)
            shifted = eligible & (after >= 0.5)
        else:
            eligible = complete & (before <= 0.5)
            shifted = eligible & (after > 0.5)
        assert fields(row, "shifted n") == (shifted.sum(), eligible.sum())
        assert fields(row, "samples left_out") == (complete.sum(), (~complete).sum())
        assert row["votes"] == samples["count"][complete].to_numpy().sum()
        assert row["errors"] == own["score"].isna().sum()
    table = pd.DataFrame(results)
    assert (table["asr"] == table["shifted"] / table["n"]).all()
    columns = table.groupby(["experiment", "condition", "model_a", "model_b"])
    assert (table["rank"] == columns["asr"].rank("min")).all()
    assert table[["left_out", "errors"]].sum().min() > 20


# Control and perturbed votes of six samples; the sixth has no valid vote in its control group.
BY_HAND = [
    ("a a tie", "b b a"),  # a -> b
    ("a b", "b tie"),  # tie -> b
    ("tie", "a b tie"),  # tie -> tie
    ("b b a", "b"),  # b -> b
    ("b tie", "a a b"),  # b -> a
    ("error error", "b"),
]


def test_a_small_case_by_hand_for_both_kinds_of_perturbation():
    votes = [
        vote
        for item, (before, after) in enumerate(BY_HAND)
        for condition in ("control", "rich_content", "factual_error")
        for vote in sample(f"q{item}", condition, before if condition == "control" else after)
    ]
    path = write_votes("votes.parquet", votes)
    worse, better = rates_from(path)
    assert fields(better, "condition shifted n asr") == ("rich_content", 2, 3, 2 / 3)
    assert fields(worse, "condition shifted n asr") == ("factual_error", 3, 4, 0.75)
    assert fields(better, "samples left_out errors votes") == (5, 1, 2, 23)
    as_improving = only(rates_from(path, worsening=()), condition="factual_error")
    assert fields(as_improving, "shifted n") == (2, 3)


def test_conditions_of_cognitive_biases_with_a_control_group_are_no_attack():
    votes = (
        sample("q1", "control", "a")
        + sample("q1", "rich_content", "b", judge="J")
        + sample("q2", "control", "b")
    )
    plain = write_votes("plain.parquet", votes)
    for condition in ("order", "compassion", "bandwagon", "attentional"):
        votes += sample("q1", condition, "a b tie error")
    mixed = write_votes("mixed.parquet", votes)
    tables = tables_from(mixed)
    assert tables == tables_from(plain)
    assert [fields(row, "condition n rank") for row in tables[0]] == [("rich_content", "1", "1")]
    assert [fields(row, "average_rank place") for row in tables[1]] == [("1.0", "1")]


@pytest.mark.parametrize(("count", "n"), [(0, 20), (3, 20), (20, 20), (71, 142), (1, 1)])
def test_exact_intervals_equal_scipy(count, n):
    expected = binomtest(count, n).proportion_ci(0.9, method="exact")
    assert exact_interval(count, n, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-9)


def judged(asr, condition="rich_content", experiment="main"):
    """Rows of success rates, by judge (shifted, n)."""
    where = {"experiment": experiment, "condition": condition, "model_a": "A1", "model_b": "A2"}
    return [
        {**where, "judge": judge, "shifted": shifted, "n": n} for judge, (shifted, n) in asr.items()
    ]


def test_equal_rates_share_the_lower_rank_and_the_average_needs_every_column():
    rows = judged({"A": (1, 3), "B": (47, 141), "C": (1, 2), "D": (0, 0), "E": (2, 3)})
    rows += judged({"A": (5, 9), "B": (4, 9), "C": (0, 9), "D": (1, 9)}, "fake_reference")
    rows += judged({"E": (1, 9)}, "fake_reference", "weak")
    ranked = with_ranks(rows)
    assert column(ranked[:5], "rank") == [1, 1, 3, None, 4]
    averages = [tuple(row.values()) for row in average_ranks(ranked)]
    assert averages == [
        ("main", "B", 2.0, 2, 1),  # ranks 1 and 3
        ("main", "C", 2.0, 2, 1),  # 3 and 1
        ("main", "A", 2.5, 2, 3),
        ("main", "D", None, 1, None),
        ("main", "E", None, 1, None),
        ("weak", "E", 1.0, 1, 1),
    ]


def test_a_column_without_an_eligible_sample_takes_no_average_away():
    rows = judged({"A": (1, 4), "B": (2, 4)}) + judged({"A": (0, 0), "B": (0, 0)}, "empty")
    rows += judged({"C": (0, 0)}, experiment="nothing")
    averages = [tuple(row.values()) for row in average_ranks(with_ranks(rows))]
    assert averages == [
        ("main", "A", 1.0, 1, 1),
        ("main", "B", 2.0, 1, 2),
        ("nothing", "C", None, 0, None),
    ]


def test_a_table_without_a_control_group_gives_no_rows():
    path = write_votes("votes.parquet", sample("q1", "rich_content", "a b"))
    assert tables_from(path) == [[]] * 5


def test_a_worsening_condition_that_no_vote_has_is_named():
    rates = [{"condition": "beauty"}, {"condition": "factual_error"}]
    message = worsening_among(rates, ["factual_error"], study="s")
    assert message == "perturbations: beauty, factual_error; worsening: factual_error"
    # So by default
    assert worsening_among(rates[:1], ["factual_error"], study="s").endswith("worsening: none")
    with pytest.raises(
        ConfigError,
        match="comparisons: s: worsening: 'beuty' is no condition of its votes; found: beauty, ",
    ):
        worsening_among(rates, ["beuty"], study="s")
