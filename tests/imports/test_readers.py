"""Files that are not what they should be: each is named with file, line and what to write
instead.
"""

import json
from pathlib import Path

import importing
import pytest

from recuse.base.errors import DataError
from recuse.imports.verdicts import import_verdicts
from text_tables import cases

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = Path(__file__).parents[1] / "formats"
TURNS = {"turn 1": [1, 10], "turn 2": [1, 10]}


def complaint(text, name, settings, *, human=None, scales=TURNS, kind="ratings"):
    """The error about a file of this text and name."""
    if kind == "ratings":
        references = settings.get("references")
        given = {"settings": settings, "scales": scales, "references": references}
        return importing.complaint({name: text}, human, **given)
    paths, outputs = importing.paths_to(text, name), {"verdicts": "v.out", "imported": "i.out"}
    with pytest.raises(DataError) as caught:
        import_verdicts("mine", paths, [], settings=settings, outputs=outputs)
    assert not Path("i.out").exists()
    return str(caught.value)


def fixture_text(name):
    return (FORMATS / name).read_text("utf-8")


# A fixture and the format that config declares, if any; below them, what is said of it
WRONG = """
alpaca_eval.json mt_bench_pair
    found AlpacaEval annotations, not MT-Bench pair judgments; write `format: alpaca_eval`
inspect.json table
    found an Inspect log, not a table; write `format: inspect`
judged.csv mt_bench_single
    found a table, not MT-Bench single judgments; write `format: table`
arena_hard_v0.1.jsonl
    found verdicts on two answers (Arena-Hard judgments); move the study from `studies:` to `comparisons:`
"""


@pytest.mark.parametrize(("given", "words"), cases(WRONG))
def test_wrong_format_is_recognised_and_named(given, words):
    name, _, declared = given.partition(" ")
    settings = {"format": declared} if declared else {}
    assert f"{name}: {words}" in complaint(fixture_text(name), name, settings)


def test_ratings_among_verdicts_are_named():
    message = complaint(fixture_text("mt_bench_single.jsonl"), "a.jsonl", {}, kind="verdicts")
    found = "a.jsonl: found ratings of single answers (MT-Bench single judgments)"
    assert f"{found}; move the study from `comparisons:` to `studies:`" in message


# Where each format has keys that are read: a fixture, the place, and a piece that is there twice
TWICE = """
mt_bench_single.jsonl | line 1 | "score": 1
mt_bench_pair.jsonl | line 1 | "g1_winner": "tie"
alpaca_eval.json | entry 1 | "preference": 1
arena_hard_v2.jsonl | line 1 | "score": "A=B"
inspect.json | entry 1 | "epoch": 2
inspect_rubric.json | entry 1 | "value": 1
"""


@pytest.mark.parametrize("case", TWICE.strip().splitlines())
def test_key_that_an_object_has_twice_is_named(case):
    """DuckDB takes the first, Python the last."""
    name, place, piece = case.split(" | ")
    key = piece.partition(": ")[0]
    text = fixture_text(name).replace(f"{key}: ", f"{piece}, {key}: ", 1)
    inspect = name.startswith("inspect")
    kind = "ratings" if inspect or name == "mt_bench_single.jsonl" else "verdicts"
    settings = {"judge": "judge", "step": 0.5} if inspect else {}
    error = complaint(text, name, settings, kind=kind)
    found = key.replace('"', "'")
    words = f"column key: found {found}, which an object has twice; keep one"
    assert error.startswith(f"{name}, {place}, {words}")


def changed(name, line, changes):
    """A fixture, of JSON lines or in a list, one of whose entries, from 1, has these changes, and
    lacks what they set to null.
    """
    entries = importing.document(name, fixture_text(name))
    entry = entries[line - 1] | changes
    entries[line - 1] = {key: value for key, value in entry.items() if value is not None}
    return importing.text_from(name, entries)


# A format, the number of an entry and its changes; below them the error
MALFORMED = """
mt_bench_single 3 {"score": null}
    line 3, column score: found nothing; write this key, as in MT-Bench
mt_bench_single 2 {"score": "high"}
    line 2, column score: found 'high', which is not a number
mt_bench_single 2 {"turn": 3}
    line 2, column turn: found 'turn 3', a dimension without a declared scale
mt_bench_pair 2 {"g1_winner": "A"}
    line 2, column g1_winner: found 'A', which is not a winner; write model_1, model_2,
mt_bench_pair 3 {"g2_winner": null}
    line 3, column g2_winner: found nothing; write this key
mt_bench_pair 1 {"m1_score": 7}
    line 1, column m1_score: found '7', a score of a single answer
alpaca_eval 3 {"preference": 3}
    entry 3, column preference: found '3', which is not a preference
alpaca_eval 2 {"generator_1": null}
    entry 2, column generator_1: found nothing; write this key
arena_hard 2 {"games": []}
    line 2, column games: found '[]', which is not two games
arena_hard 3 {"games": [{"score": "A>B"}, {"score": "C>D"}]}
    line 3, column score: found 'C>D', which is not a verdict
arena_hard 1 {"uid": null}
    line 1, column question_id: found nothing, and no uid either
"""
HUMAN = "model,prompt,dimension,rating\ngpt-4,81,turn 1,9\n"


@pytest.mark.parametrize(("given", "message"), cases(MALFORMED))
def test_malformed_file_is_named_with_its_line(given, message):
    format, line, changes = given.split(" ", 2)
    single = format == "mt_bench_single"
    (name,) = (path.name for path in FORMATS.glob(f"{format}*") if "v0.1" not in path.name)
    text = changed(name, int(line), json.loads(changes))
    human, kind = (HUMAN, "ratings") if single else (None, "verdicts")
    error = complaint(text, name, {"format": format}, human=human, kind=kind)
    assert error.startswith(f"{name}, {message}"), error


def test_a_file_of_json_that_is_broken_or_holds_nothing_is_named():
    name = "alpaca_eval.json"
    text = fixture_text(name).replace('"preference": 2.0,', '"preference": 2.0', 1)
    error = complaint(text, name, {"format": "alpaca_eval"}, kind="verdicts")
    assert error.startswith(f"{name}, line 24: malformed JSON (Expecting ',' delimiter)")
    error = complaint("", "own.jsonl", {"columns": {"judge": "judge"}})
    assert error.startswith("own.jsonl: the file holds nothing")


OWN = "judge,model,prompt,rating,human\na,b,1,7,8\na,c,2,9,8\n"
QUALITY = {"quality": [1, 10]}


# What is replaced in OWN, and by what; below it the error
FAULTY = """
judge|grader
    line 1, column judge: missing; found grader, model, prompt, rating, human; name one of them, `columns: {judge: <its name>}`
,|:
    line 1, column rating: missing; found judge:model:prompt:rating:human; name one of them
rating|model
    line 1, column model: found twice; the file has judge, model,
,9,|,ERROR,
    line 3, column rating: found 'ERROR', which is not a number; write a number from 1 to 10
,9,|,-1,
    line 3, column rating: found '-1', which is off the scale of the dimension
a,c|,c
    line 3, column judge: found nothing; write the id of the judge
a,c|Human,c
    line 3, column judge: found 'Human', the name of the human scores
9,8|9,11
    line 3, column human: found '11', which is off the scale
9,8|9
    line 3: cannot be read: found 4 fields, expected 5 as in the header
"""


@pytest.mark.parametrize(("change", "message"), cases(FAULTY))
def test_faulty_table_is_named_with_line_and_the_users_column(change, message):
    error = complaint(OWN.replace(*change.split("|")), "own.csv", {}, scales=QUALITY)
    assert error.startswith(f"own.csv, {message}"), error


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (OWN, {"columns": {"judge": "grader"}}, ", line 1, column grader: missing; found judge, "),
        ("judge,model,prompt,rating\n", {}, ": found no rows"),
        ("", {}, ": the file is empty"),
    ],
)
def test_what_a_table_lacks_is_named(text, settings, message):
    assert complaint(text, "own.csv", settings, scales=QUALITY).startswith(f"own.csv{message}")


# Human scores, / for the end of a line, and after -- the column of scores; below them the error
HUMAN_SCORES = """
model,prompt,rating/b,1,x
    human.csv, line 2, column rating: found 'x', which is not a number
model,prompt,mark/b,1,0 -- mark
    human.csv, line 2, column mark: found '0', which is off the scale
model,prompt,rating/b,1,7/b,1,8
    prompt '1' already have a row in human.csv, line 2; keep one, or, if their raters differ
model,prompt,rating/b,q1,7
    prompt 'q1', the first rating of model 'b', dimension 'quality' and prompt '1'
model,prompt/b,1
    human.csv, line 1, column rating: missing
model,prompt,rating/b,1,NA
    human.csv, line 1: found no score that is a number: each is empty
"""


@pytest.mark.parametrize(("given", "message"), cases(HUMAN_SCORES))
def test_faulty_human_scores_are_named(given, message):
    text, _, column = given.partition(" -- ")
    human = text.replace("/", "\n") + "\n"
    settings = {"references": {"columns": {"rating": column} if column else {}}}
    own = "judge,model,prompt,rating\na,b,1,7\n"
    assert message in complaint(own, "own.csv", settings, human=human, scales=QUALITY)
