"""Which judges to combine: the bias and error of a few panels, and how many independent judges
carry as much information.

A panel scores an answer by the mean of its judges' ratings, each less the judge's level. Its bias
is in what it makes of models, its error in what it makes of single answers. The panel to take is
all judges, own families left out, unless another one's bias is smaller beyond doubt: the best of
many panels looks better than it is.
"""

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from recuse.base.reasons import Reason, because, code
from recuse.base.tables import column_names
from recuse.data.study import StudyTables
from recuse.inference.judge_levels import LinkedJudges
from recuse.inference.verdict import Verdict
from recuse.model.least_squares import quantile
from recuse.model.spec import SELF

PANEL = column_names(
    "study family_ratings size panel recommended",
    "bias_left bias_left_ci_low bias_left_ci_high worst_model worst_bias",
    "square_difference square_difference_ci_low square_difference_ci_high",
    "error error_ci_low error_ci_high effective effective_ci_low effective_ci_high note",
)

KEPT, LEFT_OUT = "kept", "left_out"  # judges' ratings of their own answers and of their family's
FEW_FOLDS = 4  # parts of the prompts, below which there are no intervals
BETWEEN = "; "  # names of judges
WITHOUT_RATINGS = (Reason.NO_OWN_ANSWERS, Reason.NO_SIBLINGS)  # there is nothing to leave out


class PanelErrors:
    """Sums over answers, by fold, of the errors of judges and the squared errors of panels.

    The error of a rating is e = rating - a_jd - human score, less its mean in the dimension. What
    remains of a rating after the judge's own line is r = rating - c_jd - b_jd human score. With the
    reliability of the human scores, b_jd is cov(rating, human score) / (reliability var(human
    score)), and (1 - reliability) var(human score), the variance of their error, is subtracted from
    squares of e, and b^2 times it from those of r.
    """

    def __init__(
        self,
        judges: LinkedJudges,
        panels: np.ndarray,
        reliability: Mapping[str, float],
        usable: np.ndarray,
    ) -> None:
        """panels: judges of each, (n, J) of bool; reliability: by dimension, 1 where unknown;
        usable: ratings, (M, J) of bool.

        Below, n is twice as many: each panel without ratings of the judges' own families, and then
        each with them.
        """
        self.judges = judges
        self.panels = panels
        kept = panels[:, None] & usable
        self.used = np.concatenate([kept & ~judges.crossing.related, kept])  # (n, M, J)
        rows, rating, human, product, square = judges.line
        known = np.array([reliability.get(str(name), 1.0) for name in judges.crossing.dimensions])[
            :, None
        ]
        total = np.maximum(rows.sum(axis=1), 1)
        mean = human.sum(axis=1) / total
        self._noise = (1 - known[:, 0]) * (square.sum(axis=1) / total - mean**2)  # (D,)
        self._levels = judges.levels + (judges.means(judges.levels) - mean)[:, None]
        number = np.maximum(rows, 1)
        spread = known * (square - human**2 / number)
        self._slope = np.divide(
            product - rating * human / number, spread, out=np.zeros_like(rows), where=spread > 0
        )
        self._intercept = (rating - self._slope * human) / number
        folds = judges.crossing.folds
        self._count, self._error = np.zeros((2, folds, *judges.crossing.shape))
        # Of each panel: answers, and sums over them of 1 / its judges, and of the squares of its
        # means of e and of r.
        self._sums = np.zeros((folds, 4, len(self.used)))

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        present, rating, human = self.judges.crossing.arrays(sums)
        fold = self.judges.crossing.fold_numbers(prompts)
        slope = self._slope[:, None] * present
        error = present * (rating - self._levels[:, None] - human)
        residual = present * (rating - self._intercept[:, None]) - slope * human
        np.add.at(self._count, fold, present)
        np.add.at(self._error, fold, error)

        number = self._totals(present)
        parts = [number > 0, np.divide(1, number, out=np.zeros_like(number), where=number > 0)]
        for values, slopes in ((error, present), (residual, slope)):
            noise = self._noise[:, None, None] * self._totals(slopes) ** 2
            parts.append((self._totals(values) ** 2 - noise) * parts[1] ** 2)
        np.add.at(self._sums, fold, np.stack([part.sum(axis=(1, 2)) for part in parts], axis=1))

    def _totals(self, values: np.ndarray) -> np.ndarray:
        """Sums over each panel's judges, (prompts, D, M, n), of values of (prompts, D, M, J)."""
        weights = self.used.transpose(1, 2, 0)[:, None].astype(float)  # (M, 1, J, n)
        return np.moveaxis(np.moveaxis(values, 2, 0) @ weights, 0, 2)

    @property
    def folds(self) -> np.ndarray:
        """The folds with ratings."""
        return np.flatnonzero(self._count.sum(axis=(1, 2, 3)))

    def bias(self, folds: np.ndarray) -> np.ndarray:
        """Bias of panels for each model, (n, M), less its mean over models; NaN if a model has no
        judge.

        It is the mean over the panel's judges of their mean errors on the model. Levels are those
        of these folds.
        """
        count = self._count[folds].sum(axis=0)  # (D, M, J)
        moved = self.judges.levels_in(folds) - self.judges.levels
        error = self._error[folds].sum(axis=0) - count * moved[:, None]
        unrelated = count * ~self.judges.crossing.related
        gap = (error * (unrelated > 0)).sum(axis=(1, 2)) / np.maximum(unrelated.sum(axis=(1, 2)), 1)
        error, count = (error - count * gap[:, None, None]).sum(axis=0), count.sum(axis=0)  # (M, J)
        cells = self.used & (count > 0)
        number = cells.sum(axis=-1)
        signed = (cells * error / np.maximum(count, 1)).sum(axis=-1) / np.where(
            number, number, math.nan
        )
        return signed - signed.mean(axis=1, keepdims=True)

    def error(self, folds: np.ndarray) -> np.ndarray:
        """Mean square of the errors of panels over answers, (n,); NaN without answers."""
        return self._means(folds)[2]

    def correlation(self, folds: np.ndarray) -> np.ndarray:
        """Mean correlation of what two judges' own lines leave, (n,); NaN if no answer has two, and
        with own families' ratings.

        With v the mean variance of the panel's judges, and k of them on an answer, the square of
        the panel's mean has the mean v (r + (1 - r) / k).
        """
        panels = self.panels
        correlation = np.full(len(self.used), math.nan)
        _, inverse, _, square = self._means(folds)[:, : len(panels)]
        single = panels.sum(axis=1) == 1
        variance = panels @ (panels[single].T @ square[single]) / panels.sum(axis=1)
        places = np.flatnonzero((inverse < 1) & (variance > 0))
        inverse = inverse[places]
        correlation[places] = (square[places] / variance[places] - inverse) / (1 - inverse)
        return correlation

    def _means(self, folds: np.ndarray) -> np.ndarray:
        """Means of the sums over answers, (4, n)."""
        total = self._sums[folds].sum(axis=0)
        return total / np.where(total[0], total[0], math.nan)


def independent_judges(judges: int | np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Number of independent judges with the information of so many whose errors have this
    correlation, k / (1 + (k - 1) r).

    It is infinite if their errors cancel. Source: Kish's effective sample size, for panels of
    judges Kohli (2026), arXiv 2605.29800.
    """
    with np.errstate(divide="ignore"):
        return judges / np.maximum(1 + (judges - 1) * correlation, 0)


def jackknife(statistic: Callable[[np.ndarray], np.ndarray], folds: np.ndarray) -> np.ndarray:
    """Deviations of a statistic without each of G folds, (G, ...), scaled so that their sums of
    products are covariances.
    """
    without = np.array([statistic(np.delete(folds, place)) for place in range(len(folds))])
    return (without - without.mean(axis=0)) * math.sqrt((len(folds) - 1) / len(folds))


def norm_interval(
    estimate: np.ndarray, covariance: np.ndarray, confidence: float, df: float
) -> tuple[float, float]:
    """Interval for the root mean square of M means, from their estimates, (M,), and the covariance
    of these, on `df`.

    With s the true sum of squares, that of the estimates, q, has the mean s + tr V and the variance
    2 tr V^2 + 4 s u'V u, u the direction of the estimate. The ends are the s at which a gamma
    variable with these moments is below or above q with probability (1 - confidence) / 2. So that a
    lucky draw does not pass for certainty, the upper end is never below that of q = tr V. V is
    widened by the square of t over normal quantiles. Source: Satterthwaite (1946) for the moments.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtr

    square = float(estimate @ estimate)
    spread = covariance * (quantile(confidence, df) / quantile(confidence)) ** 2
    trace, among = float(spread.trace()), float((spread**2).sum())
    if trace == 0:
        return (math.sqrt(square / len(estimate)),) * 2
    along = float(estimate @ spread @ estimate) / square if square else 0.0

    def end(observed: float, below: float) -> float:
        def excess(true: float) -> float:
            mean, variance = true + trace, 2 * among + 4 * true * along
            return chdtr(2 * mean**2 / variance, 2 * mean * observed / variance) - below

        if not excess(0.0) > 0:
            return 0.0
        return math.sqrt(brentq(excess, 0.0, 100 * (square + trace)) / len(estimate))

    return end(square, (1 + confidence) / 2), end(max(square, trace), (1 - confidence) / 2)


def panel_rows(
    judges: LinkedJudges | None,
    study: StudyTables,
    reliability: Mapping[str, float],
    verdicts: Iterable[Mapping],
    *,
    least: int,
    confidence: float,
) -> list[dict]:
    """The rows of the table of panels: all judges, each alone, and all but one, without and with
    ratings of own families.

    The first has all judges that shared answers link, that agree with people and whose ratings
    `check` does not doubt, own families left out. It is recommended unless another has less bias:
    the one with the least, of those whose intervals for the difference are wholly below 0.

    bias_left: root mean square over models of the panel's bias, less what sampling of prompts adds;
    square_difference: its square less that of the first, with simultaneous intervals for all rows
    by Bonferroni; error: root mean square of the errors of answers; effective: see
    `independent_judges`. Intervals are from a jackknife over folds. Without human scores there is
    only the first row, without numbers. Judges that are in no panel have a row with the reason.

    reliability: of the human scores, by dimension; verdicts: rows of the table of verdicts; least:
    ratings of a model by a judge that count. A judge with a verdict other than `not shown` is not
    recommended with the ratings that the verdict is about; one that hardly agrees with people, or
    with the other judges, or whose ratings `check` doubts, is in no panel.
    """
    if judges is None:
        return [{"note": because(Reason.NO_SHARED_ANSWERS)}]
    crossing = judges.crossing
    verdicts = list(verdicts)
    strangers = {row["term"]: why for row in verdicts if (why := row.get("disagreement"))}
    number = judges.number
    # In every part of a jackknife
    usable = (number.sum(axis=0) >= least) & ((number > 0).sum(axis=0) > 1)
    linked = (usable & ~crossing.related).any(axis=0)
    absent = dict.fromkeys(
        [*judges.unlinked, *crossing.judges[~linked].tolist()], because(Reason.FEW_SHARED_ANSWERS)
    )
    absent |= {name: strangers[name] for name in crossing.judges.tolist() if name in strangers}
    absent |= {doubt.judge: doubt.reason for doubt in study.doubts}
    fits = ~np.isin(crossing.judges, [*absent])
    notes = [{"panel": name, "size": 1, "note": reason} for name, reason in absent.items()]
    row = {
        "family_ratings": LEFT_OUT,
        "size": int(fits.sum()),
        "panel": BETWEEN.join(crossing.judges[fits]),
    }
    if not (usable & fits & ~crossing.related).any(axis=1).all():
        return [row | {"note": because(Reason.FEW_RATINGS_OUTSIDE, least=least)}, *notes]
    reason = ""
    if not study.has_human_scores:
        is_partly_scored = study.is_partly_scored
        reason = because(Reason.NOT_ALL_SCORED if is_partly_scored else Reason.NO_HUMAN_SCORE)
    elif crossing.folds < FEW_FOLDS:
        reason = because(Reason.FEW_PROMPTS_OF_PANEL, least=FEW_FOLDS)
    if reason:
        return [row | {"recommended": "yes", "note": reason}, *notes]
    alone = np.eye(len(fits), dtype=bool)[fits]
    panels = np.concatenate([fits[None], alone, fits & ~alone])
    _, first = np.unique(panels, axis=0, return_index=True)
    panels = panels[np.sort(first)]
    errors = PanelErrors(judges, panels[panels.any(axis=1)], reliability, usable)
    crossing.passed(study, errors)
    rows = _measured(errors, confidence)
    doubted = doubted_judges(judges, verdicts)
    better = [rows[0]]
    for row in rows:
        is_doubted = row["family_ratings"] == KEPT and doubted & {*row["panel"].split(BETWEEN)}
        if not is_doubted and row["square_difference_ci_high"] < 0:
            better.append(row)
    min(better, key=lambda row: row["square_difference"])["recommended"] = "yes"
    return rows + notes


def doubted_judges(judges: LinkedJudges, verdicts: Iterable[Mapping]) -> set[str]:
    """Judges whose ratings of their own or their family's answers should be left out.

    Those are the ones with a verdict other than `not shown` on their self-bias or their family's
    bias.
    """
    crossing = judges.crossing
    doubted = set()
    for row in verdicts:
        if row["verdict"] == Verdict.NOT_SHOWN or code(row.get("reason", "")) in WITHOUT_RATINGS:
            continue
        if row["quantity"] == SELF:
            doubted.add(row["term"])
        else:
            models = crossing.family == row["term"]
            doubted.update(crossing.judges[crossing.related[models].any(axis=0)].tolist())
    return doubted


def _measured(errors: PanelErrors, confidence: float) -> list[dict]:
    """The rows of panels whose judges rate every model; with ratings of own families, those in
    which there are any.
    """
    crossing, folds = errors.judges.crossing, errors.folds
    df = len(folds) - 1
    bias = errors.bias(folds)
    panels = np.tile(errors.panels, (2, 1))
    sizes = panels.sum(axis=1)
    kept = np.arange(len(panels)) >= len(errors.panels)
    has_own = (errors.used & crossing.related).any(axis=(1, 2))
    listed = np.flatnonzero(~np.isnan(bias[:, 0]) & (has_own | ~kept))

    def margin(statistic: Callable[[np.ndarray], np.ndarray], comparisons: int = 1) -> np.ndarray:
        return quantile(1 - (1 - confidence) / comparisons, df) * np.linalg.norm(
            jackknife(statistic, folds), axis=0
        )

    def more_than_first(folds: np.ndarray) -> np.ndarray:
        square = (errors.bias(folds) ** 2).mean(axis=1)
        return square - square[0]

    deviations = jackknife(errors.bias, folds)  # (G, n, M)
    square = (bias**2 - (deviations**2).sum(axis=0)).mean(axis=1)
    intervals = {
        "error": (errors.error(folds), margin(errors.error), _root),
        "effective": (
            errors.correlation(folds),
            margin(errors.correlation),
            lambda r: independent_judges(sizes, r),
        ),
        "square_difference": (square - square[0], margin(more_than_first, len(listed)), np.asarray),
    }
    columns = {"bias_left": _root(square)}
    for name, (value, half, shown) in intervals.items():
        columns[name] = shown(value)
        ends = np.sort([shown(value - half), shown(value + half)], axis=0)
        columns[f"{name}_ci_low"], columns[f"{name}_ci_high"] = ends

    rows = []
    for place in listed:
        worst = np.abs(bias[place]).argmax()
        covariance = deviations[:, place].T @ deviations[:, place]
        low, high = norm_interval(bias[place], covariance, confidence, df)
        row = {
            "family_ratings": KEPT if kept[place] else LEFT_OUT,
            "size": int(sizes[place]),
            "panel": BETWEEN.join(crossing.judges[panels[place]]),
            "worst_model": str(crossing.models[worst]),
            "worst_bias": float(bias[place, worst]),
            "bias_left_ci_low": low,
            "bias_left_ci_high": high,
        }
        row |= {name: float(of[place]) for name, of in columns.items() if not np.isnan(of[place])}
        rows.append(row)
    return rows


def _root(square: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(square, 0))
