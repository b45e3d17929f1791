"""The released verdicts of PRD: what they hold, and the errors about spoilt files."""

import duckdb
import pytest

from verdict_files import complaint, copied, edit, released, run

pytestmark = pytest.mark.mirror
AGREE = {"GPT-4": 1028, "GPT-3.5": 993, "Claude": 971, "Bard": 885, "Vicuna-13B": 814}  # of 1600 verdicts, three classes
# Wrong and all comparisons where the humans prefer the shorter answer, then the longer; draws of either left out.
VERBOSITY = {
    "GPT-4": (35, 67, 33, 395),
    "GPT-3.5": (44, 70, 24, 376),
    "Claude": (40, 56, 16, 339),
    "Bard": (19, 40, 21, 217),
    "Vicuna-13B": (34, 47, 39, 215),
}
GPT4 = "ratings-gpt4/answer_bard-vs-answer_claude-gpt4-reviewer_threeclass.jsonl"


@pytest.fixture(scope="module")
def prd(tmp_path_factory):
    folder, paths = released("prd")
    return run(tmp_path_factory.mktemp("prd"), [folder / path for path in paths], format="prd")


@pytest.fixture
def files(tmp_path):
    return copied("prd", tmp_path / "raw")


def message_of(tmp_path, files):
    return complaint(tmp_path, files, format="prd")


def named(files, ending):
    return next(path for path in files if str(path).endswith(ending))


def test_verdicts_of_five_judges(prd):
    comparisons, completeness = prd
    assert duckdb.sql(f"select count(*) from '{comparisons}'").fetchall() == [(8000,)]
    counts = {row["judge"]: [int(row[column]) for column in list(row)[4:]] for row in completeness}
    assert counts == {judge: [800, 1600, 0, 0, 0, 0] for judge in AGREE}
    pairs = duckdb.sql(f"select distinct model_a, model_b from '{comparisons}' where judge = 'GPT-4' order by all").fetchall()
    assert len(pairs) == 10
    assert all(first < second for first, second in pairs)  # files come in alphabetical order


def test_three_class_agreement(prd):
    results = duckdb.sql(f"select judge, count(*) filter (outcome = human) from '{prd[0]}' group by all").fetchall()
    assert dict(results) == AGREE


def test_verbosity_counts(prd):
    rows = duckdb.sql(f"""
        with compared as (
            select judge, any_value(human) as human, any_value(length_a > length_b) as a_longer,
                   min(outcome) as outcome, min(outcome) = max(outcome) as agreed
            from '{prd[0]}' where length_a <> length_b group by judge, item, model_a, model_b),
        counted as (
            select judge, (human = 'b') = a_longer as shorter, outcome <> human as wrong
            from compared where agreed and outcome <> 'tie' and human <> 'tie')
        select judge, count(*) filter (shorter and wrong), count(*) filter (shorter),
               count(*) filter (not shorter and wrong), count(*) filter (not shorter) from counted group by all""").fetchall()
    assert {judge: tuple(counts) for judge, *counts in rows} == VERBOSITY


def test_human_label_is_the_sign_of_the_votes(tmp_path, files):
    votes = named(files, "ratings-human/answer_claude-vs-answer_bard-human-reviewer_threeclass.jsonl")
    for vote, label in ((1, "b"), (2, "a"), (3, "tie")):  # Claude is shown first here
        text = "".join(f'{{"question_id": {question}, "score": {vote}}}\n' for question in range(1, 81))
        votes.write_text(text, "utf-8")
        comparisons, _ = run(tmp_path, files, format="prd")
        results = f"select distinct human from '{comparisons}' where (model_a, model_b) = ('Bard', 'Claude')"
        assert duckdb.sql(results).fetchall() == [(label,)]


@pytest.mark.parametrize(
    ("ending", "pattern", "replacement", "message"),
    [
        (GPT4, r"^\{", "[", "claude-gpt4-reviewer_threeclass.jsonl, line 1: malformed JSON"),
        (GPT4, r'"score": \d', '"score": 4', "line 1, field score: found 4; needed one of 1, 2, 3"),
        (GPT4, r', "score": \d', "", "line 1, field score: found 'nothing'; needed one of 1, 2, 3"),
        (
            GPT4,
            r'"question_id": 2,',
            '"question_id": 81,',
            "line 2, field question_id: question 81 has no answer in generations/",
        ),
        (GPT4, r'"question_id": 2,', '"question": 2,', "line 2, field question_id: not there; found review_id, question"),
        (
            GPT4,
            r"^.*\n",
            "",
            "jsonl, line 1, column order: 'GPT-4' was shown the answer of 'Claude' before that of 'Bard' for item '1'",
        ),
        (GPT4, r'"question_id": 2,', '"question_id": 1,', "line 2, column judge: the verdict of 'GPT-4' on item '1'"),
        ("generations/answer_bard.jsonl", r"^.*\n", "", "question 1 has no answer in generations/answer_bard.jsonl"),
        ("generations/answer_bard.jsonl", r'"text": ', '"texts": ', "answer_bard.jsonl, line 1, field text: not there"),
        ("answer_claude-vs-answer_bard-human-reviewer_threeclass.jsonl", r"^(.*\n)+", "", "question 1 has no human votes on"),
        (
            "answer_claude-vs-answer_bard-human-reviewer_threeclass.jsonl",
            r'"score":\d',
            '"score":"1"',
            "found '1'; needed one of",
        ),
    ],
)
def test_fault_is_named_with_its_place(tmp_path, files, ending, pattern, replacement, message):
    edit(named(files, ending), pattern, replacement)
    assert message in message_of(tmp_path, files)


def test_files_that_are_missing(tmp_path, files):
    rest = [path for path in files if path != named(files, GPT4)]
    assert "no file ratings-gpt4/answer_bard-vs-answer_claude-*.jsonl among the files of the study" in message_of(
        tmp_path, rest
    )
    rest = [path for path in files if path.name != "answer_bard.jsonl"]
    assert "no file generations/answer_bard.jsonl among the files" in message_of(tmp_path, rest)
    named(files, GPT4).unlink()
    assert "claude-gpt4-reviewer_threeclass.jsonl: no such file" in message_of(tmp_path, files)
