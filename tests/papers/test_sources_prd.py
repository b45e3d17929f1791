"""The released verdicts of PRD: what they hold."""

import duckdb
import pytest

from verdict_files import READERS, complaint, copied, run

pytestmark = pytest.mark.mirror
# Of 1600 verdicts, three classes
AGREE = {"GPT-4": 1028, "GPT-3.5": 993, "Claude": 971, "Bard": 885, "Vicuna-13B": 814}
GPT4 = "ratings-gpt4/answer_bard-vs-answer_claude-gpt4-reviewer_threeclass.jsonl"


@pytest.fixture
def files(tmp_path):
    return copied("prd", tmp_path / "raw")


def message_from(tmp_path, files):
    return complaint(tmp_path, files, reader=READERS["prd"])


def named(files, ending):
    return next(path for path in files if str(path).endswith(ending))


def test_verdicts_of_five_judges(prd):
    comparisons, completeness = prd
    assert duckdb.sql(f"select count(*) from '{comparisons}'").fetchall() == [(8000,)]
    counts = {row["judge"]: [int(row[column]) for column in list(row)[4:]] for row in completeness}
    assert counts == {judge: [800, 1600, 0, 0, 0, 0] for judge in AGREE}
    pairs = duckdb.sql(
        f"select distinct model_a, model_b from '{comparisons}' where judge = 'GPT-4' order by all"
    ).fetchall()
    assert len(pairs) == 10
    assert all(first < second for first, second in pairs)  # files come in alphabetical order


def test_human_label_is_the_sign_of_the_votes(tmp_path, files):
    votes = named(
        files, "ratings-human/answer_claude-vs-answer_bard-human-reviewer_threeclass.jsonl"
    )
    # Claude is shown first here; the votes for Bard, for Claude, and ties.
    for vote, label, counts in ((1, "b", (0, 1, 0)), (2, "a", (1, 0, 0)), (3, "tie", (0, 0, 1))):
        text = "".join(
            f'{{"question_id": {question}, "score": {vote}}}\n' for question in range(1, 81)
        )
        votes.write_text(text, "utf-8")
        comparisons, _ = run(tmp_path, files, reader=READERS["prd"])
        results = f"""
            select distinct human, humans_a, humans_b, humans_tie from '{comparisons}'
            where (model_a, model_b) = ('Bard', 'Claude')"""
        assert duckdb.sql(results).fetchall() == [(label, *counts)]


def test_files_that_are_missing(tmp_path, files):
    rest = [path for path in files if path != named(files, GPT4)]
    assert (
        "no file ratings-gpt4/answer_bard-vs-answer_claude-*.jsonl among the files of the study"
        in message_from(tmp_path, rest)
    )
    rest = [path for path in files if path.name != "answer_bard.jsonl"]
    assert "no file generations/answer_bard.jsonl among the files" in message_from(tmp_path, rest)
