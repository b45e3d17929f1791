"""Human raters: what is read from their file, errors about it, and their agreement, by hand and by
naive twins.
"""

import re
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from conftest import CONFIG, DATA
from picked_rows import fields, keyed
from recuse.base.database import write_parquet
from recuse.base.errors import DataError
from recuse.base.tables import read_table, write_table
from recuse.data.raters import AGREEMENT, STATISTICS, check_raters, rater_agreement
from recuse.data.registry import Registry
from recuse.papers.twin import gold_agreement
from recuse.simulate.ratings import simulate
from recuse.steps.raters import raters_tables
from text_tables import cases

HEADER = "model,dimension,dataset,prompt_id,rater,rating"
GOOD = [
    "gpt-4o,Tone,tickets,t0,ann,5",
    "GPT-4o,Tone,tickets,t0,bob,4",
    "Claude v2,Style,mails,m1,1,0",
]


pytestmark = pytest.mark.usefixtures("own_folder")


def write_ratings(path, *rows):
    """Canonical ratings, as far as they are read: dimension, dataset, prompt, model, occasion and
    the ends of the scale.
    """
    columns = ["dimension", "dataset", "prompt_id", "model", "occasion", "scale_low", "scale_high"]
    duckdb.from_df(pd.DataFrame(rows, columns=columns)).write_parquet(path)
    return path


@pytest.fixture
def ratings():
    """A study of two dimensions and two datasets, in two shards."""
    return [
        write_ratings("one.parquet", ("Tone", "tickets", "t0", "GPT-4o", "", 1, 5)),
        write_ratings("other.parquet", ("Style", "mails", "m1", "Claude v2", "", 0, 4)),
    ]


def check(ratings, lines, header=HEADER):
    Path("raters.csv").write_text("\n".join([header, *lines, ""]), "utf-8")
    registry = Registry.from_config(CONFIG["models"])
    check_raters("raters.csv", registry, ratings=ratings, output="out.parquet")
    return duckdb.sql("from 'out.parquet'").fetchall()


def test_canonical_rows(ratings):
    rows = check(ratings, GOOD)
    assert rows == [
        ("Claude v2", "Style", "mails", "m1", "raters", "1", 0),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "ann", 5),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "bob", 4),
    ]
    names = duckdb.sql("from 'out.parquet' limit 0").columns
    assert names == ["model", "dimension", "dataset", "prompt_id", "team", "rater", "rating"]


def test_teams_missing_ratings_and_other_columns(ratings):
    lines = [
        "gold,gpt-4o,Tone,tickets,t0,ann,5,x",
        ",gpt-4o,Tone,tickets,t0,ann,4,",
        "raters,gpt-4o,Tone,tickets,t0,bob,NA,",
    ]
    rows = check(ratings, lines, header=f"team,{HEADER},Team")
    assert [(row[4], row[5], row[6]) for row in rows] == [("gold", "ann", 5), ("raters", "ann", 4)]


@pytest.mark.parametrize(
    ("line", "message"),
    cases(
        """
,Tone,tickets,t0,ann,5
    line 3, column model: found nothing; write the id of the model
gpt-5,Tone,tickets,t0,ann,5
    line 3, column model: found 'gpt-5', an id that config does not list
gpt-4o,Wit,tickets,t0,ann,5
    column dimension: found 'Wit', a dimension without ratings in the study; write one of Style, Tone
gpt-4o,Tone,chats,t0,ann,5
    column dataset: found 'chats', a dataset without ratings in the study
gpt-4o,Tone,,t0,ann,5
    column dataset: found nothing
gpt-4o,Tone,tickets,,ann,5
    column prompt_id: found nothing; write the id of the prompt
gpt-4o,Tone,tickets,t0,,5
    column rater: found nothing; write a number or a name
gpt-4o,Tone,tickets,t0,ann,0
    column rating: found '0', which is off the scale of the dimension; write an integer from 1 to 5
gpt-4o,Tone,tickets,t0,ann,4.5
    column rating: found '4.5'
gpt-4o,Tone,tickets,t0,ann,good
    column rating: found 'good', which is not a number; write an integer from 1 to 5, or leave
"""
    ),
)
def test_fault_is_named_with_its_place(ratings, line, message):
    with pytest.raises(DataError, match=re.escape(message)):
        check(ratings, [GOOD[1], line])
    assert not Path("out.parquet").exists()


def test_rater_who_rates_twice(ratings):
    again = "gpt-4o,Tone,tickets,t0,bob,3"
    message = (
        r"line 5, column rater: rater 'bob' of team 'raters' has already rated model 'GPT-4o',"
        r" dimension 'Tone', dataset "
        r"'tickets' and prompt 't0' in .*raters\.csv, line 3; keep one"
    )
    with pytest.raises(DataError, match=message):
        check(ratings, [*GOOD, again])
    assert not Path("out.parquet").exists()
    both_teams = [*(f"{line}," for line in GOOD), f"{again},gold"]
    assert len(check(ratings, both_teams, header=f"{HEADER},team")) == 4


def test_raters_of_answers_on_several_occasions():
    """One rater may rate each answer of a model to a prompt, which their agreement keeps apart."""
    answers = [("Tone", "tickets", "t0", "GPT-4o", name, 1, 5) for name in ("first", "again")]
    ratings = [write_ratings("ratings.parquet", *answers)]
    header = f"{HEADER},occasion"
    given = "ann,5,first bob,4,first ann,1,again bob,1,again"
    lines = [f"gpt-4o,Tone,tickets,t0,{each}" for each in given.split()]
    rows = check(ratings, lines, header=header)
    assert [row[4] for row in rows] == ["first", "first", "again", "again"]
    (completions,) = (
        row["n"]
        for row in rater_agreement("out.parquet")
        if (row["dimension"], row["statistic"]) == ("Tone", "full_agreement")
    )
    assert completions == 2
    message = "'GPT-4o' answers prompt 't0' on several occasions; add a column `occasion`"
    with pytest.raises(DataError, match=message):
        check(ratings, [line.rpartition(",")[0] for line in lines[:2]])
    with pytest.raises(DataError, match=r"prompt 't0', occasion 'first' in .*line 2; keep one"):
        check(ratings, [lines[0], lines[0]], header=header)


def test_prompts_that_are_all_others(ratings):
    others = [line.replace(",t0,", ",p0,").replace(",m1,", ",p1,") for line in GOOD]
    message = (
        r"raters\.csv, column prompt_id: found no prompt that the study rates: its first is 'p0' in"
        r" dataset 'tickets', the "
        r"study's 'm1' in 'mails'; write the same ids and datasets"
    )
    with pytest.raises(DataError, match=message):
        check(ratings, others)
    assert not Path("out.parquet").exists()
    assert len(check(ratings, [*others, GOOD[0]])) == 4


def test_unknown_team_and_columns(ratings):
    with pytest.raises(
        DataError,
        match=(
            r"column team: found 'expert', which is not a team; write raters or gold; empty means"
        ),
    ):
        check(ratings, [f"{GOOD[0]},expert"], header=f"{HEADER},team")
    with pytest.raises(
        DataError,
        match=(
            r"line 1, column rater: missing; found model, .* needs model, .*occasion, team are"
            r" optional"
        ),
    ):
        check(ratings, GOOD, header=HEADER.replace("rater,", "annotator,"))
    with pytest.raises(DataError, match=r"line 1, column team: found twice; keep one"):
        check(ratings, GOOD, header=f"{HEADER},team,team")
    with pytest.raises(DataError, match=r"the file holds no rows"):
        check(ratings, [])


def test_one_job_writes_raters_and_agreement(ratings):
    check(ratings, [*GOOD, "gpt-4o,Tone,tickets,t1,ann,2", "gpt-4o,Tone,tickets,t1,bob,2"])
    outputs = {"raters": "raters.parquet", "agreement": "agreement.csv"}
    raters_tables(
        study="mine",
        raw=["raters.csv"],
        ratings=ratings,
        models=CONFIG["models"],
        imported=False,
        declared={},
        outputs=outputs,
    )
    rows = keyed(read_table("agreement.csv"), "dimension statistic")
    tone = ["mine", "Tone", "observed_agreement", "0.5", "2"]
    assert [*rows["Tone", "observed_agreement"].values()] == tone
    assert rows["Style", "full_agreement"]["value"] == ""
    assert duckdb.sql("select count(*) from 'raters.parquet'").fetchall() == [(5,)]


def table(rows):
    """The agreement of rows, as {(dimension, statistic): (value, n)}."""
    duckdb.from_df(pd.DataFrame(rows)).write_parquet("raters.parquet")
    found = keyed(rater_agreement("raters.parquet"), "dimension statistic")
    return {key: fields(row, "value n") for key, row in found.items()}


def scored(prompt, team, *ratings, dimension="Tone"):
    answer = {"prompt_id": str(prompt), "dimension": dimension, "model": "m", "dataset": "tickets"}
    return [
        {**answer, "team": team, "rater": f"r{number}", "rating": rating}
        for number, rating in enumerate(ratings)
    ]


def test_what_cannot_be_computed_is_empty():
    alone = table(scored("a", "raters", 3) + scored("b", "raters", 4))
    assert alone == {
        (dimension, name): (None, 0) for dimension in ("Tone", "") for name in STATISTICS
    }
    alike = table(
        scored("a", "raters", 3, 3) + scored("b", "raters", 3, 3) + scored("a", "gold", 3)
    )
    assert alike["Tone", "observed_agreement"] == (1.0, 2)
    assert alike["Tone", "krippendorff_alpha"] == (None, 4)
    assert alike["Tone", "gold_correlation"] == (None, 1)
    assert alike["Tone", "accuracy"] == (1.0, 2)
    only_gold = table(scored("a", "gold", 3, 4))
    assert set(only_gold.values()) == {(None, 0)}
    write_table(
        "t.csv",
        AGREEMENT,
        [{"dimension": "", "statistic": "accuracy", "value": None, "n": 0}],
    )
    assert Path("t.csv").read_text("utf-8").splitlines()[1] == ",,accuracy,,0"


def test_average_is_the_plain_mean_of_the_dimensions_that_have_a_value():
    rows = scored("a", "raters", 1, 1) + scored("b", "raters", 1, 2)
    rows += scored("a", "raters", 3, 3, 3, dimension="Style")
    result = table(rows + scored("a", "raters", 3, dimension="Wit"))
    assert result["", "observed_agreement"] == (pytest.approx((1 / 2 + 1) / 2), 5)
    assert result["Wit", "observed_agreement"] == (None, 0)


def naive_alpha(units):
    """Krippendorff's alpha (interval) of lists of ratings, by its definition over ordered pairs."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = (
        sum((x - y) ** 2 / (len(unit) - 1) for unit in units for x, y in permutations(unit, 2)) / n
    )
    expected = sum((x - y) ** 2 for x, y in permutations(values, 2)) / (n * (n - 1))
    return 1 - observed / expected


def test_uneven_raters_against_naive_twins():
    generator = np.random.default_rng(5)
    units = [generator.integers(0, 5, generator.integers(0, 5)).tolist() for _ in range(120)]
    rows = [
        row
        for place, unit in enumerate(units)
        for row in scored(place % 60, "raters" if place < 60 else "gold", *unit)
    ]
    result = table(rows)
    raters = [unit for unit in units[:60] if len(unit) > 1]
    both = [
        (unit, gold) for unit, gold in zip(units[:60], units[60:], strict=True) if unit and gold
    ]
    pairs = [x == y for unit in raters for x, y in combinations(unit, 2)]
    inside = [min(gold) <= value <= max(gold) for unit, gold in both for value in unit]
    rho = spearmanr(
        [np.mean(unit) for unit, _ in both], [np.mean(gold) for _, gold in both]
    ).statistic
    expected = {
        "krippendorff_alpha": (naive_alpha(raters), sum(map(len, raters))),
        "observed_agreement": (np.mean(pairs), len(pairs)),
        "full_agreement": (np.mean([len(set(unit)) == 1 for unit in raters]), len(raters)),
        "accuracy": (np.mean(inside), len(inside)),
        "gold_correlation": (rho, len(both)),
    }
    for name, value_and_n in expected.items():
        assert result["Tone", name] == pytest.approx(value_and_n, abs=1e-12)


def test_ordinal_alpha_of_the_published_example():
    # Krippendorff (2011), page 8: four observers, twelve units.
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    units = ([int(x) for x in given if x != "."] for given in zip(*observers, strict=True))
    result = table(
        [row for unit, given in enumerate(units) for row in scored(unit, "raters", *given)]
    )
    assert result["Tone", "krippendorff_alpha_ordinal"][0] == pytest.approx(0.815, abs=5e-4)
    assert result["Tone", "krippendorff_alpha"][0] == pytest.approx(0.849, abs=5e-4)


def test_gold_scores_have_the_expected_agreement(world):
    """Which is near Table 4. Were all completions scored by the gold team, chance would leave
    little.
    """
    table_4 = {
        fields(row, "dimension statistic"): float(row["value"])
        for row in read_table(DATA / "play_favorites_agreement.csv")
    }
    study = simulate(replace(world, gold_share=1.0), prompts=596, seed=20250809)
    write_parquet(study.raters, "raters.parquet")
    result = keyed(rater_agreement("raters.parquet"), "dimension statistic")
    for d, dimension in enumerate(world.dimensions):
        known = (
            world.human_mean[d],
            world.quality_dispersion[d],
            world.rater_dispersion[d],
            int(world.levels[d]),
        )
        agreement = gold_agreement(*known, world.gold_dispersion[d], world.gold_insight[d : d + 1])
        near = {"accuracy": (0.03, 0.015), "gold_correlation": (0.04, 0.05)}
        for (name, (of_table, of_scores)), values in zip(near.items(), agreement, strict=True):
            expected = values[0]
            assert expected == pytest.approx(table_4[dimension, name], abs=of_table)
            assert result[dimension, name]["value"] == pytest.approx(expected, abs=of_scores)
    for name in ("accuracy", "gold_correlation", "observed_agreement", "krippendorff_alpha"):
        assert result["", name]["value"] == pytest.approx(table_4["", name], abs=0.04)


def test_gold_team_of_a_small_study_scores_the_same_share(world):
    raters = simulate(world, prompts=24, seed=1).raters
    gold = raters["team"] == "gold"
    assert len(set(zip(raters["model"][gold], raters["prompt_id"][gold], strict=True))) == round(
        210 * 24 / 596
    )
    assert not gold[: np.argmax(gold)].any()
    assert gold[np.argmax(gold) :].all()
    for column in ("rater", "rating"):
        assert raters[column].dtype == np.int64
