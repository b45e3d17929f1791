"""Attack success rates against plain loops over votes, cases counted by hand, and exact
intervals.
"""

import pytest
from analyses import attack_tables
from scipy.stats import binomtest

from attack_votes import preference, random_votes, sample, write_votes
from picked_rows import column, fields, only
from recuse.base.database import connect
from recuse.base.errors import ConfigError
from recuse.base.tables import read_table
from recuse.papers.attacks import (
    ASR,
    LENGTH_CURVE,
    RANKS,
    VOTE_SHARES,
    VOTES_BY_POSITION,
    average_ranks,
    create_samples,
    create_votes,
    exact_interval,
    success_rates,
    with_ranks,
    worsening_among,
)

pytestmark = pytest.mark.usefixtures("own_folder")

TABLES = {
    "asr": ASR,
    "ranks": RANKS,
    "votes_by_position": VOTES_BY_POSITION,
    "length_curve": LENGTH_CURVE,
    "vote_shares": VOTE_SHARES,
}

PAIR = ("experiment", "model_a", "model_b", "judge")


def rates_from(path, worsening=("factual_error",)):
    connection = connect()
    create_votes(connection, path)
    create_samples(connection)
    return success_rates(connection, worsening=worsening, confidence=0.9)


def tables_from(path, worsening=()):
    """Paths of the five tables of votes."""
    outputs = {name: f"{name}.csv" for name in TABLES}
    attack_tables(
        study="s", comparisons=path, worsening=[*worsening], confidence=0.9, seed=5, outputs=outputs
    )
    return outputs


def naive_row(rows, key, condition, *, worsening):
    """Counts of one judge, experiment, pair and perturbation, by plain loops."""
    own = [
        row
        for row in rows
        if tuple(row[name] for name in PAIR) == key and row["condition"] in ("control", condition)
    ]
    counts = dict.fromkeys(("n", "shifted", "samples", "left_out", "votes"), 0)
    counts["errors"] = sum(row["outcome"] == "error" for row in own)
    for item in {row["item"] for row in own}:
        before = preference(
            [row for row in own if row["item"] == item and row["condition"] == "control"]
        )
        after = preference(
            [row for row in own if row["item"] == item and row["condition"] == condition]
        )
        if before is None or after is None:
            counts["left_out"] += 1
            continue
        counts["samples"] += 1
        counts["votes"] += sum(row["item"] == item and row["outcome"] != "error" for row in own)
        if before in ({"b", "tie"} if worsening else {"a", "tie"}):
            counts["n"] += 1
            counts["shifted"] += after in ({"b", "tie"} if worsening else {"b"})
    return counts


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_count_equals_plain_loops_over_the_votes(seed):
    rows = random_votes(seed)
    results = rates_from(write_votes("votes.parquet", rows))
    groups = {
        (tuple(row[name] for name in PAIR), row["condition"])
        for row in rows
        if row["condition"] != "control"
    }
    assert len(results) == len(groups) == 11
    for row in results:
        key = tuple(row[name] for name in PAIR)
        expected = naive_row(
            rows, key, row["condition"], worsening=row["condition"] == "factual_error"
        )
        assert {name: row[name] for name in expected} == expected
        assert row["asr"] == row["shifted"] / row["n"]
        peers = [
            o
            for o in results
            if all(o[k] == row[k] for k in ("experiment", "condition", "model_a", "model_b"))
        ]
        assert row["rank"] == 1 + sum(peer["asr"] < row["asr"] for peer in peers)
    assert sum(row["left_out"] for row in results) > 20
    assert sum(row["errors"] for row in results) > 20


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
        for item, groups in enumerate(BY_HAND)
        for condition, outcomes in zip(("control", "rich_content"), groups, strict=True)
        for vote in sample(f"q{item}", condition, outcomes)
    ]
    votes += [
        {**vote, "condition": "factual_error"}
        for vote in votes
        if vote["condition"] == "rich_content"
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
    written = []
    for path in (plain, mixed):
        outputs = tables_from(path)
        written.append({name: read_table(output) for name, output in outputs.items()})
    assert written[0] == written[1]
    assert [fields(row, "condition n rank") for row in written[1]["asr"]] == [
        ("rich_content", "1", "1")
    ]
    assert [fields(row, "average_rank place") for row in written[1]["ranks"]] == [("1.0", "1")]


@pytest.mark.parametrize(("count", "n"), [(0, 20), (3, 20), (20, 20), (71, 142), (1, 1)])
def test_exact_intervals_equal_scipy_and_the_closed_form(count, n):
    low, high = exact_interval(count, n, 0.9)
    expected = binomtest(count, n).proportion_ci(0.9, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    if count == 0:
        assert (low, high) == pytest.approx((0, 1 - 0.05 ** (1 / n)), abs=1e-12)


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
    outputs = tables_from(path)
    assert [read_table(output) for output in outputs.values()] == [[]] * 5


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
