"""Self-preference by a key: what a judge makes of its own wrong, and right, answers, against four baselines.

A mark is what a judge says of one answer whose correctness is known: 1 if it wins its comparison (or passes), 0 if not. The
marks of own answers are compared, case by case, with those of

* `other judges`: of the same answers, by judges whose families wrote neither answer and are not the judge's;
* `other answers`: by the judge itself, of all answers that its family did not write;
* `same questions`: the same, of the same questions, as a judge that could not answer a question may not see who could
  (the evaluator quality baseline of Roytburg et al., arXiv 2601.22548);
* `both`: less what the other judges make of this difference.

The first takes an inaccurate judge for a biased one, the next two take convincing answers for favoured ones. `both` does
neither, if what makes judges err adds up. Whether it does depends on the scale, so a bias must be there in differences (or
ratios) of shares as well as in log odds.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, create_table, files
from recuse.base.words import counted
from recuse.inference.verdict import CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, SUGGESTIVE
from recuse.model.least_squares import holm, quantile, wald_p_value
from recuse.model.spec import BIASES

SELF, FAMILY = BIASES
OTHER_JUDGES, OTHER_ANSWERS, SAME_QUESTIONS, BOTH = BASELINES = ("other judges", "other answers", "same questions", "both")
LEGITIMATE, HARMFUL, BOTH_RIGHT, BOTH_WRONG = CASES_OF_PAIRS = ("legitimate", "harmful", "both right", "both wrong")
LEGITIMATE_SHARE = "legitimate share"
OVER_MARKING, UNDER_MARKING = CASES_OF_RATINGS = ("over-marking", "under-marking")
DIFFERENCE, LOG_RATIO = "difference", "log ratio"
FEW = 10  # questions
GRID = 2**40  # marks and their means are multiples of 1 / GRID, so that sums are exact, whatever the order of the rows
ROUNDING = 1e-12  # of a variance

NO_OWN = "it judges no answers of its own of this kind"
NO_JUDGES = "no judge of another family judged the same answers"
NO_ANSWERS = "it judged no other answers of this kind to the same questions"
INACCURATE = "a judge that errs more than others looks the same"
BY_SCALE = "whether it differs depends on the scale (differences of shares, ratios or log odds)"
NO_VARIATION = "the answers are all treated alike, so that there is no ratio"


class Part(NamedTuple):
    """One share: its sums by question, (questions,) each, and the sign with which its value counts."""

    numerator: np.ndarray
    denominator: np.ndarray
    sign: int


@dataclass(frozen=True)
class Contrast:
    """The parts of one row of the table: own marks first, then those of its baseline."""

    names: dict[str, str]  # quantity, term, case and baseline
    questions: np.ndarray  # (questions,)
    parts: Sequence[Part]
    n: int  # marks of own answers


# value of a share, its derivative and, for a baseline, the share at which the contrast would be 0
SCALES: dict[str, tuple[Callable, Callable, Callable]] = {
    DIFFERENCE: (lambda share: share, lambda share: 1.0, lambda value: value),
    LOG_RATIO: (math.log, lambda share: 1 / share, math.exp),
    "log odds": (
        lambda share: math.log(share / (1 - share)),
        lambda share: 1 / (share * (1 - share)),
        lambda value: 1 / (1 + math.exp(-value)),
    ),
}
LOG_ODDS = "log odds"


def contrast(parts: Sequence[Part], measure: str, *, confidence: float) -> dict[str, float]:
    """Return the contrast of shares on a scale, with its interval and p-value, clustered by question.

    estimate = sum_c sign_c g(A_c / N_c), with sums A_c and N_c over questions q and g the identity, log or log odds. Its
    standard error is that of the sum of influences over the G questions with own answers, CR1:

        sqrt(G / (G - 1) sum_q (sum_c sign_c g'(A_c / N_c) (A_cq - N_cq A_c / N_c) / N_c)^2)

    The interval is that of a t distribution with G - 1 degrees of freedom; with no variation between questions that of 0 of G
    questions (`1 - ((1 - confidence) / 2)^(1 / G)` each way, Clopper and Pearson 1934), without p-value. NaN for all where g is
    not finite, and for errors with one question.
    """
    value_of, slope_of, _ = SCALES[measure]
    shares = [part.numerator.sum() / part.denominator.sum() for part in parts]
    questions = int((parts[0].denominator > 0).sum())
    if measure != DIFFERENCE and not all(0 < share < (1 if measure == LOG_ODDS else math.inf) for share in shares):
        return {"estimate": math.nan}
    estimate = float(sum(part.sign * value_of(share) for part, share in zip(parts, shares, strict=True)))
    row = {"estimate": estimate, "df": questions - 1}
    if questions < 2:
        return row | {"df": math.nan}
    influences = sum(
        part.sign * slope_of(share) * (part.numerator - share * part.denominator) / part.denominator.sum()
        for part, share in zip(parts, shares, strict=True)
    )
    variance = questions / (questions - 1) * float(np.square(influences).sum())
    if variance < ROUNDING:
        if measure != DIFFERENCE:
            return row
        differ = 1 - ((1 - confidence) / 2) ** (1 / questions)
        ends = estimate * (1 - differ) - differ, estimate * (1 - differ) + differ
        return row | {"std_error": 0.0, "ci_low": max(ends[0], -1.0), "ci_high": min(ends[1], 1.0)}
    std_error = math.sqrt(variance)
    reach = quantile(confidence, questions - 1) * std_error
    return row | {
        "std_error": std_error,
        "ci_low": estimate - reach,
        "ci_high": estimate + reach,
        "p_value": wald_p_value(estimate, std_error, questions - 1),
    }


def create_marks_of_ratings(
    connection: Connection, ratings: Sequence[str], *, pass_mark: float
) -> tuple[list[str], dict[str, str]]:
    """Create the table `marks` of ratings with gold labels; return the judges, sorted, and the family of each model.

    An answer is right if its gold label is the highest of its scale, and passes if its rating, on the unit scale, is
    `pass_mark` or more. y: of a wrong answer whether it passes (over-marking), of a right one whether it fails (under-marking).
    Pombal et al., arXiv 2604.06996, compare own wrong answers with others'. ratings: the canonical ratings, parquet files.
    """
    connection.execute(f"""
        create temp table marks as
        select if(gt_unit < 1, '{OVER_MARKING}', '{UNDER_MARKING}') as "case", prompt as question,
               concat_ws(chr(31), dimension, prompt) as block, concat_ws(chr(31), model, occasion) as unit,
               judge, model, null::varchar as other,
               ((rating_unit >= {pass_mark}) = (gt_unit < 1))::double as y, judge_family, model_family
        from {files(ratings)} where rating_unit is not null and gt_unit is not null""")
    names = "select judge as name, judge_family as family from marks union select model, model_family from marks order by 1"
    judges = connection.execute("select distinct judge from marks order by 1").fetchall()
    return [judge for (judge,) in judges], dict(connection.execute(names).fetchall())


def create_sides(connection: Connection, families: Mapping[str, str]) -> None:
    """Create the tables `own`, `third` and `matched` from the table `marks`.

    marks: one row for each judge and answer: case, question, block (of marks that are compared with one another: of a question,
    and of a dimension or condition), unit (which answer of a block, beside which), judge, model that wrote the answer, `other`,
    the model of the answer beside it or NULL, and y, from 0 to 1. families: family of each model; others are their own.
    """
    connection.execute(f"create temp macro on_grid(value) as round(value * {GRID}) / {GRID}")
    create_table(connection, "families_of_marks", "name varchar, family varchar", list(families.items()))
    connection.execute("""
        create temp table sides as
        with names as (select distinct judge as name from marks union select distinct model from marks
                       union select distinct other from marks where other is not null),
             of_names as (select name, coalesce(family, name) as family from names left join families_of_marks using (name))
        select "case", question, block, unit, judge, model, other, on_grid(y) as y,
               judges.family as family, models.family as model_family, others.family as other_family
        from marks join of_names as judges on judges.name = judge join of_names as models on models.name = model
        left join of_names as others on others.name = other""")
    connection.execute("""
        create temp table third as
        select "case", question, block, unit, judge, family, y from sides
        where model_family <> family and other_family is distinct from family""")
    connection.execute(
        """
        create temp table own as
        select {} from sides where model = judge
        union all
        select {} from sides where model <> judge and model_family = family and other_family is distinct from family""".format(
            *(
                f""" '{quantity}' as quantity, {term} as term, "case", question, block, unit, judge, family, y"""
                for quantity, term in ((SELF, "judge"), (FAMILY, "family"))
            )
        )
    )
    connection.execute("""
        create temp table asked as select distinct "case", block, judge from own""")
    # Of answers to one question that are neither's: the mean marks of a judge and of another, on those that both judged.
    connection.execute("""
        create temp table matched as
        select mine."case", mine.block, mine.judge, theirs.judge as other_judge,
               on_grid(avg(mine.y)) as y, on_grid(avg(theirs.y)) as other_y
        from asked join third as mine using ("case", block, judge)
        join third as theirs using ("case", block, unit)
        where mine.family <> theirs.family group by all""")


NAMES = ("quantity", "term", "case", "question")
OWN = """
    with paired as (
        select own.*, third.judge as other_judge, third.y as other_y
        from own join third using ("case", block, unit) where own.family <> third.family)"""
TERMS = 'quantity, term, "case"'
SUMS = {
    OTHER_JUDGES: f"""{OWN}, each as (
            select {TERMS}, question, block, unit, judge, any_value(y) as y, on_grid(avg(other_y)) as other_y
            from paired group by all)
        select {TERMS}, question, sum(y) as own_sum, count(*) as n, sum(other_y) as judges from each group by all""",
    OTHER_ANSWERS: f"""
        with answers as (select "case", question, judge, sum(y) as y, count(*) as n from third group by all),
             of_terms as (select distinct {TERMS}, judge from own),
             others as (select {TERMS}, question, sum(y) as answers, sum(n) as n_answers
                        from of_terms join answers using ("case", judge) group by all),
             mine as (select {TERMS}, question, sum(y) as own_sum, count(*) as n from own group by all)
        select {TERMS}, question, coalesce(own_sum, 0) as own_sum, coalesce(n, 0) as n, coalesce(answers, 0) as answers,
               coalesce(n_answers, 0) as n_answers
        from mine full join others using ({TERMS}, question)""",
    SAME_QUESTIONS: f"""
        with answers as (select "case", block, judge, on_grid(avg(y)) as y from third group by all)
        select {TERMS}, question, sum(own.y) as own_sum, count(*) as n, sum(answers.y) as answers
        from own join answers using ("case", block, judge) group by all""",
    BOTH: f"""{OWN}, each as (
            select {TERMS}, question, block, unit, judge, any_value(paired.y) as y, on_grid(avg(paired.other_y)) as other_y,
                   on_grid(avg(matched.y)) as answer_y, on_grid(avg(matched.other_y)) as other_answer_y
            from paired join matched using ("case", block, judge, other_judge) group by all)
        select {TERMS}, question, sum(y) as own_sum, count(*) as n, sum(other_y) as judges, sum(answer_y) as answers,
               sum(other_answer_y) as judges_answers
        from each group by all""",
}


def contrasts(connection: Connection) -> Iterator[Contrast]:
    """Yield the contrasts of every term, case and baseline that there is; see `create_sides`.

    For `both`, each own mark i of judge j is matched with the judges k that marked the same answer and, as j did, other answers
    t to its question. A question's sums are over its i of the means over these k, and of the means over the t of j and k:

        y_ij, mean_k y_ik, mean_k mean_t y_tj, mean_k mean_t y_tk, with the signs + - - +
    """
    for baseline, query in SUMS.items():
        table = connection.execute(f"select * from ({query}) order by {TERMS}, question").fetchnumpy()
        keys = list(zip(*(table[name].tolist() for name in ("quantity", "term", "case")), strict=True))
        starts = [row for row, key in enumerate(keys) if row == 0 or key != keys[row - 1]]
        for start, end in pairwise([*starts, len(keys)]):
            sums = {name: np.asarray(values[start:end], float) for name, values in table.items() if name not in NAMES}
            n, others = sums["n"], sums.get("n_answers", sums["n"])
            if not n.sum() or not others.sum():
                continue
            parts = [Part(sums["own_sum"], n, 1)]
            for name, sign in (("judges", -1), ("answers", -1), ("judges_answers", 1)):
                if name in sums:
                    parts.append(Part(sums[name], others, sign))
            names = dict(zip(("quantity", "term", "case"), keys[start], strict=True))
            yield Contrast(names | {"baseline": baseline}, table["question"][start:end], parts, int(n.sum()))


def legitimate_share(right: Contrast, wrong: Contrast) -> Contrast:
    """The share of right ones among own answers that win where one answer is right, less that of the other judges.

    right, wrong: `legitimate` and `harmful` contrasts with the other judges. Both shares are the sum of wins of right
    answers over that of all.
    """
    questions = np.union1d(right.questions, wrong.questions)
    parts = []
    for of_right, of_wrong in zip(right.parts, wrong.parts, strict=True):
        wins, losses = np.zeros(len(questions)), np.zeros(len(questions))
        wins[np.searchsorted(questions, right.questions)] = of_right.numerator
        losses[np.searchsorted(questions, wrong.questions)] = of_wrong.numerator
        parts.append(Part(wins, wins + losses, of_right.sign))
    return Contrast(right.names | {"case": LEGITIMATE_SHARE}, questions, parts, right.n + wrong.n)


def gold(
    connection: Connection,
    *,
    families: Mapping[str, str],
    judges: Sequence[str],
    cases: Sequence[str],
    confidence: float,
    power: float,
) -> Iterator[dict]:
    """Yield the rows of the table of gold references, from the table `marks` (see `create_sides`).

    judges: in the order of the rows. cases: of pairs or of ratings. estimate: the contrast in differences of shares for pairs,
    as the log of a ratio for ratings. share: of own answers; baseline_share: what the baseline expects of it. The row of a term
    and case for `both` has the verdict; if there is none, a row without baseline says why:

    * `established` if both p-values, in shares and log odds, adjusted by Holm over terms, are at most 1 - confidence;
    * `suggestive` if both intervals, in shares and in log odds, are on one side of 0 (in shares, if one of these is 0 or 1);
    * `no clear bias` if neither excludes 0; `cannot be told` otherwise, and with fewer than FEW questions.

    missed: the smallest contrast that is found with probability `power`, (t_((1 + confidence) / 2) + t_power) std_error.
    favours: yes if wrong, or right, own answers fare better than expected; no if worse. Pairs also have the `legitimate share`,
    see `legitimate_share`, without verdict.
    """
    create_sides(connection, families)
    measure = DIFFERENCE if cases == CASES_OF_PAIRS else LOG_RATIO
    measured = {tuple(each.names.values()): each for each in contrasts(connection)}
    for key in [key for key in measured if key[2:] == (LEGITIMATE, OTHER_JUDGES)]:
        wrong = measured.get((*key[:2], HARMFUL, OTHER_JUDGES))
        if wrong and all(part.numerator.any() for part in (*wrong.parts, *measured[key].parts)):
            measured[*key[:2], LEGITIMATE_SHARE, OTHER_JUDGES] = legitimate_share(measured[key], wrong)
    by_key = {}
    for each in measured.values():
        row = contrast(each.parts, measure, confidence=confidence)
        odds = contrast(each.parts, LOG_ODDS, confidence=confidence)
        share = float(each.parts[0].numerator.sum() / each.parts[0].denominator.sum())
        expected = _expected(each.parts, measure)
        by_key[tuple(each.names.values())] = {
            **each.names,
            "share": share,
            "baseline_share": expected,
            "measure": measure,
            **row,
            "log_odds": odds["estimate"],
            "log_odds_ci_low": odds.get("ci_low"),
            "log_odds_ci_high": odds.get("ci_high"),
            "n": each.n,
            "questions": int((each.parts[0].denominator > 0).sum()),
            "odds_p_value": odds.get("p_value", math.nan),
        }
    place = {name: number for number, name in enumerate([*dict.fromkeys(families.values()), *judges])}
    terms = {SELF: list(judges), FAMILY: sorted({key[1] for key in by_key if key[0] == FAMILY}, key=place.get)}
    for quantity, names in terms.items():
        for case in (*cases, *([LEGITIMATE_SHARE] if measure == DIFFERENCE else [])):
            deciding = [by_key.get((quantity, term, case, BOTH)) for term in names]
            adjusted = holm([max(row.get("p_value", math.nan), row["odds_p_value"]) if row else math.nan for row in deciding])
            for term, row, p_value in zip(names, deciding, adjusted, strict=True):
                present = [by_key.get((quantity, term, case, baseline)) for baseline in BASELINES]
                if case == LEGITIMATE_SHARE:
                    row = {}  # no verdict: how often a judge is right decides
                elif row is None:
                    yield {"quantity": quantity, "term": term, "case": case} | _untold(present)
                else:
                    row |= _judged(row, p_value, 1 - confidence)
                    if row.get("std_error", 0) > 0:
                        quantiles = quantile(confidence, row["df"]) + quantile(2 * power - 1, row["df"])
                        row["missed"] = quantiles * row["std_error"]
                for each in filter(None, present):
                    each.pop("odds_p_value")
                    yield each


def _expected(parts: Sequence[Part], measure: str) -> float:
    """The share of own answers that the baseline expects: where the contrast would be 0."""
    value_of, _, inverse = SCALES[measure]
    shares = [(part.numerator.sum() / part.denominator.sum(), part.sign) for part in parts[1:]]
    if measure != DIFFERENCE and not all(share > 0 for share, _ in shares):
        return math.nan
    return float(inverse(-sum(sign * value_of(share) for share, sign in shares)))


def _side(low: float | None, high: float | None) -> int:
    """1 if an interval lies above 0, -1 if below, else 0, as without one."""
    return 0 if low is None or math.isnan(low) else int(low > 0) - int(high < 0)


def _judged(row: Mapping, p_value: float, alpha: float) -> dict[str, str]:
    """The verdict that follows from a row for the baseline `both`."""
    side, by_odds = _side(row.get("ci_low"), row.get("ci_high")), _side(row["log_odds_ci_low"], row["log_odds_ci_high"])
    if row["questions"] < FEW:
        return {"verdict": CANNOT_BE_TOLD, "reason": f"{counted(row['questions'], 'question')}, fewer than {FEW}"}
    if math.isnan(row["estimate"]):
        return {"verdict": CANNOT_BE_TOLD, "reason": NO_VARIATION}
    has_odds = not math.isnan(row["log_odds"])  # there are none of a share of 0 or 1
    if side != by_odds and has_odds:
        return {"verdict": CANNOT_BE_TOLD, "reason": BY_SCALE}
    if not side:
        return {"verdict": NO_CLEAR_BIAS}
    better = side > 0 if row["case"] != UNDER_MARKING else side < 0
    return {"verdict": ESTABLISHED if p_value <= alpha and has_odds else SUGGESTIVE, "favours": "yes" if better else "no"}


def _untold(present: Sequence[Mapping | None]) -> dict[str, str]:
    """The verdict where the baseline `both` is missing: why, by what else is there."""
    judges, _, questions, _ = present
    if not any(present):
        return {"verdict": CANNOT_BE_TOLD, "reason": NO_OWN}
    reason = NO_JUDGES if judges is None else NO_ANSWERS if questions is None else "no judge of another family judged both"
    return {"verdict": CANNOT_BE_TOLD, "reason": f"{reason}; {INACCURATE}" if judges is not None else reason}
