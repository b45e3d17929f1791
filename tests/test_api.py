"""recuse in Python: any table gives the workflow's numbers, errors name row and column, and nothing
is left behind.
"""

import copy
import gc
import os
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml

import recuse
from conftest import CONFIG, ROOT
from example_data import COLUMNS, FAMILIES, ratings_of_example
from recuse.arguments import Source, as_frame, listed, plain
from recuse.base.database import bounded, connect, register_frames
from recuse.data.files import RawFile
from recuse.data.registry import usual_scale
from recuse.workflow.start import copy_example
from snakemake_forks import forked
from text_tables import cases, lines
from workflow_runs import copy_project

EXAMPLE = ROOT / "docs" / "example"
JUDGED, HUMAN = recuse.example()


def check_equal(table, path):
    """Every number is that of the file, to the last bit."""
    expected = pd.read_csv(path, dtype=object, keep_default_na=False)
    numbers = list(table.select_dtypes("number"))
    expected[numbers] = expected[numbers].replace("", "nan").astype(float)
    pd.testing.assert_frame_equal(table, expected, check_exact=True, check_dtype=False)


@pytest.fixture(scope="module")
def ratings():
    return ratings_of_example()


ONE_FAMILY = {"All": sorted(set(JUDGED["candidate"]))}
# What is changed in the example's configuration, and arguments that say the same in Python
CHANGES = {
    "as it is": ({}, {}),
    "no human scores": ({" +references:\n.*\n.*\n": ""}, {"scores": None}),
    "one human, one family": (
        {r"\[first, second\]": "first", "families: .*": f"families: {ONE_FAMILY}"},
        {"human": "first", "families": ONE_FAMILY},
    ),
}
TABLES = ("verdicts", "leaderboard", "power")
SPECS = ("main", "clustered", "model_effects")


def changed_example(change, folder):
    """Write the example's files into a folder, with a change of CHANGES; the same ratings in
    Python.
    """
    replacements, arguments = CHANGES[change]
    copy_example(str(folder))
    mine = (folder / "mine.yaml").read_text("utf-8")
    for pattern, replacement in replacements.items():
        mine = re.sub(pattern, replacement, mine)
    (folder / "mine.yaml").write_text(mine, "utf-8")
    return ratings_of_example(
        **{"judged": JUDGED, "scores": HUMAN, "study": "ours", **arguments},
    )


@pytest.mark.parametrize(
    "change", ["as it is", pytest.param("no human scores", marks=pytest.mark.long)]
)
@pytest.mark.filterwarnings("ignore:.*no rating has a human score")
def test_tables_are_those_of_the_workflow(change, tmp_path):
    """Steps without human scores are in report/test_without_human_scores, too."""
    folder = copy_project(tmp_path)
    ratings = changed_example(change, folder)
    asked = (recuse.verdict, recuse.leaderboard, recuse.power)
    frames = {f"tables/{name}": ask(ratings).frame for name, ask in zip(TABLES, asked, strict=True)}
    frames |= {f"estimates/{spec}": recuse.fit(ratings, spec).frame for spec in SPECS}
    targets = [f"results/ours/{name}.csv" for name in frames]
    arguments = ["--cores", "2", "--nocolor", *targets, "--configfile", "mine.yaml"]
    forked(arguments, cwd=folder, env=os.environ, timeout=600)
    for target, frame in zip(targets, frames.values(), strict=True):
        check_equal(frame, folder / target)


@pytest.mark.parametrize(
    ("spec", "settings"), [("by_dimension", {}), ("main", {"covariance": "CR1"})]
)
def test_fit_is_that_of_the_command(ratings, run_command, monkeypatch, tmp_path, spec, settings):
    config = yaml.safe_load((EXAMPLE / "mine.yaml").read_text("utf-8"))
    config["specs"] = {"changed": {**CONFIG["specs"][spec], **settings}}
    config["studies"] = {"ratings": config["studies"]["ours"]}
    mine, output = tmp_path / "mine.yaml", tmp_path / "out.csv"
    mine.write_text(yaml.safe_dump(config), "utf-8")
    monkeypatch.chdir(EXAMPLE)
    named = "changed" if settings else spec
    assert run_command("fit", mine, "--spec", named, "--output", output)[0] == 0
    check_equal(recuse.fit(ratings, spec, **settings).frame, output)


SCORES = pd.to_numeric(JUDGED["score"], errors="coerce")
RATED = JUDGED.assign(score=SCORES)


# The example in every kind of table: judged, then human scores
FORMS = {
    "categories, numbers": (
        RATED.astype({"grader": "category", "candidate": "category"}),
        HUMAN.astype({"first": float, "second": "Int64"}),
    ),
    "lazy polars, a file": (pl.from_pandas(JUDGED).lazy(), str(EXAMPLE / "human.csv")),
    "Arrow's reader, Arrow": (
        pa.Table.from_pandas(JUDGED).to_reader(),
        pa.Table.from_pandas(HUMAN),
    ),
    "a file, texts": (EXAMPLE / "judged.csv", HUMAN.astype(str)),
}


def check_same(made, ratings):
    """Check that the ratings, from which all answers are made, and the counts of what was read are
    the same.
    """
    pd.testing.assert_frame_equal(made.to_pandas(), ratings.to_pandas())
    assert made.imported["n"].tolist() == ratings.imported["n"].tolist()


@pytest.mark.parametrize("tables", FORMS.values(), ids=FORMS)
def test_every_kind_of_table_gives_the_same(tables, ratings):
    check_same(ratings_of_example(*tables), ratings)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("ignore:.*no rating has a human score")
def test_a_configuration_says_what_arguments_say(change, tmp_path, own_folder):
    expected = changed_example(change, tmp_path)
    made = recuse.ratings("mine.yaml")
    assert (made.study, made.families) == ("ours", expected.families)
    check_same(made, expected)


def test_a_configuration_is_passed_alone_and_has_the_study(monkeypatch):
    monkeypatch.chdir(EXAMPLE)
    words = "found scale with a configuration; write them there, or pass the data itself"
    with pytest.raises(recuse.ConfigError, match=words):
        recuse.ratings("mine.yaml", scale=(1, 10))
    words = "pass study=, one of its studies under `comparisons:`; found none"
    with pytest.raises(recuse.ConfigError, match=words):
        recuse.pairs("mine.yaml")


def test_the_frame_is_left_alone(ratings):
    judged, human = JUDGED.copy(), HUMAN.copy()
    made = ratings_of_example(judged, human)
    pd.testing.assert_frame_equal(judged, JUDGED)
    judged["score"] = "1"
    human["first"] = 1
    check_same(made, ratings)


def test_columns_that_are_not_named_are_not_copied(ratings):
    """They may be of any kind."""
    of_any_kind = ODD["column of a block, columns that are not named"]
    with_answers = ratings_of_example(of_any_kind.assign(answer="long " * 100), HUMAN)
    check_same(with_answers, ratings)
    for path in Path(with_answers._folder).glob("*.parquet"):
        assert "answer" not in pd.read_parquet(path)


class Subclass(pd.DataFrame):
    """A DataFrame of a class of its own, as geopandas has one."""

    @property
    def _constructor(self):
        return Subclass


def odd_frames():
    """The example's ratings as pandas or polars may hold them."""
    beside = pd.DataFrame(np.repeat(SCORES.to_numpy()[:, None], 3, axis=1))
    length = pd.Series(range(len(JUDGED)))
    other_bytes = RATED.assign(score=SCORES.to_numpy().astype(">f8"))
    long_double = RATED.assign(score=SCORES.astype("longdouble"))
    sparse = RATED.assign(score=pd.arrays.SparseArray(SCORES))
    yield "half precision, reversed", RATED.assign(score=SCORES.astype("float16"))[::-1]
    yield (
        "long double, every other row",
        pd.concat([long_double, long_double]).sort_index(kind="stable")[::2],
    )
    yield (
        "subclass, other order of bytes, texts of Arrow",
        Subclass(other_bytes.astype({"grader": "string[pyarrow]"})),
    )
    yield "sparse, levels and columns", sparse.set_index(["grader", "candidate"], drop=False)
    yield "nullable, levels of an index", RATED.convert_dtypes().set_index(["grader", "candidate"])
    bins = pd.cut(length, 5)
    further = {"a": length * 1j, "b": pd.IntervalIndex(bins), "c": bins, "d": pd.Period("2025-01")}
    yield "column of a block, columns that are not named", RATED.assign(score=beside[1], **further)
    yield "texts", JUDGED.astype(str)
    yield "polars, numbers", pl.from_pandas(RATED)


ODD = dict(odd_frames())


@pytest.mark.parametrize("judged", ODD.values(), ids=ODD)
def test_odd_frames_have_the_same_rows(judged, tmp_path):
    kinds = copy.copy(judged.dtypes)
    columns = sorted(COLUMNS.values())
    with bounded("1GB", tmp_path / "work", frames={"judged": as_frame(judged)}):
        register_frames(connection := connect())
        file = RawFile.open("judged")
        texts = ", ".join(f"{file.stored[column]}::varchar as {column}" for column in columns)
        rows = connection.execute(f"select {texts} from {file.relation}").df()
    for column in ("item", "score"):
        rows[column] = pd.to_numeric(rows[column], errors="coerce")
    found, expected = (
        table[columns].sort_values(columns, ignore_index=True) for table in (rows, RATED)
    )
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert list(judged.dtypes) == list(kinds)


NUMBERS = "estimate ci_low p_value score std_error detectable missed"


def test_texts_and_numbers(ratings):
    """No number is a text, and what is missing is NaN, or an empty text."""
    answers = (recuse.fit, recuse.verdict, recuse.leaderboard, recuse.power)
    for table in (answer(ratings).frame for answer in answers):
        assert all(table[name].dtype == float for name in NUMBERS.split() if name in table)
        assert table["study"].eq("ratings").all()
    assert set(recuse.leaderboard(ratings).frame["slice"]) == {"", "quality"}
    assert recuse.verdict(ratings).frame["favours"].isin(["yes", "no", ""]).all()
    assert recuse.check(ratings).frame["words"].str.len().gt(0).all()


def test_words_of_the_objects(ratings):
    assert (
        repr(ratings)
        == "Ratings: 3,492 ratings by 5 judges of 6 models on 120 prompts in 1 dimension; with"
        " human scores"
    )
    assert (
        "<li>supports: self-bias of 5 of 5 judges (A, B, C); family-bias of 2 of 3"
        in ratings._repr_html_()
    )
    assert (len(ratings), ratings.dimensions) == (3492, ["quality"])
    assert ratings.families["gpt-4.1"] == "GPT"
    assert len(ratings.to_pandas()) == 3492
    checked, fitted = recuse.check(ratings), recuse.fit(ratings, covariance="CR1")
    assert str(checked).startswith(
        "ratings: what these ratings support\n\n  supports: self-bias of 5 of 5 judges (A, B, C)"
    )
    assert checked._repr_html_().startswith("<pre>ratings: what")
    assert fitted.words == "Equation 1 with prompt-clustered (CR1) standard errors"
    assert str(fitted).startswith(f"ratings: {fitted.words}; 90 % intervals, sizes as shares")
    assert (
        "not estimable: family_bias of qwen3-32b: this family's judges rate no other model"
        in repr(fitted)
    )
    assert fitted._repr_html_().count("<tr") == 8
    assert set(fitted.biases["quantity"]) == {"self_bias", "family_bias"}
    verdict = recuse.verdict(ratings)
    assert str(verdict).startswith("ratings: gpt-4.1 (+1.15 points) favours itself.\n\njudge")
    assert max(map(len, str(verdict).splitlines()[:-1])) <= 120
    assert "Sizes are in points, scale 1 to 10.\nLikely, but not established: qwen3" in str(verdict)
    assert verdict._repr_html_().count("<tr") == len(verdict.frame)
    plan = recuse.power(ratings)
    assert str(plan).endswith(f"{len(plan.frame) - 40} more rows: see `frame`")


def test_figures_by_name_and_of_answers(ratings, verdicts):
    from recuse.plot.style import Drawing

    asked = (recuse.check, recuse.verdict, recuse.leaderboard, recuse.power)
    answers = [ask(ratings) for ask in asked] + [recuse.fit(ratings, "clustered", wild=99)]
    others = ("self_family_bias", "fig02_mean_scores", "idiosyncrasy", "correlations")
    figures = [answer.plot() for answer in answers] + [
        recuse.plot(ratings, name) for name in others
    ]
    assert {*map(type, [*figures, recuse.plot(verdicts)])} == {Drawing}
    with pytest.raises(recuse.DataError, match=r"^plot: the report has no figure of this answer"):
        recuse.fit(ratings, "by_dimension").plot()


def test_ratings_are_returned_in_the_units_that_were_passed():
    halves = JUDGED.assign(score=[text and text.replace("8", "7.5") for text in JUDGED["score"]])
    table = ratings_of_example(halves, HUMAN).to_pandas()
    assert set(table["rating"]) == {3, 4, 5, 6, 7, 7.5, 9, 10}
    assert table["gt"].max() == 10
    assert {*zip(table["scale_low"], table["scale_high"], strict=True)} == {(1, 10)}


def changed(place, column, value, *, table=JUDGED):
    copy = table.astype(object)
    copy.loc[place, column] = value
    return copy


# Table, row, column and value of a wrong cell, and below it a part of the message
WRONG_CELLS = """
judged 3 score great
    DataFrame, row 4, column score: found 'great', which is not a number
judged 4 score 11
    DataFrame, row 5, column score: found '11', which is off
judged 0 grader -
    DataFrame, row 1, column grader:
judged 3 score 7,5
    or, for decimal commas, pass decimal=','
human 2 first 12
    references, row 3, column first: found '12'
"""
WRONG_ARGUMENTS = """
{rating: mark}
    DataFrame, column mark: missing; found item, grader, candidate, metric, score; name one of them, rating=
{prompt: null}
    DataFrame, column prompt: missing; found item, grader, candidate, metric, score; name one of them, prompt=
{human: third}
    name one of them, human=
{scale: [10, 1]}
    scale: found [10, 1]; write [lowest, highest]
{study: my study}
    study: found 'my study'; write lower-case letters, digits and _
{confidence: 2}
    confidence: should be below 1, found 2
{scales: {quality: [1, 10]}}
    found scale and scales; pass one of them
{scale: [1, 10.5], step: 1}
    step: 1: the scale [1, 10.5] of default has ends
"""


def with_wrong_cell(place):
    """Both tables of the example, one with a wrong cell as in WRONG_CELLS, and no settings."""
    name, row, column, value = place.split()
    value = None if value == "-" else value
    tables = {"judged": JUDGED, "human": HUMAN}
    tables[name] = changed(int(row), column, value, table=tables[name])
    return *tables.values(), {}


WRONG = [(with_wrong_cell(place), message) for place, message in cases(WRONG_CELLS)]
WRONG += [
    ((JUDGED, HUMAN, yaml.safe_load(text)), message) for text, message in cases(WRONG_ARGUMENTS)
]
THIRDS = JUDGED.assign(score=SCORES / 3)
MANY = {"scale": (0, 100), "step": 1, "repeats": "mean"}
WRONG += [
    ((pd.concat([JUDGED, JUDGED[:1]]), HUMAN, {}),
     "are already in DataFrame, row 1; keep one of the two rows"),
    ((JUDGED.rename(columns={"metric": "score"}), HUMAN, {"dimension": None}),
     "DataFrame, column score: found twice"),
    ((JUDGED[:0], HUMAN, {}), "DataFrame: found no rows"),
    (({"a": 1}, HUMAN, {}),
     "data: found dict; pass a DataFrame of pandas or polars, an Arrow table, or the path"),
    (("none.csv", HUMAN, {}), "none.csv: no such file; name an existing CSV or parquet file"),
    ((JUDGED.assign(score=True), HUMAN, {}), "if these are ratings, values={'true': <number>}"),
    ((THIRDS, HUMAN, {}), "; for scores with any number of digits, step=0.1 with round=True,"),
    ((THIRDS, HUMAN, {"step": 0.05}),
     "has 181 levels, more than 101; pass step=0.1 with round=True, which"),
    ((pd.concat([JUDGED, *(JUDGED.assign(score=score) for score in (1, 2))]), HUMAN, MANY),
     "pass repeats='first' or 'last', or round=True, which"),
    ((JUDGED, HUMAN.assign(first=None, second=None), {}),
     "listed in missing=; write the scores, or leave out references="),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), WRONG, ids=[message for _, message in WRONG])
def test_errors_name_row_column_and_argument(data, message, temporary):
    *tables, settings = data
    with pytest.raises(recuse.RecuseError) as error:
        ratings_of_example(*tables, **settings)
    assert message in str(error.value)
    assert "in config" not in str(error.value)
    assert os.listdir(temporary) == []


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files, empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nothing_is_left(temporary):
    made = ratings_of_example()
    recuse.verdict(made), recuse.check(made), recuse.power(made, prompts=[50], copies=[1])
    (folder,) = os.listdir(temporary)
    assert folder.startswith("recuse-")
    del made
    gc.collect()
    assert os.listdir(temporary) == []


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_refused(copied, ratings):
    with pytest.raises(
        recuse.DataError, match=r"cannot be copied, as its tables go with it; use the object itself"
    ):
        copied(ratings)


# Lowest and highest rating found, and the ends of the scale
SCALES = """
1 5 1 5
2 8 1 10
0 1 0 1
0.2 0.9 0 1
0 3 0 3
1 6 1 6
0 7.5 0 10
12 95 0 100
-1 1 -1 1
0 1000 0 1000
1 1 0 1
5 1000 0 1000
"""


@pytest.mark.parametrize("numbers", lines(SCALES))
def test_usual_scales(numbers):
    lowest, highest, *scale = map(float, numbers)
    assert usual_scale(lowest, highest) == tuple(scale)


def test_scales_by_dimension_are_passed_or_taken_from_the_data():
    without_low = JUDGED[~JUDGED["score"].isin(["1", "2"])]
    both = pd.concat([without_low, JUDGED.assign(metric="style")], ignore_index=True)
    human = pd.concat([HUMAN, HUMAN.assign(metric="style")], ignore_index=True)
    words = r"no scale was passed; taken from the data: quality from 1 to 10 \(found 3 to 10\); style from 1 to 10"
    with pytest.warns(UserWarning, match=words):
        taken = ratings_of_example(both, human, scale=None)
    table = taken.to_pandas()
    assert {*zip(table["scale_low"], table["scale_high"], strict=True)} == {(1, 10)}
    scales = {"quality": (1, 10), "style": (0, 10)}
    passed = ratings_of_example(both, human, scale=None, scales=scales).to_pandas()
    lowest = passed.groupby("dimension")["scale_low"].unique().to_dict()
    assert lowest == {"quality": 1, "style": 0}


def test_values_of_numpy_and_pandas(ratings):
    """Also what power is asked about."""
    settings = {
        "scale": None,
        "scales": {"quality": np.array([1.0, 10.0])},
        "missing": pd.Series(["ERROR", "none"]),
        "human": pd.Index(["first", "second"]),
        "families": {name: np.array(each) for name, each in FAMILIES.items()},
        "step": np.float64(1),
        "confidence": np.float32(0.9),
    }
    check_same(ratings_of_example(**settings), ratings)
    assert repr(plain((np.int64(1), np.float32(10)))) == "[1, 10.0]"
    assert repr(listed(np.int64(22))) == "[22]"
    of_lists = recuse.power(ratings, prompts=[200], copies=[1])
    of_arrays = recuse.power(ratings, prompts=np.array([200]), copies=pd.Series([1]))
    pd.testing.assert_frame_equal(of_lists.frame, of_arrays.frame)


def test_scores_of_any_digits_and_decimal_commas():
    """They are those of points, rounded."""
    drawn = np.random.default_rng(1).uniform(-0.04, 0.04, len(SCORES))
    near = (SCORES + drawn).clip(1, 10).map("{:.3f}".format).str.replace(".", ",")
    halves = HUMAN.astype({"first": str}).replace({"first": {"7": "7,5"}})
    with_commas = ratings_of_example(
        JUDGED.assign(score=near), halves, step=1, round=True, decimal=","
    )
    points = halves.assign(first=halves["first"].str.replace(",", "."))
    with_points = ratings_of_example(JUDGED, points)
    columns = ["judge", "model", "prompt_id", "rating", "gt"]
    found, expected = (made.to_pandas()[columns] for made in (with_commas, with_points))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


# The example without a column for the dimension
BARE = [table.drop(columns="metric") for table in (JUDGED, HUMAN)]


def test_the_dimension_and_the_study_may_have_any_name(ratings):
    """That of a study of the project, too."""
    scales = {"scales": {"tone": [1, 10]}}
    named = ratings_of_example(*BARE, dimension=None, scale=None, **scales, study="twin")
    assert named.dimensions == ["tone"]
    pd.testing.assert_frame_equal(recuse.fit(named).biases, recuse.fit(ratings).biases)
    assert Source(JUDGED, COLUMNS).inputs("studies", "llmbar", scales, None).study.has_ratings()


def test_columns_of_the_project_need_no_names(run_command):
    """And lengths are used where a spec asks for them."""
    path, spec = ROOT / "tests" / "smoke" / "ratings.csv", "length_control"
    study = {"title": "t", "files": str(path), "scales": {"default": [1, 5]}}
    Path("mine.yaml").write_text(yaml.safe_dump({"studies": {"ratings": study}}), "utf-8")
    assert run_command("fit", "mine.yaml", "--spec", spec, "--output", "out.csv")[0] == 0
    made = recuse.ratings(pd.read_csv(path), scale=(1, 5))
    check_equal(recuse.fit(made, spec).frame, "out.csv")


def test_gold_labels():
    """Of answers without a column for the dimension."""
    gold = ratings_of_example(*BARE, dimension=None, gold=True)
    assert gold.dimensions == ["overall"]
    assert repr(gold).endswith("; with gold labels")
    assert "gold labels" in str(recuse.check(gold))
    assert "human scores" not in str(recuse.check(gold))


def test_tables_as_people_have_them(ratings):
    """A wide table with a column for each judge, words for numbers, one name for all rows, and
    repeats.
    """
    spelled = JUDGED.assign(score=JUDGED["score"].replace({"10": "ten"}))
    wide = spelled.pivot(index=["item", "candidate"], columns="grader", values="score")
    twice, judges = pd.concat([wide, wide]).reset_index(), sorted(set(JUDGED["grader"]))
    named = {"judge": None, "rating": judges, "dimension": {"value": "quality"}}
    with pytest.warns(UserWarning, match="each of the columns claude-haiku-4, .* is one judge"):
        made = ratings_of_example(twice, HUMAN, **named, values={"ten": 10}, repeats="first")
    pd.testing.assert_frame_equal(recuse.fit(made).frame, recuse.fit(ratings).frame)
    counts = made.imported.set_index("kind")["n"]
    failed = (JUDGED["score"] == "ERROR").sum()
    assert (counts["rows"], counts["value 'ERROR'"]) == (2 * len(JUDGED), 2 * failed)
    assert counts["repeated rating, of which the first counts"] == len(JUDGED) - failed
    with pytest.raises(recuse.DataError, match=r"pass repeats='mean', 'first' or 'last'"):
        ratings_of_example(twice, HUMAN, **named, values={"ten": 10})


@pytest.mark.filterwarnings("ignore:.*without a human score")
def test_a_verdict_says_why_people_do_not_count():
    few = HUMAN[HUMAN["item"].isin(HUMAN["item"].unique()[:5])]
    shown = str(recuse.verdict(ratings_of_example(JUDGED, few)))
    why = "answers to only 5 prompts have human scores, and 10 are needed: an answer"
    assert f"measured against the other judges, as {why}" in " ".join(shown.split())
    assert shown.splitlines()[0].endswith("favours itself, compared with the other judges.")


def test_what_an_import_says_is_a_warning():
    unscored = r"no rating has a human score: .*; if there are human scores, name their file in references="
    unknown = r"families: neither a judge nor a model of these ratings is named gpt-5"
    with pytest.warns(match=unscored), pytest.warns(match=unknown):
        ratings_of_example(JUDGED, families={"GPT": ["gpt-5"]})


# A function and arguments after the ratings, and below them the error
WRONG_CALLS = """
fit {spec: cluster}
    did you mean 'clustered'
fit {covariance: CR7}
    ^covariance: should be 'HC0'
power {self_bias: -1}
    ^self_bias: should be above 0, found -1$
plot {figure: pie}
    figure: 'pie' is none of the figures of these data
"""


@pytest.mark.parametrize(("call", "message"), cases(WRONG_CALLS))
def test_wrong_arguments_of_the_others(ratings, call, message):
    name, _, arguments = call.partition(" ")
    with pytest.raises(recuse.ConfigError, match=message):
        getattr(recuse, name)(ratings, **yaml.safe_load(arguments))


def test_what_is_for_ratings_refuses_pairs(verdicts):
    with pytest.raises(
        recuse.DataError, match=r"fit: found Pairs; it is for what recuse.ratings\(...\) returns"
    ):
        recuse.fit(verdicts)


def test_a_name_that_there_is_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'rating'"):
        _ = recuse.rating


VERDICTS = pd.read_csv(ROOT / "tests" / "smoke" / "verdicts.csv")


@pytest.fixture(scope="module")
def verdicts():
    return recuse.pairs(VERDICTS)


def test_pairs_are_those_of_the_command(run_command, verdicts):
    path = ROOT / "tests" / "smoke" / "verdicts.csv"
    study = {"title": "t", "import": {"files": str(path)}}
    Path("mine.yaml").write_text(yaml.safe_dump({"comparisons": {"pairs": study}}), "utf-8")
    _, page, _ = run_command("check", "mine.yaml", "--output", "check.csv")
    configured = recuse.pairs("mine.yaml")
    for made in (verdicts, configured):
        assert str(recuse.check(made)) == page
        check_equal(recuse.check(made).frame, "check.csv")
    expected = recuse.verdict(verdicts).frame
    pd.testing.assert_frame_equal(recuse.verdict(configured).frame, expected)
    assert repr(verdicts).startswith("Pairs: 96 verdicts by 2 judges on ")
    assert len(verdicts) == 96
    words = "DataFrame, row 2, column outcome: found 'neither'"
    with pytest.raises(recuse.DataError, match=words):
        recuse.pairs(changed(1, "outcome", "neither", table=VERDICTS))


def test_human_verdicts_in_a_second_table(verdicts, own_folder):
    """And what is asked of pairs may come in any order."""
    labels = VERDICTS[["item", "model_a", "model_b", "human"]].drop_duplicates()
    labels = labels.rename(columns={"human": "label"})
    VERDICTS.drop(columns="human").to_csv("own.csv", index=False)
    joined = recuse.pairs("own.csv", references=labels, human="label")
    expected = recuse.verdict(verdicts).frame
    pd.testing.assert_frame_equal(recuse.verdict(joined).frame, expected)
    assert str(recuse.check(joined)).startswith("pairs: what these comparisons support")
    pd.testing.assert_frame_equal(recuse.verdict(joined).frame, expected)
    with joined.results(), joined.results():  # One inside the other, in one thread
        assert joined.findings()


def test_a_verdict_names_the_biases_that_the_headline_leaves_out():
    twice = pd.concat([VERDICTS, VERDICTS.assign(item=VERDICTS["item"] + " again")])
    first = twice.assign(outcome=twice["order"].map({"ab": "a", "ba": "b"}))
    shown = str(recuse.verdict(recuse.pairs(first)))
    sizes = "Ada (+50.0 points) and Umpire (+50.0 points)"
    assert f"points.\nEstablished: {sizes} favour the first answer.\nSelf-bias is" in shown


@pytest.mark.parametrize(
    ("scale", "step"), [((0, 900_000), 100_000), ((-9, 9), 1), ((0, 0.09), 0.01)]
)
def test_scales_of_any_width(ratings, scale, step):
    low, high = scale
    rated = JUDGED.assign(score=low + (SCORES - 1) / 9 * (high - low))
    made = ratings_of_example(rated, None, scale=scale, step=step)
    units = ratings.to_pandas()["rating_unit"]
    pd.testing.assert_series_equal(made.to_pandas()["rating_unit"], units, rtol=1e-12)
    if step < 1:
        assert str(recuse.verdict(made)).startswith("ratings: gpt-4.1 (+0.0126 points) favours")


def test_threads(ratings):
    """Each gets its own tables, whatever the others do."""
    expected = recuse.fit(ratings).frame

    def work(number):
        return recuse.fit(ratings if number else ratings_of_example()).frame

    with ThreadPoolExecutor(3) as threads:
        for table in threads.map(work, range(3)):
            pd.testing.assert_frame_equal(table, expected)


def test_what_other_threads_print_is_theirs(capsys):
    """Nothing is reported about an example without faults."""
    printing, done = threading.Event(), threading.Event()

    def work():
        for number in range(10**6):
            print(f"mine {number}")
            printing.set()
            if done.wait(0.002):
                return

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    printing.wait()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ratings_of_example()
    done.set()
    thread.join()
    assert told == []
    out, err = capsys.readouterr()  # while rows are imported, output goes to the standard error
    lines = sorted((out + err).splitlines(), key=lambda line: int(line.split()[-1]))
    assert lines == [f"mine {number}" for number in range(len(lines))]
    assert len(lines) > 10


def run_python(code, **environment):
    paths = f"{ROOT / 'workflow/lib'}{os.pathsep}{ROOT / 'tests'}"
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", code]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lines_of_readme():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    scores = HUMAN.assign(human=HUMAN[["first", "second"]].mean(axis=1)).drop(
        columns=["first", "second"]
    )
    names = {"df": JUDGED[JUDGED["score"] != "ERROR"].merge(scores).drop(columns="metric")}
    exec(code, names)
    assert set(recuse.verdict(names["ratings"]).frame["quantity"]) == {"self_bias", "family_bias"}


LIGHT = """
import sys, recuse
dir(recuse), recuse.__version__
print({"duckdb", "pandas", "numpy", "pydantic"} & {*sys.modules})
from recuse.check.page import WIDTH
from recuse.plot.style import PAGE
import recuse.check.check
print(recuse.check.__name__, recuse.plot.__name__, recuse.api.__name__)
"""


def test_import_alone_is_light():
    """And functions keep their names when packages of these names are imported."""
    assert run_python(LIGHT).splitlines() == ["set()", "check plot recuse.api"]
    public = "ratings pairs check fit verdict leaderboard power plot"
    assert set(recuse.__all__) >= {*public.split()}


OWN_PROCESS = """
import multiprocessing, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        others = {"snakemake", "matplotlib", "seaborn", "statsmodels", "pygam", "requests", "pyarrow"}
        if name.partition(".")[0] in others:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from example_data import *
made = ratings_of_example()

def work(number):
    return recuse.fit(made).frame.to_csv()

with multiprocessing.get_context("fork").Pool(2) as pool:
    tables = pool.map(work, range(2))
print(len(set(tables)), recuse.fit(made).frame.to_csv() == tables[0])
print(len(recuse.verdict(made).frame), len(recuse.fit(made).frame), str(recuse.check(made))[:8])
print(len(recuse.leaderboard(made).frame))
print(len(recuse.fit(made, covariance="CR1", wild=99).frame), len(recuse.power(made, prompts=[50], copies=[1]).frame))
made._repr_html_()
try:
    recuse.plot(made)
except recuse.DataError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def own_process(tmp_path_factory):
    """The lines that OWN_PROCESS prints, and the folder of its temporary files."""
    folder = tmp_path_factory.mktemp("temporary")
    return run_python(OWN_PROCESS, TMPDIR=str(folder)).splitlines(), folder


def test_processes_share_an_object_and_leave_nothing(own_process):
    lines, folder = own_process
    assert lines[0] == "1 True"
    assert os.listdir(folder) == []


def test_core_needs_neither_workflow_nor_plots(own_process):
    lines, _ = own_process
    assert lines[1:3] == ["8 17 ratings:", "60"]
    assert lines[3].startswith("17 ")
    assert lines[4] == "plot: matplotlib is not installed; install it: pip install 'recuse[plot]'"


@pytest.mark.parametrize("function", [recuse.check, recuse.verdict, recuse.plot])
def test_a_table_has_to_be_read_first(function):
    words = (
        r"^\w+: found DataFrame; it is for what recuse\.ratings\(\.\.\.\) or"
        r" recuse\.pairs\(\.\.\.\) returns$"
    )
    with pytest.raises(recuse.DataError, match=words):
        function(pd.DataFrame({"judge": ["a"]}))


def test_names_of_the_configuration_are_told():
    rows = product(("gpt-4o", "mine"), ("gpt-4o", "mine"), range(4))
    table = pd.DataFrame(rows, columns=["judge", "model", "prompt"])
    table["rating"] = 1 + (table["prompt"] + table["model"].str.len()) % 5
    with pytest.warns(
        UserWarning,
        match="gpt-4o: taken as GPT-4o of the family GPT, as config has it; to keep its name",
    ) as told:
        assert recuse.ratings(table, scale=(1, 5)).judges == ["GPT-4o", "mine"]
    # `families` alone shows names that the configuration does not have
    assert not [each for each in told if str(each.message).startswith("mine:")]
    kept = recuse.ratings(table, scale=(1, 5), families={"OpenAI": ["gpt-4o"]})
    assert kept.judges == ["gpt-4o", "mine"]
