"""Simulated comparisons: is the population value of every statistic the one that is planted?"""

import duckdb
import numpy as np
import pytest
import yaml

from picked_rows import fields
from planted_comparisons import BIASED, recovered
from recuse.base.errors import ConfigError
from recuse.data.verdicts import COMPARISONS
from recuse.simulate.pairwise import declared_comparisons, planted_biases, simulate_comparisons
from recuse.simulate.votes import join, write_comparisons
from text_tables import cases
from verdict_files import run

MODELS = ["North", "East", "South", "West", "Centre"]
Z = 1.6448536


def world(judges, **settings):
    return declared_comparisons({"models": MODELS, "judges": judges, **settings})


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A judge with answers of its own and one without; so many questions that one planted value is
    not taken for another.
    """
    biased = world(
        {"North": BIASED, "Stranger": BIASED | {"error_shorter": 0.1, "error_longer": 0.5}},
        questions=1500,
    )
    drawn = simulate_comparisons(biased, seed=3)
    return recovered(drawn, planted_biases(biased), tmp_path_factory.mktemp("large"))


def test_every_planted_value_is_the_population_value(large):
    distances = []
    for row in large:
        assert row["inside"] in ("yes", "no"), row
        half = (row["ci_high"] - row["ci_low"]) / 2
        # Exact intervals of a share are wider than the standard error says, others 1.645 times it.
        distances.append((row["estimate"] - row["planted"]) / (half / Z))
        assert half < 0.08
    assert np.abs(distances).max() < 4
    assert 0.6 < np.std(distances) < 1.3


def test_what_is_planted_by_hand(large):
    results = {
        fields(row, "judge quantity"): row["planted"]
        for row in large
        if row["condition"] in ("order", "bandwagon")
    }
    decided = 0.65
    valid = 0.96**2
    assert results["North", "verbosity_bias debiased excluded"] == pytest.approx(0.6 * 0.25)
    assert results["Stranger", "verbosity_bias debiased excluded"] == pytest.approx(-0.4)
    assert results["Stranger", "verbosity_bias pooled excluded"] == pytest.approx(
        -0.4 * decided / 0.9
    )
    assert results["North", "consistency"] == pytest.approx(0.75)
    assert results["North", "first_preference"] == pytest.approx((0.2 + decided / 2) / 0.9)
    assert results["North", "egocentric_order"] == pytest.approx(decided * 0.7 * valid)
    assert results["North", "bandwagon"] == pytest.approx(0.6 * valid)
    assert ("Stranger", "egocentric_order") not in results


def test_every_statistic_is_planted_once(large):
    keys = [fields(row, "experiment condition judge quantity") for row in large]
    assert len(set(keys)) == len(keys)
    # 12 of verbosity, 4 + 4 of position, 9 biases (7 of a judge without answers), 3 attacks, 2
    # choices (1)
    assert [sum(key[2] == judge for key in keys) for judge in ("North", "Stranger")] == [34, 31]


def test_same_seed_same_comparisons_and_judges_by_themselves():
    alone = world({"North": BIASED})
    both = world({"North": BIASED, "East": {}})
    first, second, third = (simulate_comparisons(w, seed=5) for w in (alone, alone, both))
    assert all((first[column] == second[column]).all() for column in COMPARISONS)
    stated = first["favoured"][first["condition"] == "bandwagon"]
    assert np.mean(stated == "a") == pytest.approx(0.5, abs=0.1)
    of_north = third["judge"] == "North"
    for column in ("outcome", "human", "favoured"):
        assert (first[column] == third[column][of_north]).all()
    assert (simulate_comparisons(alone, seed=6)["outcome"] != first["outcome"]).any()


def test_the_loader_accepts_them(tmp_path):
    drawn = simulate_comparisons(world({"North": BIASED, "Stranger": BIASED}, questions=12), seed=1)
    write_comparisons(drawn, str(tmp_path / "raw.parquet"))
    comparisons, completeness = run(tmp_path, [tmp_path / "raw.parquet"])
    same = f"select * from '{tmp_path / 'raw.parquet'}' except all select * from '{comparisons}'"
    assert duckdb.sql(same).fetchall() == []
    assert {row["one_order"] for row in completeness} == {"0"}
    errors = sum(int(row["errors"]) for row in completeness)
    assert errors / sum(int(row["verdicts"]) for row in completeness) == pytest.approx(
        0.04, abs=0.015
    )


def test_questions_make_their_comparisons_alike():
    """Between questions, shares vary more than independent comparisons do; without difficulty as
    much as these.
    """
    variances = []
    for difficulty in (0.0, 0.9):
        judged = world({"Stranger": {"first": 0.5}}, questions=600, difficulty=difficulty)
        drawn = simulate_comparisons(judged, seed=4)
        shown = (drawn["condition"] == "order") & (drawn["order"] == "ab")
        by_question = (drawn["outcome"][shown] == "a").reshape(600, -1).mean(axis=1)
        variances.append(by_question.var() / (by_question.mean() * (1 - by_question.mean()) / 10))
    # Of a share of 1/2 + v difficulty/2, with v uniform; half of the other verdicts are `a`, too.
    expected = 1 + 9 * (0.9**2 / 3 * 0.25**2) / 0.1875
    assert variances == pytest.approx([1, expected], rel=0.2)


@pytest.mark.parametrize(
    ("judge", "message"),
    cases(
        r"""
{first: 0.6, tie: 0.5}
    judges: J: first \+ second \+ tie: found 1.1; write shares that sum to 1 at most
{first: 0.6, compassion: {second: 0.5}}
    judges: J: compassion: first \+ second \+ tie: found 1.1
{control_tie: 0.7, control_perturbed: 0.4}
    control_tie \+ control_perturbed: found 1.1
{votes_first: 0.6, invalid: 0.1}
    votes_first \+ votes_second \+ invalid: found 0.7; .* sum to 0.667 at most
"""
    ),
)
def test_shares_that_do_not_fit(judge, message):
    with pytest.raises(ConfigError, match=f"simulate: .*{message}"):
        world({"J": yaml.safe_load(judge)})


@pytest.mark.parametrize("models", [["North"], ["North", "East", "North"]])
def test_models_that_are_no_pairs(models):
    with pytest.raises(
        ConfigError, match=r"simulate: models: found North.*; write two names or more"
    ):
        world({"J": {}}, models=models)


def test_columns_of_nothing_are_texts(tmp_path):
    """Of two parts, the second has labels and one length."""
    numbers = dict.fromkeys(("length_a", "length_b", "humans_a", "humans_b", "humans_tie"), -1)
    part = dict.fromkeys(COMPARISONS) | numbers | {"judge": "J", "vote": 1}
    part["item"] = np.array(["one", "it's"], dtype=object)
    other = part | {"human": "tie", "length_a": np.array([5, -1])}
    for name, parts in (("none", [part]), ("some", [part, other])):
        write_comparisons(join(parts), str(tmp_path / f"{name}.parquet"))
    rows = duckdb.sql(f"select human, item, vote, length_a from '{tmp_path}/some.parquet'")
    assert rows.fetchall() == [
        (None, "one", 1, None),
        (None, "it's", 1, None),
        ("tie", "one", 1, 5),
        ("tie", "it's", 1, None),
    ]
    kinds = duckdb.sql(f"select distinct typeof(human) from '{tmp_path}/none.parquet'")
    assert kinds.fetchall() == [("VARCHAR",)]
