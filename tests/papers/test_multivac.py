"""The Multivac's files: what they hold, and ratings of one question on several occasions."""

import json
from csv import DictReader

import duckdb
import pytest

from recuse.papers.multivac import BY_DESIGN, DIMENSIONS, NO_ANSWER, SELF, read_multivac
from verdict_files import released

ZERO = dict.fromkeys((field for field, _ in DIMENSIONS.values()), 0)
GIVEN = {
    "weighted_score": 8.35,
    "correctness": 9,
    "completeness": 8,
    "clarity": 9,
    "depth": 7,
    "usefulness": 9,
}


def judgment(judge, respondent, error=None, **scores):
    return {"judge_key": judge, "respondent_key": respondent, "error": error, **(scores or ZERO)}


@pytest.fixture
def tables(tmp_path):
    """Two evaluations of one question, and one without judgments."""
    answers = [
        {"model_key": "one", "response": " two  words "},
        {"model_key": "other", "response": None},
    ]
    first = [
        judgment("one", "one", SELF),
        judgment("one", "other"),
        judgment("other", "one", **GIVEN),
        judgment("other", "other", SELF),
    ]
    failed = "Expecting ',' delimiter: line 3 column 7 (char 80)"
    again = [
        judgment("one", "other", **GIVEN),
        judgment("other", "one", failed),
        judgment("late", "one", ""),
    ]
    paths = []
    for name, judgments in (("a", first), ("b", again), ("c", [])):
        content = {"evaluation_id": name, "question_id": "q", "category": "code"}
        content |= {"responses": answers, "judgments": judgments}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(content))
    return read(tmp_path, paths)


def read(folder, paths):
    ratings = str(folder / "ratings.parquet")
    imported = str(folder / "imported.csv")
    read_multivac("s", list(map(str, paths)), ratings=ratings, imported=imported)
    with open(imported, newline="") as file:
        return ratings, {row["kind"]: int(row["n"]) for row in DictReader(file)}


def test_rows_of_scores_and_failures(tables):
    rows = duckdb.sql(
        f"""
        select judge, model, occasion, rating, pred_length, failure from '{tables[0]}' where dimension = 'Score'"""
    ).fetchall()
    assert rows == [
        ("one", "other", "a", None, None, NO_ANSWER),
        ("other", "one", "a", 167, 2, None),  # steps of 0.05
        ("one", "other", "b", 167, None, None),
        ("other", "one", "b", None, 2, "failed: Expecting ',' delimiter"),
        ("late", "one", "b", None, 2, "failed: no message"),
    ]
    criteria = duckdb.sql(
        f"select dimension, rating from '{tables[0]}' where judge = 'other' and occasion = 'a'"
        " order by all"
    )
    assert dict(criteria.fetchall()) == {
        "Clarity": 9, "Completeness": 8, "Correctness": 9, "Depth": 7, "Score": 167, "Usefulness": 9
    }  # fmt: skip


def test_counts(tables):
    assert tables[1] == {
        "evaluations": 3,
        "evaluations without judgments": 1,
        "questions with judgments": 1,
        "slots of a judge and an answer": 7,
        "scores": 2,
        BY_DESIGN: 2,
        NO_ANSWER: 1,
        "failed: Expecting ',' delimiter": 1,
        "failed: no message": 1,
    }


@pytest.mark.mirror
def test_released_files(tmp_path):
    folder, names = released("multivac")
    paths = [folder / name for name in names]
    ratings, counts = read(tmp_path, paths)
    names = ("evaluations", "evaluations without judgments", "questions with judgments")
    assert [counts[name] for name in names] == [286, 2, 197]
    assert counts["slots of a judge and an answer"] == 27540
    assert (counts["scores"], counts[BY_DESIGN], counts[NO_ANSWER]) == (22252, 2781, 1104)
    assert sum(n for kind, n in counts.items() if kind.startswith("failed: ")) == 1403
    assert duckdb.sql(
        f"select count(distinct judge), count(rating) from '{ratings}'"
    ).fetchall() == [(55, 6 * 22252)]
