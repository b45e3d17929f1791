"""A study scattered over shards and gathered is the study in one piece: its rows, cells, tables and
faults.
"""

import gzip
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import recuse.base.database
import recuse.data.shards
from conftest import CONFIG, built, study_files
from picked_rows import column, fields, keyed
from rated_tables import FIVE, normalised, rated, raw_study, study_of_rows
from recuse.base.database import bounded
from recuse.base.errors import ConfigError, DataError
from recuse.base.tables import read_table
from recuse.data.cells import count_shard, gather_cells
from recuse.data.files import RatingsFile
from recuse.data.moments import prompt_ranges
from recuse.data.ratings import check_files, plan_study, write_shard
from recuse.data.selection import Selection
from recuse.data.study import StudyTables
from recuse.inference.leaderboard import SHRUNK, Removed, write_debiased
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

pytestmark = pytest.mark.usefixtures("own_folder")

mine = partial(raw_study, dimension="A")  # of CSV files
SPECS = Spec.from_config(CONFIG["specs"])
NEWS = {"dataset": ["cnn", "xsum"]}
KINDS = {
    "main": SPECS["main"],
    "length by prompt": SPECS["length_control"],
    "length of all rows of the prompt": SPECS["length_control_as_coded"],
    "length of the study": SPECS["length_control_global"],
    "references": SPECS["llm_reference"],
    "by prompt, by slice": Spec.of(
        "", slice="task_type", whole=True, covariance="CR1", bootstrap=100
    ),
    "by prompt, length of the study": Spec.of(
        "", length="global", subset=NEWS, covariance="CR1", bootstrap=100
    ),
    "by prompt, references": Spec.of("", reference="family", covariance="CR1", bootstrap=100),
    "ordinal": SPECS["ordinal"],
}
HEADER = "judge,model,gt,dataset,prompt_id,rating,pred_length"


def sharded(folder, name, parts, *, shards):
    """Ratings and cells of a study, as the rules of shards.smk make them; parts: what each job
    checks.
    """
    folder.mkdir()
    rows, summaries = (
        [f"{folder}/{kind} {number}.parquet" for number in range(len(parts))]
        for kind in ("rows", "summary")
    )
    for part, checked, summary in zip(parts, rows, summaries, strict=True):
        check_files(part, checked=checked, summary=summary)
    whole = replace(parts[0], files=[file for part in parts for file in part.files])
    tables = {"plan": f"{folder}/plan.json", "completeness": f"{folder}/completeness.csv"}
    plan_study(name, replace(whole, files=[]), summaries=summaries, shards=shards, **tables)
    ratings, counts = (
        [f"{folder}/{kind} {shard}.parquet" for shard in range(shards)]
        for kind in ("ratings", "counts")
    )
    for shard, path in enumerate(ratings):
        write_shard(whole, checked=rows, plan=tables["plan"], shard=shard, ratings=path)
        count_shard(path, counts[shard])
    gather_cells(counts, f"{folder}/cells.parquet")
    assert not [*folder.glob("*.unsorted")]
    return StudyTables(name, f"{folder}/cells.parquet", ratings)


def rows_from(study):
    return duckdb.sql(f"from read_parquet({study.ratings})").fetchall()


def rows_by_shard(study):
    return [len(duckdb.sql(f"from '{path}'")) for path in study.ratings]


def written(*parts):
    """A file for each of `parts`, of rows; the paths."""
    paths = [Path(f"part {number}.csv") for number in range(len(parts))]
    for path, lines in zip(paths, parts, strict=True):
        path.write_text("\n".join([HEADER, *lines]) + "\n", "utf-8")
    return paths


@pytest.fixture(scope="module")
def scattered(twin, tmp_path_factory):
    """The twin in four shards, from three parts that hold rows of every prompt, checked by two
    jobs.
    """
    folder = tmp_path_factory.mktemp("parts")
    paths = [f"{folder}/{part}.parquet" for part in range(3)]
    for part, path in enumerate(paths):
        rows = (
            f"from '{Path(twin.ratings[0]).parent}/raw.parquet' where hash(prompt_id, judge, model)"
            f" % 3 = {part}"
        )
        duckdb.sql(f"copy ({rows} order by hash(judge, prompt_id)) to '{path}' (format parquet)")
    parts = [study_files("twin", list(map(RatingsFile, part))) for part in (paths[:2], paths[2:])]
    return sharded(folder / "shards", "twin", parts, shards=4)


def test_shards_one_after_the_other_are_the_canonical_ratings(twin, scattered):
    assert rows_from(scattered) == rows_from(twin)
    types = [
        duckdb.sql(f"describe from '{path}'").fetchall()
        for path in (*twin.ratings, *scattered.ratings)
    ]
    assert all(each == types[0] for each in types)


def test_prompts_are_whole_in_a_shard_and_shards_alike_in_size(scattered):
    query = "select min(prompt), max(prompt) + 1, count(distinct prompt) from '{}'"
    result = [duckdb.sql(query.format(path)).fetchall()[0] for path in scattered.ratings]
    first, next_one, prompts = zip(*result, strict=True)
    assert first == (0, *next_one[:-1])
    assert sum(prompts) == 40
    rows = rows_by_shard(scattered)
    assert max(rows) - min(rows) < 2 * sum(rows) / 40  # two prompts


def test_cells_and_completeness_are_the_same_bytes(twin, scattered):
    assert Path(scattered.cells_from).read_bytes() == Path(twin.cells_from).read_bytes()
    ours, theirs = (
        Path(study.cells_from).with_name("completeness.csv").read_bytes()
        for study in (scattered, twin)
    )
    assert ours == theirs


def test_counts_of_a_shard_are_in_one_order(scattered):
    for path in scattered.ratings:
        rows = duckdb.sql(f"from '{path.replace('ratings', 'counts')}'").fetchall()
        assert rows == sorted(rows)


@pytest.mark.parametrize("spec", KINDS.values(), ids=KINDS)
def test_every_estimate_is_the_same(twin, scattered, spec):
    result, wanted = (estimate(spec, study, confidence=0.9, seed=7) for study in (scattered, twin))
    assert result.not_estimable == wanted.not_estimable
    assert result.remarks == wanted.remarks
    assert result.estimates
    ours, theirs = (pd.DataFrame(each.estimates) for each in (result, wanted))
    pd.testing.assert_frame_equal(ours, theirs, rtol=0, atol=1e-12)
    if spec.errors.bootstrap:
        assert any("boot_ci_low" in row for row in result.estimates)


def test_debiased_ratings_are_the_same(twin, scattered):
    removed, written = Removed(SHRUNK, {"": {("self_bias", "GPT-4o"): (0.1, 0.01)}}), []
    for number, study in enumerate((twin, scattered)):
        path = f"{number}.parquet"
        write_debiased(SPECS["main"], study, removed, path)
        written.append(duckdb.sql(f"from '{path}'").fetchall())
    assert len(written[0]) > 1000
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("unrated", "shards", "ranges"),
    [("p0", 6, [(0, 0), (1, 1), (2, 2)]), ("p1", 2, [(0, 0), (1, 2)])],
)
def test_shards_without_prompts_or_without_complete_rows(unrated, shards, ranges):
    """Four prompts, beside a file without rows. One of them is not rated: it has no number, also
    where it is the last of its shard, and is in the completeness table all the same.
    """
    rows = product(("p0", "p1", "p2", "p3"), ("gpt-4o", "Claude v2"), ("gpt-4o", "gpt-3.5-turbo"))
    lines = [
        f"{judge},{model},{prompt[1]},cnn,{prompt},{'' if prompt == unrated else n % 4},{n * n}"
        for n, (prompt, judge, model) in enumerate(rows)
    ]
    paths = ["none.parquet", *written(lines[::2], lines[1::2])]
    duckdb.sql(f"from '{paths[1]}' where false").write_parquet(paths[0])
    Path("whole").mkdir()
    whole = built(Path("whole"), "mine", mine(*paths[1:]))
    assert Path(normalised(mine(*paths))).read_bytes() == Path(whole.ratings[0]).read_bytes()
    study = sharded(Path("shards"), "mine", [mine(path) for path in paths], shards=shards)
    assert rows_from(study) == rows_from(whole)
    assert rows_by_shard(study).count(0) == shards - len(ranges)
    assert [(span.first, span.last) for span in prompt_ranges(study.ratings)] == ranges
    for table in ("cells.parquet", "completeness.csv"):
        assert (Path("shards") / table).read_bytes() == (Path("whole") / table).read_bytes()
    spec = Spec.of("", length="prompt", covariance="CR1", terms=("intercept",))
    result, wanted = (
        column(estimate(spec, each, confidence=0.9).estimates, "estimate")
        for each in (study, whole)
    )
    assert result == pytest.approx(wanted, abs=1e-12)
    assert result


def test_shards_are_alike_in_rows_and_not_in_prompts():
    many = product(("gpt-4o", "gpt-3.5-turbo", "Claude v2"), repeat=2)
    lines = [
        *(f"{judge},{model},2,cnn,p0,3,9" for judge, model in many),
        *(f"gpt-4o,gpt-4o,2,cnn,q{n},3,9" for n in range(9)),
    ]
    study = sharded(Path("shards"), "mine", [mine(*written(lines))], shards=2)
    assert rows_by_shard(study) == [9, 9]


def test_nothing_complete_in_any_shard():
    paths = written(["gpt-4o,gpt-4o,1,cnn,p,,"], ["gpt-4o,gpt-4o,,cnn,q,,9"])
    with pytest.raises(DataError, match="no complete row is left"):
        sharded(Path("shards"), "mine", [mine(path) for path in paths], shards=2)


GOOD = ["gpt-4o,gpt-4o,1,cnn,p,1,9", "gpt-4o,Claude v2,1,cnn,p,1,9", "gpt-4o,gpt-4o,2,cnn,q,1,9"]
FAULTS = {
    "two faults in a file": ["who,gpt-4o,1,cnn,p,1,9", "Claude v2,gpt-4o,1,cnn,p,1,long"],
    "twice in a file": ["Claude v2,gpt-4o,1,cnn,p,3,9", "Claude v2,gpt-4o,1,cnn,p,1,9"],
    "twice in two files": ["Claude v2,gpt-4o,1,cnn,p,3,9", "gpt-4o,gpt-4o,4,cnn,q,1,9"],
    "twice without a rating": ["gpt-4o,gpt-4o,4,cnn,q,,9"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named_as_without_shards(tmp_path, fault):
    paths = written(GOOD, FAULTS[fault])
    with pytest.raises(DataError) as wanted:
        built(tmp_path, "mine", mine(*paths))
    with pytest.raises(DataError) as result:
        sharded(Path("shards"), "mine", [mine(path) for path in paths], shards=2)
    assert str(result.value) == str(wanted.value)
    assert "part 1.csv" in str(result.value)


def test_each_job_names_the_first_fault_of_its_own_files():
    paths = written([*GOOD, "gpt-4o,gpt-4o,9,cnn,r,1,9"], ["gpt-4o,gpt-4o,1,cnn,r,9,9"])
    for path, message in zip(
        paths, ("part 0.csv, line 5, column gt", "part 1.csv, line 2, column rating"), strict=True
    ):
        with pytest.raises(DataError, match=message) as result:
            check_files(mine(path), checked="rows.parquet", summary="summary.parquet")
        assert "more row" not in str(result.value)
        assert not [*Path().glob("*.parquet*")]


def test_one_path_is_no_list_of_ratings():
    with pytest.raises(TypeError, match=r"found the path 'ratings\.parquet'; write a list"):
        StudyTables("mine", "cells.parquet", "ratings.parquet")


def canonical(paths):
    """The bytes of the canonical ratings and of the completeness table of files of the twin."""
    ratings = normalised(study_files("twin", [RatingsFile(str(path)) for path in paths]))
    return Path(ratings).read_bytes(), Path("completeness.csv").read_bytes()


def test_order_and_form_of_the_raw_files_change_nothing(twin):
    raw = Path(twin.ratings[0]).with_name("raw.parquet")
    whole = canonical([raw])
    paths = [Path("part 2.parquet"), Path("part 1.csv"), Path("part 3.csv.gz")]
    for part, path in enumerate(paths):
        rows = (
            f"from '{raw}' where hash(prompt_id, judge) % 3 = {part} order by hash(model, judge,"
            " prompt_id)"
        )
        plain = path.with_suffix("") if path.suffix == ".gz" else path
        duckdb.sql(f"copy ({rows}) to '{plain}'")
        if plain != path:
            path.write_bytes(gzip.compress(plain.read_bytes()))
    assert canonical(paths) == whole
    assert not [*Path().glob("*.unsorted")]


def many_ratings(rows, models):
    """Ratings of one model, or of several, by several judges, one to a row; the raw file."""
    judges = [
        name for name, model in CONFIG["models"].items() if model["family"] in ("GPT", "Claude")
    ]
    both = 5 * models
    duckdb.sql(f"""
        copy (select {judges}[1 + i % 5] as judge, {judges}[1 + i // 5 % {models}] as model, i % 4 as gt, 'd' as dataset,
                     'A' as dimension, 'prompt ' || hash(i // {both}) as prompt_id, hash(i) % 5 as rating,
                     hash(i // 5) % 700 as pred_length
              from range({rows}) as t(i)) to 'raw.parquet' (format parquet)""")
    return raw_study("raw.parquet")


def test_more_threads_and_little_memory_change_nothing(monkeypatch):
    """Over 120,000 rows, which is where DuckDB divides its work."""
    source = many_ratings(400_000, 5)

    def bytes_from():
        return Path(normalised(source)).read_bytes()

    with bounded("2GB", Path("spill")):
        plenty = bytes_from()
    with bounded("60MB", Path("spill")):  # sorting takes more: 13 MB go to files
        assert bytes_from() == plenty
    monkeypatch.setitem(recuse.base.database.SETTINGS, "threads", 3)
    with bounded("2GB", Path("spill")):
        assert bytes_from() == plenty
    with (
        pytest.raises(ConfigError, match="memory_limit: 10MB: too little") as message,
        bounded("10MB", Path("spill")),
    ):
        bytes_from()
    assert str(message.value).endswith("); write a larger value")
    assert "\n" not in str(message.value)
    left = sorted(path.name for path in Path().iterdir())
    assert left == ["completeness.csv", "ratings.parquet", "raw.parquet"]


def test_ratings_are_in_order_though_a_join_mixes_them(monkeypatch):
    """A join keeps the order of its rows only as long as DuckDB plans it so. Here the first write
    mixes them, and they are sorted a second time.
    """
    source, written = many_ratings(60_000, 1), []
    write_rows = recuse.data.shards.write_rows

    def mixed(connection, query, path, *options):
        written.append(path)
        if len(written) == 1:
            query = f"from ({query}) order by hash(prompt)"
        return write_rows(connection, query, path, *options)

    monkeypatch.setattr(recuse.data.shards, "write_rows", mixed)
    ratings = normalised(source)
    assert len(written) == 2  # the ratings, and these again
    columns = "prompt_id, judge, model, gt, rating::integer, prompt"
    raw = "select *, dense_rank() over (order by prompt_id) - 1 as prompt from 'raw.parquet'"
    rows, expected = (
        duckdb.sql(f"select {columns} from {table}").fetchall()
        for table in (f"'{ratings}'", f"({raw}) order by all")
    )
    assert rows == expected


def test_prompts_are_counted_in_each_dimension(tmp_path):
    """Of one file: A has the prompts 0 to 4, B the prompts 3 to 5, and C those of A for one model
    only.
    """
    asked = {"A": "p0 p1 p2 p3 p4", "B": "p3 p4 p5", "C": "p0 p1 p2 p3 p4"}
    rows = [
        row
        for row in rated(FIVE[:1], FIVE[:2], prompts=6, dimensions=asked)
        if row["prompt_id"] in asked[row["dimension"]]
        and (row["dimension"], row["model"]) != ("C", FIVE[0])
    ]
    study_of_rows(tmp_path, rows)
    table = keyed(read_table("completeness.csv"), "dimension model")
    assert {key: fields(row, "prompts absent used") for key, row in table.items()} == {
        **{("A", model): ("5", "0", "5") for model in FIVE[:2]},
        **{("B", model): ("3", "0", "3") for model in FIVE[:2]},
        ("C", FIVE[1]): ("5", "0", "5"),
    }


def test_a_judge_without_any_length_in_a_study_with_lengths(tmp_path):
    rows = rated(FIVE[:3], FIVE[:1], prompts=4)
    rows = [row if row["judge"] == FIVE[0] else {**row, "pred_length": ""} for row in rows]
    study = study_of_rows(tmp_path, rows)
    table = keyed(read_table("completeness.csv"), "judge")
    used = {judge: fields(row, "missing_length used") for judge, row in table.items()}
    assert used == {FIVE[0]: ("0", "4"), FIVE[1]: ("4", "4"), FIVE[2]: ("4", "4")}
    assert study.cells().n.sum() == 12
    # Fits with length use the rows that have one
    assert study.moments(Selection(length="global")).n.sum() == 4
