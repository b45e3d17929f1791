"""Verdicts in the formats of other tools: what each fixture becomes, row by row, and what of it is
counted as an error.
"""

import json
import re
from pathlib import Path

import duckdb
import pytest
from importing import WRITTEN_AS, beside_golden, fixture

from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.imports.verdicts import import_verdicts
from recuse.pairwise.table import normalise
from text_tables import cases, lines, words

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = Path(__file__).parents[1] / "formats"
CANONICAL = 'judge, item, model_a, model_b, "order", outcome, failure, source_record'
NAMES = "judge item model_a model_b outcome order", "grader question left right winner first"
COLUMNS = dict(zip(*map(str.split, NAMES), strict=True))


def imported(name, settings, *, references=(), human=None, models=None):
    """Import a fixture, or a file that the test wrote."""
    outputs = {"verdicts": "verdicts.parquet", "imported": "imported.csv"}
    settings = settings | ({"references": human} if human else {})
    of_humans = [str(fixture(path)) for path in references]
    given = {"settings": settings, "outputs": outputs, "models": models or {}}
    import_verdicts("mine", [str(fixture(name))], of_humans, **given)


def rows_from(columns=CANONICAL):
    return duckdb.sql(
        f"select {columns} from 'verdicts.parquet' order by source_record, \"order\""
    ).fetchall()


def counted():
    return [
        (row["kind"], int(row["n"]), row["example"].rpartition(", ")[2])
        for row in read_table("imported.csv")
    ]


def canonical(**options):
    """What the next step makes of the imported table."""
    written = {"comparisons": "c.parquet", "completeness": "c.csv"}
    normalise("mine", ["verdicts.parquet"], **written, **options)
    return duckdb.sql("select * from 'c.parquet'").fetchall()


# Fixture -> `import`, and files of human verdicts
IMPORTED = {
    "mt_bench_pair.jsonl": ({}, ()),
    "alpaca_eval.json": ({}, ()),
    "arena_hard_v0.1.jsonl": ({"baseline": "gpt-4-0314"}, ()),
    "arena_hard_v2.jsonl": ({}, ()),
    "judge_bench.jsonl": ({}, ()),
    "verdicts.csv": ({"columns": COLUMNS, "missing": ["timeout"]}, ("human_verdicts.csv",)),
}
NOTES = {
    "alpaca_eval.json": "weighted_alpaca_eval_gpt4_turbo is an annotator of AlpacaEval, which asks gpt-4-1106",
    "judge_bench.jsonl": "both answers of a pair are by one model: preference for own answers cannot be tested",
}


@pytest.mark.parametrize("name", IMPORTED)
def test_verdicts_of_a_fixture(capsys, name):
    """Its rows are those of the golden table, and the next step takes them all."""
    settings, references = IMPORTED[name]
    imported(name, settings, references=references, human={"columns": {}})
    assert NOTES.get(name, "") in capsys.readouterr().out
    table, order = Path("verdicts.parquet"), 'order by source_record::integer, "order"'
    found, golden = beside_golden(table, "imported_verdicts.csv", name, order)
    assert found == golden
    assert len(canonical()) == len(golden)


def test_errors_are_counted_each_with_the_place_of_its_first():
    imported("alpaca_eval.json", {})
    assert counted() == [("rows", 7, "entry 1"), ("no preference", 1, "entry 6")]


def test_a_baseline_that_neither_file_nor_config_names_is_asked_for():
    words = r"line 1, column baseline: found nothing, as in version 0\.1; .*`baseline: gpt-4-0314`"
    with pytest.raises(DataError, match=words):
        imported("arena_hard_v0.1.jsonl", {})


# What is replaced, and by what; below it the error
SPOILT = """
"label": "B>A" | "label": "B"
    line 2, column label: found 'B', which is not a key
"decision": "A=B" | "decision": "C"
    line 2, column decision: found 'C', which is not
[null, null] | []
    line 4, column judgments: found .*which is not one or two
"decision": "A=B" | "decision": 1, "decision": 2
    line 2, column key: found 'dec
"""


@pytest.mark.parametrize(("change", "message"), cases(SPOILT))
def test_faults_in_judge_bench_judgments_are_named(change, message):
    text = (FORMATS / "judge_bench.jsonl").read_text("utf-8").replace(*change.split(" | "))
    Path("own.jsonl").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        imported(Path("own.jsonl"), {})


def test_judge_bench_judgments_in_one_order():
    text = (FORMATS / "judge_bench.jsonl").read_text("utf-8")
    pairs = [*map(json.loads, text.splitlines())]
    single = [pair | {"judgments": pair["judgments"][:1]} for pair in pairs]
    Path("own.jsonl").write_text("\n".join(map(json.dumps, single)), "utf-8")
    imported(Path("own.jsonl"), {})
    assert words(rows_from('"order", outcome')) == lines("ab a\nab tie\nab error\nab error")
    assert len(canonical(both_orders=False)) == 4


def test_what_the_next_step_finds_is_named_in_the_users_file():
    Path("own.csv").write_text(
        (FORMATS / "verdicts.csv").read_text("utf-8").replace("tie", "draw"), "utf-8"
    )
    imported(Path("own.csv"), {"columns": COLUMNS, "missing": ["timeout"]})
    with pytest.raises(
        DataError,
        match=(
            r"own\.csv, line 3, column outcome: found 'draw', which is none of a, b, tie or error"
        ),
    ):
        canonical()


@pytest.mark.parametrize(
    ("first", "second"),
    lines("""
        b a
        x A
        B x
        x model_a
    """),
)
def test_model_that_is_called_like_the_other_answer_is_refused(first, second):
    """An outcome of this name would stand for either answer."""
    text = f"judge,item,model_a,model_b,outcome\nj,1,a,b,a\nj,2,{first},{second},a\n"
    Path("own.csv").write_text(text, "utf-8")
    with pytest.raises(
        DataError,
        match=(
            r"own\.csv, line 3, column model_.: found '.*', which is the letter of the other answer"
        ),
    ):
        imported(Path("own.csv"), {})


PAIR = "item,model_a,model_b"


def spread(header, rows, outcome, **settings):
    """Judge, item, order and outcome of each verdict of a table with several columns of them."""
    Path("own.csv").write_text("\n".join((f"{PAIR},{header}", *rows.split("/"), "")), "utf-8")
    imported(Path("own.csv"), {"columns": {"outcome": outcome}, **settings})
    assert canonical(both_orders=False)
    shown = duckdb.sql("""select judge, item, "order", outcome from 'c.parquet'""")
    return words(shown.fetchall())


# Columns after the pair, rows, and how the outcomes are named: a column for each judge, named like
# it or otherwise; for each order, where `a` is the answer of model_a in both and a name is that
# model; for each judge and order. Below them the verdicts
SPREAD = """
gpt,claude | q1,x,y,a,b/q2,y,x,tie, | ["gpt", "claude"]
    claude q1 ab b
    claude q2 ab error
    gpt    q1 ab a
    gpt    q2 ab tie
one,two | q1,x,y,a,b/q2,y,x,tie, | {"gpt": "one", "claude": "two"}
    claude q1 ab b
    claude q2 ab error
    gpt    q1 ab a
    gpt    q2 ab tie
judge,winner_ab,winner_ba | q1,x,y,j,a,y/q2,x,y,j,b,b | {"ab": "winner_ab", "ba": "winner_ba"}
    j q1 ab a
    j q1 ba b
    j q2 ab b
    j q2 ba b
g1,g2,c1,c2 | q1,x,y,a,b,tie,a | {"gpt": {"ab": "g1", "ba": "g2"}, "claude": {"ab": "c1", "ba": "c2"}}
    claude q1 ab tie
    claude q1 ba a
    gpt    q1 ab a
    gpt    q1 ba b
"""


@pytest.mark.parametrize("case", cases(SPREAD))
def test_columns_of_verdicts_for_judges_or_orders(case):
    (header, rows, outcome), verdicts = case[0].split(" | "), "\n".join(case[1:])
    assert spread(header, rows, json.loads(outcome)) == lines(verdicts)


def test_an_empty_cell_is_an_error_of_its_judge_alone(capsys):
    spread("gpt,claude", "q1,x,y,a,b/q2,y,x,tie,", ["gpt", "claude"])
    assert "each of the columns gpt and claude is one judge" in capsys.readouterr().out
    assert counted() == [("rows", 4, "line 2"), ("no value", 1, "line 3")]


def test_verdicts_as_numbers():
    values = {1: "a", "-1": "b", 0.5: "tie", 0: "b"}
    rows = "q1,x,y,j,1/q2,x,y,j,-1.0/q3,x,y,j,0.50/q4,x,y,j,0/q5,x,y,j,"
    shown = spread("judge,score", rows, "score", values=values)
    assert [row[-1] for row in shown] == ["a", "b", "tie", "b", "error"]


# Columns after the pair, rows, and how the outcomes are named; below them the error
FAULTS = """
gpt,claude | q1,x,y,a,b | ["gpt", "clade"]
    line 1, column clade: missing; found item, model_a, model_b, gpt, claude
judge,gpt,claude | q1,x,y,j,a,b | ["gpt", "claude"]
    line 1, columns of outcomes: found a column for judge, too; leave out the column
judge,order,winner_ab,winner_ba | q1,x,y,j,ab,a,b | {"ab": "winner_ab", "ba": "winner_ba"}
    line 1, columns of outcomes: found a column for order, too
winner_ab,winner_ba | q1,x,y,a,b | {"ab": "winner_ab", "ba": "winner_ba"}
    line 1, column judge: missing
gpt,claude | q1,x,y,a,b/q1,x,y,a,b | ["gpt", "claude"]
    line 3, column judge: the verdict of 'claude' on item 'q1'
gpt,claude | q1,x,y,a,b/q2,x,y,a,left | ["gpt", "claude"]
    line 3, column outcome: found 'left', which is none of a, b, tie or error
"""


@pytest.mark.parametrize(("case", "message"), cases(FAULTS))
def test_faults_in_several_columns_of_verdicts(case, message):
    header, rows, outcome = case.split(" | ")
    with pytest.raises(DataError, match=re.escape(f"own.csv, {message}")):
        spread(header, rows, json.loads(outcome))


TWO = "judge,item,model_a,model_b,outcome,experiment\nj,1,x,y,a,first\nj,1,x,y,a,second\nj,2,x,y,a,second\n"


def labelled(human, *more):
    """The human labels of TWO, with those of these texts."""
    paths = [Path(f"{number}.csv") for number in range(len(more) + 1)]
    for path, text in zip((Path("two.csv"), *paths), (TWO, human, *more), strict=True):
        path.write_text(text, "utf-8")
    imported(Path("two.csv"), {}, references=paths, human={"columns": {}})
    return [row[0] for row in rows_from("human")]


def test_human_verdicts_on_one_id_in_two_experiments_are_two():
    """If their file has the experiment; else they are on the same answers in each."""
    human = "item,model_a,model_b,human,experiment\n1,x,y,a,first\n1,x,y,b,second\n1,y,x,a,second\n2,x,y,tie,first\n"
    assert labelled(human) == ["a", "b", None]
    assert labelled("item,model_a,model_b,human\n1,x,y,b\n") == ["b", "b", None]
    with pytest.raises(
        DataError,
        match=r"1\.csv, line 1, column experiment: missing, but .*0\.csv has it; write it in all",
    ):
        labelled(human, "item,model_a,model_b,human\n1,x,y,b\n")


def test_human_verdicts_on_other_items_are_named_as_they_are():
    """Items may be whole questions."""
    question = "Which of the two answers " * 8 + "is better?"
    with pytest.raises(DataError) as caught:
        labelled(f"item,model_a,model_b,human\n{question},x,y,a\n")
    assert str(caught.value).endswith(
        "line 1: found no pair of models that was judged: its first item and models are"
        f" '{question}', 'x', 'y', those of the verdicts '1', 'x', 'y'; write the same names in"
        " both"
    )


def test_a_human_verdict_that_is_none_is_named_in_its_file():
    text = "item,model_a,model_b,human\n1,x,y,{}\n"
    with pytest.raises(DataError, match=r"1\.csv, line 2, column human: found 'maybe', which is"):
        labelled(text.format("a"), text.format("maybe"))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_votes_of_lmarena_are_human_verdicts(suffix):
    """A vote for neither is a tie, and the turn is not part of the question."""
    votes = Path(f"votes.{suffix}")
    duckdb.sql(f"copy (from read_csv('{FORMATS}/lmarena.csv')) to '{votes}' {WRITTEN_AS[suffix]}")
    settings = {"columns": COLUMNS, "missing": ["timeout"]}
    imported("verdicts.csv", settings, references=[votes], human={})
    assert words(rows_from("human")) == lines("a\na\ntie\ntie")


def test_the_turn_of_a_vote_is_part_of_the_question_among_verdicts_of_mt_bench():
    text = "question_id,model_a,model_b,winner,turn\n81,gpt-4,alpaca-13b,model_a,1\n81,gpt-4,alpaca-13b,tie,2\n"
    Path("mt.csv").write_text(text, "utf-8")
    imported("mt_bench_pair.jsonl", {}, references=[Path("mt.csv")], human={})
    assert words(rows_from("human")) == lines("b\nb\ntie\ntie\n-\n-")


MODELS = {"GPT-4o": {"family": "GPT", "ids": ["gpt-4o", "openai/gpt-4o"]}}
PARTS = 'judge, item, model_a, model_b, "order", outcome, human'


def test_verdicts_in_words_of_one_judge():
    path, pair = Path("v.tsv"), "gpt-4o\tm"
    rows = [f"{n}\t{pair}\t{word}\n" for n, word in enumerate(("Left", "right", "both", "failed"))]
    path.write_text("item\tmodel_a\tmodel_b\twinner\n" + "".join(rows), "utf-8")
    columns = {"judge": {"value": "openai/gpt-4o"}, "outcome": "winner"}
    values = {"left": "a", "right": "b", "both": "tie"}
    imported(path, {"columns": columns, "values": values, "missing": ["failed"]}, models=MODELS)
    assert words(rows_from(PARTS)) == lines("""
        GPT-4o 0 GPT-4o m ab a     -
        GPT-4o 1 GPT-4o m ab b     -
        GPT-4o 2 GPT-4o m ab tie   -
        GPT-4o 3 GPT-4o m ab error -
    """)


def test_verdicts_in_objects_with_models_in_several_spellings():
    """The winner, the order and the human labels name a model by other ids than the columns of
    models.
    """
    pair = {"model_a": "gpt-4o", "model_b": "m", "order": "openai/gpt-4o"}
    verdicts = [
        {"meta": {"judge": "j"}, "item": n, "outcome": winner} | pair
        for n, winner in enumerate(("GPT-4o", "m", "tie"))
    ]
    path, labels = Path("v.jsonl"), Path("human.csv")
    path.write_text("\n".join(map(json.dumps, verdicts)), "utf-8")
    text = (
        "item;model_a;model_b;human\n0;m;GPT-4o;openai/gpt-4o\n1;GPT-4o;m;second\n2;gpt-4o;m;tie\n"
    )
    labels.write_text(text, "utf-8")
    human = {"columns": {}, "values": {"second": "b"}}
    settings = {"columns": {"judge": "meta.judge"}}
    imported(path, settings, references=[labels], human=human, models=MODELS)
    assert words(rows_from(PARTS)) == lines("""
        j 0 GPT-4o m ab a   a
        j 1 GPT-4o m ab b   b
        j 2 GPT-4o m ab tie tie
    """)
