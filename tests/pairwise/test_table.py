"""A user's own files of verdicts: what is read from them, and the errors about bad ones."""

import gzip
from pathlib import Path

import duckdb
import pytest

from picked_rows import fields
from recuse.base.database import connect, create_table
from recuse.base.errors import DataError
from recuse.data.faults import raise_first_fault
from recuse.data.verdicts import COMPARISONS
from recuse.pairwise.table import CHECKS, create_typed, select_stored
from text_tables import cases, csv_rows, lines, words
from verdict_files import complaint, run, select

pytestmark = pytest.mark.usefixtures("own_folder")

NEEDED = "judge,item,model_a,model_b,order,outcome"
HEADER = f"{NEEDED},human,length_a,length_b"
GOOD = [
    "J,q1,GPT,Bard,ab,a,b,120,80",
    "J,q1,GPT,Bard,ba,tie,b,120,80",
    "J,q2,GPT,Bard,ab,b,,,40",
    "J,q2,GPT,Bard,ba,error,,,40",
]


def write(lines, header=HEADER, name="v.csv"):
    Path(name).write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return name


def read(lines, header=HEADER, **settings):
    return run(Path(), [write(lines, header)], **settings)


def message_from(lines, header=HEADER, **settings):
    return complaint(Path(), [write(lines, header)], **settings)


def test_canonical_rows_and_completeness():
    comparisons, completeness = read([GOOD[1], GOOD[0], *GOOD[2:]])
    rows = select(comparisons)
    assert tuple(rows[0]) == COMPARISONS
    assert rows[0] == {
        **dict.fromkeys(COMPARISONS),
        **{"judge": "J", "item": "q1", "model_a": "GPT", "model_b": "Bard", "order": "ab"},
        **{"outcome": "a", "human": "b", "length_a": 120.0, "length_b": 80.0},
        **{"condition": "", "experiment": "", "vote": 1},
    }
    assert [fields(row, "item order outcome") for row in rows[1:]] == [
        ("q1", "ba", "tie"),
        ("q2", "ab", "b"),
        ("q2", "ba", "error"),
    ]
    assert fields(rows[2], "human length_a length_b") == (None, None, 40.0)
    assert completeness == csv_rows(
        "study,experiment,condition,judge,comparisons,verdicts,errors,one_order,no_human,no_length\n"
        "mine,,,J,2,4,1,0,1,1"
    )


def test_all_columns_and_their_order():
    header = f"vote,note,{NEEDED},condition,experiment,favoured"
    lines = [
        f"{vote},x,{judge},q,A,B,{order},a,{condition},{experiment},{favoured}"
        for vote in (2, 10)
        for judge in "KJ"
        for order, favoured in (("ba", "b"), ("ab", ""))
        for condition, experiment in (("order", "two"), ("bandwagon", "two"), ("order", "one"))
    ]
    comparisons, completeness = read(lines, header)
    rows = select(comparisons, 'experiment, condition, judge, "order", vote, favoured')
    rows = [tuple(row.values()) for row in rows]
    assert rows == sorted(rows, key=lambda row: row[:5])
    assert rows[1:3] == [("one", "order", "J", "ab", 10, None), ("one", "order", "J", "ba", 2, "b")]
    assert len(rows) == 24
    assert [fields(row, "comparisons verdicts") for row in completeness] == [("2", "4")] * 6


def test_several_files_gzip_and_parquet_say_the_same():
    plain = write(GOOD)
    Path("v.csv.gz").write_bytes(gzip.compress(Path(plain).read_bytes()))
    duckdb.sql(f"copy (select * from read_csv('{plain}')) to 'v.parquet'")
    parts = [write(GOOD[3:], name="other.csv"), write(GOOD[:3], name="one.csv")]
    results = []
    for files in ([plain], ["v.csv.gz"], ["v.parquet"], parts):
        comparisons, completeness = run(Path(), files)
        content = Path(comparisons).read_bytes()
        results.append((select(comparisons), completeness, content))
    assert all(again == results[0] for again in results[1:])


TURNED = """
J q1 GPT Bard ab a b 120.0 80.0 b
J q1 GPT Bard ba b b 120.0 80.0 a
J q2 Bard GPT ab a - 5.0 6.0 -
J q2 Bard GPT ba a - 5.0 6.0 -
K q1 GPT Bard ab tie b 120.0 80.0 -
K q1 GPT Bard ba error b 120.0 80.0 b
"""


def test_pair_in_both_orientations_is_turned_to_the_first():
    header = f"{HEADER},favoured"
    given = [
        "J,q1,GPT,Bard,ab,a,b,120,80,b",
        "J,q1,Bard,GPT,ab,a,a,80,120,b",
        "K,q1,Bard,GPT,ba,tie,a,80,120,",
        "K,q1,Bard,GPT,ab,error,a,80,120,a",
        "J,q2,Bard,GPT,ab,a,,5,6,",
        "J,q2,Bard,GPT,ba,a,,5,6,",
    ]
    comparisons, completeness = read(given, header)
    columns = 'judge, item, model_a, model_b, "order", outcome, human, length_a, length_b, favoured'
    assert words(row.values() for row in select(comparisons, columns)) == lines(TURNED)
    assert [fields(row, "comparisons verdicts") for row in completeness] == [("2", "4"), ("1", "2")]


def test_without_a_control_answers_may_come_either_way_round():
    pairs = ("A,B", "plain"), ("B,A", "fake")
    lines = [f"J,q,{pair},{order},a,{name}" for pair, name in pairs for order in ("ab", "ba")]
    assert len(select(read(lines, f"{NEEDED},condition")[0])) == 4


# Rows, and the message about each
WRONG = """
,q,A,B,ab,a,,,,,,,
    column judge: found nothing; write the name of the judge
J, ,A,B,ab,a,,,,,,,
    column item: found nothing; write the id of the question
J,q,,B,ab,a,,,,,,,
    column model_a: found nothing; write the name of the model
J,q,A,,ab,a,,,,,,,
    column model_b: found nothing; write the name of the model
J,q,GPT,GPT,ab,a,,,,,,,
    column model_b: found 'GPT', which is model_a too; give two answers of one model different names, such as GPT and GPT (2)
J,q,A,B,AB,a,,,,,,,
    column order: found 'AB', which is none of ab or ba; write ab or ba
J,q,A,B,,a,,,,,,,
    column order: found nothing, which is none of ab or ba
J,q,A,B,ab,A,,,,,,,
    column outcome: found 'A', which is none of a, b, tie or error; write a, b, tie or error
J,q,A,B,ab,,,,,,,,
    column outcome: found nothing, which is none of
J,q,A,B,ab,a,error,,,,,,
    column human: found 'error', which is none of a, b or tie; write a, b or tie, or leave it
J,q,A,B,ab,a,a,many,,,,,
    column length_a: found 'many', which is not a length; write a number of words, 0 or more
J,q,A,B,ab,a,a,5,-1,,,,
    column length_b: found '-1', which is not a length
J,q,A,B,ab,a,a,inf,5,,,,
    column length_a: found 'inf', which is not a length
J,q,A,B,ab,a,,,,tie,,,
    column favoured: found 'tie', which is none of a or b; write a or b, or leave it empty
J,q,A,B,ab,a,,,,,1.5,,
    column humans_a: found '1.5', which is not a number of human votes
J,q,A,B,ab,a,,,,,,1.5,
    column vote: found '1.5', which is not the number of a vote; write an integer from 1
J,q,A,B,ab,a,,,,,,,maybe
    column right_a: found 'maybe', which is none of true or false; write true or false
"""


def test_fault_is_named_with_its_place():
    """Each row is checked alone, without the steps that follow; test_message_about_a_faulty_file
    takes all of them.
    """
    wrong = cases(WRONG)
    file = write(
        [f"{GOOD[0]},,,,", *(line for line, _ in wrong)], f"{HEADER},favoured,humans_a,vote,right_a"
    )
    connection = connect()
    create_table(connection, "registry", "id varchar, name varchar", [])
    create_typed(connection, select_stored(connection, [file]), ".")
    for number, (_, message) in enumerate(wrong, start=2):
        with pytest.raises(DataError) as caught:
            raise_first_fault(connection, f"(from typed where record = {number})", CHECKS)
        assert f"v.csv, line {number + 1}, {message}" in str(caught.value)


def test_human_votes_are_counts_and_turn_with_the_answers():
    lines = ["J,q,A,B,ab,a,2,1,4", "J,q,B,A,ab,b,1,2,4"]
    comparisons, _ = read(lines, f"{NEEDED},humans_a,humans_b,humans_tie")
    columns = "humans_a, humans_b, humans_tie"
    assert select(comparisons, columns) == [{"humans_a": 2, "humans_b": 1, "humans_tie": 4}] * 2


def test_ids_of_config_are_one_name():
    models = {"GPT-4": {"family": "GPT", "ids": ["gpt-4-0613", "openai/gpt-4"]}}
    text = message_from(["J,q,openai/gpt-4,gpt-4-0613,ab,a"], NEEDED, models=models)
    assert "column model_b: found 'GPT-4', which is model_a too" in text
    lines = ["gpt-4-0613,q,openai/gpt-4,B,ab,a", "openai/gpt-4,q,GPT-4,B,ba,b"]
    comparisons, _ = read(lines, NEEDED, models=models)
    names = {"judge": "GPT-4", "model_a": "GPT-4", "model_b": "B"}
    assert select(comparisons, "judge, model_a, model_b") == [names, names]


def test_votes_are_comparisons_of_their_own():
    votes = [f"{line},{vote}" for vote in (1, 2) for line in GOOD]
    votes += [f"{line},3" for line in GOOD[:2]]
    _, completeness = read(votes, f"{HEADER},vote")
    assert fields(completeness[0], "comparisons verdicts") == ("5", "10")


def test_one_order_is_counted_where_it_is_allowed():
    comparisons, completeness = read(
        [*GOOD[:3], "J,q3,GPT,Bard,ba,a,,,"], HEADER, both_orders=False
    )
    assert len(select(comparisons)) == 4
    assert fields(completeness[0], "comparisons verdicts one_order") == ("3", "4", "2")


@pytest.mark.parametrize(
    ("line", "message"),
    cases(
        """
K,q1,GPT,Bard,ab,a,a,120,80
    human: found 'GPT' preferred for item 'q1', 'GPT' against 'Bard', but 'Bard' preferred in
K,q1,GPT,Bard,ab,a,,120,80
    human: found no label for item 'q1', 'GPT' against 'Bard', but 'Bard' preferred in
K,q1,GPT,Bard,ab,a,b,120,81
    length_b: found 81 words of 'Bard' for item 'q1'
K,q1,Bard,GPT,ab,a,a,81,120
    length_a: found 81 words of 'Bard' for item 'q1'
K,q1,GPT,Bard,ab,a,b,,80
    length_a: found no length of the answer of 'GPT' for item 'q1'
K,q1,Bard,GPT,ab,a,b,80,120
    human: found 'GPT' preferred for item 'q1'
"""
    ),
)
def test_rows_about_the_same_answers_agree(line, message):
    text = message_from([*GOOD, line])
    assert f"v.csv, line 6, column {message}" in text
    assert "v.csv, line 2; write the same in each row about the same answers" in text


def test_a_judge_may_have_the_name_of_the_labels_of_another_experiment():
    rows = ["J,q,A,B,ab,a,b,e", "J,q,A,B,ba,a,b,e", "Human,q2,A,B,ab,a,,f", "Human,q2,A,B,ba,a,,f"]
    _, completeness = read(rows, f"{NEEDED},human,experiment")
    assert [row["judge"] for row in completeness] == ["J", "Human"]


def test_perturbed_answers_have_lengths_and_labels_of_their_own():
    lines = [f"{line},control" for line in GOOD[:2]] + [
        f"{line},fake".replace(",b,120,80", ",,120,95") for line in GOOD[:2]
    ]
    comparisons, _ = read(lines, f"{HEADER},condition")
    assert [fields(row, "condition length_b") for row in select(comparisons)] == [
        ("control", 80)
    ] * 2 + [("fake", 95)] * 2


# Each file, and what its message says; NEEDED stands for the columns that every file has, GOOD for
# the file of the rows above.
FAULTY = """
NEEDED,condition
J,q,A,B,ab,a,control
J,q,A,B,ba,a,control
J,q,B,A,ab,a,fake
J,q,B,A,ba,a,fake
    line 4, column model_a: found 'B' against 'A' for item 'q', the other way round than before
    the answer of model_b is perturbed: keep one way round

NEEDED
,q,A,B,ab,a
    line 2, column judge: found nothing; write the name of the judge

NEEDED,right_a
J,q,A,B,ab,a,maybe
    line 2, column right_a: found 'maybe', which is none of true or false; write true or false

NEEDED,vote
J,q,A,B,ab,a,0
    line 2, column vote: found '0', which is not the number of a vote; write an integer from 1

GOOD
J,q1,GPT,Bard,ba,a,b,120,80
    v.csv, line 6, column judge: the verdict of 'J' on item 'q1', 'GPT' against 'Bard' with the answer of 'Bard'
    vote 1, is already in
    line 3; keep one row, number repeated verdicts in a column `vote`, or say in a column `wording`

GOOD
J,q1,Bard,GPT,ab,a,a,80,120
    line 6, column judge

NEEDED
J,q1,GPT,Bard,ab,a
J,q1,GPT,Bard,ba,tie
J,q2,GPT,Bard,ab,b
J,q3,GPT,Bard,ba,a
    v.csv, line 4, column order: 'J' was shown the answer of 'GPT' before that of 'Bard' for item 'q2', vote 1
    never the other way round; add that verdict, or write `both_orders: false`, which leaves
    (1 more comparisons lack an order)

GOOD
J,q3,GPT,Bard,ba,a,,,
    line 6, column order: 'J' was shown the answer of 'Bard' before that of 'GPT'

NEEDED,human,length_a,length_b
J,q,A,B,ab,a,,0,5
J,q,A,B,ba,a,,,5
    line 3, column length_a: found no length of the answer of 'A' for item 'q'

NEEDED,human,experiment
J,q,A,B,ab,a,b,e
J,q,A,B,ba,a,b,e
Human,q2,A,B,ab,a,,e
Human,q2,A,B,ba,a,,e
    v.csv, line 4, column judge: found 'Human', the name of the labels in column human
    write another name, such as 'Human judge' (1 more row has an error)

NEEDED,length_a,length_b
J,q,A,B,ab,a,10,20
J,q,A,B,ba,a,10,20
J,q,C,A,ab,a,30,99
J,q,C,A,ba,a,30,99
    v.csv, line 4, column length_b: found 99 words of 'A' for item 'q', but 10 words of 'A' in

NEEDED,right_a,right_b
J,q1,GPT,Bard,ab,a,1,0
J,q1,Bard,GPT,ab,a,1,1
    line 3, column right_a: found a right answer of 'Bard' for item 'q1', but a wrong answer of 'Bard' in

NEEDED,right_a,right_b
J,q1,GPT,Bard,ab,a,1,0
J,q1,Bard,GPT,ab,a,0,1
J,q1,GPT,Claude,ab,a,0,0
    line 4, column right_a: found a wrong answer of 'GPT' for item 'q1', but a right answer of 'GPT' in

NEEDED,lenght_a
J,q,A,B,ab,a,1
    v.csv, line 1, column lenght_a: not known; write 'length_a'

NEEDED,Favored
J,q,A,B,ab,a,1
    v.csv, line 1, column Favored: not known; write 'favoured'

judge,item,model_a,model_b,position,outcome
J,q,A,B,ab,a
    line 1, column order: missing; found judge

x
    (human, length_a, length_b, condition, experiment, favoured, vote, humans_a, humans_b, humans_tie, right_a, right_b,
    right_b, wording are optional)

judge,item,model_a,model_b,order,Outcome
J,q,A,B,ab,a
    rename 'Outcome' to 'outcome'

judge:item:model_a:model_b:order:outcome
    column judge: missing; found judge:item:model_a

NEEDED,human,human
    line 1, column human: found twice; keep one

NEEDED
    the file holds no rows; it needs one row per verdict
"""


@pytest.mark.parametrize("case", FAULTY.strip().split("\n\n"))
def test_message_about_a_faulty_file(case):
    file, *said = case.split("\n    ")
    header, *lines = file.replace("GOOD", "\n".join([HEADER, *GOOD])).split("\n")
    text = message_from(lines, header.replace("NEEDED", NEEDED))
    assert [words for words in said if words not in text] == []


@pytest.mark.parametrize(
    ("first", "second"),
    [("true,false", "0.0,1.0"), ("yes,no", ",yes")],
)
def test_marks_are_turned_with_their_answers(first, second):
    lines = [f"J,q1,GPT,Bard,ab,a,{first}", f"J,q1,Bard,GPT,ab,a,{second}"]
    comparisons, _ = read(lines, f"{NEEDED},right_a,right_b")
    rows = select(comparisons)
    assert [fields(row, "model_a order") for row in rows] == [("GPT", "ab"), ("GPT", "ba")]
    assert {row["right_a"] for row in rows} <= {True, None}
    assert {row["right_b"] for row in rows} <= {False, None}
    assert True in {row["right_a"] for row in rows}
