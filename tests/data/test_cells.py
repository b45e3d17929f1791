"""Codes of groups and references, in numpy and in SQL, also where few of many occur; and cells: the
counts of the rows.
"""

import tracemalloc

import duckdb
import numpy as np
import pandas as pd
import pytest

from designs_on_rows import largest_difference
from rated_tables import FIVE, NINE, normalised, rated, raw_study, study_of_query, study_of_rows
from recuse.base.database import connect
from recuse.base.errors import DataError
from recuse.data.cells import AXES, FACTORS, Levels, as_metadata, count_shard, read_levels
from recuse.data.codes import code_checked
from recuse.data.moments import moments_of_rows
from recuse.data.selection import with_normalised_length
from recuse.data.shards import Shard, first_repeated_row
from recuse.model.spec import Spec

LEVELS = Levels(
    ["d1", "d2"],
    ["j'1", "j2"],
    ["m1", "m2", "ü"],
    ["s1", "s2"],
    [0.1, 2 / 3],
    [[1, 5], [0, 4]],
    ["f"] * 2,
    ["g"] * 3,
    ["", "t"],
)


def test_cells_are_the_counts_of_the_rows(twin, twin_rows):
    cells = twin.cells()
    keys = ["dimension", "dataset", "judge", "model"]
    counts = twin_rows.groupby([*keys, "gt", "rating"]).size().unstack(fill_value=0)
    columns = (*map(cells.factor, keys), cells.reference_raw)
    place = pd.MultiIndex.from_arrays(columns).tolist()
    assert place == counts.index.tolist()
    np.testing.assert_array_equal(cells.counts[:, counts.columns], counts.to_numpy())
    assert cells.counts.sum() == len(twin_rows)
    first = twin_rows.drop_duplicates([*keys, "gt"]).set_index([*keys, "gt"]).loc[place]
    assert (first["gt_unit"].to_numpy() == cells.reference).all()
    assert (first[["scale_low", "scale_high"]].to_numpy() == cells.scale).all()
    assert all(
        (first.reset_index()[factor].to_numpy(dtype=str) == cells.factor(factor)).all()
        for factor in FACTORS
    )


def test_codes_are_counted_without_a_hash_table(twin, monkeypatch, tmp_path):
    asked = []

    class Listener:
        def __init__(self, connection):
            self.connection = connection

        def execute(self, query, *arguments):
            if "group by" in query:
                asked.append(self.connection.execute(f"explain {query}").fetchall()[0][1])
            return self.connection.execute(query, *arguments)

    monkeypatch.setattr("recuse.data.cells.connect", lambda: Listener(connect()))
    count_shard(twin.ratings[0], str(tmp_path / "counts.parquet"))
    assert len(asked) == 1
    assert "Perfect Hash" in asked[0] or "PERFECT_HASH" in asked[0]


def test_file_without_a_complete_row(tmp_path):
    line = "judge,model,gt,dataset,prompt_id,rating\ngpt-4o,gpt-4o,1,cnn,a,\n"
    (tmp_path / "f.csv").write_text(line, "utf-8")
    with pytest.raises(DataError, match=r"f\.csv: no complete row: each lacks the rating"):
        normalised(raw_study(tmp_path / "f.csv", dimension="A"), tmp_path)


def test_cells_count_the_ratings_of_the_scale(tmp_path):
    rows = rated(FIVE[:1], FIVE[:1], prompts=3, score=lambda model: 3, rating=lambda *_: 4)
    cells = study_of_rows(tmp_path, rows, scale=(2, 5)).cells()
    assert cells.ratings.tolist() == [2, 3, 4, 5]
    assert cells.counts.tolist() == [[0, 0, 3, 0]]


def test_levels_are_kept_in_the_footer(tmp_path):
    path = str(tmp_path / "some.parquet")
    duckdb.sql(f"copy (select 1 as a) to '{path}' (format parquet, {as_metadata(LEVELS)})")
    assert read_levels(path) == LEVELS
    duckdb.sql(f"copy (select 1 as a) to '{path}' (format parquet)")
    with pytest.raises(DataError, match="found no list of its codes in the footer"):
        read_levels(path)


def sparse(datasets):
    """Nine judges and models, of whose pairs each dataset has one: of many codes of groups, one in
    81 occurs.
    """
    return f"""
        select {NINE}[1 + (hash(i) % 9)::integer] as judge, {NINE}[1 + (hash(i, 1) % 9)::integer] as model,
               hash(i, 2) % 13 / 3 as gt,
               'A' as dimension, 's' || i as dataset, 'p' || i // 3 as prompt_id, (hash(i, 3) % 5)::integer as rating,
               10 + hash(i, 4) % 90 as pred_length
        from range({datasets}) t(i) qualify row_number() over (partition by judge, model, prompt_id) = 1"""


@pytest.fixture(scope="module")
def sparse_study(tmp_path_factory):
    # 81,000 codes: more than two bytes hold
    return study_of_query(tmp_path_factory.mktemp("sparse"), sparse(1000))


@pytest.mark.parametrize(("name", "least"), [("twin", 0), ("sparse_study", 2**16)])
def test_codes_agree_with_the_texts(request, name, least):
    study = request.getfixturevalue(name)
    levels, rows = read_levels(study.ratings[0]), duckdb.sql(f"from '{study.ratings[0]}'").df()
    code = rows["group_code"].to_numpy(dtype=np.int64)
    assert least < code.max() < levels.groups < 2**17
    factors = levels.factors(code)
    for factor, names in factors.items():
        assert (names == rows[factor].to_numpy(dtype=str)).all(), factor
    assert (levels.group_codes(factors) == code).all()
    assert (np.array(levels.reference)[rows["reference_code"]] == rows["gt"]).all()
    assert (levels.scales(code) == rows[["scale_low", "scale_high"]].to_numpy()).all()
    assert all(
        list(names) == sorted(set(names))
        for names in (levels.judge, levels.model, levels.dataset, levels.reference)
    )


@pytest.mark.parametrize("length", [None, "global"])
def test_fits_of_groups_that_seldom_occur(sparse_study, length):
    spec = Spec.of("", length=length, covariance="CR1")
    assert largest_difference([spec], sparse_study) < 1e-9


def test_moments_take_the_memory_of_the_groups_that_occur(sparse_study):
    levels = read_levels(sparse_study.ratings[0])
    rows = with_normalised_length(f"from '{sparse_study.ratings[0]}'", "global")
    tracemalloc.start()
    moments = moments_of_rows(
        [f"from ({rows}) where prompt % 2 = {rest}" for rest in (0, 1)], levels
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    whole = moments_of_rows([rows], levels)
    np.testing.assert_allclose(moments.tensor, whole.tensor, rtol=1e-12)
    assert all((moments.factors[factor] == names).all() for factor, names in whole.factors.items())
    assert peak < 10e6 < 8 * 35 * levels.groups  # the tensor has 2 MB


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [
        ((16, 16, 16, 16), "USMALLINT"),
        ((1, 16, 17, 241), "UINTEGER"),  # 2**16 + 16
        ((40, 40, 2000, 2000), "BIGINT"),
    ],
)
def test_types_hold_the_codes(tmp_path, sizes, kind):
    """Of the last group, so that its code is the largest."""
    named = {
        axis: [f"{axis} {number:06}" for number in range(size)]
        for axis, size in zip(AXES, sizes, strict=True)
    }
    levels = Levels(
        **named,
        reference=[1.0],
        scale=[[0, 4]] * sizes[0],
        judge_family=["f"] * sizes[1],
        model_family=["f"] * sizes[2],
        task_type=[""] * sizes[3],
    )
    last = ", ".join(f"'{named[axis][-1]}' as {axis}" for axis in ("dimension", "judge", "model"))
    duckdb.sql(f"""
        copy (select {last}, dataset, 'p' as prompt_id, null::varchar as occasion, 1 as rating, 1.0::double as gt,
                     9.0::double as length, null::double as labelling_probability
              from unnest({[named["dataset"][-1]] * 2}) t(dataset)) to '{tmp_path}/rows.parquet'""")
    coded = code_checked(connect(), [f"{tmp_path}/rows.parquet"], levels, Shard("p", "p", 0).sql)
    result = coded.connection.execute(
        "select max(group_code), any_value(typeof(group_code)) from coded"
    ).fetchall()
    assert result == [(levels.groups - 1, kind)]
    group = (named[axis][-1] for axis in ("judge", "model", "dimension", "dataset"))
    assert first_repeated_row(coded) == (*group, "p", None)


def test_codes_in_sql_are_those_in_numpy():
    code = np.arange(LEVELS.groups)
    places = dict(zip(AXES, LEVELS.places(code), strict=True))
    assert (LEVELS.code(*places.values()) == code).all()
    for axis, place in places.items():
        query = (
            f"select {LEVELS.sql_place(axis)}, {LEVELS.sql_without(axis)} from"
            f" range({LEVELS.groups}) t(group_code)"
        )
        result, without = np.array(duckdb.sql(query).fetchall()).T
        assert (result == place).all()
        assert (without == LEVELS.code(*(places | {axis: 0 * place}).values())).all()
