"""The verdicts of PRD (Li et al., github.com/bcdnlp/PRD) on the 80 questions of Vicuna: five judges, both orders, humans.

Reading published JSON files of verdicts: what is wrong with them is said with file, line or entry, and field.

The verdicts of LLMBar (Zeng et al., github.com/princeton-nlp/LLMBar): six judges, both orders, gold labels.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path

import duckdb
import numpy as np

from recuse.base.errors import DataError
from recuse.base.tables import COMPARISONS
from recuse.data.files import place_of


def read_lines(path: str) -> Iterator[tuple[int, dict]]:
    """Number (from 1) and object of each line of a JSON Lines file but blank ones; DataError for a line that is none."""
    for number, line in enumerate(_text_of(path).split("\n"), start=1):
        if line.strip():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(f"{place_of(path, number)}: malformed JSON ({error.msg}); fetch the file again") from error
            yield number, _object(entry, path, number)


def read_entries(path: str) -> Iterator[tuple[int, dict]]:
    """Number (from 1) and object of each entry of a JSON file that holds one list; DataError if it does not."""
    try:
        entries = json.loads(_text_of(path))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: malformed JSON ({error.msg}); fetch the file again") from error
    if not isinstance(entries, list):
        raise DataError(f"{path}: found one {type(entries).__name__}; needed a list of objects")
    for number, entry in enumerate(entries, start=1):
        yield number, _object(entry, path, number)


def field_of(entry: Mapping, field: str, kind: type, where: str):
    """What an object holds in `field`; DataError if that is not there or not of this kind."""
    if field not in entry:
        raise DataError(f"{where}, field {field}: not there; found {', '.join(entry) or 'nothing'}")
    value = entry[field]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DataError(f"{where}, field {field}: found {value!r}; needed {_KINDS[kind]}")
    return value


def coded(entry: Mapping, field: str, codes: Mapping, where: str):
    """What the code in `field` of an object means; DataError if it is none of `codes`."""
    value = entry.get(field, "nothing")
    if isinstance(value, (bool, float, list, dict)) or value not in codes:
        raise DataError(f"{where}, field {field}: found {value!r}; needed one of {', '.join(map(repr, codes))}")
    return codes[value]


def select_table(connection: duckdb.DuckDBPyConnection, rows: Sequence[Mapping]) -> str:
    """Create a table of rows (file, record, columns of COMPARISONS; what is absent NULL) and return the SQL that reads it."""
    columns = {"record": np.array([row["record"] for row in rows])}
    for column in ("file", *COMPARISONS):
        columns[column] = np.array([None if row.get(column) is None else str(row[column]) for row in rows], dtype=object)
    texts = ", ".join(f'"{column}"::varchar as "{column}"' for column in ("file", *COMPARISONS))
    connection.execute(f"create temp table published as select record, {texts} from columns")
    return "select * from published"


_KINDS = {int: "an integer", str: "a text", list: "a list", dict: "an object"}


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            return file.read()
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; fetch it") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); fetch the file again") from error


def _object(entry, path: str, number: int) -> dict:
    if not isinstance(entry, dict):
        raise DataError(f"{place_of(path, number)}: found {entry!r}; needed an object")
    return entry


MODELS = {"bard": "Bard", "claude": "Claude", "gpt35": "GPT-3.5", "gpt4": "GPT-4", "vicuna-13b": "Vicuna-13B"}  # judges too
OUTCOMES = {1: "a", 2: "b", 3: "tie"}  # of a score, where the answer of `model_a` is shown first
VOTES = {1: 1, 2: -1, 3: 0}  # of a human, for the answer shown first
RATINGS = re.compile(r"(?:^|/)ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer[^/]*\.jsonl$")
NAMED = "ratings-{}/answer_{}-vs-answer_{}-*.jsonl"

Votes = Mapping[tuple[str, str, int], int]  # first, second and question -> sum of votes for the first


def select_prd_texts(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_texts` gives them.

    files: the released files; those of other models are passed over. `generations/answer_<model>.jsonl` holds the answers
    (question_id, text), `ratings-<judge>/answer_X-vs-answer_Y-*.jsonl` the scores of a judge who is shown X first, 1 for X, 2
    for Y and 3 for a tie, `ratings-human` the same of the humans, several of them on one question. The human label is the sign
    of the sum of their votes, whatever the order; lengths are words, split at white space.

    Raises DataError naming file, line and field for: a file that is missing, malformed JSON, a score that is none, a question
    without human votes or without an answer.
    """
    rated = _ratings(files)
    texts = {Path(path).name: path for path in files if Path(path).parent.name == "generations"}
    for name in (f"answer_{model}.jsonl" for model in MODELS):
        if name not in texts:
            raise DataError(f"no file generations/{name} among the files of the study; list it in the manifest of its source")
    words = {model: _words(texts[f"answer_{model}.jsonl"]) for model in MODELS}
    votes = _human_votes(rated)
    judged = product(MODELS, permutations(MODELS, 2))
    rows = [
        row
        for judge, (first, second) in judged
        for path in rated[judge, first, second]
        for row in _rows(path, judge, first, second, votes, words)
    ]
    return [(files[0], select_table(connection, rows))]


def _ratings(files: Sequence[str]) -> Mapping[tuple[str, str, str], list[str]]:
    """Files of ratings by judge (or `human`), model shown first and model shown second."""
    found = defaultdict(list)
    for path in files:
        match = RATINGS.search(path)
        if match and {match[2], match[3]} <= set(MODELS):
            found[match.groups()].append(path)
    for judge, (first, second) in product(MODELS, permutations(MODELS, 2)):
        if (judge, first, second) not in found:
            wanted = NAMED.format(judge, first, second)
            raise DataError(f"no file {wanted} among the files of the study; list it in the manifest of its source")
    return found


def _words(path: str) -> dict[int, int]:
    """Words of each question's answer."""
    found = {}
    for number, entry in read_lines(path):
        where = place_of(path, number)
        found[field_of(entry, "question_id", int, where)] = len(field_of(entry, "text", str, where).split())
    return found


def _human_votes(rated: Mapping[tuple[str, str, str], Sequence[str]]) -> Votes:
    sums = defaultdict(int)
    for first, second in permutations(MODELS, 2):
        for path in rated.get(("human", first, second), ()):
            for number, entry in read_lines(path):
                where = place_of(path, number)
                question, vote = field_of(entry, "question_id", int, where), coded(entry, "score", VOTES, where)
                sums[first, second, question] += vote
                sums[second, first, question] -= vote
    return dict(sums)


def _rows(
    path: str, judge: str, first: str, second: str, votes: Votes, words: Mapping[str, Mapping[int, int]]
) -> Iterator[dict]:
    for number, entry in read_lines(path):
        where = place_of(path, number)
        question = field_of(entry, "question_id", int, where)
        outcome = coded(entry, "score", OUTCOMES, where)
        for model in (first, second):
            if question not in words[model]:
                raise DataError(
                    f"{where}, field question_id: question {question} has no answer in generations/answer_{model}.jsonl"
                )
        if (first, second, question) not in votes:
            wanted, turned = NAMED.format("human", first, second), NAMED.format("human", second, first)
            raise DataError(
                f"{where}, field question_id: question {question} has no human votes on {first} and {second}; needed in "
                f"{wanted} or {turned}"
            )
        votes_for_first = votes[first, second, question]
        yield {
            "file": path, "record": number, "judge": MODELS[judge], "item": question, "order": "ab", "outcome": outcome,
            "model_a": MODELS[first], "model_b": MODELS[second],
            "length_a": words[first][question], "length_b": words[second][question],
            "human": "tie" if votes_for_first == 0 else "a" if votes_for_first > 0 else "b",
        }  # fmt: skip


RESULT = re.compile(r"(?:^|/)([^/]+)/evaluators/([^/]+)/Vanilla_NoRules/result\.json$")
SUBSETS = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
JUDGES = ("GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon")
SWAPS = {"swap = False": "ab", "swap = True": "ba"}
WINNERS = {"1": "a", "2": "b", None: "error"}  # by identity, also where the answers are swapped; None: no verdict was found
LABELS = {1: "a", 2: "b"}


def select_llmbar_texts(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_texts` gives them.

    files: the released files; those that are no results of the plain prompt are passed over. `<subset>/evaluators/<judge>/
    Vanilla_NoRules/result.json` holds one entry per question: output_1 and output_2, label (1 or 2), and in the one element of
    `results` the winner under `swap = False` (output_1 shown first) and `swap = True`. The condition is the subset, the item
    its name with the number of the entry, lengths are words, split at white space.

    Raises DataError naming file, entry and field for: a file that is missing, malformed JSON, a label or winner that is none.
    """
    results = {match.groups(): path for path in files if (match := RESULT.search(path))}
    rows = []
    for subset in SUBSETS:
        for judge in JUDGES:
            if (subset, judge) not in results:
                raise DataError(
                    f"no file {subset}/evaluators/{judge}/Vanilla_NoRules/result.json among the files of the study; list it in "
                    "the manifest of its source"
                )
            rows += _rows_of_llmbar(results[subset, judge], subset, judge)
    return [(files[0], select_table(connection, rows))]


def _rows_of_llmbar(path: str, subset: str, judge: str) -> Iterator[dict]:
    for number, entry in read_entries(path):
        where = place_of(path, number)
        lengths = [len(field_of(entry, output, str, where).split()) for output in ("output_1", "output_2")]
        label = coded(entry, "label", LABELS, where)
        results = field_of(entry, "results", list, where)
        if len(results) != 1 or not isinstance(results[0], dict):
            raise DataError(f"{where}, field results: found {len(results)} elements; needed one object")
        for swap in (swap for swap in SWAPS if swap in results[0]):
            verdict = field_of(results[0], swap, dict, where)
            yield {
                "file": path, "record": number, "judge": judge, "item": f"{subset}/{number}", "condition": subset,
                "model_a": "output 1", "model_b": "output 2", "length_a": lengths[0], "length_b": lengths[1],
                "human": label, "order": SWAPS[swap], "outcome": coded(verdict, "winner", WINNERS, f"{where}, {swap}"),
            }  # fmt: skip
