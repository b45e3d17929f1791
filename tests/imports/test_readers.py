"""Files that are not what they should be: each is named with file, line and what to write
instead.
"""

import json
from pathlib import Path

import importing
import pytest

from recuse.base.errors import DataError
from recuse.imports.verdicts import import_verdicts

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = Path(__file__).parents[1] / "formats"
TURNS = {"turn 1": [1, 10], "turn 2": [1, 10]}


def complaint(text, name, settings, *, human=None, scales=TURNS, kind="ratings"):
    """The error about a file of this text and name."""
    if kind == "ratings":
        references = settings.get("references")
        given = {"settings": settings, "scales": scales, "references": references}
        return importing.complaint({name: text}, human, **given)
    (path,) = importing.paths_to(text, name)
    outputs = {key: f"{key}.out" for key in ("verdicts", "imported")}
    with pytest.raises(DataError) as caught:
        import_verdicts("mine", [path], [], settings=settings, outputs=outputs)
    assert not Path("imported.out").exists()
    return str(caught.value)


def lines_from(name, line=None, **changes):
    """A fixture of JSON lines; `line`, from 1, with `changes`, without what is changed to `...`."""
    lines = (FORMATS / name).read_text("utf-8").splitlines()
    if line is not None:
        entry = json.loads(lines[line - 1]) | changes
        lines[line - 1] = json.dumps(
            {key: value for key, value in entry.items() if value is not ...}
        )
    return "\n".join(lines) + "\n"


def entries_from(name, entry=0, **changes):
    entries = json.loads((FORMATS / name).read_text("utf-8"))
    entries[entry] = {
        key: value for key, value in (entries[entry] | changes).items() if value is not ...
    }
    return json.dumps(entries)


@pytest.mark.parametrize(
    ("name", "declared", "words"),
    [
        (
            "alpaca_eval.json",
            "mt_bench_pair",
            (
                "found AlpacaEval annotations, not MT-Bench pair judgments; write `format:"
                " alpaca_eval`"
            ),
        ),
        ("inspect.json", "table", "found an Inspect log, not a table; write `format: inspect`"),
        (
            "judged.csv",
            "mt_bench_single",
            "found a table, not MT-Bench single judgments; write `format: table`",
        ),
        (
            "arena_hard_v0.1.jsonl",
            None,
            (
                "found verdicts on two answers (Arena-Hard judgments); move the study from"
                " `studies:` to `comparisons:`"
            ),
        ),
    ],
)
def test_wrong_format_is_recognised_and_named(name, declared, words):
    settings = {} if declared is None else {"format": declared}
    assert f"{name}: {words}" in complaint((FORMATS / name).read_text("utf-8"), name, settings)


def test_ratings_among_verdicts_are_named():
    message = complaint(lines_from("mt_bench_single.jsonl"), "a.jsonl", {}, kind="verdicts")
    assert (
        "a.jsonl: found ratings of single answers (MT-Bench single judgments); move the study from"
        " `comparisons:` to `studies:`" in message
    )


SINGLE, PAIR, ALPACA, ARENA = (
    "mt_bench_single.jsonl",
    "mt_bench_pair.jsonl",
    "alpaca_eval.json",
    "arena_hard_v2.jsonl",
)


# Where each format has keys that are read: a piece of a fixture -> what it becomes, and the
# message.
TWICE = {
    SINGLE: ('"score": ', '"score": 1, "score": ', "line 1, column key: found 'score'"),
    PAIR: (
        '"g1_winner": ',
        '"g1_winner": "tie", "g1_winner": ',
        "line 1, column key: found 'g1_winner'",
    ),
    ALPACA: (
        '"preference": ',
        '"preference": 1, "preference": ',
        "entry 1, column key: found 'preference'",
    ),
    ARENA: ('"score": ', '"score": "A=B", "score": ', "line 1, column key: found 'score'"),
    "inspect.json": ('"epoch": ', '"epoch": 2, "epoch": ', "entry 1, column key: found 'epoch'"),
    "inspect_rubric.json": (
        '"value": ',
        '"value": 1, "value": ',
        "entry 1, column key: found 'value'",
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_key_that_an_object_has_twice_is_named(name):
    """DuckDB takes the first, Python the last."""
    piece, pieces, message = TWICE[name]
    text = (FORMATS / name).read_text("utf-8").replace(piece, pieces, 1)
    kind = "ratings" if name == SINGLE or name.startswith("inspect") else "verdicts"
    settings = {"judge": "judge", "step": 0.5} if name.startswith("inspect") else {}
    error = complaint(text, name, settings, kind=kind)
    assert error.startswith(f"{name}, {message}, which an object has twice; keep one")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            SINGLE,
            lines_from(SINGLE, 3, score=...),
            "line 3, column score: found nothing; write this key, as in MT-Bench",
        ),
        (
            SINGLE,
            lines_from(SINGLE, 2, score="high"),
            "line 2, column score: found 'high', which is not a number",
        ),
        (
            SINGLE,
            lines_from(SINGLE, 2, turn=3),
            "line 2, column turn: found 'turn 3', a dimension without a declared scale",
        ),
        (SINGLE, "", "the file holds nothing"),
        (
            PAIR,
            lines_from(PAIR, 2, g1_winner="A"),
            "line 2, column g1_winner: found 'A', which is not a winner; write model_1, model_2,",
        ),
        (
            PAIR,
            lines_from(PAIR, 3, g2_winner=...),
            "line 3, column g2_winner: found nothing; write this key",
        ),
        (
            PAIR,
            lines_from(PAIR, 1, m1_score=7),
            "line 1, column m1_score: found '7', a score of a single answer",
        ),
        (
            ALPACA,
            entries_from(ALPACA, 2, preference=3),
            "entry 3, column preference: found '3', which is not a preference",
        ),
        (
            ALPACA,
            entries_from(ALPACA, 1, generator_1=...),
            "entry 2, column generator_1: found nothing; write this key",
        ),
        (
            ALPACA,
            (FORMATS / ALPACA)
            .read_text("utf-8")
            .replace('"preference": 2.0,', '"preference": 2.0', 1),
            "line 24: malformed JSON (Expecting ',' delimiter)",
        ),
        (
            ARENA,
            lines_from(ARENA, 2, games=[]),
            "line 2, column games: found '[]', which is not two games",
        ),
        (
            ARENA,
            lines_from(ARENA, 3, games=[{"score": "A>B"}, {"score": "C>D"}]),
            "line 3, column score: found 'C>D', which is not a verdict",
        ),
        (
            ARENA,
            lines_from(ARENA, 1, uid=...),
            "line 1, column question_id: found nothing, and no uid either",
        ),
    ],
)
def test_malformed_file_is_named_with_its_line(name, text, message):
    kind, human = (
        ("ratings", "model,prompt,dimension,rating\ngpt-4,81,turn 1,9\n")
        if name == SINGLE
        else ("verdicts", None)
    )
    settings = {
        "format": {
            SINGLE: "mt_bench_single",
            PAIR: "mt_bench_pair",
            ALPACA: "alpaca_eval",
            ARENA: "arena_hard",
        }[name]
    }
    if text == "":
        settings = {"columns": {"judge": "judge"}}
    error = complaint(text, name, settings, human=human, kind=kind)
    assert error.startswith(name), error
    assert message in error


OWN = "judge,model,prompt,rating,human\na,b,1,7,8\na,c,2,9,8\n"
QUALITY = {"quality": [1, 10]}


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (
            OWN,
            {"columns": {"judge": "grader"}},
            "line 1, column grader: missing; found judge, model, prompt, rating, human",
        ),
        (
            OWN.replace("judge", "grader"),
            {},
            "human; name one of them, `columns: {judge: <its name>}`, or one judge for all rows,",
        ),
        (
            OWN.replace(",", ":"),
            {},
            (
                "line 1, column rating: missing; found judge:model:prompt:rating:human; name one of"
                " them"
            ),
        ),
        (
            OWN.replace("rating", "model"),
            {},
            "line 1, column model: found twice; the file has judge, model,",
        ),
        (
            OWN.replace(",9,", ",ERROR,"),
            {},
            (
                "line 3, column rating: found 'ERROR', which is not a number; write a number from 1"
                " to 10"
            ),
        ),
        (
            OWN.replace(",9,", ",-1,"),
            {},
            "line 3, column rating: found '-1', which is off the scale of the dimension",
        ),
        (
            OWN.replace("a,c", ",c"),
            {},
            "line 3, column judge: found nothing; write the id of the judge",
        ),
        (
            OWN.replace("a,c", "Human,c"),
            {},
            "line 3, column judge: found 'Human', the name of the human scores",
        ),
        (
            OWN.replace("9,8", "9,11"),
            {},
            "line 3, column human: found '11', which is off the scale",
        ),
        (
            OWN.replace("9,8", "9"),
            {},
            "line 3: cannot be read: found 4 fields, expected 5 as in the header",
        ),
        ("judge,model,prompt,rating\n", {}, "found no rows"),
        ("", {}, "the file is empty"),
    ],
)
def test_faulty_table_is_named_with_line_and_the_users_column(text, settings, message):
    error = complaint(text, "own.csv", settings, scales=QUALITY)
    assert error.startswith("own.csv"), error
    assert message in error


@pytest.mark.parametrize(
    ("human", "columns", "message"),
    [
        (
            "model,prompt,rating\nb,1,x\n",
            {},
            "human.csv, line 2, column rating: found 'x', which is not a number",
        ),
        (
            "model,prompt,mark\nb,1,0\n",
            {"rating": "mark"},
            "human.csv, line 2, column mark: found '0', which is off the scale",
        ),
        (
            "model,prompt,rating\nb,1,7\nb,1,8\n",
            {},
            (
                "prompt '1' already have a row in human.csv, line 2; keep one, or, if their raters"
                " differ"
            ),
        ),
        (
            "model,prompt,rating\nb,q1,7\n",
            {},
            "prompt 'q1', the first rating of model 'b', dimension 'quality' and prompt '1'",
        ),
        ("model,prompt\nb,1\n", {}, "human.csv, line 1, column rating: missing"),
        (
            "model,prompt,rating\nb,1,NA\n",
            {},
            "human.csv, line 1: found no score that is a number: each is empty",
        ),
    ],
)
def test_faulty_human_scores_are_named(human, columns, message):
    text = "judge,model,prompt,rating\na,b,1,7\n"
    error = complaint(
        text, "own.csv", {"references": {"columns": columns}}, human=human, scales=QUALITY
    )
    assert message in error
