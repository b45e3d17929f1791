"""Power of planned studies like an existing one: the error of a self-bias, and the part that more
prompts do not lower.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.base.tables import Row, column_names
from recuse.data.moments import Moments
from recuse.data.study import StudyTables
from recuse.inference.hierarchy import LEAST, MEAN_BIAS, SPREADS, TAILS, TAU
from recuse.inference.idiosyncrasy import (
    LEAST_PROMPTS,
    few_prompts,
    idiosyncrasies,
    listed_biases,
    refusal,
)
from recuse.inference.judge_model import CellMeans
from recuse.inference.mixed import CellTable, MixedFit, Preferences
from recuse.model.design import CONSTANT, design_layout, design_terms, estimable_terms
from recuse.model.design import REFERENCE as SLOPE
from recuse.model.estimable import spec_slices
from recuse.model.least_squares import (
    NEGLIGIBLE,
    determined,
    inverted,
    quantile,
    solve,
    weighted_squares,
)
from recuse.model.spec import A, B, C, Spec

POWER = column_names(
    "study estimand judges models dimensions raters prompts self_bias power",
    "detectable detectable_least floor prompts_needed bias size reason",
)

EQUATION = ("judge", "judge:reference", "self", "same_family")
BY_MODEL = B.format("model")
TERMS = {A: EQUATION, BY_MODEL: (*EQUATION, "model")}  # of the estimands that are a fit to the rows
EXACT = 1.0, 1.0  # reliability and raters of human scores taken as exact
TOO_OFTEN = 2.0  # times the level: a test that rejects this often without self-bias is oversized
EVER = 1e12  # prompts: as good as infinitely many
# Factor on the value that `reaches` computes, found by simulation (benchmarks/detectable.py): its
# sums ignore spreads by model and what families have in common.
CALIBRATION = 1.05
# Over wordings, which all judges together know nothing of: critical values to be established
REACH = 2.0
# Grids of `reaches`: means and scales of biases, quantiles of what stretches a scale for heavy
# tails, normal scores of the errors of a judge, biases, and errors at which an estimate is tried
MEANS = np.sinh(np.linspace(-4, 4, 21)) / 9 * MEAN_BIAS
SCALES = np.geomspace(LEAST, 3.5, 10)[:, None] * TAU
STRETCHES = -1 / np.log((np.arange(10) + 0.5) / 10)
SCORES = np.array([[1.73], [1.15], [0.81], [0.55], [0.32], [0.10]])
POINTS = np.sinh(np.linspace(-10, 10, 241)) / 5000
TRIED = np.geomspace(0.5, 60, 60)
SPREAD = np.linspace(0.02, 2.5, 60)[:, None]  # of log errors, times the scale of its prior


@dataclass(frozen=True)
class PlannedStudy:
    """A study: judges rate a share of each model's completions of the prompts in every dimension,
    on the unit scale.

    rating = intercept_j + slope_j q + self_bias_j 1[m == j] + preference_jm + noise, with q a
    completion's quality, normal about quality[m], independent by completion and dimension; the
    human score is q + the mean of the raters' errors. What a judge's ratings of a prompt, or all
    ratings of a dimension, share adds nothing: the estimates are gaps between models. Of two judges
    of a model, the one that rates fewer completions rates some of the other's.
    """

    judges: Sequence[str]  # (J,)
    models: Sequence[str]  # (M,)
    family: Sequence[str]  # (M,) of each model
    quality: Sequence[float]  # (M,) means
    slope: Sequence[float]  # (J,)
    prompts: float  # of the pair of judge and model with most ratings
    dimensions: int
    raters: int  # of each completion
    noise: Sequence[float]  # (J,) standard deviation of a rating given all else
    # Of judges for single models beyond quality, in the order of judges; None: unknown
    preferences: Preferences | None
    quality_spread: float  # standard deviation of q within a model
    rater_error: float  # standard deviation of one rater's error
    # (J, M) of the completions of each model that are rated; None: all
    share: Sequence[Sequence[float]] | None = None
    # Each judge and model stands for so many, which have the numbers of the first.
    copies: int = 1

    @property
    def reference_variance(self) -> float:
        """Variance within a model of the mean of the raters."""
        return self.quality_spread**2 + self.rater_error**2 / self.raters

    @property
    def reliability(self) -> float:
        """Share of it that is quality."""
        return self.quality_spread**2 / self.reference_variance

    @property
    def shares(self) -> np.ndarray:
        """Share of the completions of each model that a judge rates, (J, M)."""
        if self.share is None:
            return np.ones((len(self.judges), len(self.models)))
        return np.array(self.share)

    @property
    def rows(self) -> np.ndarray:
        """Ratings of each judge and model, (J, M)."""
        return self.prompts * self.dimensions * self.shares

    @cached_property
    def mixed_fit(self) -> MixedFit | None:
        """The mixed model of the cells that are rated, in the order of `factors`; None where
        preferences are unknown.
        """
        if self.preferences is None:
            return None
        n = self.rows.ravel()
        variance = np.repeat(np.square(self.noise), len(self.models))
        of = self.rated
        table = CellTable.named(**of, sampling=variance[n > 0] / n[n > 0])
        present = np.unique(of["judge"]), np.unique(of["model"])
        plan = reordered(self.preferences, (self.judges, self.models), present)
        return MixedFit(
            table,
            plan=plan,
            asked=np.isin(of["judge"], self.judges[: len(self.judges) // self.copies]),
        )

    @cached_property
    def limit(self) -> "PlannedStudy":
        """The study with more prompts than there are."""
        return replace(self, prompts=EVER)

    def with_raters(self, raters: int) -> "PlannedStudy":
        """The study with other raters, without whom its cells have the same mixed model."""
        changed = replace(self, raters=raters)
        vars(changed).update(
            {name: getattr(self, name) for name in ("mixed_fit", "limit", "refusals")}
        )
        return changed

    @cached_property
    def row_weights(self) -> dict[str, dict[str, "Weights"]]:
        """The weights of the rows, by estimand and judge, in the self-biases that they
        determine.
        """
        return {estimand: _weights_of_rows(self, names) for estimand, names in TERMS.items()}

    @cached_property
    def refusals(self) -> dict[str, str]:
        """Why no number of prompts makes C conclude about the self-bias of a judge of a model, or
        "".
        """
        cells = CellMeans(
            **self.rated, mean=np.zeros(len(self.rated["judge"])), n=self.rows[self.rows > 0]
        )
        return {
            bias.term: bias.reason or refusal(cells, bias)
            for bias in listed_biases(cells, ["self_bias"])
        }

    def own_share(self, judge: str) -> float:
        """Share of the prompts on which a judge rates itself."""
        return float(self.shares[self.judges.index(judge), self.models.index(judge)])

    @cached_property
    def rated(self) -> dict[str, np.ndarray]:
        """Factors of the cells that are rated, (cells,) of str each."""
        return {name: values[self.rows.ravel() > 0] for name, values in self.factors.items()}

    @cached_property
    def factors(self) -> dict[str, np.ndarray]:
        """Factors of the cells, judge by judge, (J M,) of str each."""
        family = dict(zip(self.models, self.family, strict=True))
        columns = {
            "judge": np.repeat(self.judges, len(self.models)),
            "model": np.tile(self.models, len(self.judges)),
        }
        families = {
            f"{who}_family": np.array([family[name] for name in names])
            for who, names in columns.items()
        }
        return columns | families


# What a rating in a cell adds to an estimate, k and l of k + l reference, (J, M) each; degrees of
# freedom, and those with infinitely many prompts; under C the variance that sampling does not
# carry, and that of infinitely many prompts.
Weights = tuple[np.ndarray, np.ndarray, tuple[float, float], tuple[float, float] | None]


@dataclass(frozen=True)
class Expected:
    """The distribution of the estimate of one judge's self-bias under one estimand."""

    std_error: float  # of the estimate
    floor: float  # its limit as prompts increase
    bias: float  # mean of the estimate less the planted bias
    df: float  # of its t by Satterthwaite; infinite for a normal
    floor_df: float  # its limit as prompts increase
    most_df: float = math.inf  # that the cells support
    nominal: float | None = None  # the error that a study would report, on average; None: std_error
    reach: float = 1.0  # critical values of its test that the estimate has to reach

    def with_prompts(self, times: float) -> "Expected":
        """With `times` the prompts: all of the variance but the floor is proportional to 1 /
        prompts, under C nearly so.

        So is all of the variance of the estimated variance, 2 std_error^4 / df, but its limit.
        """
        error = math.sqrt((self.std_error**2 - self.floor**2) / times + self.floor**2)
        limit = self.floor**4 / self.floor_df
        spread = (self.std_error**4 / self.df - limit) / times + limit
        df = max(1.0, error**4 / spread) if spread > 0 else self.df
        return replace(
            self, std_error=error, df=df, nominal=self.nominal and self.nominal / math.sqrt(times)
        )

    @property
    def t_df(self) -> float:
        """Degrees of freedom of its t."""
        return min(self.df, self.most_df)

    def detectable(self, power: float, confidence: float) -> float:
        """The self-bias that a test of the right size finds with this power, and under C the
        verdict.
        """
        return detectable_bias(
            self.std_error, self.t_df, power=power, confidence=confidence, reach=self.reach
        )

    def limit(self, power: float, confidence: float) -> float:
        """The same with infinitely many prompts."""
        return replace(self, std_error=self.floor, df=self.floor_df).detectable(power, confidence)


def reaches(
    errors: np.ndarray,
    df: np.ndarray,
    estimates: np.ndarray | None = None,
    *,
    confidence: float,
) -> np.ndarray:
    """How many critical values of its own test the estimate of each judge has to reach for its bias
    to be established, (judges,); the same for families.

    errors, df: (judges,) of the estimates by C, in points of the unit scale. estimates: (judges,),
    of which each judge's own does not matter; None for a plan, in which no other judge is biased.
    An estimate has to reach one, and the value at which all judges together give a bias above 0 the
    probability (1 + confidence) / 2. This is by sums over the priors of
    `recuse.inference.hierarchy`, with estimates g_j in place of the cells, and their scales s_j and
    degrees of freedom by `moderated`:

        bias_j = mu + tau t_2       g_j = bias_j + s_j t, normal for the judges other than the one

    The others add to the log density of (mu, tau) what their estimates do; in a plan what they do
    on average over errors of either sign at SCORES of s_j. The value is raised by CALIBRATION.
    """
    from scipy.special import stdtrit

    scale, known = (each[:, None, None] for each in moderated(errors, df))
    variance = (scale**2)[..., None] + STRETCHES * SCALES**2  # (judges, 1, tau, stretches)
    others = scale * np.concatenate([SCORES, -SCORES])
    if estimates is not None:
        others = estimates[:, None, None]
    gap = (others - MEANS)[..., None, None]
    parts = np.exp(-0.5 * gap**2 / variance[:, None]) / np.sqrt(variance[:, None])
    # An estimate that is far off has the likelihood 0 in floating point
    likelihood = np.maximum(parts.mean(axis=-1), np.finfo(float).tiny)
    density = np.log(likelihood).mean(axis=1)  # (judges, mu, tau)
    prior = np.log(SCALES) - 0.5 * (SCALES / TAU) ** 2 - 0.5 * (MEANS / MEAN_BIAS) ** 2
    prior += np.log(np.gradient(MEANS))
    left = (density.sum(axis=0) - density + prior.T).reshape(len(errors), -1)
    weight = np.exp(left - left.max(axis=1, keepdims=True))
    tails = (POINTS[:, None, None] - MEANS[:, None]) / SCALES[:, 0]
    biases = (TAILS + tails**2) ** -1.5 / SCALES[:, 0] * np.gradient(POINTS)[:, None, None]
    of_bias = weight @ biases.reshape(len(POINTS), -1).T  # (judges, POINTS)
    off = TRIED[:, None] - POINTS / scale  # (judges, TRIED, POINTS)
    product = np.exp(-(known + 1) / 2 * np.log1p(off**2 / known)) * of_bias[:, None]
    positive = (product * (1 + np.sign(POINTS))).sum(axis=2) / 2 / product.sum(axis=2)
    level = (1 + confidence) / 2
    rising = np.maximum.accumulate(positive, axis=1)
    needed = np.array([np.interp(level, each, TRIED) for each in rising]) * scale[:, 0, 0]
    return np.maximum(1.0, CALIBRATION * needed / (stdtrit(df, level) * errors))


def moderated(errors: np.ndarray, df: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors and degrees of freedom, (judges,) each, once judges tell one another how
    large they are.

    A log error is known with variance 1 / (2 df), and log errors are N(m, h^2) with any m and the
    prior of h in `recuse.inference.hierarchy`. The new error has the posterior mean of the log, the
    new degrees of freedom its variance (Smyth 2004, with a prior of h in place of an estimate).
    """
    log = np.log(errors)
    noise = 1 / (2 * df)
    spread = SPREAD * SPREADS
    precision = 1 / (noise + spread**2)  # (h, judges)
    whole = precision.sum(axis=1, keepdims=True)
    centre = (precision * log).sum(axis=1, keepdims=True) / whole
    density = (precision * (log - centre) ** 2 - np.log(precision)).sum(axis=1, keepdims=True)
    density += np.log(whole) + SPREAD**2
    weight = np.exp(-0.5 * (density - density.min()))
    weight /= weight.sum()
    share = noise * precision
    each = log + share * (centre - log)
    mean = (weight * each).sum(axis=0)
    left = noise * (1 - share) + share**2 / whole + (each - mean) ** 2
    return np.exp(mean), 1 / (2 * (weight * left).sum(axis=0))


def with_reaches(
    estimates: Mapping, judges: int = 0, *, is_plan: bool = True, confidence: float
) -> dict:
    """The estimates by C of some judges, or families, with their `reaches` where they have an
    error, of a bias in favour or against, whichever is larger; judges: how many have an estimate,
    the others like these. is_plan: whether no estimate is known yet.
    """
    known = {key: each for key, each in estimates.items() if each.std_error > 0}
    if not known:
        return {**estimates}
    numbers = [(each.std_error, each.t_df) for each in known.values()]
    errors, df = np.resize(numbers, (judges or len(numbers), 2)).T
    if is_plan:
        reach = reaches(errors, df, confidence=confidence)
    else:
        values = np.resize([each.estimate for each in known.values()], len(errors))
        sides = [reaches(errors, df, side, confidence=confidence) for side in (values, -values)]
        reach = np.maximum(*sides)
    pairs = zip(known.items(), reach.tolist(), strict=False)
    return {**estimates} | {key: replace(each, reach=own) for (key, each), own in pairs}


def expected(plan: PlannedStudy, judge: str, *, estimand: str) -> Expected | None:
    """Compute the errors of the self-bias of `judge`; None where it is not estimable.

    The estimate is a sum over rows of (k + l reference) rating, with weights by cell (j, m) of n =
    prompts x dimensions rows: a row of (X'X)^-1 X' for A and B, at the moments of the reference
    that the plan implies; for C own cell less its prediction by the mixed model, of mean ratings
    less slope within cells times mean reference. With n_jm the rows of a cell, N_m those of two
    judges j, k together, min(n_jm, n_km), v the variance of the reference within a model, r the
    reliability and h the mean of k + l reference in the cell:

      std_error^2 = sum_jm n noise_j^2 (h^2 + l^2 v)
                  + (1 - r) quality_spread^2 sum_mjk N slope_j slope_k (h_j h_k + l_j l_k v)
                  + floor^2
      floor^2 = sum_jm preference_j^2 (n h)^2
      bias = sum_jm n slope_j (h quality_m + l v r), which is 0 with r = 1

    More prompts reduce the first term; more prompts or raters the second.
    For C, what preferences add is the mixed model's variance at the plan's parameters and noise_j^2
    / n_jm for sampling, less what the latter carries; floor^2 is its variance without sampling. t
    has the mixed model's degrees of freedom.
    """
    weights = (
        _weights_of_cells(plan, judge) if estimand == C else plan.row_weights[estimand].get(judge)
    )
    if weights is None:
        return None
    k, slant, df, parts = weights  # (J, M) each
    n = plan.rows
    quality = np.array(plan.quality)
    slope, noise = (np.array(values)[:, None] for values in (plan.slope, plan.noise))
    spread = plan.reference_variance
    left = plan.quality_spread**2 * (1 - plan.reliability)  # variance of q given the reference
    height = k + slant * quality
    square = height**2 + slant**2 * spread
    together = _over_pairs(n, slope * height) + _over_pairs(n, slope * slant) * spread
    bias = (n * slope * (height * quality + slant * spread * plan.reliability)).sum()
    removable = (n * noise**2 * square).sum() + left * together
    if parts is not None:
        variance = removable + parts[0]
        floor, most = math.sqrt(min(parts[1], variance)), plan.mixed_fit.table.additive.df
        return Expected(math.sqrt(variance), floor, float(bias), *df, most)
    preference = 0.0 if plan.preferences is None else plan.preferences.spread[:, None]
    floor = (preference**2 * (n * height) ** 2).sum()
    nominal = (n * square * (noise**2 + preference**2 + slope**2 * left)).sum()
    return Expected(
        math.sqrt(removable + floor), math.sqrt(floor), float(bias), *df, nominal=math.sqrt(nominal)
    )


def _over_pairs(rows: np.ndarray, weights: np.ndarray) -> float:
    """Sum over models and pairs of judges of w_jm w_km min(n_jm, n_km); rows and weights: (J,
    M).
    """
    order = np.argsort(-rows, axis=0)
    rows, weights = (np.take_along_axis(values, order, axis=0) for values in (rows, weights))
    # Completions that the first judges rate, and no other
    steps = rows - np.concatenate([rows[1:], np.zeros_like(rows[:1])])
    return float((steps * weights.cumsum(axis=0) ** 2).sum())


def _weights_of_rows(plan: PlannedStudy, names: Sequence[str]) -> dict[str, Weights]:
    """Rows of (X'X)^-1 X' of the terms `names`, for each judge whose self-bias is determined.

    X'X has the moments of the reference that the plan implies.
    """
    from scipy.sparse import bsr_array, csc_array

    rows = plan.rows.ravel()
    terms = [
        term for term in design_terms(plan.factors, names=names) if term.carried[rows > 0].any()
    ]
    # (cells x 2, terms): a cell has a row for 1 and one for the reference
    carried = [2 * np.flatnonzero(term.carried) + term.regressor for term in terms]
    ends = np.cumsum([0, *map(len, carried)])
    carried = np.concatenate(carried)
    layout = csc_array((np.ones(len(carried)), carried, ends), shape=(2 * len(rows), len(terms)))
    quality = np.tile(plan.quality, len(plan.judges))
    gram = np.ones((len(rows), 2, 2))
    gram[:, CONSTANT, SLOPE] = gram[:, SLOPE, CONSTANT] = quality
    gram[:, SLOPE, SLOPE] = quality**2 + plan.reference_variance
    cells = np.arange(len(rows) + 1)
    gram = bsr_array((gram * rows[:, None, None], cells[:-1], cells))
    inverse, null = inverted((layout.T @ (gram @ layout)).toarray())
    estimable = np.flatnonzero(determined(null))
    places = [place for place in estimable if terms[place].quantity == "self_bias"]
    weights = (layout @ inverse[:, places]).reshape(len(rows), 2, len(places)).T
    weights = weights.reshape(len(places), 2, *plan.rows.shape)
    return {
        terms[place].term: (*of_judge, (math.inf, math.inf), None)
        for place, of_judge in zip(places, weights, strict=True)
    }


def _weights_of_cells(plan: PlannedStudy, judge: str) -> Weights | None:
    """The same of the own cell less its prediction by the mixed model, and of the slopes within
    cells; None if C refuses.
    """
    if plan.mixed_fit is None or plan.refusals.get(judge, because(Reason.NO_OWN_ANSWERS)):
        return None
    n, rated = plan.rows, plan.rated
    ((cell,),) = np.nonzero((rated["judge"] == judge) & (rated["model"] == judge))
    weights, variance, df = plan.mixed_fit.gaps[cell]
    left = variance - float(weights**2 @ plan.mixed_fit.table.sampling)
    contrast = np.zeros(n.shape)
    contrast[n > 0] = weights
    quality = np.array(plan.quality)
    moved = contrast @ quality  # (J,) derivative of the estimate by each judge's slope
    of_judge = np.where(n.any(axis=1), n.sum(axis=1), 1.0)  # without any, nothing moves
    slant = np.repeat(
        (-moved / (of_judge * plan.reference_variance))[:, None], len(quality), axis=1
    )
    k = contrast / np.where(n > 0, n, 1.0) - slant * quality
    _, floor, floor_df = plan.limit.mixed_fit.gaps[cell]
    return k, slant, (df, floor_df), (left, floor)


def power_by_judge(
    plan: PlannedStudy,
    *,
    judges: Sequence[str],
    prompts: Sequence[int],
    self_bias: float,
    power: float,
    confidence: float,
) -> Iterator[dict]:
    """Yield a row for each estimand, each of `judges` that is a model, and each number of prompts.

    size: probability that the study's own test at 1 - confidence rejects without self-bias.
    detectable: delta std_error, the self-bias that a test of the right size finds with probability
    `power`, and under C the self-bias that a verdict establishes if no other judge is biased; delta
    is the noncentrality at which t with df degrees of freedom, or the normal, has that power on the
    side of the bias, under C `reaches` of the plan times the critical value. limit: what infinitely
    many prompts detect.
    prompts_needed: the fewest that detect self_bias; infinite if the limit is above it.
    size_needed: size with as many prompts as detect self_bias for every judge; NaN if infinite.
    What cannot be estimated, or concluded by C, has a reason instead.
    """
    for estimand in (*TERMS, C):
        estimates = {
            judge: expected(plan, judge, estimand=estimand)
            for judge in judges
            if judge in plan.models
        }
        known = {judge: each for judge, each in estimates.items() if each is not None}
        if estimand == C:
            concluded = sum(not reason for reason in plan.refusals.values())
            known = with_reaches(known, concluded, confidence=confidence)
        needed = {}
        for judge, estimate in known.items():
            least = math.ceil(LEAST_PROMPTS / plan.own_share(judge)) if estimand == C else 1
            needed[judge] = _prompts_needed(
                plan, estimate, self_bias, least=least, power=power, confidence=confidence
            )
        most = max(needed.values(), default=math.inf)
        for judge, count in product(estimates, prompts):
            row = {"estimand": estimand, "judge": judge, "prompts": count}
            estimate = known.get(judge)
            if estimate is None:
                reason = plan.refusals.get(judge) if estimand == C else ""
                yield row | {"reason": reason or because(Reason.NOTHING_TO_COMPARE)}
                continue
            row |= {
                "floor": estimate.floor,
                "bias": estimate.bias,
                "limit": estimate.limit(power, confidence),
                "prompts_needed": needed[judge],
                "size_needed": math.nan,
            }
            if most < math.inf:
                row["size_needed"] = size(
                    estimate.with_prompts(most / plan.prompts), confidence=confidence
                )
            own = np.array([plan.own_share(judge) * count])
            if estimand == C and (reason := few_prompts(np.array([judge]), own)):
                yield row | {"reason": reason}
                continue
            planned = estimate.with_prompts(count / plan.prompts)
            yield row | {
                "std_error": planned.std_error,
                "df": planned.t_df,
                "size": size(planned, confidence=confidence),
                "detectable": planned.detectable(power, confidence),
            }


def _prompts_needed(
    plan: PlannedStudy,
    estimate: Expected,
    self_bias: float,
    *,
    least: int,
    power: float,
    confidence: float,
) -> float:
    """The fewest prompts that detect self_bias, `least` or more; infinite if none do."""
    if estimate.limit(power, confidence) >= self_bias:
        return math.inf
    counts = range(least, round(EVER))

    def detects(count: int) -> bool:
        planned = estimate.with_prompts(count / plan.prompts)
        return planned.detectable(power, confidence) <= self_bias

    place = bisect_left(counts, True, key=detects)
    return counts[place] if place < len(counts) else math.inf


def repeated(plan: PlannedStudy, times: int) -> PlannedStudy:
    """Return the plan with every model, and judge, `times` times, in the same family."""
    again = {key: [*getattr(plan, key)] * times for key in ("family", "quality", "slope", "noise")}
    again["share"] = np.tile(plan.shares, (times, times))
    if plan.preferences is not None:
        both = {
            key: np.tile(getattr(plan.preferences, key), times) for key in ("spread", "effects")
        }
        again["preferences"] = replace(plan.preferences, **both)
    suffixes = ["", *(f" ({copy})" for copy in range(2, times + 1))]
    judges, models = (
        [f"{name}{suffix}" for suffix in suffixes for name in names]
        for names in (plan.judges, plan.models)
    )
    return replace(plan, judges=judges, models=models, copies=times, **again)


def detectable_bias(
    std_error: float, df: float, *, power: float, confidence: float, reach: float = 1.0
) -> float:
    """The bias that a t test with df degrees of freedom finds with probability `power`: the error
    times the noncentrality at which t passes `reach` times its critical value so often.
    """
    from scipy.special import nctdtrinc

    return float(nctdtrinc(df, 1 - power, reach * quantile(confidence, df))) * std_error


def size(estimate: Expected, *, confidence: float) -> float:
    """Probability, without self-bias, that |estimate| passes the critical value times the error
    that the study reports.
    """
    error = estimate.std_error
    reach = quantile(confidence, estimate.t_df) * (
        error if estimate.nominal is None else estimate.nominal
    )
    if error < NEGLIGIBLE:  # a fit without residuals, of a few rows
        return float(abs(estimate.bias) > reach + NEGLIGIBLE)
    from scipy.special import nctdtr

    critical, shift = reach / error, estimate.bias / error
    return float(nctdtr(estimate.t_df, -shift, -critical) + nctdtr(estimate.t_df, shift, -critical))


def power_rows(
    spec: Spec,
    study: StudyTables,
    reliability: Sequence[Row],
    *,
    self_bias: float,
    power: float,
    prompts: Sequence[int],
    raters: Sequence[int],
    copies: Sequence[int],
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of the table of power, for each number of copies of the models, of raters and
    of prompts, and estimand.

    Numbers hold for every judge: detectable, floor, size and prompts_needed are the largest over
    judges, bias is the one farthest from 0, detectable_least the smallest. floor is what infinitely
    many prompts detect. prompts_needed is for a test of the right size; the reason is why there is
    none, or that the study's own test with so many prompts rejects TOO_OFTEN. Where preferences are
    unknown, floor, size and prompts_needed are empty, and detectable is a lower limit. No rows
    where no judge with a slope rates itself.
    reliability: rows of the study's table; without any, the human scores are taken as exact, and
    raters is empty.
    """
    if not study.scored.has_human_scores:
        return
    scores = over_dimensions(reliability)
    plan = study_like(spec, study, *(scores or EXACT))
    if plan is None:
        return
    target = {"self_bias": self_bias, "power": power}
    preferences_known = plan.preferences is not None
    for times in copies:
        larger = repeated(plan, times)
        by_design: dict[tuple, list[dict]] = {}
        for number in raters if scores else [0]:
            design = larger.with_raters(number or 1)
            # Copies of a judge have the numbers of the judge.
            for row in power_by_judge(
                design, judges=plan.judges, prompts=prompts, confidence=confidence, **target
            ):
                by_design.setdefault((row["estimand"], number, row["prompts"]), []).append(row)
        for (estimand, number, count), rows in sorted(by_design.items()):
            design = {
                "estimand": estimand,
                "judges": len(larger.judges),
                "models": len(larger.models),
                "dimensions": plan.dimensions,
                "raters": number or None,
                "prompts": count,
            }
            yield design | target | _of_every_judge(rows, preferences_known, 1 - confidence)


def _of_every_judge(rows: Sequence[Mapping], preferences_known: bool, level: float) -> dict:
    """Numbers that hold for every judge, of the rows of one design; level: of the tests."""
    estimable = [row for row in rows if "std_error" in row]
    if not estimable:
        return {"reason": rows[0]["reason"]}

    def largest(name: str) -> float:
        return max(row[name] for row in estimable)

    numbers = {
        "detectable": largest("detectable"),
        "detectable_least": min(row["detectable"] for row in estimable),
        "bias": max((row["bias"] for row in estimable), key=abs),
    }
    if not preferences_known:
        return numbers | {"reason": because(Reason.UNKNOWN_PREFERENCES)}
    numbers |= {"size": largest("size"), "floor": largest("limit")}
    if math.isinf(largest("prompts_needed")):
        return numbers | {"reason": because(Reason.FLOOR_ABOVE_AIM)}
    numbers["prompts_needed"] = largest("prompts_needed")
    if largest("size_needed") > TOO_OFTEN * level:
        numbers["reason"] = because(Reason.OVERSIZED)
    return numbers


def study_like(
    spec: Spec, study: StudyTables, reliability: float, raters: float
) -> PlannedStudy | None:
    """Take a plan's numbers from the rows of a spec without slices, with human scores but for the
    preferences; None where no judge with a slope is a model.

    noise: residuals of the spec's fit, by judge. preferences: those of the mixed model. slope: that
    of the fit over the reliability, too steep where models differ in quality. share: rows of a
    cell, of those of the largest. reliability: of the human scores, means of so many raters.
    """
    ((_, moments),) = spec_slices(spec, study.scored)
    if not len(moments.n):
        return None
    factors = moments.factors
    models, first, model = np.unique(factors["model"], return_index=True, return_inverse=True)
    rows, total, squares = moments.reference_sums(model)
    quality = total / rows
    variance = float((squares - rows * quality**2).sum() / rows.sum())
    noise, slopes = _noise_and_slopes(spec, moments)
    names = models.tolist()
    judges = [name for name in names if name in slopes]
    if not judges or not variance > 0 or not noise:
        return None
    dimensions = len(np.unique(factors["dimension"]))
    count = np.zeros((len(judges), len(models)))
    kept = np.isin(factors["judge"], judges)
    judge = np.searchsorted(judges, factors["judge"][kept])
    np.add.at(count, (judge, model[kept]), moments.n[kept])
    return PlannedStudy(
        judges=judges,
        models=names,
        family=factors["model_family"][first].tolist(),
        quality=quality.tolist(),
        slope=[slopes[judge] / reliability for judge in judges],
        prompts=float(count.max()) / dimensions,
        dimensions=dimensions,
        raters=1,
        noise=[noise[judge] for judge in judges],
        preferences=_preferences(spec, study, judges, names),
        quality_spread=math.sqrt(reliability * variance),
        rater_error=math.sqrt(raters * (1 - reliability) * variance),
        share=count / count.max(),
    )


def _preferences(
    spec: Spec, study: StudyTables, judges: Sequence[str], models: Sequence[str]
) -> Preferences | None:
    """What the mixed model finds, in the order of judges and models; None where the cells do not
    show preferences.
    """
    (each,) = idiosyncrasies(spec, study)
    if each.fit is None:
        return None
    names = np.unique(each.cells.judge), np.unique(each.cells.model)
    return reordered(each.fit.preferences, names, (judges, models))


def reordered(
    preferences: Preferences, names: tuple[Sequence, Sequence], wanted: tuple[Sequence, Sequence]
) -> Preferences:
    """The preferences of judges and models with these names, in the order of the names wanted;
    what is usual for a name without any.
    """
    known_spreads = preferences.spread[preferences.spread > 0]
    usual = float(np.exp(np.log(known_spreads).mean())) if len(known_spreads) else 0.0, 0.0
    found = []
    for values, known, order, default in zip(
        (preferences.spread, preferences.effects), names, wanted, usual, strict=True
    ):
        by_name = dict(zip(known, values, strict=True))
        found.append(np.array([by_name.get(name, default) for name in order]))
    return replace(preferences, spread=found[0], effects=found[1])


def over_dimensions(reliability: Sequence[Row]) -> tuple[float, float] | None:
    """Means over dimensions of the reliability and the number of raters; None where no reliability
    is known.
    """
    usable = [
        (float(row["mean"]), float(row["raters"]))
        for row in reliability
        if 0 < float(row["mean"]) <= 1
    ]
    return tuple(np.mean(usable, axis=0).tolist()) if usable else None


def _noise_and_slopes(spec: Spec, moments: Moments) -> tuple[dict[str, float], dict[str, float]]:
    """Standard deviations of the residuals by judge, empty where there is no residual, and slopes
    that are identified.
    """
    terms = estimable_terms(spec, moments.factors)
    layout = design_layout(spec, terms, moments)
    solution = solve(moments, layout)
    judges, judge = np.unique(moments.factors["judge"], return_inverse=True)
    left, rows = (
        np.bincount(judge, weighted_squares(moments, layout, solution)[:, 0, 0]),
        np.bincount(judge, moments.n),
    )
    df = solution.n - solution.rank
    noise = np.sqrt(left / rows * solution.n / df).tolist() if df > 0 and left.any() else []
    numbers = zip(terms, solution.estimate, solution.identified, strict=True)
    slopes = {
        term.term: float(value)
        for term, value, identified in numbers
        if term.quantity == "slope" and identified
    }
    return dict(zip(judges.tolist(), noise, strict=False)), slopes
