"""Verdicts in the formats of other tools: what each fixture becomes, row by row, and what of it is
counted as an error.
"""

import json
from pathlib import Path

import duckdb
import pytest

from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.imports.verdicts import import_verdicts
from recuse.pairwise.table import normalise

FORMATS = Path(__file__).parents[1] / "formats"
CANONICAL = 'judge, item, model_a, model_b, "order", outcome, failure, source_record'
COLUMNS = {
    "judge": "grader",
    "item": "question",
    "model_a": "left",
    "model_b": "right",
    "outcome": "winner",
    "order": "first",
}


def imported(folder, name, settings, *, references=(), human=None):
    outputs = {
        "verdicts": str(folder / "verdicts.parquet"),
        "imported": str(folder / "imported.csv"),
    }
    settings = {**settings, **({"references": human} if human else {})}
    import_verdicts(
        "mine",
        [str(FORMATS / name)],
        [str(FORMATS / path) for path in references],
        settings=settings,
        outputs=outputs,
    )
    return folder


def rows_from(folder, columns=CANONICAL):
    return duckdb.sql(
        f"select {columns} from '{folder}/verdicts.parquet' order by source_record, \"order\""
    ).fetchall()


def counted(folder):
    return [
        (row["kind"], int(row["n"]), row["example"].rpartition(", ")[2])
        for row in read_table(folder / "imported.csv")
    ]


def canonical(folder, **options):
    """What the next step makes of the imported table."""
    written = {"comparisons": f"{folder}/c.parquet", "completeness": f"{folder}/c.csv"}
    normalise("mine", [f"{folder}/verdicts.parquet"], **written, **options)
    return duckdb.sql(f"select * from '{folder}/c.parquet'").fetchall()


def test_mt_bench_pair_judgments(tmp_path):
    imported(tmp_path, "mt_bench_pair.jsonl", {})
    models, error = ("alpaca-13b", "gpt-4"), "no winner in the judgment (error)"
    assert rows_from(tmp_path) == [
        ("gpt-4", "81", *models, "ab", "b", None, 1),
        ("gpt-4", "81", *models, "ba", "b", None, 1),
        ("gpt-4", "81, turn 2", *models, "ab", "tie", None, 2),
        ("gpt-4", "81, turn 2", *models, "ba", "a", None, 2),
        ("gpt-4", "82", *models, "ab", "error", error, 3),
        ("gpt-4", "82", *models, "ba", "b", None, 3),
    ]
    assert counted(tmp_path) == [("rows", 6, "line 1"), (error, 1, "line 3")]
    assert rows_from(tmp_path, "judge_prompt, turn, g2_judgment")[2] == ("pair-v2", "2", "[[A]]")
    assert len(canonical(tmp_path)) == 6


def test_alpaca_eval_annotations(tmp_path, capsys):
    """The order is as alpaca_eval draws it: in six of its published annotations, it is what their
    raw completions tell.
    """
    imported(tmp_path, "alpaca_eval.json", {})
    said = "weighted_alpaca_eval_gpt4_turbo is an annotator of AlpacaEval, which asks gpt-4-1106"
    assert said in capsys.readouterr().out
    judge, models = "weighted_alpaca_eval_gpt4_turbo", ("gpt4_1106_preview", "my-model")
    long = "Write a haiku about rain, and explain at length which words ... #d6d493ea"
    items = (
        "How do I boil an egg?",
        "Name a river.",
        "Tell me a joke.",
        long,
        "Say hello.",
        "What is 2 + 2?",
        "Sort three numbers.",
    )
    shown = rows_from(tmp_path)
    assert [row[:4] for row in shown] == [(judge, item, *models) for item in items]
    assert [row[5:7] for row in shown] == [
        ("a", None),
        ("b", None),
        ("a", None),
        ("b", None),
        ("tie", None),
        ("error", "no preference"),
        ("b", None),
    ]
    # The last one as referenced_models says, and not as would be drawn.
    assert [row[4] for row in shown] == ["ab", "ba", "ba", "ba", "ab", "ab", "ab"]
    assert rows_from(tmp_path, "length_a, length_b, preference, dataset")[1] == (
        "2",
        "5",
        "2.0",
        "helpful_base",
    )
    assert rows_from(tmp_path, "preference")[3] == ("1.9134",)
    assert counted(tmp_path) == [("rows", 7, "entry 1"), ("no preference", 1, "entry 6")]
    assert len(canonical(tmp_path)) == 7  # in single orders, as the tool shows them


def test_arena_hard_judgments_of_version_0_1(tmp_path):
    imported(tmp_path, "arena_hard_v0.1.jsonl", {"baseline": "gpt-4-0314"})
    judge, models, none = (
        "gpt-4-1106-preview",
        ("my-model", "gpt-4-0314"),
        "no verdict in the judgment (null)",
    )
    first, second = "328c149ed45a41c0b9d6f14659e63599", "4f0af0dcbe6d4a6a9c3a0d4f0a2b6a2e"
    assert rows_from(tmp_path, f"{CANONICAL}, score") == [
        (judge, first, *models, "ab", "b", None, 1, "B>A"),
        (judge, first, *models, "ba", "b", None, 1, "A>>B"),
        (judge, second, *models, "ab", "error", none, 2, None),
        (judge, second, *models, "ba", "tie", None, 2, "A=B"),
        (judge, "9f1a2b", *models, "ab", "a", None, 3, "A>B"),
        (judge, "9f1a2b", *models, "ba", "a", None, 3, "B>>A"),
    ]
    assert counted(tmp_path) == [("rows", 6, "line 1"), (none, 1, "line 2")]
    assert len(canonical(tmp_path)) == 6
    with pytest.raises(
        DataError,
        match=(
            r"line 1, column baseline: found nothing, as in version 0\.1; .*`baseline: gpt-4-0314`"
        ),
    ):
        imported(tmp_path, "arena_hard_v0.1.jsonl", {})


def test_arena_hard_judgments_of_version_2(tmp_path):
    """A game that failed is null; a verdict that is no label, which the tool takes from an answer,
    is none.
    """
    imported(tmp_path, "arena_hard_v2.jsonl", {})
    judge, o3, gemini = "gpt-4.1", "o3-mini-2025-01-31", "gemini-2.0-flash-001"
    assert rows_from(tmp_path, f"{CANONICAL}, category") == [
        (judge, "0001e2c6", "my-model", o3, "ab", "tie", None, 1, "hard_prompt"),
        (judge, "0001e2c6", "my-model", o3, "ba", "a", None, 1, "hard_prompt"),
        (judge, "0002aa11", "my-model", gemini, "ab", "b", None, 2, "creative_writing"),
        (
            judge,
            "0002aa11",
            "my-model",
            gemini,
            "ba",
            "error",
            "no judgment (null)",
            2,
            "creative_writing",
        ),
        (judge, "0003bb22", "my-model", o3, "ab", "a", None, 3, "hard_prompt"),
        (
            judge,
            "0003bb22",
            "my-model",
            o3,
            "ba",
            "error",
            "no verdict in the judgment (A>>>B)",
            3,
            "hard_prompt",
        ),
    ]
    assert len(canonical(tmp_path)) == 6


def test_judge_bench_judgments(tmp_path, capsys):
    """The second decision is for the swapped order, and the key says which answer is right."""
    imported(tmp_path, "judge_bench.jsonl", {})
    said = "both answers of a pair are by one model: preference for own answers cannot be tested"
    assert said in capsys.readouterr().out
    models = ("model-x (first answer)", "model-x (second answer)")
    missing, null = "no judgment (null)", "no verdict in the judgment (null)"
    assert rows_from(tmp_path) == [
        ("judge-y", "pair-0", *models, "ab", "a", None, 1),
        ("judge-y", "pair-0", *models, "ba", "a", None, 1),
        ("judge-y", "pair-1", *models, "ab", "tie", None, 2),
        ("judge-y", "pair-1", *models, "ba", "a", None, 2),
        ("judge-y", "pair-2", *models, "ab", "error", missing, 3),
        ("judge-y", "pair-2", *models, "ba", "error", null, 3),
        ("judge-y", "pair-3", *models, "ab", "error", missing, 4),
        ("judge-y", "pair-3", *models, "ba", "error", missing, 4),
    ]
    kept = "right_a, right_b, human, length_a, length_b, source, score"
    assert rows_from(tmp_path, kept)[:3] == [
        ("true", "false", None, "3", "6", "made-up", "A>B"),
        ("true", "false", None, "3", "6", "made-up", "B>A"),
        ("false", "true", None, "1", "1", "made-up", "A=B"),
    ]
    assert len(canonical(tmp_path)) == 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"label": "B>A"', '"label": "B"', "line 2, column label: found 'B', which is not a key"),
        (
            '"decision": "A=B"',
            '"decision": "C"',
            "line 2, column decision: found 'C', which is not",
        ),
        ("[null, null]", "[]", "line 4, column judgments: found .*which is not one or two"),
        ('"decision": "A=B"', '"decision": 1, "decision": 2', "line 2, column key: found 'dec"),
    ],
)
def test_faults_in_judge_bench_judgments_are_named(tmp_path, old, new, message):
    text = (FORMATS / "judge_bench.jsonl").read_text("utf-8").replace(old, new)
    (tmp_path / "own.jsonl").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        imported(tmp_path, tmp_path / "own.jsonl", {})


def test_judge_bench_judgments_in_one_order(tmp_path):
    lines = (FORMATS / "judge_bench.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    single = [pair | {"judgments": pair["judgments"][:1]} for pair in pairs]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, single)), "utf-8")
    imported(tmp_path, tmp_path / "own.jsonl", {})
    assert rows_from(tmp_path, '"order", outcome') == [
        ("ab", "a"),
        ("ab", "tie"),
        ("ab", "error"),
        ("ab", "error"),
    ]
    assert len(canonical(tmp_path, both_orders=False)) == 4


def test_table_in_columns_of_other_names_with_human_verdicts(tmp_path):
    """A winner by name, by letter or by place; the human label is the majority's, either way
    round.
    """
    settings = {"columns": COLUMNS, "missing": ["timeout"]}
    imported(
        tmp_path, "verdicts.csv", settings, references=["human_verdicts.csv"], human={"columns": {}}
    )
    models = ("gpt-4o", "my-model")
    assert rows_from(tmp_path, f"{CANONICAL}, human, note") == [
        ("gpt-4o", "q1", *models, "ab", "a", None, 1, "b", None),
        ("gpt-4o", "q1", *models, "ba", "tie", None, 2, "b", "hm"),
        ("gpt-4o", "q2", *models, "ab", "b", None, 3, "tie", None),
        ("gpt-4o", "q2", *models, "ba", "error", "value 'timeout'", 4, "tie", None),
    ]
    assert counted(tmp_path) == [("rows", 4, "line 2"), ("value 'timeout'", 1, "line 5")]
    assert len(canonical(tmp_path)) == 4


def test_what_the_next_step_finds_is_named_in_the_users_file(tmp_path):
    (tmp_path / "own.csv").write_text(
        (FORMATS / "verdicts.csv").read_text("utf-8").replace("tie", "draw"), "utf-8"
    )
    imported(tmp_path, tmp_path / "own.csv", {"columns": COLUMNS, "missing": ["timeout"]})
    with pytest.raises(
        DataError,
        match=(
            r"own\.csv, line 3, column outcome: found 'draw', which is none of a, b, tie or error"
        ),
    ):
        canonical(tmp_path)


@pytest.mark.parametrize(
    ("first", "second"), [("b", "a"), ("x", "A"), ("B", "x"), ("x", "model_a")]
)
def test_model_that_is_called_like_the_other_answer_is_refused(tmp_path, first, second):
    """An outcome of this name would stand for either answer."""
    text = f"judge,item,model_a,model_b,outcome\nj,1,a,b,a\nj,2,{first},{second},a\n"
    (tmp_path / "own.csv").write_text(text, "utf-8")
    with pytest.raises(
        DataError,
        match=(
            r"own\.csv, line 3, column model_.: found '.*', which is the letter of the other answer"
        ),
    ):
        imported(tmp_path, tmp_path / "own.csv", {})


PAIR = "item,model_a,model_b"
BY_ORDER = {"ab": "winner_ab", "ba": "winner_ba"}


def spread(folder, header, rows, outcome, **settings):
    """Judge, item, order and outcome of each verdict of a table with several columns of them."""
    (folder / "own.csv").write_text("\n".join((f"{PAIR},{header}", *rows, "")), "utf-8")
    columns = {"outcome": outcome}
    imported(folder, folder / "own.csv", {"columns": columns, **settings})
    assert canonical(folder, both_orders=False)
    shown = duckdb.sql(f"""select judge, item, "order", outcome from '{folder}/c.parquet'""")
    return shown.fetchall()


def test_a_column_of_verdicts_for_each_judge(tmp_path, capsys):
    """Named like the judge, or otherwise; an empty cell is an error of this judge alone."""
    rows = ["q1,x,y,a,b", "q2,y,x,tie,"]
    expected = [
        ("claude", "q1", "ab", "b"),
        ("claude", "q2", "ab", "error"),
        ("gpt", "q1", "ab", "a"),
        ("gpt", "q2", "ab", "tie"),
    ]
    assert spread(tmp_path, "gpt,claude", rows, ["gpt", "claude"]) == expected
    assert "each of the columns gpt and claude is one judge" in capsys.readouterr().out
    assert counted(tmp_path) == [("rows", 4, "line 2"), ("no value", 1, "line 3")]
    assert spread(tmp_path, "one,two", rows, {"gpt": "one", "claude": "two"}) == expected


def test_a_column_of_verdicts_for_each_order(tmp_path):
    """In both, `a` is the answer of model_a; the name of a model is that model."""
    rows = ["q1,x,y,j,a,y", "q2,x,y,j,b,b"]
    assert spread(tmp_path, "judge,winner_ab,winner_ba", rows, BY_ORDER) == [
        ("j", "q1", "ab", "a"),
        ("j", "q1", "ba", "b"),
        ("j", "q2", "ab", "b"),
        ("j", "q2", "ba", "b"),
    ]


def test_a_column_of_verdicts_for_each_judge_and_order(tmp_path):
    outcome = {"gpt": {"ab": "g1", "ba": "g2"}, "claude": {"ab": "c1", "ba": "c2"}}
    assert spread(tmp_path, "g1,g2,c1,c2", ["q1,x,y,a,b,tie,a"], outcome) == [
        ("claude", "q1", "ab", "tie"),
        ("claude", "q1", "ba", "a"),
        ("gpt", "q1", "ab", "a"),
        ("gpt", "q1", "ba", "b"),
    ]


def test_verdicts_as_numbers(tmp_path):
    rows = ["q1,x,y,j,1", "q2,x,y,j,-1.0", "q3,x,y,j,0"]
    values = {1: "a", -1: "b", 0: "tie"}
    shown = spread(tmp_path, "judge,score", rows, "score", values=values)
    assert [row[-1] for row in shown] == ["a", "b", "tie"]


@pytest.mark.parametrize(
    ("header", "rows", "outcome", "message"),
    [
        (
            "gpt,claude",
            ["q1,x,y,a,b"],
            ["gpt", "clade"],
            "line 1, column clade: missing; found item, model_a, model_b, gpt, claude",
        ),
        (
            "judge,gpt,claude",
            ["q1,x,y,j,a,b"],
            ["gpt", "claude"],
            "line 1, columns of outcomes: found a column for judge, too; leave out the column",
        ),
        (
            "judge,order,winner_ab,winner_ba",
            ["q1,x,y,j,ab,a,b"],
            BY_ORDER,
            "line 1, columns of outcomes: found a column for order, too",
        ),
        (
            "winner_ab,winner_ba",
            ["q1,x,y,a,b"],
            BY_ORDER,
            "line 1, column judge: missing",
        ),
        (
            "gpt,claude",
            ["q1,x,y,a,b", "q1,x,y,a,b"],
            ["gpt", "claude"],
            "line 3, column judge: the verdict of 'claude' on item 'q1'",
        ),
        (
            "gpt,claude",
            ["q1,x,y,a,b", "q2,x,y,a,left"],
            ["gpt", "claude"],
            "line 3, column outcome: found 'left', which is none of a, b, tie or error",
        ),
    ],
)
def test_faults_in_several_columns_of_verdicts(tmp_path, header, rows, outcome, message):
    with pytest.raises(DataError) as caught:
        spread(tmp_path, header, rows, outcome)
    assert f"own.csv, {message}" in str(caught.value)


TWO = "judge,item,model_a,model_b,outcome,experiment\nj,1,x,y,a,first\nj,1,x,y,a,second\nj,2,x,y,a,second\n"


def labelled(folder, human, *more):
    """The human labels of TWO, with those of these texts."""
    paths = [folder / f"{number}.csv" for number in range(len(more) + 1)]
    for path, text in zip((folder / "two.csv", *paths), (TWO, human, *more), strict=True):
        path.write_text(text, "utf-8")
    imported(folder, folder / "two.csv", {}, references=paths, human={"columns": {}})
    return [row[0] for row in rows_from(folder, "human")]


def test_human_verdicts_on_one_id_in_two_experiments_are_two(tmp_path):
    """If their file has the experiment; else they are on the same answers in each."""
    human = "item,model_a,model_b,human,experiment\n1,x,y,a,first\n1,x,y,b,second\n1,y,x,a,second\n2,x,y,tie,first\n"
    assert labelled(tmp_path, human) == ["a", "b", None]
    assert labelled(tmp_path, "item,model_a,model_b,human\n1,x,y,b\n") == ["b", "b", None]
    with pytest.raises(
        DataError,
        match=r"1\.csv, line 1, column experiment: missing, but .*0\.csv has it; write it in all",
    ):
        labelled(tmp_path, human, "item,model_a,model_b,human\n1,x,y,b\n")


def test_human_verdicts_on_other_items_are_named_as_they_are(tmp_path):
    """Items may be whole questions."""
    question = "Which of the two answers " * 8 + "is better?"
    with pytest.raises(DataError) as caught:
        labelled(tmp_path, f"item,model_a,model_b,human\n{question},x,y,a\n")
    assert str(caught.value).endswith(
        "line 1: found no pair of models that was judged: its first item and models are"
        f" '{question}', 'x', 'y', those of the verdicts '1', 'x', 'y'; write the same names in"
        " both"
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_votes_of_lmarena_are_human_verdicts(tmp_path, suffix):
    """A vote for neither is a tie; only among MT-Bench's verdicts is the turn part of the
    question.
    """
    as_table = {"csv": "(format csv)", "parquet": "(format parquet)", "jsonl": "(format json)"}
    votes = tmp_path / f"votes.{suffix}"
    duckdb.sql(f"copy (from read_csv('{FORMATS}/lmarena.csv')) to '{votes}' {as_table[suffix]}")
    settings = {"columns": COLUMNS, "missing": ["timeout"]}
    imported(tmp_path, "verdicts.csv", settings, references=[votes], human={})
    assert [row[0] for row in rows_from(tmp_path, "human")] == ["a", "a", "tie", "tie"]
    text = "question_id,model_a,model_b,winner,turn\n81,gpt-4,alpaca-13b,model_a,1\n81,gpt-4,alpaca-13b,tie,2\n"
    (tmp_path / "mt.csv").write_text(text, "utf-8")
    imported(tmp_path, "mt_bench_pair.jsonl", {}, references=[tmp_path / "mt.csv"], human={})
    assert [row[0] for row in rows_from(tmp_path, "human")] == ["b", "b", "tie", "tie", None, None]
