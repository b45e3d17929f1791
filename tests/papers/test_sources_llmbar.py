"""The released verdicts of LLMBar: what they hold."""

import pytest

from picked_rows import fields
from verdict_files import READERS, complaint, released, select

pytestmark = pytest.mark.mirror
QUESTIONS = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
JUDGES = {"GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon"}
RESULT = "Natural/evaluators/GPT-4/Vanilla_NoRules/result.json"


def test_verdicts_of_six_judges_on_five_subsets(llmbar):
    comparisons, completeness = llmbar
    assert len(select(comparisons)) == 6 * sum(QUESTIONS.values()) * 2
    results = {
        fields(row, "condition judge"): fields(row, "comparisons verdicts") for row in completeness
    }
    assert results == {
        (subset, judge): (str(n), str(2 * n)) for subset, n in QUESTIONS.items() for judge in JUDGES
    }
    lacking = [
        row[column] for row in completeness for column in ("one_order", "no_human", "no_length")
    ]
    assert set(lacking) == {"0"}


def test_file_that_is_missing(tmp_path):
    folder, paths = released("llmbar")
    files = [folder / path for path in paths if not path.endswith(RESULT)]
    text = complaint(tmp_path, files, reader=READERS["llmbar"])
    assert (
        f"no file {RESULT} among the files of the study; list it in the manifest of its source"
        in text
    )
