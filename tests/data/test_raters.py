"""Human raters: what is read from their file, errors about it, and their agreement, by hand and by
naive twins.
"""

import re
from dataclasses import replace
from itertools import combinations, permutations

import duckdb
import numpy as np
import pytest

from conftest import CONFIG, DATA
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


@pytest.fixture
def ratings(tmp_path):
    """Canonical ratings of a study of two dimensions and two datasets, in two shards, as far as
    they are read.
    """
    paths = [str(tmp_path / f"ratings {shard}.parquet") for shard in range(2)]
    columns = {
        "dimension": ["Tone", "Style"],
        "dataset": ["tickets", "mails"],
        "prompt_id": ["t0", "m1"],
    }
    columns |= {
        "model": ["GPT-4o", "Claude v2"],
        "occasion": ["", ""],
        "scale_low": [1, 0],
        "scale_high": [5, 4],
    }
    for row, path in enumerate(paths):
        shard = {
            name: np.array([values[row]], dtype=None if "scale" in name else object)
            for name, values in columns.items()
        }
        write_parquet(shard, path)
    return paths


def check(tmp_path, ratings, lines, header=HEADER):
    path, output = tmp_path / "raters.csv", tmp_path / "out.parquet"
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    check_raters(
        str(path), Registry.from_config(CONFIG["models"]), ratings=ratings, output=str(output)
    )
    return duckdb.sql(f"select * from '{output}'").fetchall()


def test_canonical_rows(tmp_path, ratings):
    rows = check(tmp_path, ratings, GOOD)
    assert rows == [
        ("Claude v2", "Style", "mails", "m1", "raters", "1", 0),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "ann", 5),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "bob", 4),
    ]
    names = duckdb.sql(f"select * from '{tmp_path / 'out.parquet'}' limit 0").columns
    assert names == ["model", "dimension", "dataset", "prompt_id", "team", "rater", "rating"]


def test_teams_missing_ratings_and_other_columns(tmp_path, ratings):
    lines = [
        "gold,gpt-4o,Tone,tickets,t0,ann,5,x",
        ",gpt-4o,Tone,tickets,t0,ann,4,",
        "raters,gpt-4o,Tone,tickets,t0,bob,NA,",
    ]
    rows = check(tmp_path, ratings, lines, header=f"team,{HEADER},Team")
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
    column dimension: found 'Wit', a dimension without ratings in the study
gpt-4o,Wit,tickets,t0,ann,5
    ; write one of Style, Tone
gpt-4o,Tone,chats,t0,ann,5
    column dataset: found 'chats', a dataset without ratings in the study
gpt-4o,Tone,,t0,ann,5
    column dataset: found nothing
gpt-4o,Tone,tickets,,ann,5
    column prompt_id: found nothing; write the id of the prompt
gpt-4o,Tone,tickets,t0,,5
    column rater: found nothing; write a number or a name
gpt-4o,Tone,tickets,t0,ann,0
    column rating: found '0', which is off the scale of the dimension
gpt-4o,Tone,tickets,t0,ann,0
    write an integer from 1 to 5
gpt-4o,Tone,tickets,t0,ann,4.5
    column rating: found '4.5'
gpt-4o,Tone,tickets,t0,ann,good
    column rating: found 'good', which is not a number; write an integer from 1 to 5, or leave
"""
    ),
)
def test_fault_is_named_with_its_place(tmp_path, ratings, line, message):
    with pytest.raises(DataError, match=re.escape(message)):
        check(tmp_path, ratings, [GOOD[1], line])
    assert not (tmp_path / "out.parquet").exists()


def test_rater_who_rates_twice(tmp_path, ratings):
    again = "gpt-4o,Tone,tickets,t0,bob,3"
    message = (
        r"line 5, column rater: rater 'bob' of team 'raters' has already rated model 'GPT-4o',"
        r" dimension 'Tone', dataset "
        r"'tickets' and prompt 't0' in .*raters\.csv, line 3; keep one"
    )
    with pytest.raises(DataError, match=message):
        check(tmp_path, ratings, [*GOOD, again])
    assert not (tmp_path / "out.parquet").exists()
    both_teams = [*(f"{line}," for line in GOOD), f"{again},gold"]
    assert len(check(tmp_path, ratings, both_teams, header=f"{HEADER},team")) == 4


def test_raters_of_answers_on_several_occasions(tmp_path):
    """One rater may rate each answer of a model to a prompt, which their agreement keeps apart."""
    answers = [("first", 5, 4), ("again", 1, 1)]
    given = {
        "occasion": [name for name, *_ in answers],
        "model": ["GPT-4o"] * 2,
        "dimension": ["Tone"] * 2,
    }
    given |= {"dataset": ["tickets"] * 2, "prompt_id": ["t0"] * 2}
    columns = {name: np.array(values, dtype=object) for name, values in given.items()}
    write_parquet(
        columns | {"scale_low": np.array([1, 1]), "scale_high": np.array([5, 5])},
        str(tmp_path / "ratings.parquet"),
    )
    ratings = [str(tmp_path / "ratings.parquet")]
    lines = [
        f"gpt-4o,Tone,tickets,t0,{rater},{rating},{name}"
        for name, *rated in answers
        for rater, rating in zip(("ann", "bob"), rated, strict=True)
    ]
    rows = check(tmp_path, ratings, lines, header=f"{HEADER},occasion")
    assert [row[4] for row in rows] == ["first", "first", "again", "again"]
    n = {
        row["statistic"]: row["n"]
        for row in rater_agreement(str(tmp_path / "out.parquet"))
        if row["dimension"]
    }
    assert n["full_agreement"] == 2  # completions
    with pytest.raises(
        DataError,
        match="'GPT-4o' answers prompt 't0' on several occasions; add a column `occasion`",
    ):
        check(tmp_path, ratings, [line.rpartition(",")[0] for line in lines[:2]])
    with pytest.raises(DataError, match=r"prompt 't0', occasion 'first' in .*line 2; keep one"):
        check(tmp_path, ratings, [lines[0], lines[0]], header=f"{HEADER},occasion")


def test_prompts_that_are_all_others(tmp_path, ratings):
    others = [line.replace(",t0,", ",p0,").replace(",m1,", ",p1,") for line in GOOD]
    message = (
        r"raters\.csv, column prompt_id: found no prompt that the study rates: its first is 'p0' in"
        r" dataset 'tickets', the "
        r"study's 'm1' in 'mails'; write the same ids and datasets"
    )
    with pytest.raises(DataError, match=message):
        check(tmp_path, ratings, others)
    assert not (tmp_path / "out.parquet").exists()
    assert len(check(tmp_path, ratings, [*others, GOOD[0]])) == 4


def test_unknown_team_and_columns(tmp_path, ratings):
    with pytest.raises(
        DataError,
        match=(
            r"column team: found 'expert', which is not a team; write raters or gold; empty means"
        ),
    ):
        check(tmp_path, ratings, [f"{GOOD[0]},expert"], header=f"{HEADER},team")
    with pytest.raises(
        DataError,
        match=(
            r"line 1, column rater: missing; found model, .* needs model, .*occasion, team are"
            r" optional"
        ),
    ):
        check(tmp_path, ratings, GOOD, header=HEADER.replace("rater,", "annotator,"))
    with pytest.raises(DataError, match=r"line 1, column team: found twice; keep one"):
        check(tmp_path, ratings, GOOD, header=f"{HEADER},team,team")
    with pytest.raises(DataError, match=r"the file holds no rows"):
        check(tmp_path, ratings, [])


def test_one_job_writes_raters_and_agreement(tmp_path, ratings):
    check(
        tmp_path, ratings, [*GOOD, "gpt-4o,Tone,tickets,t1,ann,2", "gpt-4o,Tone,tickets,t1,bob,2"]
    )
    raters, output = str(tmp_path / "raters.parquet"), str(tmp_path / "agreement.csv")
    outputs = {"raters": raters, "agreement": output}
    raw = [str(tmp_path / "raters.csv")]
    raters_tables(
        study="mine",
        raw=raw,
        ratings=ratings,
        models=CONFIG["models"],
        imported=False,
        declared={},
        outputs=outputs,
    )
    rows = {(row["dimension"], row["statistic"]): row for row in read_table(output)}
    tone = {
        "study": "mine",
        "dimension": "Tone",
        "statistic": "observed_agreement",
        "value": "0.5",
        "n": "2",
    }
    assert rows["Tone", "observed_agreement"] == tone
    assert rows["Style", "full_agreement"]["value"] == ""
    assert duckdb.sql(f"select count(*) from '{raters}'").fetchall() == [(5,)]


def table(tmp_path, rows):
    """The agreement of rows (prompt, team, rater, rating[, dimension]), as {(dimension, statistic):
    (value, n)}.
    """
    names = ("prompt_id", "team", "rater", "rating", "dimension")
    columns = dict(zip(names, zip(*((*row, "Tone")[:5] for row in rows), strict=True), strict=True))
    arrays = {
        name: np.array(values, dtype=None if name == "rating" else object)
        for name, values in columns.items()
    }
    path = str(tmp_path / "raters.parquet")
    same = {"model": "GPT-4o", "dataset": "tickets"}
    write_parquet(
        arrays | {name: np.full(len(rows), value, dtype=object) for name, value in same.items()},
        path,
    )
    return {
        (row["dimension"], row["statistic"]): (row["value"], row["n"])
        for row in rater_agreement(path)
    }


def scored(prompt, team, *ratings):
    return [(prompt, team, f"r{number}", rating) for number, rating in enumerate(ratings)]


def test_what_cannot_be_computed_is_empty(tmp_path):
    alone = table(tmp_path, scored("a", "raters", 3) + scored("b", "raters", 4))
    assert alone == {
        (dimension, name): (None, 0) for dimension in ("Tone", "") for name in STATISTICS
    }
    alike = table(
        tmp_path, scored("a", "raters", 3, 3) + scored("b", "raters", 3, 3) + scored("a", "gold", 3)
    )
    assert alike["Tone", "observed_agreement"] == (1.0, 2)
    assert alike["Tone", "krippendorff_alpha"] == (None, 4)
    assert alike["Tone", "gold_correlation"] == (None, 1)
    assert alike["Tone", "accuracy"] == (1.0, 2)
    only_gold = table(tmp_path, scored("a", "gold", 3, 4))
    assert set(only_gold.values()) == {(None, 0)}
    write_table(
        tmp_path / "t.csv",
        AGREEMENT,
        [{"dimension": "", "statistic": "accuracy", "value": None, "n": 0}],
    )
    assert (tmp_path / "t.csv").read_text("utf-8").splitlines()[1] == ",,accuracy,,0"


def test_average_is_the_plain_mean_of_the_dimensions_that_have_a_value(tmp_path):
    rows = [(*row, "Tone") for row in scored("a", "raters", 1, 1) + scored("b", "raters", 1, 2)]
    rows += [(*row, "Style") for row in scored("a", "raters", 3, 3, 3)] + [
        (*row, "Wit") for row in scored("a", "raters", 3)
    ]
    result = table(tmp_path, rows)
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


def test_uneven_raters_against_naive_twins(tmp_path):
    from scipy.stats import spearmanr

    generator = np.random.default_rng(5)
    units = [generator.integers(0, 5, generator.integers(0, 5)).tolist() for _ in range(120)]
    teams = {"raters": units[:60], "gold": units[60:]}
    rows = [
        row
        for team, units in teams.items()
        for i, unit in enumerate(units)
        for row in scored(i, team, *unit)
    ]
    result = table(tmp_path, rows)
    raters = [unit for unit in teams["raters"] if len(unit) > 1]
    both = [
        (unit, gold)
        for unit, gold in zip(teams["raters"], teams["gold"], strict=True)
        if unit and gold
    ]
    pairs = [x == y for unit in raters for x, y in combinations(unit, 2)]
    inside = [min(gold) <= value <= max(gold) for unit, gold in both for value in unit]
    rho = spearmanr(
        [np.mean(unit) for unit, _ in both], [np.mean(gold) for _, gold in both]
    ).statistic
    assert result["Tone", "krippendorff_alpha"] == (
        pytest.approx(naive_alpha(raters), abs=1e-12),
        sum(map(len, raters)),
    )
    assert result["Tone", "observed_agreement"] == (pytest.approx(np.mean(pairs)), len(pairs))
    assert result["Tone", "full_agreement"] == (
        pytest.approx(np.mean([len(set(unit)) == 1 for unit in raters])),
        len(raters),
    )
    assert result["Tone", "accuracy"] == (pytest.approx(np.mean(inside)), len(inside))
    assert result["Tone", "gold_correlation"] == (pytest.approx(rho, abs=1e-12), len(both))


def test_ordinal_alpha_of_the_published_example(tmp_path):
    # Krippendorff (2011), page 8: four observers, twelve units.
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    rows = [
        (unit, "raters", o, int(x))
        for o, given in enumerate(observers)
        for unit, x in enumerate(given)
        if x != "."
    ]
    result = table(tmp_path, rows)
    assert result["Tone", "krippendorff_alpha_ordinal"][0] == pytest.approx(0.815, abs=5e-4)
    assert result["Tone", "krippendorff_alpha"][0] == pytest.approx(0.849, abs=5e-4)


@pytest.fixture(scope="module")
def table_4():
    rows = read_table(DATA / "play_favorites_agreement.csv")
    return {(row["dimension"], row["statistic"]): float(row["value"]) for row in rows}


def measured(world, folder, prompts=596):
    path = str(folder / "raters.parquet")
    write_parquet(simulate(world, prompts=prompts, seed=20250809).raters, path)
    return {(row["dimension"], row["statistic"]): row for row in rater_agreement(path)}


def expected(world, d):
    known = (
        world.human_mean[d],
        world.quality_dispersion[d],
        world.rater_dispersion[d],
        int(world.levels[d]),
    )
    result = gold_agreement(*known, world.gold_dispersion[d], world.gold_insight[d : d + 1])
    return result[0][0], result[1][0]


def test_gold_team_is_expected_near_table_4(world, table_4):
    for d, dimension in enumerate(world.dimensions):
        accuracy, correlation = expected(world, d)
        assert accuracy == pytest.approx(table_4[dimension, "accuracy"], abs=0.03)
        assert correlation == pytest.approx(table_4[dimension, "gold_correlation"], abs=0.04)


def test_gold_scores_have_the_expected_agreement(world, tmp_path):
    """Were all completions scored by the gold team, chance would leave little."""
    result = measured(replace(world, gold_share=1.0), tmp_path)
    for d, dimension in enumerate(world.dimensions):
        accuracy, correlation = expected(world, d)
        assert result[dimension, "accuracy"]["value"] == pytest.approx(accuracy, abs=0.015)
        assert result[dimension, "gold_correlation"]["value"] == pytest.approx(
            correlation, abs=0.05
        )


def test_gold_team_of_the_twin(world, table_4, tmp_path):
    result = measured(world, tmp_path)
    for dimension in world.dimensions:
        n = result[dimension, "gold_correlation"]["n"]
        assert 55 < n < 90 if dimension == "Faithfulness" else 200 < n <= 210
        assert result[dimension, "accuracy"]["value"] == pytest.approx(
            table_4[dimension, "accuracy"], abs=0.06
        )
        # Three standard errors of a correlation of 210 completions, or 70, and what is not fitted.
        assert result[dimension, "gold_correlation"]["value"] == pytest.approx(
            table_4[dimension, "gold_correlation"], abs=0.04 + 3 / np.sqrt(n)
        )
    for statistic in ("accuracy", "gold_correlation", "observed_agreement", "krippendorff_alpha"):
        assert result["", statistic]["value"] == pytest.approx(table_4["", statistic], abs=0.04)


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
