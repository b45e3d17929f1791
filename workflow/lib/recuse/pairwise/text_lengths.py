"""What each perturbation does to the length of the published answers: a judge that prefers length would follow it, too."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recuse.base.errors import DataError
from recuse.pairwise.questions import percentile_intervals
from recuse.pairwise.sources import coded, field_of, read_lines

RAW = "raw"
PERTURBATIONS = ("factual_error", "reference", "rich_content", "gender")  # data/<name>.json
LEVELS = ("Remembering", "Understanding", "Applying", "Analyzing", "Evaluating", "Creating")  # Bloom's taxonomy, revised
ANSWERS = ("answer1", "answer2")
UNITS = {"words": lambda answer: len(answer.split()), "characters": len}


def length_confound(folder: str | Path, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the mean relative change of length, (perturbed - raw) / raw, by perturbation, Bloom level and unit.

    folder: of the published files data/raw.json and data/<perturbation>.json, one JSON object a line. Each perturbed file
    repeats one of a question's two answers as it was, so there are two rows: `answers` is `perturbed` for the answers that
    differ from the raw ones, `both` for all, which halves the change. level: empty for all questions; unit: words (parted by
    white space) or characters. longer: the share of these answers with more units than the raw one; n: how many answers.
    Interval: percentiles of a bootstrap over questions, NaN for fewer than two.

    Errors: DataError naming file and line where a line is not JSON or lacks an answer, or names an unknown question or level.
    """
    raw, level_of = _read_raw(f"{folder}/data/{RAW}.json")
    levels = np.array([level_of[question] for question in raw])
    for perturbation in PERTURBATIONS:
        perturbed = _read_perturbed(f"{folder}/data/{perturbation}.json", perturbation, raw)
        pairs = [list(zip(raw[question], perturbed[question], strict=True)) for question in raw]
        differ = np.array([[old != new for old, new in pair] for pair in pairs])  # (questions, answers)
        for level in ("", *LEVELS):
            chosen = np.flatnonzero((levels == level) | (level == ""))
            for unit, length in UNITS.items():
                changes = np.array([[(length(new) - length(old)) / length(old) for old, new in pair] for pair in pairs])
                for answers, counted in (("perturbed", differ), ("both", np.ones_like(differ))):
                    names = {"perturbation": perturbation, "level": level, "unit": unit, "answers": answers}
                    yield names | _summary(changes[chosen], counted[chosen], confidence=confidence, seed=seed)


def _summary(changes: np.ndarray, counted: np.ndarray, *, confidence: float, seed: int) -> dict:
    """Mean of the changes that are counted, both (questions, answers), its interval, the share above 0 and n (perhaps 0)."""
    sums = np.column_stack([(changes * counted).sum(axis=1), counted.sum(axis=1)])  # (questions, 2)
    sums = sums[sums[:, 1] > 0]
    if not len(sums):
        return {"n": 0}
    low, high = percentile_intervals(sums, lambda totals: totals[:, :1] / totals[:, 1:], confidence=confidence, seed=seed)
    change, n = sums.sum(axis=0)
    row = {"relative_change": float(change / n), "ci_low": float(low[0]), "ci_high": float(high[0])}
    return {**row, "longer": float((counted & (changes > 0)).sum() / n), "n": int(n)}


def _read_raw(path: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The two answers of each question, and its Bloom level."""
    answers, levels = {}, {}
    for number, entry in read_lines(path):
        where = f"{path}, line {number}"
        question = _not_twice(field_of(entry, "question_id", str, where), answers, where)
        levels[question] = coded(entry, "level", dict(zip(LEVELS, LEVELS, strict=True)), where)
        answers[question] = _answers(entry, where)
    if not answers:
        raise DataError(f"{path}: holds no questions; fetch it again")
    return answers, levels


def _read_perturbed(path: str, perturbation: str, raw: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The two answers of each question of `raw`, after the perturbation."""
    answers = {}
    for number, entry in read_lines(path):
        where = f"{path}, line {number}"
        name = field_of(entry, "question_id", str, where)
        question = name.removesuffix(f"-{perturbation}")
        if question not in raw or question == name:
            raise DataError(
                f"{where}: found question_id {name!r}; write a question_id of {RAW}.json followed by -{perturbation}"
            )
        answers[_not_twice(question, answers, where)] = _answers(entry, where)
    absent = [question for question in raw if question not in answers]
    if absent:
        raise DataError(f"{path}: no line for question {absent[0]!r} ({len(absent)} are missing); fetch the file again")
    return answers


def _not_twice(question: str, answers: dict, where: str) -> str:
    if question in answers:
        raise DataError(f"{where}: question {question!r} stands a second time; keep one line of it")
    return question


def _answers(entry: dict, where: str) -> tuple[str, ...]:
    answers = field_of(entry, "answers", dict, where)
    texts = []
    for name in ANSWERS:
        answer = field_of(field_of(answers, name, dict, f"{where}, answers"), "answer", str, f"{where}, answers, {name}")
        if not answer.split():
            raise DataError(f"{where}, answers, {name}, field answer: found {answer!r}; write the text of the answer")
        texts.append(answer)
    return tuple(texts)
