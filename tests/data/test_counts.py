"""Counts in place of ratings: every spec equals that of the rows, bit by bit, or is refused."""

import random
import re
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

import recuse
from conftest import CONFIG
from conftest import built as built_study
from mutations import examples
from rated_tables import normalised, rated, write_rows
from recuse.base.database import connect, files, values_in
from recuse.base.errors import DataError
from recuse.base.reasons import Reason, code
from recuse.base.tables import read_table
from recuse.data.ratings import StudyFiles, check_ratings
from recuse.data.study import StudyTables
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

pytestmark = pytest.mark.usefixtures("own_folder")

KEY = "judge, model, dimension, dataset, gt, rating"
BY_ANSWER = {
    "length_control",
    "length_control_as_coded",
    "length_control_global",
    "length_alone",
    "llm_reference",
    "llm_reference_as_coded",
    "completion_effects",
}
BY_PROMPT = {
    "clustered",
    "clustered_by_dimension",
    "clustered_by_task_type",
    "model_effects",
    "model_dimension_effects",
    "model_effects_by_dimension",
}
DRAWS = 49
TONE = {"Tone": [1, 5]}


def refused(spec, *, by_prompt):
    if spec in BY_ANSWER:
        return Reason.COUNTS_WITHOUT_ANSWERS
    return Reason.COUNTS_WITHOUT_PROMPTS if spec in BY_PROMPT and not by_prompt else None


def source(path, counts="", scales=None, **others):
    study = CONFIG["studies"]["twin"]
    types = {} if scales else study["task_types"]
    declared = {"scales": scales or study["scales"], "task_types": types, "counts": counts}
    return StudyFiles.from_files([path], [None], models=CONFIG["models"], **declared, **others)


def built(folder, files):
    folder.mkdir()
    return built_study(folder, "twin", files)


def counted(folder, files):
    """The study of counts, without their rows."""
    paths = {name: f"{folder}/{name}" for name in ("ratings", "completeness")}
    _, _, cells = check_ratings("twin", files, **paths)
    return StudyTables("twin", cells)


def count(raw, path, key=KEY):
    duckdb.sql(f"copy (select {key}, count(*) as n from '{raw}' group by all) to '{path}'")
    return str(path)


@pytest.fixture(scope="module")
def studies(few_prompts, tmp_path_factory):
    """Of rows, of counts by prompt, and of counts."""
    folder, raw = (
        tmp_path_factory.mktemp("counts"),
        few_prompts.ratings[0].replace("ratings", "raw"),
    )
    by_prompt = source(count(raw, folder / "by_prompt.parquet", f"{KEY}, prompt_id"), "n")
    counts = source(count(raw, folder / "counts.csv"), "n")
    rows = built(folder / "rows", source(raw))
    return rows, built(folder / "by_prompt", by_prompt), counted(folder, counts)


@pytest.mark.parametrize("name", CONFIG["specs"])
def test_every_spec_is_that_of_the_rows_or_refused(studies, name):
    spec = dict(CONFIG["specs"][name])
    spec |= {key: DRAWS for key in ("bootstrap", "wild") if key in spec}
    spec = Spec.of(name, **spec)
    of_rows, *of_counts = (estimate(spec, study, confidence=0.9, seed=1) for study in studies)
    assert of_rows.estimates
    for by_prompt, estimated in zip((True, False), of_counts, strict=True):
        reason = refused(name, by_prompt=by_prompt)
        if reason is None:
            assert repr(estimated) == repr(of_rows)
        else:
            assert not estimated.estimates
            assert [code(row["reason"]) for row in estimated.not_estimable] == [reason]


def test_completeness_is_that_of_the_rows(few_prompts):
    raw = few_prompts.ratings[0].replace("ratings", "raw")
    lost = f"(select * replace (if(hash(judge, prompt_id) % 9 = 0, null, rating) as rating) from '{raw}')"
    duckdb.sql(f"copy {lost} to 'lost.parquet'")
    by_prompt = count("lost.parquet", Path("n.csv"), f"{KEY}, prompt_id")
    built(Path("rows"), source("lost.parquet"))
    built(Path("counts"), source(by_prompt, "n"))
    tables = [read_table(Path(each) / "completeness.csv") for each in ("rows", "counts")]
    for row in tables[0]:
        row["missing_length"] = "0"
    assert tables[0] == tables[1]
    assert any(row["missing_rating"] != "0" for row in tables[1])


@examples(40)
@given(st.integers(0, 2**32))
def test_counts_of_random_rows_are_the_rows(tmp_path_factory, seed):
    """Rows of one answer or more to a prompt; their counts in any order, in parts."""
    folder, drawn = tmp_path_factory.mktemp("random"), random.Random(seed)
    rows = [
        {**row, "replicate": again, "rating": drawn.choice(("", *range(1, 6))), "part": again % 2}
        for row in rated(prompts=3, seed=seed)
        for again in range(drawn.choice((0, 1, 1, 2, 3)))
    ]
    names = ["judge", "model", "gt", "dataset", "prompt_id", "rating", "dimension"]
    parts = pd.DataFrame(rows).groupby([*names, "part"]).size().reset_index(name="times")
    parts = parts[[*names, "times"]].sample(frac=1, random_state=seed).to_dict("records")
    of_rows = built(folder / "rows", source(write_rows(folder / "rows.csv", rows), scales=TONE))
    counts = write_rows(folder / "n.csv", parts)
    study = built(folder / "counts", source(counts, "times", TONE))
    for spec in (Spec.of("main"), Spec.of("main", covariance="CR1")):
        first, second = (
            pd.DataFrame(estimate(spec, each, confidence=0.9).estimates)
            for each in (of_rows, study)
        )
        pd.testing.assert_frame_equal(first, second, rtol=1e-9, atol=1e-12)
    first, second = (
        (each.cells().counts.tolist(), each.cells().factors["judge"].tolist())
        for each in (of_rows, study)
    )
    assert first == second


# Of the warehouse in the queries of docs/scale.md
CALLS = """
    select judge as grader, model as candidate, dimension as metric, dataset as corpus,
           prompt_id as item, gt as human, rating as score from '{}'"""


def queries():
    page = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
    return re.findall(r"^(\w+)[^\n]*:\n\n```sql\n(.*?)```", page.read_text("utf-8"), re.M | re.S)


def test_documented_queries_count(few_prompts):
    """That of DuckDB runs as it is; what the others select runs in DuckDB, in its dialect."""
    raw = few_prompts.ratings[0].replace("ratings", "raw")
    duckdb.sql(f"copy ({CALLS.format(raw)}) to 'calls.parquet'")
    made = {}
    for engine, query in queries():
        parsed = sqlglot.parse_one(query, dialect=engine.lower())
        assert not list(parsed.find_all(sqlglot.exp.Command))
        made[engine] = f"{engine}.parquet"
        if engine == "DuckDB":
            query = query.replace("s3://calls/2026/*.parquet", "calls.parquet")
            duckdb.sql(query.replace("counts.parquet", made[engine]))
        else:
            select = parsed.find(sqlglot.exp.Select).sql(dialect="duckdb")
            select = select.replace("calls.ratings", "'calls.parquet'")
            duckdb.sql(f"copy ({select}) to '{made[engine]}'")
    assert list(made) == ["DuckDB", "Spark", "BigQuery"]
    study = counted(".", source(count(raw, "n.csv", f"{KEY}, prompt_id"), "n"))
    for path in made.values():
        counts = counted(".", source(path, "n")).cells().counts
        assert (counts == study.cells().counts).all()


GOOD = "GPT-4o,GPT-4o,Tone,d,p1,4,4,12"
HEADER = "judge,model,dimension,dataset,prompt_id,gt,rating,times"


def table(path, *lines, header=HEADER):
    path.write_text("\n".join([header, GOOD, *lines]) + "\n", "utf-8")
    return str(path)


@pytest.mark.parametrize("n", ["0", "-3", "2.5", "many", "", "1e16", "inf"])
def test_an_n_that_is_no_count_is_named(n):
    path = table(Path("n.csv"), f"GPT-4o,Claude v2,Tone,d,p1,3,2,{n}")
    found = f"found '{n}'" if n not in ("",) else "found nothing"
    with pytest.raises(DataError) as caught:
        built(Path("built"), source(path, "times", TONE))
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3, column times: {found}")
    assert "a whole number from 1" in message


@pytest.mark.parametrize("n", [10**9, 10**15])
def test_what_cannot_be_repeated_is_counted_and_refused_where_it_would_be(n):
    """A fit from cells takes counts of any size, as they are not repeated."""
    path = table(Path("n.csv"), f"GPT-4o,Claude v2,Tone,d,p1,3,2,{n}")
    of_counts = source(path, "times", TONE)
    outputs = {"ratings": "r.parquet", "completeness": "c.csv"}
    assert check_ratings("counts", of_counts, **outputs)[2].counts.sum() == n + 12
    words = f"{path}: the counts stand for {n + 12:,} ratings, and at most 1,000,000,000 can"
    with pytest.raises(DataError, match=re.escape(words)):
        normalised(of_counts)


@pytest.mark.parametrize(("n", "occasions"), [(1, [0]), (2, [1, 2, 3, 4])])
def test_only_several_ratings_of_one_answer_are_on_occasions_of_their_own(n, occasions):
    path = Path("n.csv")
    rows = [f"GPT-4o,{model},Tone,d,p1,3,2,{n}" for model in ("GPT-4o", "Claude v2")]
    path.write_text("\n".join([HEADER, *rows, ""]), "utf-8")
    study = built(Path("built"), source(str(path), "times", TONE))
    query = f"select distinct occasion_code from {files(study.ratings)} order by all"
    assert values_in(connect(), query) == occasions


def test_counts_that_no_double_holds_are_refused():
    rows = [f"GPT-4o,Claude v2,Tone,d,p{p},3,2,{10**15}" for p in range(10)]
    path = table(Path("n.csv"), *rows)
    with pytest.raises(DataError, match="column times: found 10,000,000,000,000,012 ratings in"):
        built(Path("built"), source(path, "times", TONE))


def test_human_scores_of_some_ratings_are_named():
    path = table(Path("n.csv"), "GPT-4o,Claude v2,Tone,d,p1,,2,7")
    with pytest.raises(DataError, match="line 3, column gt: found nothing; write the human score"):
        built(Path("built"), source(path, "times", TONE))


def test_missing_columns_are_named():
    path = table(Path("n.csv"))
    with pytest.raises(DataError, match="line 1, column count: missing; found judge, model"):
        source(path, "count", TONE).files[0].stored()
    short = Path("short.csv")
    short.write_text("judge,model,dimension,dataset,gt,rating,times\na,b,Tone,d,1,1,2\n", "utf-8")
    with pytest.raises(DataError, match="line 1, column prompt_id: missing; count by prompt_id"):
        built(Path("built"), source(str(short), "times", TONE))


def test_failed_judgments_are_counted():
    path = table(Path("n.csv"), "GPT-4o,GPT-4o,Tone,d,p1,4,,3", "GPT-4o,GPT-4o,Tone,d,p2,4,2,1")
    study = built(Path("built"), source(path, "times", TONE))
    (row,) = read_table(Path("built") / "completeness.csv")
    assert (row["missing_rating"], row["used"], row["absent"]) == ("3", "13", "0")
    assert study.cells().n.sum() == 13


def in_python(n):
    """A random table of ratings, each n times, as rows and as counts, in Python."""
    rows = [{**row, "n": n} for row in rated(prompts=12, lengths=False)]
    write_rows("counts.csv", rows)
    write_rows("rows.csv", [{**row, "occasion": time} for row in rows for time in range(n)])
    study = "scales: {Tone: [1, 5]}"
    Path("mine.yaml").write_text(
        f"studies:\n  rows: {{title: r, files: rows.csv, {study}}}\n"
        f"  counts: {{title: c, files: counts.csv, counts: n, {study}}}\n",
        "utf-8",
    )
    return [recuse.ratings("mine.yaml", study=name) for name in ("rows", "counts")]


def test_counts_in_python_are_the_ratings():
    of_rows, of_counts = in_python(3)
    assert len(of_counts) == len(of_rows) == 3 * 5 * 5 * 12
    # What reads rows first, and what reads cells
    for settings in ({"covariance": "CR1"}, {}):
        fits = (recuse.fit(ratings, **settings).frame for ratings in (of_rows, of_counts))
        first, second = (fit.drop(columns="study") for fit in fits)
        pd.testing.assert_frame_equal(first, second, rtol=1e-9)
    shared = ["judge", "model", "prompt", "rating"]
    first, second = (
        ratings.to_pandas()[shared].sort_values(shared, ignore_index=True)
        for ratings in (of_rows, of_counts)
    )
    pd.testing.assert_frame_equal(first, second)
    findings = recuse.check(of_counts).frame
    (advice,) = findings.loc[findings["topic"] == "lengths", "advice"]
    assert advice.startswith("give the ratings themselves")
    assert "on 12 prompts" in repr(of_counts)


def test_counts_without_prompts_are_shown_without_their_number():
    in_python(2)
    rows = pd.read_csv("counts.csv").drop(columns="prompt_id")
    rows.to_csv("counts.csv", index=False)
    counts = recuse.ratings("mine.yaml", study="counts")
    assert "5 models in 1 dimension" in repr(counts)
    assert "5 models in 1 dimension" in counts._repr_html_()
    assert len(recuse.fit(counts, "main").frame)
    with pytest.raises(DataError, match="column prompt_id: missing"):
        counts.to_pandas()
