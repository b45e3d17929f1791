"""Three questions about a judge's own and its family's answers, by regression of its verdicts on
pairs of answers.

All models are those of `recuse.pairwise.davidson`; all errors are clustered by question, with the
factor of CR1, and t has the number of questions that carry a term, less one, as degrees of freedom.

A, against people: strengths are those of single human votes, or else of the labels, by a fit of
their own (with length), and a
   judge's sensitivity is its slope on them. A single label measures the quality of a pair with much
   error; as a regressor it would have too small a slope, and the rest of the quality would go to
   the self-bias of a judge with strong answers. Strengths are means over all labels of a model:
   wrong labels shrink them all alike, which the slope takes up. Their own error is in the standard
   errors (two-step estimation). What is held fixed is the mean quality of a model, not that of an
   answer.
B, against other judges: strengths and sensitivities of all judges together, in which no judge's
bias counts as strength. A weak
   normal prior N(1, 1) keeps sensitivities finite where strengths hardly differ.
C, beyond ordinary preference: strengths by each judge alone, a table of judges by models; a judge's
own cell against what the
   cells of other families predict, by the mixed model of `recuse.inference.mixed`. Weak priors N(0,
   3^2) keep strengths finite where a judge never, or always, chooses a model. The estimate is the
   judge's preference for itself in its own log odds.

A and B also find ordinary preferences of judges for models, of which C holds the size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recuse.base.database import connect, create_table, files, text, values_in
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.data.registry import HUMAN
from recuse.model.design import ALL_JUDGES
from recuse.model.least_squares import quantile, wald_columns
from recuse.pairwise.choices import FEW, UNSWAYED, VOTES
from recuse.pairwise.davidson import (
    FAMILY,
    KINDS,
    LENGTH,
    POSITION,
    SELF,
    SENSITIVITY,
    STRENGTH,
    TIE,
    PairCells,
    Verdicts,
)
from recuse.pairwise.maximum import MaximumFit, fit_maximum, inverse_information

REGRESSION = column_names(
    "study question quantity term estimate std_error ci_low ci_high p_value df",
    "n questions spread reason doubt wordings one_ci_low one_ci_high",
)

if TYPE_CHECKING:
    from recuse.inference.idiosyncrasy import Idiosyncrasy
    from recuse.inference.judge_model import CellMeans

A, B, C = "A", "B", "C"
BIASES = (SELF, FAMILY)
OF_JUDGES = (SELF, FAMILY, POSITION, LENGTH, TIE, SENSITIVITY)
NEAR_ONE = {SENSITIVITY: 1.0}  # precision of the prior of B
WEAK = dict.fromkeys((STRENGTH, POSITION, LENGTH, TIE), 1 / 9)  # of C
LARGEST_EXPONENT = 700.0  # beyond it, exp overflows
AT_ONCE = 256  # questions whose influence is taken in at a time, which bounds memory
ABSENT = {SELF: Reason.NO_OWN_COMPARED, FAMILY: Reason.NO_SIBLINGS_COMPARED}


@dataclass(frozen=True)
class Compared:
    """The verdicts of a study that a regression reads, and what it leaves out."""

    judges: Verdicts
    labelled: np.ndarray  # (verdicts of the judges,) of bool: the humans have a label on the pair
    humans: Verdicts | None  # the labels of the pairs of answers, or each single vote
    left_out: Mapping[str, int]  # errors; verdicts without lengths
    wordings: Sequence[str] = ()  # by which the judges were asked
    # (verdicts of the judges,) code of it, -1 if none; None if there are no wordings
    wording: np.ndarray | None = None

    def among(self, rows: np.ndarray) -> Compared:
        """Some of the judges' verdicts, (verdicts,) of bool, and all human labels."""
        wording = None if self.wording is None else self.wording[rows]
        return replace(
            self, judges=self.judges.among(rows), labelled=self.labelled[rows], wording=wording
        )


def read_compared(comparisons: str, families: Mapping[str, str]) -> Compared:
    """Read the canonical comparisons, a parquet file.

    Left out are errors, conditions made to sway a judge, and experiments with a control group.
    families: family of each model; others are alone. x is tanh((length_a - length_b) / sd), with
    the standard deviation of the differences over the verdicts; 0 where a length is missing.
    """
    connection = connect()
    create_table(connection, "families", "name varchar, family varchar", list(families.items()))
    connection.execute(
        f"""
        create temp table chosen as
        select * from {files([comparisons])} where {UNSWAYED.format(table=files([comparisons]))}"""
    )

    def listed(query: str) -> list[str]:
        return values_in(connection, f"select distinct * from ({query}) order by 1")

    def place(column: str, names: Sequence[str]) -> str:
        listed_names = ", ".join(map(text, names))
        return f"coalesce(list_position([{listed_names}]::varchar[], {column}), 0)::bigint - 1"

    judges = listed("select judge from chosen")
    models = listed("select model_a from chosen union select model_b from chosen")
    wordings = listed("select wording from chosen where wording is not null")
    of = {name: families.get(name, name) for name in (*judges, *models)}
    family = {name: code for code, name in enumerate(sorted(set(of.values())))}
    connection.execute(f"""
        create temp table rows_coded as
        select {place("judge", judges)} as judge, {place("model_a", models)} as first, {place("model_b", models)} as second,
               {place("wording", wordings)} as wording, dense_rank() over (order by item) - 1 as item,
               experiment, human, outcome, humans_a, humans_b, humans_tie,
               if("order" = 'ab', 1, -1)::double as sign, length_a - length_b as longer
        from chosen""")
    rows = connection.execute("""
        select judge, first, second, item, sign, case outcome when 'a' then 0 when 'b' then 1 else 2 end::bigint as outcome,
               human is not null as labelled, coalesce(longer, 0)::double as longer, wording
        from rows_coded where outcome <> 'error'
        order by judge, item, first, second, sign, outcome, longer, wording""").fetchnumpy()
    # Each human vote on a pair is a verdict of its own, or else the label is.
    labels = connection.execute(f"""
        with labels as (
            select distinct experiment, item, first, second, coalesce(longer, 0)::double as longer, human, {VOTES} > 0 as voted,
                   humans_a, humans_b, humans_tie
            from rows_coded where human is not null)
        select item, 0::bigint as judge, first, second, 1::double as sign, longer, unnest([0, 1, 2])::bigint as outcome,
               unnest([if(voted, humans_a, (human = 'a')::integer), if(voted, humans_b, (human = 'b')::integer),
                       if(voted, coalesce(humans_tie, 0), (human = 'tie')::integer)]) as votes
        from labels order by all""").fetchnumpy()
    labels = {name: np.repeat(values, labels["votes"]) for name, values in labels.items()}
    items, errors, lengthless, spread = connection.execute(
        """
        select count(distinct item), count(*) filter (outcome = 'error'),
               count(*) filter (outcome <> 'error' and longer is null),
               coalesce(stddev_pop(longer) filter (outcome <> 'error'), 0) from rows_coded"""
    ).fetchone()
    shared = {"models": models, "families": list(family), "items": items}
    shared |= {"family_of_model": np.array([family[of[name]] for name in models], dtype=np.int64)}

    def verdicts(
        names: Sequence[str], families: Sequence[int], columns: Mapping[str, np.ndarray]
    ) -> Verdicts:
        return Verdicts(
            names,
            family_of_judge=np.array(families, dtype=np.int64),
            x=np.tanh(columns["longer"] / (spread or 1.0)),
            **{
                key: columns[key] for key in ("judge", "first", "second", "sign", "outcome", "item")
            },
            **shared,
        )

    return Compared(
        verdicts(judges, [family[of[name]] for name in judges], rows),
        rows["labelled"],
        verdicts([HUMAN], [-1], labels) if len(labels["item"]) else None,
        {"errors": errors, "no_length": lengthless},
        wordings,
        rows["wording"],
    )


@dataclass(frozen=True)
class Answered:
    """A fit that answers a question, with the influence of the questions on its coefficients."""

    question: str
    cells: PairCells  # all verdicts, also those that separate
    fit: MaximumFit
    influence: np.ndarray  # (items, terms)
    p_value: float = math.nan  # of the humans' strengths, that all are alike

    @cached_property
    def std_error(self) -> np.ndarray:
        """Standard errors, (terms,)."""
        return np.sqrt(self.fit.covariance(self.influence).diagonal())


class Regression:
    """The fits of a study's verdicts, each when it is first asked for."""

    def __init__(self, compared: Compared) -> None:
        """Sum the verdicts."""
        self.compared, self.verdicts = compared, compared.judges
        self.cells = PairCells(self.verdicts)

    @cached_property
    def against_judges(self) -> Answered:
        """B."""
        fitted = fit_maximum(self.cells, KINDS, precision=NEAR_ONE)
        return Answered(B, self.cells, fitted, fitted.influence)

    @cached_property
    def humans(self) -> MaximumFit | None:
        """The strengths of the humans' labels; None without any."""
        return (
            None
            if self.compared.humans is None
            else fit_maximum(PairCells(self.compared.humans), (STRENGTH, LENGTH, TIE))
        )

    @cached_property
    def against_humans(self) -> Answered | None:
        """A; None without human labels."""
        return None if self.humans is None else self._on_strengths(self.humans)

    @cached_property
    def preferences(self) -> Idiosyncrasy | None:
        """C: the mixed model of the table of preferences; None of a single judge."""
        from recuse.inference.idiosyncrasy import Idiosyncrasy

        return (
            Idiosyncrasy({}, preference_table(self.verdicts))
            if len(self.verdicts.judges) > 1
            else None
        )

    def _on_strengths(self, humans: MaximumFit) -> Answered:
        """A: the judges' verdicts on the humans' strengths."""
        of_humans = humans.cells.terms.places(STRENGTH)
        known = humans.identified[of_humans]
        rows = self.compared.labelled & known[self.verdicts.first] & known[self.verdicts.second]
        cells = PairCells(self.verdicts.among(rows))
        given = cells.terms.defaults()
        given[cells.terms.places(STRENGTH)] = np.where(known, humans.coefficients[of_humans], 0.0)
        fitted = fit_maximum(cells, [kind for kind in KINDS if kind != STRENGTH], given=given)
        p_value = _p_value_of_all(
            humans.coefficients[of_humans[known]],
            humans.influence[:, of_humans[known]],
            humans.questions,
        )
        return Answered(
            A, cells, fitted, fitted.moved_by(humans.influence[:, of_humans] * known), p_value
        )


def _p_value_of_all(strengths: np.ndarray, influence: np.ndarray, questions: int) -> float:
    """That strengths which sum to 0 are all 0: F = (G - k) / (G k) s' V^-1 s, with k and G - k df
    (Hotelling).
    """
    from scipy.special import fdtrc

    inverse, null, _ = inverse_information(influence.T @ influence)
    k = len(strengths) - null.shape[1]
    if not 0 < k < questions:
        return math.nan
    return float(
        fdtrc(k, questions - k, (questions - k) / (questions * k) * strengths @ inverse @ strengths)
    )


def preference_table(verdicts: Verdicts) -> CellMeans:
    """Strengths of the models by each judge alone as the cells of a judge x model table, with
    sampling variances.

    The influence of a question on a strength, times the judge's number of questions, and the
    strength are a pseudo-value, whose mean over questions is the strength: so `CellVariances` finds
    the variances as from ratings.
    """
    from recuse.inference.judge_model import CellMeans, CellVariances

    fits, asked = [], []
    for code, judge in enumerate(verdicts.judges):
        own = verdicts.among(verdicts.judge == code)
        family = verdicts.family_of_judge[[code]]
        alone = replace(own, judges=[judge], judge=np.zeros_like(own.judge), family_of_judge=family)
        fits.append(fit_maximum(PairCells(alone), WEAK, precision=WEAK))
        shown = np.zeros((verdicts.items, len(verdicts.models)), dtype=bool)
        shown[own.item, own.first] = shown[own.item, own.second] = True
        asked.append(shown)
    strengths = fits[0].cells.terms.places(STRENGTH)
    judge, model = np.nonzero([fitted.identified[strengths] for fitted in fits])
    families = np.array(verdicts.families)
    mean = np.array([fitted.coefficients[strengths] for fitted in fits])[judge, model]
    prompts = np.array([shown.sum(axis=0) for shown in asked])[judge, model]
    has_verdict = np.array([shown.any(axis=1) for shown in asked])[judge].T  # (items, cells)
    questions = has_verdict.sum(axis=0)
    cells = np.arange(len(judge))
    means = CellMeans(
        judge=np.array(verdicts.judges)[judge],
        model=np.array(verdicts.models)[model],
        judge_family=families[verdicts.family_of_judge[judge]],
        model_family=families[verdicts.family_of_model[model]],
        mean=mean,
        n=questions * 1.0,
        cell_of_kind=cells,
        level=mean,
        slopes=np.zeros((len(cells), 0)),
        kind_of_group=cells,
    )
    variances = CellVariances(means)
    moved = [fitted.influence[:, strengths][:, fitted.identified[strengths]] for fitted in fits]
    for start in range(0, verdicts.items, AT_ONCE):
        at = np.arange(start, min(start + AT_ONCE, verdicts.items))
        present = has_verdict[at] * 1.0
        values = np.concatenate([each[at] for each in moved], axis=1) * questions + mean
        variances.add(at, np.stack([present, present * values], axis=1))
    return replace(variances.result(), prompts=prompts.astype(float))


def probability(log_odds: float) -> float:
    """Chance of an answer among verdicts that choose, if the other is equally strong.

    >>> round(probability(0.4), 3)
    0.599
    >>> round(probability(-1e4), 3)
    0.0
    """
    return 1 / (1 + math.exp(min(-log_odds, LARGEST_EXPONENT)))


def regression_rows(of: Regression, *, confidence: float) -> Iterator[dict]:
    """Yield the coefficients that each question gives: rows of the table of the regression, by
    question.

    Biases in the log odds of the judge's own verdicts. `reason`: why there is no estimate, or why
    nothing is concluded from it. n: verdicts that carry the term, of so many questions; of C's mean
    of all judges, how many these are.
    """
    for answered in (of.against_humans, of.against_judges):
        if answered is not None:
            yield from _of_fit(answered, confidence)
    yield from _of_table(of, confidence)


def _of_fit(answered: Answered, confidence: float) -> Iterator[dict]:
    for code, row in _terms(answered.cells, answered.question, OF_JUDGES):
        quantity = row["quantity"]
        questions = row["questions"]
        reason = _reason(answered, quantity, code, row["n"])
        if not reason:
            place = answered.cells.terms.start[quantity] + code
            estimate = answered.fit.coefficients[place]
            row |= estimate_columns(estimate, answered.std_error[place], questions - 1, confidence)
            reason = _refusal(answered, quantity, code, questions, confidence)
        yield row | {"reason": reason}


def _terms(
    cells: PairCells, question: str, quantities: Sequence[str]
) -> Iterator[tuple[int, dict]]:
    """Code of each judge or family that may have a term, and the columns of which term it is and
    what carries it.
    """
    verdicts = cells.verdicts
    for quantity in quantities:
        names, codes = verdicts.judges, range(len(verdicts.judges))
        if quantity == FAMILY:
            names, codes = verdicts.families, _families_of_judges(verdicts)
        n, questions = (counts.tolist() for counts in carrying(cells, quantity))
        for code in codes:
            term = {"question": question, "quantity": quantity, "term": names[code]}
            yield code, {**term, "n": n[code], "questions": questions[code]}


def _families_of_judges(verdicts: Verdicts) -> list[int]:
    """Codes of the families that have a judge and another model."""
    others = verdicts.family_of_model[None] == verdicts.family_of_judge[:, None]  # (judges, models)
    others &= np.arange(len(verdicts.models)) != verdicts.model_of_judge[:, None]
    return np.unique(verdicts.family_of_judge[others.any(axis=1)]).tolist()


def carrying(cells: PairCells, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """How many verdicts, and how many questions, carry each term of a kind, (size,) each."""
    size = cells.terms.sizes[quantity]
    items = cells.verdicts.items
    entry = {SELF: cells.own, FAMILY: cells.of_family}.get(quantity, np.ones(len(cells.judge)))
    code = cells.places[1 + KINDS.index(quantity)] - cells.terms.start[quantity]
    rows = (entry != 0)[cells.group]
    table = np.bincount(
        code[cells.group[rows]] * items + cells.verdicts.item[rows], minlength=size * items
    ).reshape(size, items)
    return table.sum(axis=1), (table > 0).sum(axis=1)


def estimate_columns(
    estimate: float, std_error: float, df: float, confidence: float
) -> dict[str, float]:
    """The columns of an estimate and, with degrees of freedom, of its error."""
    return (
        wald_columns(estimate, std_error, df=df, confidence=confidence)
        if df > 0
        else {"estimate": float(estimate)}
    )


def _reason(answered: Answered, quantity: str, code: int, n: int) -> str:
    """Why a coefficient has no estimate, or ""."""
    fitted = answered.fit
    place = answered.cells.terms.start[quantity] + code
    if fitted.separated[place]:
        return because(Reason.ALWAYS_OR_NEVER)
    if fitted.identified[place]:
        return ""
    if not n:
        return because(ABSENT.get(quantity, Reason.NO_ROWS))
    if answered.question == A:
        return because(Reason.NO_SLOPE_ON_STRENGTHS)
    verdicts = answered.cells.verdicts
    model = verdicts.model_of_judge[code]
    compared = np.unique(verdicts.judge[(verdicts.first == model) | (verdicts.second == model)])
    is_alone = quantity == SELF and len(compared) == 1
    return because(Reason.NO_OTHER_JUDGE if is_alone else Reason.TIED_TO_STRENGTHS)


def _refusal(
    answered: Answered, quantity: str, code: int, questions: int, confidence: float
) -> str:
    """Why nothing is concluded from an estimate, or ""."""
    if questions < FEW:
        return because(Reason.FEW_QUESTIONS, questions=questions, least=FEW)
    # Else there are no strengths to follow
    if answered.p_value <= 1 - confidence and quantity in BIASES:
        verdicts = answered.cells.verdicts
        judges = [code] if quantity == SELF else verdicts.family_of_judge == code
        half = quantile(confidence, answered.fit.questions - 1)
        not_above_0 = answered.fit.coefficients <= half * answered.std_error
        slopes = answered.cells.terms.places(SENSITIVITY)[judges]
        if (not_above_0 & answered.fit.identified)[slopes].any():
            return because(Reason.DISAGREES_WITH_PEOPLE)
    return ""


def _of_table(of: Regression, confidence: float) -> Iterator[dict]:
    """The rows of C."""
    tests = {}
    if of.preferences is not None:
        tests = {(test.quantity, test.term): test for test in of.preferences.tests()}
    for _, row in _terms(of.cells, C, BIASES):
        quantity = row["quantity"]
        test = tests.get((quantity, row["term"]))
        if test is None or not row["n"]:
            yield row | {"reason": because(Reason.ONE_JUDGE if row["n"] else ABSENT[quantity])}
            continue
        if not math.isnan(test.estimate) and test.std_error > 0:
            row |= estimate_columns(test.estimate, test.std_error, test.df, confidence)
            row["spread"] = _spread(of.preferences, row["term"], quantity)
        yield row | {"reason": test.reason, "doubt": test.doubt}
    whole = tests.get((SELF, ALL_JUDGES))
    if whole is not None and not whole.reason:
        row = {"question": C, "quantity": SELF, "term": ALL_JUDGES, "n": whole.cells}
        yield row | estimate_columns(whole.estimate, whole.std_error, whole.df, confidence)


def _spread(preferences: Idiosyncrasy, term: str, quantity: str) -> float:
    """Standard deviation of the ordinary preferences of a judge, or the least of a family's judges,
    in log odds.
    """
    cells = preferences.cells
    judges = np.unique(
        cells.judge[(cells.judge if quantity == SELF else cells.judge_family) == term]
    )
    return float(preferences.fit.spreads[np.searchsorted(np.unique(cells.judge), judges)].min())
