"""Ratings in the formats of other tools: what each fixture becomes, row by row, and what of it is
counted as missing.
"""

import contextlib
from pathlib import Path

import duckdb
import pytest
from importing import WRITTEN_AS, fixture, import_files, normalised

from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.data.raters import check_raters
from recuse.data.registry import Registry
from text_tables import lines, words

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = Path(__file__).parents[1] / "formats"
MODELS = {
    "GPT-4o": {"family": "GPT", "ids": ["gpt-4o", "openai/gpt-4o"]},
    "GPT-4": {"family": "GPT", "ids": ["gpt-4"]},
}
NAMED = {"model": "candidate", "prompt": "item", "dimension": "metric"}
TABLE = {
    "columns": NAMED | {"judge": "grader", "rating": "score"},
    "missing": [-1, "error"],
}
HUMAN = {"columns": NAMED | {"rating": "mark", "rater": "who"}}
SCALE = {"quality": [1, 10]}


def imported(names, settings, *, references=(), human=None, **options):
    """Import fixtures, or files that the test wrote."""
    paths, of_humans = ([*map(fixture, group)] for group in (names, references))
    import_files(paths, of_humans or None, human, settings=settings, models=MODELS, **options)


def rows_from(columns, table="ratings"):
    return words(duckdb.sql(f"select {columns} from '{table}.parquet'").fetchall())


def counted():
    """File, number and place of the first of each kind, which ends the line."""
    return words(
        (Path(row["file"]).name, row["n"], row["example"].rpartition(", ")[2], row["kind"])
        for row in read_table("imported.csv")
    )


CANONICAL = "judge, model, prompt_id, dimension, dataset, rating, gt, failure, source_record"


def import_with_humans(name="judged.csv"):
    """The table of ratings beside that of two raters."""
    imported([name], TABLE, scales=SCALE, references=["human.csv"], human=HUMAN, raters=True)


@pytest.fixture(scope="module")
def folder_with_humans(tmp_path_factory):
    with contextlib.chdir(tmp_path_factory.mktemp("imported")):
        import_with_humans()
        return Path.cwd()


@pytest.fixture
def with_humans(folder_with_humans, monkeypatch):
    """The test runs in the folder of this import."""
    monkeypatch.chdir(folder_with_humans)


def test_table_in_columns_of_other_names(with_humans):
    assert rows_from(CANONICAL) == lines("""
        GPT-4o   GPT-4o   q1 quality all 9  8.5 -            1
        GPT-4o   my-model q1 quality all 7  6.0 -            2
        my-judge GPT-4o   q1 quality all 8  8.5 -            3
        my-judge my-model q1 quality all -  6.0 value 'ERROR' 4
        GPT-4o   GPT-4o   q2 quality all -  7.0 value '-1.0' 5
        GPT-4o   my-model q2 quality all 10 -   -            6
        my-judge GPT-4o   q2 quality all -  7.0 no value     7
        my-judge my-model q2 quality all 5  -   -            8
    """)


def test_table_without_human_scores_is_imported_with_a_message(capsys):
    imported(["judged.csv"], TABLE, scales=SCALE)
    assert rows_from("gt, rating") == lines("- 9\n- 7\n- 8\n- -\n- -\n- 10\n- -\n- 5")
    message = "no rating has a human score: judges are compared only with other judges"
    assert message in capsys.readouterr().out


def test_failures_are_counted_each_with_the_place_of_its_first(with_humans):
    assert counted() == lines("""
        judged.csv 8 line 2 rows
        judged.csv 1 line 9 no value
        judged.csv 1 line 7 value '-1.0'
        judged.csv 1 line 5 value 'ERROR'
        judged.csv 2 line 8 rating without a human score
        human.csv  6 line 2 rows
        human.csv  1 line 5 no value
        human.csv  1 line 7 human score without a rating
    """)


def test_columns_that_are_not_read_are_kept(with_humans):
    """Also one whose name the imported table has."""
    kept = duckdb.sql("""select run, "rating (2)", tokens from 'ratings.parquet'""").fetchall()
    assert kept[3] == ("r1", "timed out,\ntwice", "80")


def test_raters_of_rated_completions_are_separate(with_humans):
    assert rows_from("*", "raters") == lines("""
        GPT-4o   quality all q1 ann 8
        GPT-4o   quality all q1 bob 9
        my-model quality all q1 ann 6
        GPT-4o   quality all q2 ann 7
    """)
    types = duckdb.sql("select distinct typeof(rating) from 'raters.parquet'").fetchall()
    assert types == [("INTEGER",)]


def test_imported_tables_are_what_the_next_steps_read(with_humans):
    """A model that config does not know has a family of its own; ratings without a human score
    stay.
    """
    table = normalised(scales=SCALE, models=MODELS)
    columns = "judge, model, judge_family, model_family, rating, gt"
    assert rows_from(columns, "canonical") == lines("""
        GPT-4o   GPT-4o   GPT      GPT      9  8.5
        GPT-4o   my-model GPT      my-model 7  6.0
        my-judge GPT-4o   my-judge GPT      8  8.5
        GPT-4o   my-model GPT      my-model 10 -
        my-judge my-model my-judge my-model 5  -
    """)
    raters, read = "raters.parquet", {"ratings": [table], "output": "r.parquet"}
    with pytest.raises(DataError, match=r"human\.csv|raters\.parquet"):
        check_raters(raters, Registry.from_config(MODELS), **read)
    check_raters(raters, Registry.from_config(MODELS, imported=True), **read)


def test_row_that_occurs_twice_is_named_in_the_users_file():
    lines = (FORMATS / "judged.csv").read_text("utf-8").splitlines()
    Path("twice.csv").write_text("\n".join([*lines, lines[1]]), "utf-8")
    settings = {**TABLE, "columns": {**TABLE["columns"], "human": "tokens"}}
    imported([Path("twice.csv")], settings, scales={"quality": [-1, 120]})
    with pytest.raises(
        DataError,
        match=r"twice\.csv, line 11, column prompt_id: .* are already in .*twice\.csv, line 2;",
    ):
        normalised(scales={"quality": [-1, 120]}, models=MODELS)


def test_answers_of_one_model_to_one_prompt_on_several_occasions():
    """Ratings of each answer are its own, with or without repeated ones, and so is its human
    score.
    """
    rows = "judge,model,prompt,run,rating,human/j,m,p,first,1,2/j,m,p,first,3,2/j,m,p,again,5,4"
    Path("a.csv").write_text(rows.replace("/", "\n"), "utf-8")
    settings, scales = {"columns": {"occasion": "run"}, "repeats": "mean"}, {"Tone": [1, 5]}
    imported([Path("a.csv")], settings, scales=scales)
    assert sorted(rows_from("occasion, rating, gt")) == lines("again 5 4.0\nfirst 2 2.0")
    Path("b.csv").write_text("model,prompt,rating\nm,p,3\n", "utf-8")
    rows = "judge,model,prompt,occasion,rating/j,m,p,first,1/j,m,p,again,5/"
    Path("c.csv").write_text(rows.replace("/", "\n"), "utf-8")
    human = {"references": [Path("b.csv")], "human": {"columns": {}}}
    message = "model 'm' answers prompt 'p' on several occasions; write the scores in a column"
    with pytest.raises(DataError, match=message):
        imported([Path("c.csv")], {}, scales=scales, **human)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "json", "csv.gz"])
def test_table_is_the_same_in_any_kind_of_file(folder_with_humans, suffix):
    # Numbers as numbers: of a parquet file they are 9.0 and so on where one is missing.
    rows = f"from read_csv('{FORMATS}/judged.csv', all_varchar=true)"
    as_numbers = "try_cast(score as double) as score, tokens::integer as tokens"
    typed = f"select * replace ({as_numbers}) {rows} where score is distinct from 'ERROR'"
    duckdb.sql(f"copy ({typed}) to 'judged.{suffix}' {WRITTEN_AS[suffix]}")
    columns = 'judge, model, prompt_id, dimension, rating, gt, "rating (2)", tokens'
    theirs = rows_from(columns, f"{folder_with_humans}/ratings")
    import_with_humans(Path(f"judged.{suffix}"))
    assert rows_from(columns) == theirs[:3] + theirs[4:]


def test_steps_between_whole_numbers():
    """Ratings are whole numbers of steps in the table, human scores in the same unit."""
    text = "judge,model,prompt,rating,human\na,b,1,0.7,0.3\na,b,2,1,0\n"
    Path("own.csv").write_text(text, "utf-8")
    imported([Path("own.csv")], {"step": 0.1}, scales={"quality": [0, 1]})
    assert rows_from("rating, gt") == lines("7 3.0\n10 0.0")


def test_inspect_score_of_several_names_is_of_several_dimensions():
    text = "model,prompt,dimension,rating\nopenai/gpt-4o-mini,1,tone,4\n"
    Path("human.csv").write_text(text, "utf-8")
    given = {"references": [Path("human.csv")], "human": {"columns": {}}}
    scales = {"facts": [0, 5], "tone": [0, 5]}
    imported(["inspect_rubric.json"], {"judge": "J"}, scales=scales, **given)
    assert rows_from("prompt_id, dimension, rating, gt, failure") == lines("""
        1 facts 2 -   -
        1 tone  4 4.0 -
        2 facts - -   no score
        2 tone  5 -   -
    """)


def test_names_that_config_does_not_list_are_printed(capsys):
    """Ids that config lists are not among them."""
    import_with_humans()
    *lines, _ = capsys.readouterr().out.splitlines()  # The last is about human scores.
    assert lines == [
        f"{name}: not in config, taken as the only model of the family {name}"
        for name in ("my-judge", "my-model")
    ]


def test_name_of_a_family_that_config_has_does_not_join_it(capsys):
    Path("judged.csv").write_text("judge,model,prompt,rating,human\nGPT,gpt-4,1,7,8\n", "utf-8")
    imported([Path("judged.csv")], {}, scales=SCALE)
    assert "the only model of the family GPT (alone)" in capsys.readouterr().out
