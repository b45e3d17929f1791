"""Verdicts as two papers released them, PRD (five judges on Vicuna's 80 questions) and LLMBar (six
judges, gold labels).

Both are read from JSON files into the rows that `recuse.pairwise.table` takes. The files are those
of the manifests, to the byte (`recuse.papers.fetch`), so their contents are not checked again.
Sources: Li et al., github.com/bcdnlp/PRD; Zeng et al., github.com/princeton-nlp/LLMBar.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path

import numpy as np

from recuse.base.database import Connection
from recuse.base.errors import DataError
from recuse.data.verdicts import COMPARISONS

# Judges too
MODELS = {
    "bard": "Bard",
    "claude": "Claude",
    "gpt35": "GPT-3.5",
    "gpt4": "GPT-4",
    "vicuna-13b": "Vicuna-13B",
}
PAIRS = tuple(permutations(MODELS, 2))  # model shown first, model shown second
OUTCOMES = {1: "a", 2: "b", 3: "tie"}  # of a score, where the answer of `model_a` is shown first
# Of a person: for the answer shown first, for the other, and a tie
VOTES = {1: (1, 0, 0), 2: (0, 1, 0), 3: (0, 0, 1)}
RATINGS = re.compile(r"(?:^|/)ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer[^/]*\.jsonl$")
NAMED = "ratings-{}/answer_{}-vs-answer_{}-*.jsonl"
UNLISTED = "no file {} among the files of the study; list it in the manifest of its source"


def load_json(path: str) -> list[dict]:
    """The objects of a JSON file that holds one list."""
    return json.loads(Path(path).read_text("utf-8-sig"))


def load_json_lines(path: str) -> list[dict]:
    """The objects of a JSON file, one on each line."""
    with open(path, encoding="utf-8-sig", newline="\n") as file:
        return [json.loads(line) for line in file]


def _select(connection: Connection, rows: Iterable[Mapping]) -> str:
    """Create a table of rows (file, record, columns of COMPARISONS; NULL where absent) and return
    the SQL that reads it.
    """
    rows = list(rows)
    columns = {"record": np.array([row["record"] for row in rows])}
    for column in ("file", *COMPARISONS):
        columns[column] = np.array(
            [None if row.get(column) is None else str(row[column]) for row in rows], dtype=object
        )
    texts = ", ".join(f'"{column}"::varchar as "{column}"' for column in ("file", *COMPARISONS))
    connection.register("columns", columns)
    connection.execute(f"create temp table published as select record, {texts} from columns")
    return "select * from published"


def select_prd_texts(connection: Connection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_stored` gives
    them.

    files: the released files; those of other models are skipped. `generations/answer_<model>.jsonl`
    holds the answers (question_id, text), `ratings-<judge>/answer_X-vs-answer_Y-*.jsonl` the scores
    of a judge who is shown X first, 1 for X, 2 for Y and 3 for a tie, `ratings-human` those of the
    humans, several on each question. The human label is the sign of the sum of their votes over
    both orders; lengths are words, split at white space.

    DataError for a file that the study does not list.
    """
    # Files of ratings by judge (or `human`), model shown first and model shown second
    rated = defaultdict(list)
    for path in files:
        match = RATINGS.search(path)
        if match and {match[2], match[3]} <= set(MODELS):
            rated[match.groups()].append(path)
    for judge, pair in product(MODELS, PAIRS):
        if (judge, *pair) not in rated:
            raise DataError(UNLISTED.format(NAMED.format(judge, *pair)))
    answers = {Path(path).name: path for path in files if Path(path).parent.name == "generations"}
    words = {}  # by model and question, of its answer
    for model in MODELS:
        if f"answer_{model}.jsonl" not in answers:
            raise DataError(UNLISTED.format(f"generations/answer_{model}.jsonl"))
        for entry in load_json_lines(answers[f"answer_{model}.jsonl"]):
            words[model, entry["question_id"]] = len(entry["text"].split())
    # For the first and the second model, and ties, by these and the question
    votes = defaultdict(lambda: np.zeros(3, int))
    for first, second in PAIRS:
        for path in rated.get(("human", first, second), ()):
            for entry in load_json_lines(path):
                question = entry["question_id"]
                vote = np.array(VOTES[entry["score"]])
                votes[first, second, question] += vote
                votes[second, first, question] += vote[[1, 0, 2]]
    judged = (
        (path, judge, *pair)
        for judge, pair in product(MODELS, PAIRS)
        for path in rated[judge, *pair]
    )
    return [
        (
            files[0],
            _select(
                connection, (row for rating in judged for row in _prd_rows(*rating, votes, words))
            ),
        )
    ]


def _prd_rows(
    path: str, judge: str, first: str, second: str, votes: Mapping, words: Mapping
) -> Iterator[dict]:
    for number, entry in enumerate(load_json_lines(path), start=1):
        question = entry["question_id"]
        for_first, for_second, ties = votes[first, second, question].tolist()
        yield {
            "file": path,
            "record": number,
            "judge": MODELS[judge],
            "item": question,
            "order": "ab",
            "outcome": OUTCOMES[entry["score"]],
            "model_a": MODELS[first],
            "model_b": MODELS[second],
            "length_a": words[first, question],
            "length_b": words[second, question],
            "human": "tie" if for_first == for_second else "a" if for_first > for_second else "b",
            "humans_a": for_first,
            "humans_b": for_second,
            "humans_tie": ties,
        }


RESULT = re.compile(r"(?:^|/)([^/]+)/evaluators/([^/]+)/Vanilla_NoRules/result\.json$")
SUBSETS = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
JUDGES = ("GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon")
SWAPS = {"swap = False": "ab", "swap = True": "ba"}
# The answer, not its place; None: no verdict was found
WINNERS = {"1": "a", "2": "b", None: "error"}
LABELS = {1: "a", 2: "b"}


def select_llmbar_texts(connection: Connection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_stored` gives
    them.

    files: the released files; those of other prompts than the plain one are skipped.
    `<subset>/evaluators/<judge>/ Vanilla_NoRules/result.json` holds one entry per question:
    output_1 and output_2, label (1 or 2), and in the one element of `results` the winner under
    `swap = False` (output_1 shown first) and `swap = True`. The condition is the subset, the item
    its name with the number of the entry, lengths are words, split at white space.

    DataError for a file that the study does not list.
    """
    results = {match.groups(): path for path in files if (match := RESULT.search(path))}
    rows = []
    for subset, judge in product(SUBSETS, JUDGES):
        if (subset, judge) not in results:
            raise DataError(
                UNLISTED.format(f"{subset}/evaluators/{judge}/Vanilla_NoRules/result.json")
            )
        rows += _llmbar_rows(results[subset, judge], subset, judge)
    return [(files[0], _select(connection, rows))]


def _llmbar_rows(path: str, subset: str, judge: str) -> Iterator[dict]:
    for number, entry in enumerate(load_json(path), start=1):
        lengths = [len(entry[output].split()) for output in ("output_1", "output_2")]
        (results,) = entry["results"]
        for swap, order in SWAPS.items():
            yield {
                "file": path,
                "record": number,
                "judge": judge,
                "item": f"{subset}/{number}",
                "condition": subset,
                "model_a": "output 1",
                "model_b": "output 2",
                "length_a": lengths[0],
                "length_b": lengths[1],
                "human": LABELS[entry["label"]],
                "order": order,
                "outcome": WINNERS[results[swap]["winner"]],
            }
