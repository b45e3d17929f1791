"""Self-preference by a key: what a judge makes of its own wrong, and right, answers, against four
baselines.

A mark is what a judge says of one answer whose correctness is known: 1 if it wins its comparison
(or passes), 0 if not. The marks of own answers are compared, case by case, with those of

* `other judges`: of the same answers, by judges whose families wrote neither answer and are not the
  judge's;
* `other answers`: by the judge itself, of all answers that its family did not write;
* `same questions`: the same, of the same questions, as a judge that could not answer a question may
  not see who could (the evaluator quality baseline of Roytburg et al., arXiv 2601.22548);
* `both`: less what the other judges make of this difference.

The first takes an inaccurate judge for a biased one, the next two take convincing answers for
favoured ones. `both` does neither, if what makes judges err adds up. Whether it does depends on the
scale, so a bias must be there in differences (or ratios) of shares as well as in log odds.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, create_table, files
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.inference.verdict import KINDS, Reply, verdict_rows
from recuse.model.least_squares import detectable, wald_columns
from recuse.model.spec import FAMILY, SELF

GOLD = column_names(
    "study quantity term case baseline share baseline_share measure",
    "estimate std_error df ci_low ci_high p_value log_odds log_odds_ci_low log_odds_ci_high",
    "log_odds_p_value",
    "n questions verdict favours detectable reason",
)

OTHER_JUDGES, OTHER_ANSWERS, SAME_QUESTIONS, BOTH = BASELINES = (
    "other judges",
    "other answers",
    "same questions",
    "both",
)
LEGITIMATE, HARMFUL, BOTH_RIGHT, BOTH_WRONG = CASES_OF_PAIRS = (
    "legitimate",
    "harmful",
    "both right",
    "both wrong",
)
LEGITIMATE_SHARE = "legitimate share"
OVER_MARKING, UNDER_MARKING = CASES_OF_RATINGS = ("over-marking", "under-marking")
DIFFERENCE, LOG_RATIO = "difference", "log ratio"
FEW = 10  # questions
# Marks and their means are multiples of 1 / GRID, so that sums are exact, whatever the order of the
# rows
GRID = 2**40
ROUNDING = 1e-12  # of a variance
KIND = KINDS["gold"]
# Columns by the engine
DECIDED = ("quantity", "term", "verdict", "favours", "detectable", "reason")


class _Part(NamedTuple):
    """One share: its sums by question, (questions,) each, and the sign with which its value
    counts.
    """

    numerator: np.ndarray
    denominator: np.ndarray
    sign: int

    @property
    def share(self) -> float:
        """Over all questions."""
        return float(self.numerator.sum() / self.denominator.sum())


@dataclass(frozen=True)
class Contrast:
    """The parts of one row of the table: own marks first, then those of its baseline."""

    key: tuple[str, str, str, str]  # quantity, term, case and baseline
    questions: np.ndarray  # (questions,)
    parts: Sequence[_Part]
    n: int  # marks of own answers


LOG_ODDS = "log odds"
# Value of a share on each scale, and its derivative.
SCALES: dict[str, tuple[Callable, Callable]] = {
    DIFFERENCE: (lambda share: share, lambda share: 1.0),
    LOG_RATIO: (math.log, lambda share: 1 / share),
    LOG_ODDS: (
        lambda share: math.log(share / (1 - share)),
        lambda share: 1 / (share * (1 - share)),
    ),
}


def contrast(parts: Sequence[_Part], measure: str, *, confidence: float) -> dict[str, float]:
    """Return the contrast of shares on a scale, with its interval and p-value, clustered by
    question.

    estimate = sum_c sign_c g(A_c / N_c), with sums A_c and N_c over questions q and g the identity,
    log or log odds. Its standard error is that of the sum of influences over the G questions with
    own answers, CR1:

        sqrt(G / (G - 1) sum_q (sum_c sign_c g'(A_c / N_c) (A_cq - N_cq A_c / N_c) / N_c)^2)

    The interval is that of a t distribution with G - 1 degrees of freedom; with no variation
    between questions that of 0 of G questions (`1 - ((1 - confidence) / 2)^(1 / G)` each way,
    Clopper and Pearson 1934), without p-value. NaN for all where g is not finite, and for errors
    with one question.
    """
    value_of, slope_of = SCALES[measure]
    row = dict.fromkeys(("estimate", "std_error", "df", "ci_low", "ci_high", "p_value"), math.nan)
    questions = int((parts[0].denominator > 0).sum())
    highest = 1 if measure == LOG_ODDS else math.inf
    if measure != DIFFERENCE and not all(0 < part.share < highest for part in parts):
        return row
    estimate = row["estimate"] = float(sum(part.sign * value_of(part.share) for part in parts))
    if questions < 2:
        return row
    row["df"] = questions - 1
    influences = sum(
        part.sign
        * slope_of(part.share)
        * (part.numerator - part.share * part.denominator)
        / part.denominator.sum()
        for part in parts
    )
    variance = questions / (questions - 1) * float(np.square(influences).sum())
    if variance >= ROUNDING:
        return row | wald_columns(
            estimate, math.sqrt(variance), df=questions - 1, confidence=confidence
        )
    if measure != DIFFERENCE:
        return row
    differ = 1 - ((1 - confidence) / 2) ** (1 / questions)
    low, high = (estimate * (1 - differ) + sign * differ for sign in (-1, 1))
    return row | {"std_error": 0.0, "ci_low": max(low, -1.0), "ci_high": min(high, 1.0)}


def create_marks_of_ratings(
    connection: Connection, ratings: Sequence[str], *, pass_mark: float
) -> tuple[list[str], dict[str, str]]:
    """Create the table `marks` of ratings with gold labels; return the judges, sorted, and the
    family of each model.

    An answer is right if its gold label is the highest of its scale, and passes if its rating, on
    the unit scale, is `pass_mark` or more. y: of a wrong answer whether it passes (over-marking),
    of a right one whether it fails (under-marking). Pombal et al., arXiv 2604.06996, compare own
    wrong answers with others'. ratings: the canonical ratings, parquet files.
    """
    connection.execute(f"""
        create temp table marks as
        select if(gt_unit < 1, '{OVER_MARKING}', '{UNDER_MARKING}') as "case", prompt as question,
               concat_ws(chr(31), dimension, prompt) as block, concat_ws(chr(31), model, occasion) as unit,
               judge, model, null::varchar as other,
               ((rating_unit >= {pass_mark}) = (gt_unit < 1))::double as y, judge_family, model_family
        from {files(ratings)} where rating_unit is not null and gt_unit is not null""")
    names = (
        "select judge as name, judge_family as family from marks union select model, model_family"
        " from marks order by 1"
    )
    judges = connection.execute("select distinct judge from marks order by 1").fetchall()
    return [judge for (judge,) in judges], dict(connection.execute(names).fetchall())


def create_sides(connection: Connection, families: Mapping[str, str]) -> None:
    """Create the tables `own`, `third` and `matched` from the table `marks`.

    marks: one row for each judge and answer: case, question, block (of marks that are compared with
    one another: of a question, and of a dimension or condition), unit (which answer of a block,
    beside which), judge, model that wrote the answer, `other`, the model of the answer beside it or
    NULL, and y, from 0 to 1. families: family of each model; others are their own.
    """
    connection.execute(f"create temp macro on_grid(value) as round(value * {GRID}) / {GRID}")
    create_table(
        connection, "families_of_marks", "name varchar, family varchar", list(families.items())
    )
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
    # Of answers to one question that are neither's: the mean marks of a judge and of another, on
    # those that both judged.
    connection.execute("""
        create temp table matched as
        select mine."case", mine.block, mine.judge, theirs.judge as other_judge,
               on_grid(avg(mine.y)) as y, on_grid(avg(theirs.y)) as other_y
        from asked join third as mine using ("case", block, judge)
        join third as theirs using ("case", block, unit)
        where mine.family <> theirs.family group by all""")


OWN = """
    with paired as (
        select own.*, third.judge as other_judge, third.y as other_y
        from own join third using ("case", block, unit) where own.family <> third.family)"""
TERMS = 'quantity, term, "case"'
SUMS = {
    OTHER_JUDGES: (
        f"""{OWN}, each as (
            select {TERMS}, question, block, unit, judge, any_value(y) as y, on_grid(avg(other_y)) as other_y
            from paired group by all)
        select {TERMS}, question, sum(y) as own_sum, count(*) as n, count(*) as n_others, sum(other_y) as judges,
               null as answers, null as judges_answers
        from each group by all"""
    ),
    OTHER_ANSWERS: (
        f"""
        with answers as (select "case", question, judge, sum(y) as y, count(*) as n from third group by all),
             of_terms as (select distinct {TERMS}, judge from own),
             others as (select {TERMS}, question, sum(y) as answers, sum(n) as n_answers
                        from of_terms join answers using ("case", judge) group by all),
             mine as (select {TERMS}, question, sum(y) as own_sum, count(*) as n from own group by all)
        select {TERMS}, question, coalesce(own_sum, 0) as own_sum, coalesce(n, 0) as n, coalesce(n_answers, 0) as n_others,
               null as judges, coalesce(answers, 0) as answers, null as judges_answers
        from mine full join others using ({TERMS}, question)"""
    ),
    SAME_QUESTIONS: (
        f"""
        with answers as (select "case", block, judge, on_grid(avg(y)) as y from third group by all)
        select {TERMS}, question, sum(own.y) as own_sum, count(*) as n, count(*) as n_others, null as judges,
               sum(answers.y) as answers, null as judges_answers
        from own join answers using ("case", block, judge) group by all"""
    ),
    BOTH: (
        f"""{OWN}, each as (
            select {TERMS}, question, block, unit, judge, any_value(paired.y) as y, on_grid(avg(paired.other_y)) as other_y,
                   on_grid(avg(matched.y)) as answer_y, on_grid(avg(matched.other_y)) as other_answer_y
            from paired join matched using ("case", block, judge, other_judge) group by all)
        select {TERMS}, question, sum(y) as own_sum, count(*) as n, count(*) as n_others, sum(other_y) as judges,
               sum(answer_y) as answers, sum(other_answer_y) as judges_answers
        from each group by all"""
    ),
}


def contrasts(connection: Connection) -> Iterator[Contrast]:
    """Yield the contrasts of every term, case and baseline that there is; see `create_sides`.

    For `both`, each own mark i of judge j is matched with the judges k that marked the same answer
    and, as j did, other answers t to its question. A question's sums are over its i of the means
    over these k, and of the means over the t of j and k:

        y_ij, mean_k y_ik, mean_k mean_t y_tj, mean_k mean_t y_tk, with the signs + - - +
    """
    columns = ("question", "own_sum", "n", "n_others", "judges", "answers", "judges_answers")
    lists = ", ".join(f"list({column} order by question)" for column in columns)
    for baseline, query in SUMS.items():
        query = f"select {TERMS}, {lists} from ({query}) group by all"
        for row in connection.execute(query).fetchall():
            questions, own, n, n_others, *others = row[3:]
            if not sum(n) or not sum(n_others):
                continue
            parts = [_Part(np.array(own), np.array(n), 1)]
            for sums, sign in zip(others, (-1, -1, 1), strict=True):
                if sums[0] is not None:
                    parts.append(_Part(np.array(sums), np.array(n_others), sign))
            yield Contrast((*row[:3], baseline), np.array(questions), parts, sum(n))


def legitimate_share(right: Contrast, wrong: Contrast) -> Contrast:
    """The share of right ones among own answers that win where one answer is right, less that of
    the other judges.

    right, wrong: `legitimate` and `harmful` contrasts with the other judges. Both shares are the
    sum of wins of right answers over that of all.
    """
    questions = np.union1d(right.questions, wrong.questions)
    parts = []
    for of_right, of_wrong in zip(right.parts, wrong.parts, strict=True):
        wins, losses = (
            np.bincount(
                np.searchsorted(questions, of.questions), part.numerator, minlength=len(questions)
            )
            for of, part in ((right, of_right), (wrong, of_wrong))
        )
        parts.append(_Part(wins, wins + losses, of_right.sign))
    key = (*right.key[:2], LEGITIMATE_SHARE, OTHER_JUDGES)
    return Contrast(key, questions, parts, right.n + wrong.n)


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

    judges: in the order of the rows. cases: of pairs or of ratings. estimate: the contrast in
    differences of shares for pairs, as the log of a ratio for ratings. share: of own answers;
    baseline_share: what the baseline expects of it. The row of a term and case for `both` has the
    verdict by `recuse.inference.verdict`, for the larger of the p-values in shares (or ratios) and
    log odds; it is inconclusive if the intervals of these disagree, or with fewer than FEW
    questions. If there is no such row, one without baseline says why.

    detectable: the smallest contrast that is found with probability `power`, (t_((1 + confidence) /
    2) + t_power) std_error. favours: yes if wrong, or right, own answers fare better than expected;
    no if worse. Pairs also have the `legitimate share`, see `legitimate_share`, without verdict.
    """
    create_sides(connection, families)
    measure = DIFFERENCE if cases == CASES_OF_PAIRS else LOG_RATIO
    measured = {each.key: each for each in contrasts(connection)}
    for key, right in list(measured.items()):
        wrong = measured.get((*key[:2], HARMFUL, OTHER_JUDGES))
        if key[2:] != (LEGITIMATE, OTHER_JUDGES) or wrong is None:
            continue
        if all(part.numerator.any() for part in (*wrong.parts, *right.parts)):
            share = legitimate_share(right, wrong)
            measured[share.key] = share
    by_key = {}
    for key, each in measured.items():
        odds = contrast(each.parts, LOG_ODDS, confidence=confidence)
        by_key[key] = {
            **dict(zip(("quantity", "term", "case", "baseline"), key, strict=True)),
            "share": each.parts[0].share,
            "baseline_share": _expected(each.parts[1:], measure),
            "measure": measure,
            **contrast(each.parts, measure, confidence=confidence),
            "log_odds": odds["estimate"],
            **{f"log_odds_{name}": odds[name] for name in ("ci_low", "ci_high", "p_value")},
            "n": each.n,
            "questions": int((each.parts[0].denominator > 0).sum()),
        }
    order = [*dict.fromkeys(families.values()), *judges]
    of_families = sorted(
        {term for quantity, term, *_ in by_key if quantity == FAMILY}, key=order.index
    )
    for quantity, names in ((SELF, judges), (FAMILY, of_families)):
        for case in cases:
            rows = {
                name: [by_key.get((quantity, name, case, baseline)) for baseline in BASELINES]
                for name in names
            }
            replies = {
                name: {KIND.decisive: _reply(each, confidence, power)}
                for name, each in rows.items()
            }
            for verdict in verdict_rows(KIND, quantity, replies, confidence=confidence):
                *simple, both = rows[verdict["term"]]
                yield from filter(None, simple)
                decided = {name: verdict[name] for name in DECIDED if name in verdict}
                yield (both or {"case": case}) | decided
        shares = (by_key.get((quantity, name, LEGITIMATE_SHARE, OTHER_JUDGES)) for name in names)
        # Without verdict: they depend on how often a judge is right
        yield from filter(None, shares)


def _expected(others: Sequence[_Part], measure: str) -> float:
    """The share of own answers that the baseline expects: where the contrast would be 0."""
    if measure == DIFFERENCE:
        return -sum(part.sign * part.share for part in others)
    return (
        math.prod(part.share**-part.sign for part in others)
        if all(part.share for part in others)
        else math.nan
    )


def _reply(present: Sequence[Mapping | None], confidence: float, power: float) -> Reply:
    """What the rows of a term and case, by baseline, say of a bias in favour of own answers."""
    judges, _, questions, both = present
    if not any(present):
        return Reply(reason=because(Reason.NO_OWN_OF_CASE))
    if judges is None:
        return Reply(reason=because(Reason.NO_OTHER_JUDGE))
    if both is None:
        return Reply(
            reason=because(Reason.NO_COMMON_JUDGE if questions else Reason.NO_OTHER_ANSWERS)
        )
    if both["questions"] < FEW:
        return Reply(reason=because(Reason.FEW_QUESTIONS, questions=both["questions"], least=FEW))
    if math.isnan(both["estimate"]):
        return Reply(reason=because(Reason.ALL_ALIKE))
    # To fail own answers less often is to favour them
    sign = -1 if both["case"] == UNDER_MARKING else 1
    low, high = sorted((sign * both["ci_low"], sign * both["ci_high"]))
    # NaN without log odds: nothing is established
    p_value = float(np.maximum(both["p_value"], both["log_odds_p_value"]))
    least = detectable(both["std_error"], both["df"], confidence=confidence, power=power)
    reply = Reply(sign * both["estimate"], low, high, p_value, least)
    by_odds = Reply(both["log_odds"], both["log_odds_ci_low"], both["log_odds_ci_high"])
    if sign * by_odds.side != reply.side and not math.isnan(by_odds.ci_low):
        return Reply(reason=because(Reason.DEPENDS_ON_SCALE))
    return reply
