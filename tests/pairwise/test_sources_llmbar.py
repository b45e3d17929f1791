"""The released verdicts of LLMBar: what they hold, and the errors about spoilt files."""

import duckdb
import pytest

from verdict_files import complaint, copied, edit, released, run, select

pytestmark = pytest.mark.mirror
QUESTIONS = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
ACCURACY = {"Natural": 0.935, "Neighbor": 0.6418, "GPTInst": 0.7663, "GPTOut": 0.766, "Manual": 0.75}  # of GPT-4
JUDGES = {"GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon"}
RESULT = "Natural/evaluators/GPT-4/Vanilla_NoRules/result.json"


@pytest.fixture(scope="module")
def llmbar(tmp_path_factory):
    folder, paths = released("llmbar")
    return run(tmp_path_factory.mktemp("llmbar"), [folder / path for path in paths], format="llmbar")


def test_verdicts_of_six_judges_on_five_subsets(llmbar):
    comparisons, completeness = llmbar
    assert len(select(comparisons)) == 6 * sum(QUESTIONS.values()) * 2
    results = {(row["condition"], row["judge"]): (row["comparisons"], row["verdicts"]) for row in completeness}
    assert results == {(subset, judge): (str(n), str(2 * n)) for subset, n in QUESTIONS.items() for judge in JUDGES}
    lacking = [row[column] for row in completeness for column in ("one_order", "no_human", "no_length")]
    assert set(lacking) == {"0"}


def test_verdicts_that_were_not_found_are_errors(llmbar):
    comparisons, completeness = llmbar
    errors = duckdb.sql(f"select judge, count(*) from '{comparisons}' where outcome = 'error' group by all").fetchall()
    assert dict(errors) == {"LLaMA2": 1, "PaLM2": 16}
    assert sum(int(row["errors"]) for row in completeness) == 17


def test_accuracy_of_gpt_4_over_both_orders(llmbar):
    rows = duckdb.sql(
        f"select condition, avg((outcome = human)::integer) from '{llmbar[0]}' where judge = 'GPT-4' group by all"
    ).fetchall()
    assert dict(rows) == pytest.approx(ACCURACY, abs=5e-5)


def test_first_row(llmbar):
    row = select(llmbar[0])[0]
    assert (row["judge"], row["item"], row["condition"]) == ("ChatGPT", "GPTInst/1", "GPTInst")
    assert (row["model_a"], row["model_b"], row["order"]) == ("output 1", "output 2", "ab")
    assert row["length_b"] == 45


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"^\[", "{", "result.json, line 2: malformed JSON"),
        (r'"label": \d', '"label": 3', "result.json, entry 1, field label: found 3; needed one of 1, 2"),
        (
            r'"winner": "\d"',
            '"winner": "3"',
            "result.json, entry 1, swap = False, field winner: found '3'; needed one of '1', '2'",
        ),
        (r'"output_2"', '"output_3"', "result.json, entry 1, field output_2: not there; found input, output_1"),
        (
            r'"swap = True"',
            '"swap"',
            "entry 1, column order: 'GPT-4' was shown the answer of 'output 1' before that of 'output 2'",
        ),
        (r'"label": 1', '"label": 2', "write the same in each row about the same answers"),
    ],
)
def test_fault_is_named_with_its_place(tmp_path, pattern, replacement, message):
    files = copied("llmbar", tmp_path / "raw")
    edit(next(path for path in files if str(path).endswith(RESULT)), pattern, replacement)
    assert message in complaint(tmp_path, files, format="llmbar")


def test_file_that_is_missing(tmp_path):
    folder, paths = released("llmbar")
    files = [folder / path for path in paths if not path.endswith(RESULT)]
    text = complaint(tmp_path, files, format="llmbar")
    assert f"no file {RESULT} among the files of the study; list it in the manifest of its source" in text
