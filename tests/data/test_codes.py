"""Codes of groups of which few occur, more than a type holds, and what is counted of rows of several dimensions and gaps."""

import tracemalloc
from itertools import product

import duckdb
import numpy as np
import pytest

from conftest import CONFIG, built
from recuse.base.database import connect
from recuse.base.tables import read_table
from recuse.crosscheck.compare import check_engines
from recuse.data.files import RatingsFile
from recuse.data.levels import AXES, Levels, levels_of
from recuse.data.moments import moments_of_rows
from recuse.data.ratings import StudyFiles
from recuse.data.references import with_normalised_length
from recuse.data.registry import Registry
from recuse.data.shards import CheckedRows, Shard, first_twice, sort_rows
from recuse.model.spec import Spec

MODELS = [*CONFIG["models"]][:9]


def study_of(folder, rows, scale=(0, 4)):
    """A study of the rows of an SQL query."""
    duckdb.sql(f"copy ({rows}) to '{folder}/raw.parquet' (format parquet)")
    dimensions = [name for (name,) in duckdb.sql(f"select distinct dimension from ({rows})").fetchall()]
    registry = Registry.from_config(CONFIG["models"])
    return built(
        folder, "mine", StudyFiles([RatingsFile(f"{folder}/raw.parquet")], dict.fromkeys(dimensions, scale), {}, registry)
    )


def sparse(datasets):
    """Nine judges and models, of whose pairs each dataset has one: of many codes of groups, one in 81 occurs."""
    return f"""
        select {MODELS}[1 + (hash(i) % 9)::integer] as judge, {MODELS}[1 + (hash(i, 1) % 9)::integer] as model,
               hash(i, 2) % 13 / 3 as gt,
               'A' as dimension, 's' || i as dataset, 'p' || i // 3 as prompt_id, (hash(i, 3) % 5)::integer as rating,
               10 + hash(i, 4) % 90 as pred_length
        from range({datasets}) t(i) qualify row_number() over (partition by judge, model, prompt_id) = 1"""


@pytest.fixture(scope="module")
def sparse_study(tmp_path_factory):
    return study_of(tmp_path_factory.mktemp("sparse"), sparse(1000))  # 81,000 codes: more than two bytes hold


def test_many_codes_say_what_the_texts_say(sparse_study):
    levels = levels_of(sparse_study.ratings[0])
    assert 2**16 < levels.groups < 2**17
    rows = duckdb.sql(f"from '{sparse_study.ratings[0]}'").df()
    assert rows["group_code"].max() > 2**16
    factors = levels.factors(rows["group_code"].to_numpy(dtype=np.int64))
    for factor, names in factors.items():
        assert (names == rows[factor].to_numpy(dtype=str)).all(), factor
    assert (levels.code_of(factors) == rows["group_code"]).all()


@pytest.mark.parametrize("length", [None, "global"])
def test_fits_of_groups_that_seldom_occur(sparse_study, length):
    spec = Spec.of("", length=length, covariance="CR1")
    assert max(row["largest_difference"] for row in check_engines([spec], sparse_study, confidence=0.9)) < 1e-9


def test_moments_take_the_memory_of_the_groups_that_occur(sparse_study):
    levels = levels_of(sparse_study.ratings[0])
    rows = with_normalised_length(f"from '{sparse_study.ratings[0]}'", "global")
    tracemalloc.start()
    moments = moments_of_rows([f"from ({rows}) where prompt % 2 = {rest}" for rest in (0, 1)], levels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    whole = moments_of_rows([rows], levels)
    np.testing.assert_allclose(moments.tensor, whole.tensor, rtol=1e-12)
    assert all((moments.factors[factor] == names).all() for factor, names in whole.factors.items())
    assert peak < 10e6 < 8 * 35 * levels.groups  # the tensor has 2 MB


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [((1, 1, 1, 2**16), "USMALLINT"), ((1, 1, 1, 2**16 + 1), "UINTEGER"), ((3, 5, 2000, 200_000), "BIGINT")],
)
def test_types_hold_the_codes(tmp_path, sizes, kind):
    """Of the last group, so that its code is the largest."""
    named = {axis: [f"{axis} {number:06}" for number in range(size)] for axis, size in zip(AXES, sizes, strict=True)}
    names = sorted({*named["judge"], *named["model"]})
    levels = Levels(
        **named, reference=[1.0], scale=[[0, 4]] * sizes[0], judge_family=["f"] * sizes[1], model_family=["f"] * sizes[2],
        task_type=[""] * sizes[3],
    )  # fmt: skip
    checked = CheckedRows([f"{tmp_path}/rows.parquet"], dict.fromkeys(named["dimension"], (0, 4)), names)
    last = [sizes[0] - 1, *(names.index(named[axis][-1]) for axis in ("judge", "model"))]
    key = np.ravel_multi_index(last, checked.shape)
    duckdb.sql(f"""
        copy (select {key}::bigint as key, dataset, 'p' as prompt_id, 1 as rating, 1.0::double as gt, 9.0::double as length
              from unnest({[named["dataset"][0], named["dataset"][-1]]}) t(dataset)) to '{tmp_path}/rows.parquet'""")
    connection, path = connect(), f"{tmp_path}/sorted.parquet"
    sort_rows(connection, checked, levels, Shard("p", "p", 0), path)
    found = duckdb.sql(f"select max(group_code), any_value(typeof(group_code)) from '{path}'").fetchall()
    assert found == [(levels.groups - 1, kind)]
    twice = first_twice(connection, path, levels)
    assert twice == (named["judge"][-1], named["model"][-1], named["dimension"][-1], "p")


def test_codes_in_sql_are_those_in_numpy():
    levels = Levels(["a", "b"], ["j1", "j2", "j3"], ["m"], ["s1", "s2"], [1.0], [[0, 4]] * 2, ["f"] * 3, ["f"], [""] * 2)
    code = np.arange(levels.groups)
    for axis, place in zip(AXES, levels.places(code), strict=True):
        query = f"select {levels.sql_place(axis)}, {levels.sql_without(axis)} from range({levels.groups}) t(group_code)"
        found, without = np.array(duckdb.sql(query).fetchall()).T
        assert (found == place).all()
        others = {other: np.where(other == axis, 0, at) for other, at in zip(AXES, levels.places(code), strict=True)}
        assert (without == levels.code(*others.values())).all()


def test_prompts_are_counted_in_each_dimension(tmp_path):
    """Of one file: A has the prompts 0 to 4, B the prompts 3 to 5, and C those of A for one model only."""
    asked = {"A": range(5), "B": range(3, 6), "C": range(5)}
    rows = [(name, model, prompt) for name in asked for model, prompt in product((0, 1), asked[name]) if name != "C" or model]
    listed = ", ".join(f"('{name}', {model}, {prompt})" for name, model, prompt in rows)
    study_of(tmp_path, f"""
        select '{MODELS[0]}' as judge, {MODELS[:2]}[1 + m] as model, dimension, 's' as dataset, p as prompt_id, 1 as rating,
               2 as gt
        from (values {listed}) t(dimension, m, p)""")  # fmt: skip
    table = read_table(tmp_path / "completeness.csv")
    found = {(row["dimension"], row["model"]): (row["prompts"], row["absent"], row["used"]) for row in table}
    assert found == {
        **{("A", model): ("5", "0", "5") for model in MODELS[:2]},
        **{("B", model): ("3", "0", "3") for model in MODELS[:2]},
        ("C", MODELS[1]): ("5", "0", "5"),
    }


def test_a_judge_without_any_length_in_a_study_with_lengths(tmp_path):
    study = study_of(tmp_path, f"""
        select {MODELS}[1 + j] as judge, '{MODELS[0]}' as model, 'A' as dimension, 's' as dataset, p as prompt_id, 1 as rating,
               2 as gt, case when j = 0 then 50 + p end as pred_length
        from range(3) judges(j), range(4) prompts(p)""")  # fmt: skip
    used = {row["judge"]: (row["missing_length"], row["used"]) for row in read_table(tmp_path / "completeness.csv")}
    assert used == {MODELS[0]: ("0", "4"), MODELS[1]: ("4", "0"), MODELS[2]: ("4", "0")}
    assert study.cells().n.sum() == 4


def test_cells_count_the_ratings_of_the_scale(tmp_path):
    study = study_of(tmp_path, f"""
        select '{MODELS[0]}' as judge, '{MODELS[0]}' as model, 'A' as dimension, 's' as dataset, p as prompt_id,
               2 + p as rating, 2 as gt
        from range(3) prompts(p)""", scale=(2, 5))  # fmt: skip
    columns = duckdb.sql(f"select * from '{study.cells_from}'").columns
    assert [column for column in columns if column.startswith("count_")] == ["count_2", "count_3", "count_4", "count_5"]
    assert study.cells().counts.tolist() == [[1, 1, 1, 0]]
