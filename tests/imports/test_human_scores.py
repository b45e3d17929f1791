"""Human scores and the ratings they are of: one for each completion, joined by names and datasets,
and what does not join.
"""

from pathlib import Path

import duckdb
import pytest
from importing import QUALITY, complaint, import_files, normalised

from recuse.base.tables import read_table
from text_tables import cases, lines, words

pytestmark = pytest.mark.usefixtures("own_folder")

RATED = "judge,model,prompt,rating\na,b,1,7\na,b,2,9\na,c,1,4\n"


def imported(*given, **options):
    """The human scores of the ratings of such files, in a text; a dash where there is none."""
    import_files(*given, **options)
    return scores("gt")


def scores(column):
    """A column of the imported ratings, in a text."""
    query = f"select {column} from 'ratings.parquet' order by source_record"
    return " ".join(value for (value,) in words(duckdb.sql(query).fetchall()))


def counted():
    return {
        (Path(row["file"]).name, row["kind"]): int(row["n"]) for row in read_table("imported.csv")
    }


def test_two_scores_of_one_completion_are_named_with_both_places():
    """Another spelling of a number is the same number; another dataset is another completion."""
    lines = "judge,model,prompt,rating,dataset,gold\na,b,1,7,x,8\nd,b,1,9,x,8.0\ne,b,1,9,y,3\nf,b,1,9,x,\ng,b,1,9,x,9\n"
    message = complaint(lines, settings={"columns": {"human": "gold"}})
    assert message.startswith(
        "own.csv, line 6, column gold: found '9' for model 'b', dimension 'quality', dataset 'x'"
        " and prompt '1', and '8' in own.csv, line 2; write one score for each completion"
    )
    assert "under `references:`" in message
    result = imported(lines.replace("x,9", "x,8"), settings={"columns": {"human": "gold"}})
    assert result == "8.0 8.0 3.0 - 8.0"


def test_what_does_not_join_is_printed_with_the_first_of_each(capsys):
    human = "model,prompt,rating\nb,1,6\nb,02,8\nc,1,\nc,01,5\n"
    assert imported(RATED, human) == "6.0 - -"
    message = capsys.readouterr().out.splitlines()[-1]
    assert (
        message
        == "without a human score: 1 of 3 rated completions, the first is model 'b', dimension"
        " 'quality' and prompt '2' in own.csv, line 3; with a human score, but without a rating:"
        " 2, the first is model 'b', dimension 'quality' and prompt '02' in human.csv, line 3;"
        " if these are the same completions, write the same names in both"
    )
    imported(RATED, human.replace("0", "").replace("c,1,5\n", ""))
    assert "human score" not in capsys.readouterr().out
    # The first rater of the completion gave no score
    human = "model,prompt,rating,rater\nb,1,6,x\nz,9,,x\nz,9,5,y\n"
    imported(RATED, human, {"columns": {"rater": "rater"}})
    assert "and prompt '9' in human.csv, line 4" in capsys.readouterr().out
    imported(RATED, "model,prompt,rating\nb,1,6\n")
    message = capsys.readouterr().out
    assert "without a human score: 2 of 3 rated completions" in message
    assert "the same names" not in message
    imported("judge,model,prompt,rating,gt\na,b,1,7,8\na,b,2,9,\na,c,1,4,\n")
    assert "human score" not in capsys.readouterr().out


def test_scores_of_several_columns_are_counted_as_scores():
    human = "model,prompt,rating,second\nb,1,6,7\nb,2,,8\nc,1,3,3\n"
    imported(RATED, human, {"columns": {"rating": ["rating", "second"]}}, raters=True)
    assert counted() == {
        ("own.csv", "rows"): 3,
        ("human.csv", "scores"): 6,
        ("human.csv", "no value"): 1,
    }
    imported(RATED, human.replace(",,", ",5,"))
    assert counted() == {("own.csv", "rows"): 3, ("human.csv", "rows"): 3}


SETS = "judge,model,prompt,rating,dataset\na,b,1,7,x\na,b,1,9,y\na,b,2,5,y\n"
OF_SETS = "model,prompt,rating,set\nb,1,6,x\nb,1,3,y\nb,2,4, y \n"


def test_human_scores_are_joined_by_dataset():
    """By the column of that name, too, and those of single raters."""
    named = {"columns": {"dataset": "set"}}
    assert imported(SETS, OF_SETS, named) == "6.0 3.0 4.0"
    assert counted() == {("own.csv", "rows"): 3, ("human.csv", "rows"): 3}
    assert imported(SETS, OF_SETS.replace("set", "dataset")) == "6.0 3.0 4.0"
    of_raters = "model,prompt,first,second,set\nb,1,6,8,x\nb,1,3,2,y\nb,2,4,, y \n"
    several = {"columns": {"dataset": "set", "rating": ["first", "second"]}}
    assert imported(SETS, of_raters, several, raters=True) == "7.0 2.5 4.0"
    columns = "dataset, prompt_id, rater, rating"
    assert words(duckdb.sql(f"select {columns} from 'raters.parquet'").fetchall()) == lines("""
        x 1 first  6
        y 1 first  3
        y 2 first  4
        x 1 second 8
        y 1 second 2
    """)


def test_dataset_of_human_scores_of_ratings_without_one_does_not_matter():
    assert (
        imported(RATED, "model,prompt,rating,dataset\nb,1,6,x\nb,2,8,x\nc,1,3,y\n") == "6.0 8.0 3.0"
    )


# Human scores, / for the end of a line; below them the error
UNCLEAR = """
model,prompt,rating/b,2,6/b,1,7/
    human.csv, line 1, column dataset: missing, but model 'b', dimension 'quality' and prompt '1' are
    rated in the datasets 'x' and 'y', and the human score may be of either; add the dataset of each score
model,prompt,rating,dataset/b,1,6,x/b,1,3,x/b,2,4, y /
    line 3: model 'b', dimension 'quality', prompt '1' and dataset 'x' already have a row in human.csv, line 2;
model,prompt,rating,dataset/b,1,6,X/b,1,3,Y/b,2,4, Y /
    found no score of a rated completion: the first score is of model 'b', dimension 'quality', prompt '1'
    and dataset 'X', the first rating of model 'b', dimension 'quality', prompt '1' and dataset 'x'
"""


@pytest.mark.parametrize("case", cases(UNCLEAR))
def test_unclear_dataset_is_named(case):
    human, *message = case
    assert " ".join(message) in complaint(SETS, human.replace("/", "\n"), {})


def test_the_column_of_datasets_is_in_every_file_of_human_scores():
    message = complaint(SETS, OF_SETS, {"columns": {"dataset": "sets"}})
    assert "human.csv, line 1, column sets: missing; found model, prompt," in message
    second = "model,prompt,rating\nb,2,6\n"
    files = {"first.csv": OF_SETS.replace("set", "dataset"), "second.csv": second}
    message = "second.csv, line 1, column dataset: missing, but first.csv has it"
    assert f"{message}; write it in all files, or in none" in complaint(SETS, files, {})


def test_prompts_of_one_id_in_several_datasets_are_several_prompts():
    """Also where no judge rates two of them."""
    imported(SETS, OF_SETS, {"columns": {"dataset": "set"}})
    table = normalised(scales=QUALITY)
    rows = f"select prompt, dataset, prompt_id, rating, gt from '{table}' order by all"
    assert duckdb.sql(rows).fetchall() == [
        (0, "x", "1", 7, 6.0),
        (1, "y", "1", 9, 3.0),
        (2, "y", "2", 5, 4.0),
    ]
    imported("judge,model,prompt,rating,dataset,human\na,b,1,7,x,8\nd,b,1,9,y,8\na,b,2,5,y,8\n")
    normalised(scales=QUALITY)
    assert [row[0] for row in duckdb.sql(rows).fetchall()] == [0, 1, 2]


def test_prompts_without_human_scores_may_be_in_two_datasets():
    assert imported(SETS, "model,prompt,rating\nb,2,6\n") == "- - 6.0"


CONTINUOUS = "judge,model,prompt,rating\na,b,1,0.0504\na,b,2,0.545\na,b,3,0.285\na,b,4,1\na,b,5,\n"
UNIT = {"quality": [0, 1]}


def test_ratings_between_two_steps_are_rounded_and_counted():
    """Half-way to the one farther from 0, also where a division by 0.01 is not exact; single
    raters' scores, too.
    """
    rounds = {"step": 0.01, "round": True}
    human = "model,prompt,rating,second\nb,1,0.3,0.555\nb,2,1,1\n"
    two = {"columns": {"rating": ["rating", "second"]}}
    result = imported(CONTINUOUS, human, two, settings=rounds, scales=UNIT, raters=True)
    assert float(result.split()[0]) == pytest.approx(42.75, abs=1e-6)
    assert scores("rating") == "5 55 29 100 -"
    assert duckdb.sql(
        "select max(rating) from 'raters.parquet' where prompt_id = '1'"
    ).fetchall() == [(56,)]
    assert counted() == {
        ("own.csv", "rows"): 5,
        ("own.csv", "no value"): 1,
        ("own.csv", "between two steps, rounded to the nearest"): 3,
        ("own.csv", "rating without a human score"): 2,
        ("human.csv", "scores"): 4,
        ("human.csv", "between two steps, rounded to the nearest"): 1,
    }


def test_ratings_between_two_steps_are_refused_with_the_setting_that_rounds_them():
    message = complaint(CONTINUOUS, settings={"step": 0.5}, scales=UNIT)
    assert (
        "line 2, column rating: found '0.0504', which is between two steps of the scale" in message
    )
    assert (
        "write a number from 0 to 1 in steps of 0.5, or write the step under `step:` in config"
        in message
    )
    assert (
        "`step: 0.01` with `round: true`, which rounds each to the nearest step (2 more rows have"
        " errors;" in message
    )


def test_scale_may_end_between_whole_numbers():
    text = "judge,model,prompt,rating,human\na,b,1,0.5,4.5\na,b,2,5,1.25\n"
    assert imported(text, settings={"step": 0.5}, scales={"quality": [0.5, 5]}) == "9.0 2.5"
    Path("ratings.parquet").unlink()
    message = complaint(
        text.replace(",5,", ",5.5,"), settings={"step": 0.5}, scales={"quality": [0.5, 5]}
    )
    assert (
        "found '5.5', which is off the scale of the dimension; write a number from 0.5 to 5 in"
        " steps of 0.5" in message
    )


def test_scores_in_several_files_of_json_lines_are_read_from_each():
    line = '{{"model": "{}", "prompt": "1", "rating": {}}}\n'
    human = {"b.jsonl": line.format("b", 6), "c.jsonl": line.format("c", 3)}
    assert imported(RATED, human) == "6.0 - 3.0"
