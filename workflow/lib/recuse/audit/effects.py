"""How treatments change a judge's replies: paired differences, their intervals, tests and verdicts.

A unit is the same answer, asked about in the same way, under both arms of a contrast. Units are
averaged over each prompt, and prompts count as drawn at random: the effect may differ from one to
another.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from recuse.audit.treatments import ArmContrast, Treatment
from recuse.base.errors import DataError
from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.collect.parse import NOT_ANSWERED
from recuse.inference.verdict import KINDS, Reply, verdict_rows
from recuse.inference.wordings import Crossed, Part
from recuse.model.least_squares import (
    NEGLIGIBLE,
    detectable,
    holm,
    quantile,
    wald_p_value,
)

UNIT = column_names("prompt model other order writer dimension wording replicate")
EFFECTS = column_names(
    "judge treatment contrast dimension wording length estimate ci_low ci_high standard_error df",
    "p_value randomisation_p_value adjusted_p_value verdict favours detectable prompts units turned_up",
    "turned_down failed_treated failed_control failure_p_value reason note",
)
# Taken from the rows of recuse.inference.verdict
VERDICT_COLUMNS = ("adjusted_p_value", "verdict", "favours", "reason", "note")
# The estimated variance of writers' effects may be negative, down to this share of its noise: cut
# off at 0, it would make intervals too wide where writers are alike
LEAST_SPREAD = -0.4
# How many unseen prompts with a difference a standard error allows for
MORE_PROMPTS = 1.5
LEAST_PROMPTS = 10  # with complete units
POWER = 0.8  # to find the detectable effect
Observation = Mapping[str, object]


@dataclass(frozen=True)
class ArmPair:
    """A unit with replies under both arms of a contrast."""

    prompt: str
    writer: str
    dimension: str
    wording: str
    is_own: bool  # the target is the judge's own answer
    words: int  # how many the target has before treatment
    treated: float  # the value of the target; NaN if the reply could not be read
    control: float

    @property
    def difference(self) -> float:
        """The treatment's effect on this unit; NaN unless both arms have a value."""
        return self.treated - self.control


Units = Mapping[tuple, Mapping[str, Observation]]  # unit -> arm -> observation


def units_by_treatment(observations: Iterable[Observation]) -> dict[tuple[str, str], Units]:
    """Group observations by judge and treatment, then by unit and arm.

    Requests without any reply are left out: they say nothing about the judge. Raises DataError if a
    unit has two observations in one arm.
    """
    groups: dict[tuple[str, str], dict[tuple, dict[str, Observation]]] = {}
    for number, row in enumerate(observations, 1):
        if row["reason"] == NOT_ANSWERED:
            continue
        units = groups.setdefault((row["judge"], row["treatment"]), {})
        arms = units.setdefault(tuple(row[name] for name in UNIT), {})
        if row["arm"] in arms:
            raise DataError(
                f"observations, row {number}: found a second value of {row['judge']} for treatment"
                f" {row['treatment']}, arm {row['arm']}, prompt {row['prompt']}, model"
                f" {row['model']}; number repeated requests in the column replicate"
            )
        arms[row["arm"]] = row
    return groups


def pairs_of_arms(units: Units, contrast: ArmContrast) -> list[ArmPair]:
    """The units with replies under both arms."""
    pairs = []
    for unit, arms in units.items():
        if contrast.treated in arms and contrast.control in arms:
            fields = dict(zip(UNIT, unit, strict=True))
            pairs.append(
                ArmPair(
                    prompt=fields["prompt"],
                    writer=fields["writer"],
                    dimension=fields["dimension"],
                    wording=fields["wording"],
                    is_own=str(arms[contrast.treated]["own"]) == "1",
                    words=int(arms[contrast.treated]["words"]),
                    treated=_value(arms[contrast.treated]),
                    control=_value(arms[contrast.control]),
                )
            )
    return pairs


def _value(row: Observation) -> float:
    return math.nan if row["value"] in ("", None) else float(row["value"])


def by_prompt(pairs: Iterable[ArmPair], contrast: ArmContrast) -> dict[str, float]:
    """The effect on each prompt: the mean difference of its complete units. In a contrast beyond
    others, the mean of own answers minus that of others', for prompts that have both.
    """
    sums: dict[tuple[str, bool], list[float]] = {}
    for pair in pairs:
        difference = pair.difference
        if not math.isnan(difference):
            is_baseline = contrast.beyond_others and not pair.is_own
            sums.setdefault((pair.prompt, is_baseline), []).append(difference)
    means = {key: sum(values) / len(values) for key, values in sums.items()}
    prompts = sorted({prompt for prompt, _ in means})
    if not contrast.beyond_others:
        return {prompt: means[prompt, False] for prompt in prompts}
    return {
        prompt: means[prompt, False] - means[prompt, True]
        for prompt in prompts
        if (prompt, False) in means and (prompt, True) in means
    }


def grouped(pairs: Iterable[ArmPair], field: str) -> dict[str, list[ArmPair]]:
    """The pairs by a field, such as the writer, in the order of its values."""
    groups: dict[str, list[ArmPair]] = {}
    for pair in sorted(pairs, key=attrgetter(field)):
        groups.setdefault(getattr(pair, field), []).append(pair)
    return groups


def mean_over_prompts(differences: Sequence[float], units: int) -> Part:
    """Mean of the prompts' differences d, and its standard error

      sqrt((sum (d - mean)^2 + MORE_PROMPTS m^2) / (P (P + MORE_PROMPTS - 1)))

    m^2 is the mean square of d - median where that is not 0, as if a few more prompts differed by a
    usual amount: without them, the error is too small if few prompts differ. If most do, the result
    is close to least squares with errors clustered by prompt (CR1).
    """
    values = np.asarray(differences, dtype=float)
    count = len(values)
    deviations = values - np.median(values)
    different = deviations[np.abs(deviations) > NEGLIGIBLE]
    usual = np.sum(different**2) / max(1, len(different))
    mean = float(values.mean())
    squares = np.sum((values - mean) ** 2) + MORE_PROMPTS * usual
    error = math.sqrt(squares / count / (count + MORE_PROMPTS - 1)) if count > 1 else math.nan
    return Part(mean, 0.0 if error < NEGLIGIBLE else error, count - 1, units)


def over_writers(parts: Iterable[tuple[Sequence[float], int]], whole: Part) -> Part:
    """Add the error over writers to the estimate, if there are two or more.

    The variance is V + B - E: V over prompts, B that of the mean of writers' effects, estimated
    from how much these differ, and E the noise in B. Satterthwaite's degrees of freedom lie between
    those of writers and those of prompts. There, B^2 is multiplied by W / (W - 1): with few
    writers, B is often much too small. Two writers can hardly show that all are alike: only half of
    E is subtracted, and if B exceeds that, there is one degree of freedom.

    parts: the prompts' differences of each writer, and the number of their units. Writers with
    fewer than two prompts do not count.
    """
    parts = [mean_over_prompts(*part) for part in parts if len(part[0]) > 1]
    if len(parts) < 2:
        return whole
    crossed = Crossed(whole, parts)
    estimates = np.array([part.estimate for part in parts])
    squares = (estimates - crossed.shares @ estimates) ** 2
    between = crossed.kish * float(crossed.shares @ squares) / (1 - crossed.kish)
    noise = crossed.kish * crossed.noise
    variance, fewest = whole.std_error**2, min(max(1 / crossed.kish - 1, 1.0), whole.df)
    spread, least = between - noise, LEAST_SPREAD * min(noise, variance)
    if len(parts) == 2:
        spread, least = between - noise / 2, 0.0
    whole = whole._replace(std_error=math.sqrt(variance + max(spread, least)))
    if spread <= least:
        return whole
    by_writer = between**2 * (1 + 1 / fewest) / fewest
    parts_of_it = variance**2 / whole.df + by_writer + noise**2 / whole.df / fewest
    df = fewest if len(parts) == 2 else (variance + spread) ** 2 / parts_of_it
    return whole._replace(df=max(fewest, min(whole.df, df)))


def constant_columns(
    effect: float, prompts: int, *, largest: float, confidence: float
) -> dict[str, float]:
    """Columns of an effect that is the same on all prompts: a standard error of 0 would claim that
    it always is.

    If a share s of all prompts differs, none of P does so with probability (1 - s)^P. So at most

      s = 1 - ((1 - confidence) / 2)^(1 / P)

    differ, with effects between -largest and largest. The p-value is that of the sign test,
    2^(1 - P), or 1 if the effect is 0.
    """
    share = 1 - ((1 - confidence) / 2) ** (1 / prompts)
    return {
        "ci_low": effect - share * (largest + effect),
        "ci_high": effect + share * (largest - effect),
        "p_value": 2.0 ** (1 - prompts) if effect else 1.0,
        "df": prompts - 1,
    }


def interval_columns(
    differences: Sequence[float], part: Part, *, largest: float, confidence: float
) -> dict[str, float]:
    """Columns ci_low, ci_high, p_value and df of the mean of the prompts' differences d.

    Uses t with Hall's correction for skewness. Without it, an interval is too short on one side if
    few prompts differ, most of them in one direction. With

      T = (mean - effect) / error
      b = sum (d - mean)^3 / (P error)^3
      z = T + b T^2 / 3 + b^2 T^3 / 27 + b / 6

    z has the t distribution. Conversely, with y = z - b / 6 and r = (1 + b y)^(1/3),

      T = 3 y / (r^2 + r + 1)

    Source: Hall (1992), On the removal of skewness by transformation.

    part: from `mean_over_prompts`, perhaps with `over_writers`. largest: how far an effect can be
    from 0.
    """
    count = len(differences)
    if not part.std_error:
        return constant_columns(part.estimate, count, largest=largest, confidence=confidence)
    cubes = float(np.sum((np.asarray(differences) - part.estimate) ** 3))
    skewness = cubes / (count * part.std_error) ** 3
    reach = quantile(confidence, part.df)
    ends = []
    for z in (reach, -reach):
        shifted = z - skewness / 6
        root = float(np.cbrt(1 + skewness * shifted))
        ends.append(part.estimate - part.std_error * 3 * shifted / (root**2 + root + 1))
    t = part.estimate / part.std_error
    z = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    return {
        "ci_low": max(ends[0], -largest),
        "ci_high": min(ends[1], largest),
        "p_value": wald_p_value(z, 1.0, part.df),
        "df": part.df,
    }


def randomisation_p_value(
    differences: Sequence[float], *, seed: int, most_exact: int = 12, blocks: int = 10
) -> float:
    """Two-sided p-value of a test of signs, under which each prompt's difference is as likely to
    have the other sign: the share of assignments of signs whose sum is at least as far from 0.

    Exact if at most `most_exact` prompts have a difference; else (1 + as far) / (1 + draws), with
    500 assignments per block drawn with the seed.
    """
    values = np.array([each for each in differences if abs(each) > NEGLIGIBLE])
    count = len(values)
    observed = abs(values.sum()) - NEGLIGIBLE
    if count <= most_exact:
        patterns = np.arange(2**count)[:, None] >> np.arange(count) & 1  # (assignments, prompts)
        return float(np.mean(np.abs((1.0 - 2.0 * patterns) @ values) >= observed))
    rng, as_far = np.random.default_rng(seed), 0
    for _ in range(blocks):
        flipped = rng.integers(0, 2, (500, count), dtype=np.int8)
        as_far += int(np.sum(np.abs(values.sum() - 2.0 * (flipped @ values)) >= observed))
    return (1 + as_far) / (1 + 500 * blocks)


def failure_columns(pairs: Iterable[ArmPair]) -> dict[str, float]:
    """How many replies could not be read in each arm, and the exact p-value (McNemar's, over
    prompts) of failures being as likely in both.

    In n prompts one arm failed more often: k times the arm for which that is rarer. The p-value is
    2 P(Binomial(n, 1/2) <= k), at most 1.
    """
    more: dict[str, int] = {}
    failed = [0, 0]
    for pair in pairs:
        failures = math.isnan(pair.treated), math.isnan(pair.control)
        failed[0] += failures[0]
        failed[1] += failures[1]
        more[pair.prompt] = more.get(pair.prompt, 0) + failures[0] - failures[1]
    up, down = sum(each > 0 for each in more.values()), sum(each < 0 for each in more.values())
    tail = sum(math.comb(up + down, k) for k in range(min(up, down) + 1))
    return {
        "failed_treated": failed[0],
        "failed_control": failed[1],
        "failure_p_value": min(1.0, 2 * tail / 2 ** (up + down)),
    }


def effect_columns(
    pairs: Sequence[ArmPair], contrast: ArmContrast, *, confidence: float, seed: int
) -> dict[str, object]:
    """The numbers of one effect; if it has no interval, `reason` says why."""
    prompts = by_prompt(pairs, contrast)
    differences = [*prompts.values()]
    complete = [pair for pair in pairs if not math.isnan(pair.difference)]
    if contrast.beyond_others:
        complete = [pair for pair in complete if pair.prompt in prompts]
    row = {
        "prompts": len(prompts),
        "units": len(complete),
        "turned_up": sum(pair.difference > 0 for pair in complete),
        "turned_down": sum(pair.difference < 0 for pair in complete),
        **failure_columns(pairs),
    }
    if contrast.beyond_others and len({pair.is_own for pair in pairs}) == 1:
        is_own = pairs[0].is_own
        return row | {
            "reason": because(Reason.NO_OTHER_ANSWERS if is_own else Reason.NO_OWN_ANSWERS)
        }
    if not differences:
        return row | {"reason": because(Reason.FEW_QUESTIONS, questions=0, least=LEAST_PROMPTS)}
    whole = mean_over_prompts(differences, len(complete))
    row["estimate"] = whole.estimate
    if len(prompts) < LEAST_PROMPTS:
        few = because(Reason.FEW_QUESTIONS, questions=len(prompts), least=LEAST_PROMPTS)
        return row | {"reason": few}
    if len({value for pair in complete for value in (pair.treated, pair.control)}) == 1:
        return row | {"reason": because(Reason.ONE_VALUE)}
    parts = (
        ([*by_prompt(those, contrast).values()], len(those))
        for those in grouped(complete, "writer").values()
    )
    part = over_writers(parts, whole)
    row["standard_error"] = part.std_error
    # A difference of differences may be twice as large as a difference
    largest = 2.0 if contrast.beyond_others else 1.0
    row |= interval_columns(differences, part, largest=largest, confidence=confidence)
    row["randomisation_p_value"] = randomisation_p_value(differences, seed=seed)
    return row


def effect_rows(
    observations: Iterable[Observation],
    treatments: Sequence[Treatment],
    *,
    confidence: float,
    seed: int,
) -> Iterator[dict]:
    """Yield the rows of the table EFFECTS: for each judge and contrast the effect with its verdict,
    then the effect in each dimension, each wording and each third by the answer's length, if there
    are several.

    estimate: mean over prompts of the mean difference between the target's value as treated and in
    the control, as a share of the scale or of verdicts, over the wordings that were asked. ci_low,
    ci_high, p_value: by t over prompts, and over writers if there are two or more.
    randomisation_p_value: by signs of prompts. adjusted_p_value: Holm's over all contrasts of the
    judge. detectable: the effect that the test finds with probability POWER, at the level of Holm's
    first step. turned_up, turned_down: units whose value rose, and fell.
    """
    groups = units_by_treatment(observations)
    for judge in sorted({judge for judge, _ in groups}):
        whole: dict[tuple[str, str], dict] = {}
        parts: dict[tuple[str, str], list[dict]] = {}
        for treatment in treatments:
            for contrast in treatment.contrasts if (judge, treatment.name) in groups else ():
                pairs = pairs_of_arms(groups[judge, treatment.name], contrast)
                key = treatment.name, contrast.name
                names = {"judge": judge, "treatment": key[0], "contrast": key[1]}
                settings = {"confidence": confidence, "seed": seed}
                whole[key] = names | effect_columns(pairs, contrast, **settings)
                parts[key] = [
                    names | {column: name} | effect_columns(those, contrast, **settings)
                    for column, name, those in _parts(pairs)
                ]
        found = _verdicts(whole, confidence=confidence)
        for key, row in whole.items():
            yield row | found[key]
            yield from parts[key]


def _parts(pairs: Sequence[ArmPair]) -> Iterator[tuple[str, str, list[ArmPair]]]:
    """The pairs of each dimension, each wording and each third by length, if there are two or
    more.
    """
    for column in ("dimension", "wording"):
        groups = grouped(pairs, column)
        for name, those in groups.items() if len(groups) > 1 else ():
            yield column, name, those
    thirds = _thirds(pairs)
    for those in thirds if len(thirds) > 1 else ():
        yield "length", f"{those[0].words} to {those[-1].words} words", those


def _thirds(pairs: Sequence[ArmPair]) -> list[list[ArmPair]]:
    """The pairs in thirds by the length of the target, the shortest first; answers of one length
    stay together, so thirds may be uneven, or absent.
    """
    by_words = sorted(pairs, key=attrgetter("words"))
    words = [pair.words for pair in by_words]
    thirds: dict[int, list[ArmPair]] = {}
    for pair in by_words:
        shorter = bisect_left(words, pair.words)
        thirds.setdefault(3 * shorter // len(pairs), []).append(pair)
    return [*thirds.values()]


def _verdicts(rows: Mapping[tuple, dict], *, confidence: float) -> dict[tuple, dict]:
    """The columns of verdicts of one judge's effects.

    With ten treatments, two of three unbiased judges have an interval that excludes 0 by chance. So
    an effect that Holm's correction does not confirm is not shown. If it is confirmed but doubtful,
    it is likely: the randomisation test does not confirm it, or failures differ between the arms
    and could explain it.
    """
    level = 1 - confidence
    tests = sum("ci_low" in row for row in rows.values())
    by_t, by_signs = (
        holm([row.get(name, math.nan) for row in rows.values()])
        for name in ("p_value", "randomisation_p_value")
    )
    replies = {}
    for (key, row), adjusted, adjusted_by_signs in zip(rows.items(), by_t, by_signs, strict=True):
        doubt = ""
        if adjusted > level:
            doubt = because(Reason.MANY_TESTED, tests=tests)
        elif adjusted_by_signs > level:
            doubt = because(Reason.NOT_BY_SIGNS)
        elif row["failure_p_value"] <= level and _failures_could_explain(row):
            failed = {name: row[name] for name in ("failed_treated", "failed_control")}
            doubt = because(Reason.FAILURES_DIFFER, **failed)
        replies[key] = {
            KINDS["randomised"].decisive: Reply(
                **{name: row.get(name, math.nan) for name in ("estimate", "ci_low", "ci_high")},
                p_value=row.get("p_value", math.nan),
                detectable=_detectable(row, tests, level),
                reason=row.get("reason", ""),
                doubt=doubt,
            )
        }
    columns = {}
    for row in verdict_rows(KINDS["randomised"], "treatment", replies, confidence=confidence):
        columns[row["term"]] = {name: row[name] for name in VERDICT_COLUMNS if name in row}
        columns[row["term"]]["detectable"] = row.get("detectable", math.nan)
    return columns


def _failures_could_explain(row: Mapping) -> bool:
    """Whether the interval would include 0 if the units without a value, a share f, had the
    strongest opposite effect: if its end nearer to 0, times 1 - f, is at most f.
    """
    failed = row["failed_treated"] + row["failed_control"]
    share = failed / (row["units"] + failed)
    nearer = min(abs(row.get(end, math.nan)) for end in ("ci_low", "ci_high"))
    return nearer * (1 - share) <= share


def _detectable(row: Mapping, tests: int, level: float) -> float:
    if not row.get("standard_error"):
        return math.nan
    strictest = 1 - level / tests
    return detectable(row["standard_error"], row["df"], confidence=strictest, power=POWER)
