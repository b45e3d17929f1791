"""Verdicts as two papers released them, PRD (five judges on Vicuna's 80 questions) and LLMBar (six judges, gold labels).

Both are read from JSON files into the rows that `recuse.pairwise.table` takes; errors name line or entry, and field. Sources:
Li et al., github.com/bcdnlp/PRD; Zeng et al., github.com/princeton-nlp/LLMBar.
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
from recuse.base.tables import COMPARISONS

KINDS = {int: "an integer", str: "a text", list: "a list", dict: "an object"}
MODELS = {"bard": "Bard", "claude": "Claude", "gpt35": "GPT-3.5", "gpt4": "GPT-4", "vicuna-13b": "Vicuna-13B"}  # judges too
PAIRS = tuple(permutations(MODELS, 2))  # model shown first, model shown second
OUTCOMES = {1: "a", 2: "b", 3: "tie"}  # of a score, where the answer of `model_a` is shown first
VOTES = {1: (1, 0), 2: (0, 1), 3: (0, 0)}  # of a human, for the answer shown first and the other
RATINGS = re.compile(r"(?:^|/)ratings-(.+)/answer_(.+)-vs-answer_(.+)-\1-reviewer[^/]*\.jsonl$")
NAMED = "ratings-{}/answer_{}-vs-answer_{}-*.jsonl"
UNLISTED = "no file {} among the files of the study; list it in the manifest of its source"


def read_objects(path: str, *, lines: bool) -> Iterator[tuple[int, str, dict]]:
    """Yield number (from 1), place and content of each object of a JSON file: one on each line that is not blank, or one list.

    DataError for a file that is absent or malformed or holds something else.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            text = file.read()
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; fetch it") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); fetch the file again") from error
    for first, piece in enumerate(text.split("\n") if lines else [text], start=1):
        if lines and not piece.strip():
            continue
        try:
            content = json.loads(piece)
        except json.JSONDecodeError as error:
            line = first if lines else error.lineno
            raise DataError(f"{path}, line {line}: malformed JSON ({error.msg}); fetch the file again") from error
        if not lines and not isinstance(content, list):
            raise DataError(f"{path}: found one {type(content).__name__}; needed a list of objects")
        for number, entry in enumerate([content] if lines else content, start=first):
            where = f"{path}, {'line' if lines else 'entry'} {number}"
            if not isinstance(entry, dict):
                raise DataError(f"{where}: found {entry!r}; needed an object")
            yield number, where, entry


def field_of(entry: Mapping, field: str, kind: type, where: str):
    """The value of `field` in an object; DataError if it is not there or not of this kind."""
    if field not in entry:
        raise DataError(f"{where}, field {field}: not there; found {', '.join(entry) or 'nothing'}")
    value = entry[field]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DataError(f"{where}, field {field}: found {value!r}; needed {KINDS[kind]}")
    return value


def coded(entry: Mapping, field: str, codes: Mapping, where: str):
    """The meaning of the code in `field` of an object; DataError if it is none of `codes`."""
    value = entry.get(field, "nothing")
    if isinstance(value, (bool, float, list, dict)) or value not in codes:
        raise DataError(f"{where}, field {field}: found {value!r}; needed one of {', '.join(map(repr, codes))}")
    return codes[value]


def _select(connection: Connection, rows: Iterable[Mapping]) -> str:
    """Create a table of rows (file, record, columns of COMPARISONS; NULL where absent) and return the SQL that reads it."""
    rows = list(rows)
    columns = {"record": np.array([row["record"] for row in rows])}
    for column in ("file", *COMPARISONS):
        columns[column] = np.array([None if row.get(column) is None else str(row[column]) for row in rows], dtype=object)
    texts = ", ".join(f'"{column}"::varchar as "{column}"' for column in ("file", *COMPARISONS))
    connection.register("columns", columns)
    connection.execute(f"create temp table published as select record, {texts} from columns")
    return "select * from published"


def select_prd_texts(connection: Connection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_texts` gives them.

    files: the released files; those of other models are skipped. `generations/answer_<model>.jsonl` holds the answers
    (question_id, text), `ratings-<judge>/answer_X-vs-answer_Y-*.jsonl` the scores of a judge who is shown X first, 1 for X, 2
    for Y and 3 for a tie, `ratings-human` those of the humans, several on each question. The human label is the sign of the sum
    of their votes over both orders; lengths are words, split at white space.

    DataError naming file, line and field for: a missing file, malformed JSON, an invalid score, a question without human votes
    or without an answer.
    """
    rated = defaultdict(list)  # files of ratings by judge (or `human`), model shown first and model shown second
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
        for _, where, entry in read_objects(answers[f"answer_{model}.jsonl"], lines=True):
            question, answer = field_of(entry, "question_id", int, where), field_of(entry, "text", str, where)
            words[model, question] = len(answer.split())
    votes = defaultdict(lambda: np.zeros(2, int))  # for the first and the second model, by these and the question
    for first, second in PAIRS:
        for path in rated.get(("human", first, second), ()):
            for _, where, entry in read_objects(path, lines=True):
                question, vote = field_of(entry, "question_id", int, where), np.array(coded(entry, "score", VOTES, where))
                votes[first, second, question] += vote
                votes[second, first, question] += vote[::-1]
    judged = ((path, judge, *pair) for judge, pair in product(MODELS, PAIRS) for path in rated[judge, *pair])
    return [(files[0], _select(connection, (row for rating in judged for row in _prd_rows(*rating, votes, words))))]


def _prd_rows(path: str, judge: str, first: str, second: str, votes: Mapping, words: Mapping) -> Iterator[dict]:
    for number, where, entry in read_objects(path, lines=True):
        question = field_of(entry, "question_id", int, where)
        outcome = coded(entry, "score", OUTCOMES, where)
        where = f"{where}, field question_id: question {question}"
        for model in (first, second):
            if (model, question) not in words:
                raise DataError(f"{where} has no answer in generations/answer_{model}.jsonl")
        if (first, second, question) not in votes:
            files = f"{NAMED.format('human', first, second)} or {NAMED.format('human', second, first)}"
            raise DataError(f"{where} has no human votes on {first} and {second}; needed in {files}")
        for_first, for_second = votes[first, second, question].tolist()
        yield {
            "file": path,
            "record": number,
            "judge": MODELS[judge],
            "item": question,
            "order": "ab",
            "outcome": outcome,
            "model_a": MODELS[first],
            "model_b": MODELS[second],
            "length_a": words[first, question],
            "length_b": words[second, question],
            "human": "tie" if for_first == for_second else "a" if for_first > for_second else "b",
            "humans_a": for_first,
            "humans_b": for_second,
        }


RESULT = re.compile(r"(?:^|/)([^/]+)/evaluators/([^/]+)/Vanilla_NoRules/result\.json$")
SUBSETS = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
JUDGES = ("GPT-4", "ChatGPT", "ChatGPT-0301", "LLaMA2", "PaLM2", "Falcon")
SWAPS = {"swap = False": "ab", "swap = True": "ba"}
WINNERS = {"1": "a", "2": "b", None: "error"}  # the answer, not its place; None: no verdict was found
LABELS = {1: "a", 2: "b"}


def select_llmbar_texts(connection: Connection, files: Sequence[str]) -> list[tuple[str, str]]:
    """The first file with the SQL for all rows, as `recuse.pairwise.table.select_texts` gives them.

    files: the released files; those of other prompts than the plain one are skipped. `<subset>/evaluators/<judge>/
    Vanilla_NoRules/result.json` holds one entry per question: output_1 and output_2, label (1 or 2), and in the one element of
    `results` the winner under `swap = False` (output_1 shown first) and `swap = True`. The condition is the subset, the item
    its name with the number of the entry, lengths are words, split at white space.

    DataError naming file, entry and field for: a missing file, malformed JSON, an invalid label or winner.
    """
    results = {match.groups(): path for path in files if (match := RESULT.search(path))}
    rows = []
    for subset, judge in product(SUBSETS, JUDGES):
        if (subset, judge) not in results:
            raise DataError(UNLISTED.format(f"{subset}/evaluators/{judge}/Vanilla_NoRules/result.json"))
        rows += _llmbar_rows(results[subset, judge], subset, judge)
    return [(files[0], _select(connection, rows))]


def _llmbar_rows(path: str, subset: str, judge: str) -> Iterator[dict]:
    for number, where, entry in read_objects(path, lines=False):
        lengths = [len(field_of(entry, output, str, where).split()) for output in ("output_1", "output_2")]
        label = coded(entry, "label", LABELS, where)
        results = field_of(entry, "results", list, where)
        if len(results) != 1 or not isinstance(results[0], dict):
            raise DataError(f"{where}, field results: found {len(results)} elements; needed one object")
        for swap in (swap for swap in SWAPS if swap in results[0]):
            verdict = field_of(results[0], swap, dict, where)
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
                "human": label,
                "order": SWAPS[swap],
                "outcome": coded(verdict, "winner", WINNERS, f"{where}, {swap}"),
            }
