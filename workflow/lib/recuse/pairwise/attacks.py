"""What each perturbation does to the length of the published answers: a judge that prefers length would follow it, too.

Single votes: by the place of the answers, by the difference of their lengths, and by answer in the control group.

Attack success rate: how often a perturbation moves a judge's preference towards the perturbed answer.

Ranks and differences that the paper prints, computed again from the rounded values that it prints beside them.

Ranks of the judges by attack success rate: the lowest rate has rank 1, equal rates share the lower number.

From single votes to the preference of a sample: what every table of perturbation attacks begins from.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np

from recuse.base.database import files, text
from recuse.base.errors import ConfigError, DataError
from recuse.base.tables import CONTROL
from recuse.pairwise.questions import Group, bootstrap, in_groups, percentile_intervals, quotient

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
    raw, level_of = _read_raw(Path(folder, "data", f"{RAW}.json"))
    levels = np.array([level_of[question] for question in raw])
    for perturbation in PERTURBATIONS:
        perturbed = _read_perturbed(Path(folder, "data", f"{perturbation}.json"), perturbation, raw)
        for level in ("", *LEVELS):
            chosen = np.flatnonzero((levels == level) | (level == ""))
            for unit, length in UNITS.items():
                changes = np.array([_changes(raw[q], perturbed[q], length) for q in raw])[chosen]  # (questions, answers)
                differ = np.array([[old != new for old, new in zip(raw[q], perturbed[q], strict=True)] for q in raw])[chosen]
                for answers, counted in (("perturbed", differ), ("both", np.ones_like(differ))):
                    names = {"perturbation": perturbation, "level": level, "unit": unit, "answers": answers}
                    yield names | _summary(changes, counted, confidence=confidence, seed=seed)


def _changes(raw: tuple[str, ...], perturbed: tuple[str, ...], length) -> list[float]:
    return [(length(new) - length(old)) / length(old) for old, new in zip(raw, perturbed, strict=True)]


def _summary(changes: np.ndarray, counted: np.ndarray, *, confidence: float, seed: int) -> dict:
    """Mean of the changes that are counted, both (questions, answers), its interval, the share above 0 and n (perhaps 0)."""
    sums = np.column_stack([(changes * counted).sum(axis=1), counted.sum(axis=1)])  # (questions, 2)
    sums = sums[sums[:, 1] > 0]
    if not len(sums):
        return {"n": 0}
    low, high = percentile_intervals(sums, lambda totals: totals[:, :1] / totals[:, 1:], confidence=confidence, seed=seed)
    change, n = sums.sum(axis=0)
    return {
        "relative_change": float(change / n), "ci_low": float(low[0]), "ci_high": float(high[0]),
        "longer": float((counted & (changes > 0)).sum() / n), "n": int(n),
    }  # fmt: skip


def _read_raw(path: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The two answers of each question, and its Bloom level."""
    answers, levels = {}, {}
    for place, row in _lines(path):
        question, level = _question(place, row), row.get("level")
        if level not in LEVELS:
            raise DataError(f"{place}: found level {level!r}; write one of {', '.join(LEVELS)}")
        if question in answers:
            raise DataError(f"{place}: question {question!r} stands a second time; keep one line of it")
        answers[question], levels[question] = _answers(place, row), level
    if not answers:
        raise DataError(f"{path}: holds no questions; fetch it again")
    return answers, levels


def _read_perturbed(path: Path, perturbation: str, raw: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The two answers of each question of `raw`, after the perturbation."""
    answers = {}
    for place, row in _lines(path):
        name = _question(place, row)
        question = name.removesuffix(f"-{perturbation}")
        if question not in raw or question == name:
            raise DataError(
                f"{place}: found question_id {name!r}; write a question_id of {RAW}.json followed by -{perturbation}"
            )
        if question in answers:
            raise DataError(f"{place}: question {question!r} stands a second time; keep one line of it")
        answers[question] = _answers(place, row)
    absent = [question for question in raw if question not in answers]
    if absent:
        raise DataError(f"{path}: no line for question {absent[0]!r} ({len(absent)} are missing); fetch the file again")
    return answers


def _lines(path: Path) -> Iterator[tuple[str, dict]]:
    """Each object of a file of JSON lines, with the file and line that it stands in."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; fetch the published files of this study")
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        place = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:  # of text that is not UTF-8, too
            raise DataError(f"{place}: not JSON ({error}); write one JSON object a line") from error
        if not isinstance(row, dict):
            raise DataError(f"{place}: found {type(row).__name__}; write one JSON object a line")
        yield place, row


def _question(place: str, row: dict) -> str:
    question = row.get("question_id")
    if not isinstance(question, str):
        raise DataError(f"{place}: found question_id {question!r}; write the id of a question as text")
    return question


def _answers(place: str, row: dict) -> tuple[str, ...]:
    found = row.get("answers") if isinstance(row.get("answers"), dict) else {}
    texts = []
    for name in ANSWERS:
        answer = found[name].get("answer") if isinstance(found.get(name), dict) else None
        if not isinstance(answer, str) or not answer.split():
            raise DataError(f"{place}: answers: {name}: answer: found {answer!r}; write the text of the answer")
        texts.append(answer)
    return tuple(texts)


BIN = 10  # units of length
BINS = 6  # the last is open
LEFT_OUT = ("equal_lengths", "no_length", "errors")  # of the length curve


def votes_by_position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment and judge, the shares of votes for the answer shown first, for neither and for the one shown second.

    difference: first - second, which is 0 without position bias if both orders are shown equally often; ci_low, ci_high: its
    percentile interval, by a bootstrap over questions; n: votes of the view `votes` without errors; errors: how many these are.
    Source: Chen et al., Table 6.
    """
    found = connection.execute("""
        select experiment, judge, item, count(*) filter (("order", outcome) in (('ab', 'a'), ('ba', 'b'))) as first,
               count(*) filter (outcome = 'tie') as tie,
               count(*) filter (("order", outcome) in (('ab', 'b'), ('ba', 'a'))) as second,
               count(*) filter (outcome = 'error') as errors
        from votes group by all order by experiment, judge, item""").fetchnumpy()
    sums = np.column_stack([found[name] for name in ("first", "tie", "second", "errors")]).astype(float)
    groups = list(in_groups(found["experiment"], found["judge"], sums))
    ends = bootstrap(groups, _difference, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        totals = group.sums.sum(axis=0)
        n = totals[:3].sum()
        yield {
            "experiment": group.label, "judge": group.judge,
            **dict(zip(("first", "tie", "second"), map(float, quotient(totals[:3], np.full(3, n))), strict=True)),
            "difference": float(_difference(totals)[0]), "ci_low": float(low[0]), "ci_high": float(high[0]),
            "n": int(n), "errors": int(totals[3]),
        }  # fmt: skip


def _difference(totals: np.ndarray) -> np.ndarray:
    """Share of the first minus that of the third of the first three columns of totals (..., 4), as (..., 1)."""
    return quotient(totals[..., :1] - totals[..., 2:3], totals[..., :3].sum(axis=-1, keepdims=True))


def length_curve(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment, judge and bin of the absolute difference of lengths, the mean vote for the longer answer.

    A vote scores 0 for the shorter answer, 0.5 for a tie, 1 for the longer one. Control group only, so that no perturbation is
    taken for length. Bins are BIN units of length wide, from bin_low to below bin_high; the last has no upper end. Interval:
    percentiles of a bootstrap over questions, none where the bin has fewer than two. n: votes. Left out, and counted by
    experiment and judge in each of its rows: errors, and of the other votes those on answers of unknown length (no_length) and
    of equal_lengths. Where nothing is left there is one row, without a bin and with n = 0. Source: Chen et al., Figure 4.
    """
    groups = _groups_by_length(connection)
    ends = bootstrap(groups, _means, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        means, votes = _means(group.sums.sum(axis=0)), group.sums[:, BINS : 2 * BINS]
        left_out = dict(zip(LEFT_OUT, map(int, group.sums[:, 2 * BINS :].sum(axis=0)), strict=True))
        names = {"experiment": group.label, "judge": group.judge}
        if not votes.any():
            yield {**names, "n": 0, "questions": 0, **left_out}
        for number in np.flatnonzero(votes.sum(axis=0)):
            questions = np.count_nonzero(votes[:, number])
            yield {
                **names,
                "bin_low": int(BIN * number), "bin_high": int(BIN * (number + 1)) if number < BINS - 1 else None,
                "preference": float(means[number]),
                "ci_low": float(low[number]) if questions > 1 else None,
                "ci_high": float(high[number]) if questions > 1 else None,
                "n": int(votes[:, number].sum()), "questions": questions, **left_out,
            }  # fmt: skip


def _groups_by_length(connection: duckdb.DuckDBPyConnection) -> list[Group]:
    """Scores of the votes in each bin, then their numbers, then LEFT_OUT, (questions, 2 bins + 3), by experiment and judge."""
    sums = [f"coalesce(sum(score) filter (bin = {number}), 0)::double as score{number}" for number in range(BINS)]
    sums += [f"count(*) filter (bin = {number}) as n{number}" for number in range(BINS)]
    sums += [f"count(*) filter (why = {text(name)}) as {name}" for name in LEFT_OUT]
    found = connection.execute(f"""
        with told as (select *, if(length_a > length_b, 'a', 'b') as longer,
                             case when outcome = 'error' then 'errors'
                                  when length_a is null or length_b is null then 'no_length'
                                  when length_a = length_b then 'equal_lengths' end as why
                      from votes where condition = {text(CONTROL)}),
             scored as (select experiment, judge, item, why,
                               if(why is null, least(floor(abs(length_a - length_b) / {BIN}), {BINS - 1}), null) as bin,
                               case outcome when 'tie' then 0.5 when longer then 1 else 0 end as score from told)
        select experiment, judge, item, {", ".join(sums)}
        from scored group by all order by experiment, judge, item""").fetchnumpy()
    columns = [*(f"{name}{number}" for name in ("score", "n") for number in range(BINS)), *LEFT_OUT]
    return list(in_groups(found["experiment"], found["judge"], np.column_stack([found[column] for column in columns])))


def _means(totals: np.ndarray) -> np.ndarray:
    """Mean score in each bin, (..., bins), of totals (..., 2 bins or more): the scores of the bins, then their votes."""
    return quotient(totals[..., :BINS], totals[..., BINS : 2 * BINS])


def vote_shares(connection: duckdb.DuckDBPyConnection) -> Iterator[dict]:
    """Yield, by experiment, pair of models and judge, the shares of the votes in the control group for a, for neither, for b.

    n: votes without errors. Of a pair of an anchor (a) and a weaker model (b) they say how much weaker. Source: Chen et al.,
    Table 7.
    """
    found = connection.execute(f"""
        select experiment, model_a, model_b, judge, count(*) filter (outcome = 'a'), count(*) filter (outcome = 'tie'),
               count(*) filter (outcome = 'b'), count(*) filter (outcome = 'error')
        from votes where condition = {text(CONTROL)} group by all order by experiment, model_a, model_b, judge""").fetchall()
    for experiment, model_a, model_b, judge, *counts, errors in found:
        n = sum(counts)
        shares = {name: count / n if n else None for name, count in zip(("a", "tie", "b"), counts, strict=True)}
        pair = {"experiment": experiment, "model_a": model_a, "model_b": model_b, "judge": judge}
        yield {**pair, **shares, "n": n, "errors": errors}


def ranks(values: Sequence[Fraction | None]) -> list[int | None]:
    """Return 1 + the number of lower values for each of `values`; None for None, which ranks nowhere.

    Fractions, so that no noise of floating-point numbers parts what is equal.
    """
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other < value for other in known) for value in values]


def with_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return `rows` (shifted, n) with their rank among the judges of the same experiment, condition and pair of models."""
    ranked = [dict(row) for row in rows]
    for members in _grouped(ranked, "experiment", "condition", "model_a", "model_b").values():
        rates = [Fraction(row["shifted"], row["n"]) if row["n"] else None for row in members]
        for row, rank in zip(members, ranks(rates), strict=True):
            row["rank"] = rank
    return ranked


def average_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return the average rank of each judge over the columns of an experiment, from the rows of the table of success rates.

    A column is a condition with a pair of models in which a judge has a rank; where none has an eligible sample there is no
    column. A judge without a rank in each column has no average; `columns` is how many it has. place: the judge's rank by
    average. Sorted by experiment, place and judge, those without a place last.
    """
    found = []
    for experiment, members in _grouped(rows, "experiment").items():
        ranked = [row for row in members if row["rank"] is not None]
        columns = len(_grouped(ranked, "condition", "model_a", "model_b"))
        own = {judge: [row["rank"] for row in of_judge] for judge, of_judge in _grouped(members, "judge").items()}
        own = {judge: [rank for rank in numbers if rank is not None] for judge, numbers in own.items()}
        averages = [Fraction(sum(numbers), columns) if len(numbers) == columns > 0 else None for numbers in own.values()]
        for judge, average, place in zip(own, averages, ranks(averages), strict=True):
            value = None if average is None else float(average)
            row = {"experiment": experiment[0], "judge": judge[0], "average_rank": value, "columns": len(own[judge])}
            found.append({**row, "place": place})
    return sorted(found, key=lambda row: (row["experiment"], row["place"] is None, row["place"], row["judge"]))


def _grouped(rows: Iterable[Mapping], *keys: str) -> dict[tuple[Hashable, ...], list]:
    groups: dict[tuple[Hashable, ...], list] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


# Perturbations that a judge should turn from, where config names none: of those of Chen et al.
WORSENING = ("factual_error",)
# A group is one perturbation of the samples of one judge, experiment and pair of models.
COUNTS = f"""
    with control as (select * exclude (condition) from samples where condition = {text(CONTROL)}),
         perturbed as (select * from samples where condition <> {text(CONTROL)}),
         groups as (select distinct experiment, condition, model_a, model_b, judge from perturbed),
         paired as (
             select experiment, condition, model_a, model_b, judge,
                    control.preference as before, perturbed.preference as after,
                    coalesce(control.votes, 0) + coalesce(perturbed.votes, 0) as votes,
                    coalesce(control.errors, 0) + coalesce(perturbed.errors, 0) as errors
             from (select * from groups join control using (experiment, model_a, model_b, judge)) as control
             full join perturbed using (experiment, condition, model_a, model_b, judge, item)),
         told as (select *, before is not null and after is not null as complete from paired),
         moved as (select *, condition in (select unnest(?::varchar[])) as worsening from told)
    select experiment, condition, model_a, model_b, judge,
           count(*) filter (complete and before <> if(worsening, 'a', 'b')) as n,
           count(*) filter (complete and if(worsening, 'a' not in (before, after), before <> 'b' and after = 'b')) as shifted,
           count(*) filter (complete) as samples, count(*) filter (not complete) as left_out,
           coalesce(sum(votes) filter (complete), 0)::bigint as votes, sum(errors)::bigint as errors
    from moved group by all order by experiment, condition, model_a, model_b, judge"""


def success_rates(connection: duckdb.DuckDBPyConnection, *, worsening: Sequence[str], confidence: float) -> list[dict]:
    """Return the rows of the table of attack success rates (ASR), from the table `samples`.

    With `before` and `after` the preferences of a sample in the control group and with the perturbed answer (b):
    improving perturbation:  ASR = |{before in {a, tie}, after = b}| / |{before in {a, tie}}|
    worsening perturbation:  ASR = |{before in {b, tie}, after in {b, tie}}| / |{before in {b, tie}}|
    One row per experiment, perturbation, pair of models and judge: asr in 0 to 1 (NaN if its denominator n is 0) with its exact
    interval, shifted (the numerator), n, samples (those with both preferences), left_out (those with one, or none for errors),
    votes (of `samples`, both groups), errors (of all samples, both groups) and rank (1 is the lowest asr of the judges).

    worsening: conditions of the second kind; all others are of the first. confidence: level of the intervals. Source: Chen et
    al., Humans or LLMs as the Judge?, section 4.5.
    """
    found = connection.execute(COUNTS, [list(worsening)])
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    for row in rows:
        low, high = exact_interval(row["shifted"], row["n"], confidence)
        row |= {"asr": row["shifted"] / row["n"] if row["n"] else np.nan, "ci_low": low, "ci_high": high}
    return with_ranks(rows)


def exact_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the ends of the exact interval (Clopper and Pearson 1934) of a share of `count` in `n`; NaN where n is 0."""
    from scipy.special import betaincinv

    if n == 0:
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def worsening_among(rates: Sequence[Mapping], worsening: Sequence[str], *, study: str) -> str:
    """Say which perturbations of the rows of `rates` are counted as worsening.

    ConfigError if one of `worsening` is none of them, but for those that are so by default (WORSENING).
    """
    conditions = sorted({row["condition"] for row in rates})
    unknown = sorted({*worsening} - {*conditions, *WORSENING})
    if unknown:
        found = ", ".join(conditions) or "none"
        raise ConfigError(
            f"config: comparisons: {study}: worsening: '{unknown[0]}' is no condition of its votes; found: {found}"
        )
    worse = ", ".join(sorted({*worsening} & {*conditions})) or "none"
    return f"perturbations: {', '.join(conditions)}; worsening: {worse}"


# Of CoBBLEr's tests (see `cognitive`), which perturb no answer: they may stand in one experiment with a control group.
OF_OTHER_TESTS = ("order", "compassion", "bandwagon", "attentional")


def create_votes(connection: duckdb.DuckDBPyConnection, comparisons: str) -> None:
    """Create the temporary view `votes`: the verdicts about perturbed answers in the canonical table, a parquet file.

    They are those of experiments that have a control group, under any condition that has a name and is none of
    OF_OTHER_TESTS: the control group's, or the perturbation's of the answer of model_b. One row per vote, with the columns of
    the canonical table.
    """
    connection.execute(f"""
        create temp table attacked as
        select distinct experiment from {files([comparisons])} where condition = {text(CONTROL)}""")
    connection.execute(f"""
        create temp view votes as
        select * from {files([comparisons])}
        where condition not in ('', {", ".join(map(text, OF_OTHER_TESTS))})
          and experiment in (select experiment from attacked)""")


def create_samples(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the temporary table `samples` from the view `votes`, by judge, experiment, condition, item, model_a and model_b.

    votes: how many verdicts there are, without errors; errors: how many are errors. preference: a vote scores 0 for the answer
    of model_a, 0.5 for a tie, 1 for that of model_b; a mean of the scores below, equal to or above 0.5 is the preference `a`,
    `tie` or `b`; NULL where there are only errors (Chen et al., section 4.4).
    """
    connection.execute("""
        create temp table samples as
        select judge, experiment, condition, item, model_a, model_b,
               count(*) filter (outcome <> 'error') as votes, count(*) filter (outcome = 'error') as errors,
               case sign(count(*) filter (outcome = 'b') - count(*) filter (outcome = 'a'))
                   when -1 then 'a' when 1 then 'b' else if(count(*) filter (outcome <> 'error') = 0, null, 'tie')
               end as preference
        from votes group by all""")
