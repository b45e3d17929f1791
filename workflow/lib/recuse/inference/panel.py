"""The bias and the error of every panel of judges, and how many independent judges carry as much information.

A panel scores an answer by the mean of its judges' ratings, each less the judge's level. Its bias is in what it makes of
models, its error in what it makes of single answers. Panels are rows of (n, J) of bool, of the judges in them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.inference.judge_errors import JudgeErrors

KEPT, LEFT_OUT = "kept", "left_out"  # judges' ratings of their own answers and of their family's
FEW_FOLDS = 4  # parts of the prompts, below which there are no standard errors


@dataclass(frozen=True)
class Panels:
    """What panels are made from: the errors of a study's judges, and which ratings count."""

    errors: JudgeErrors
    family_ratings: str  # KEPT or LEFT_OUT
    least: int  # ratings of a model by a judge, and answers that two judges share

    @cached_property
    def usable(self) -> np.ndarray:
        """Ratings that count, by model and judge, (M, J) of bool."""
        kept = self.errors.biases()[1] >= self.least
        return kept & ~self.errors.crossing.related if self.family_ratings == LEFT_OUT else kept

    def signed(self, panels: np.ndarray, folds: np.ndarray | None = None) -> np.ndarray:
        """Bias of panels, (n, J) of bool, for each model, (n, M), less its mean over models; NaN if a model has no judge.

        The bias for model m is the mean of the judges' mean errors b_jm over the panel's judges with a usable cell.
        """
        biases, _ = self.errors.biases(folds)
        cells, panels = self.usable & ~np.isnan(biases), panels.astype(float)
        number = panels @ cells.T
        number[number == 0] = np.nan
        signed = panels @ np.where(cells, biases, 0.0).T / number
        return signed - signed.mean(axis=1, keepdims=True)

    def error(self, panels: np.ndarray, folds: np.ndarray | None = None) -> np.ndarray:
        """Mean square of the errors of panels over answers, (n,): sum over families f of share_f w_f' C_f w_f.

        w_f is 1 / k for each of the k judges that count on the models of the family, share_f its share of the answers. A pair
        with fewer than `least` answers there has the mean of its products over all families; NaN where these are too few.
        """
        products, _, _ = self._products(folds)
        missing = np.isnan(products)
        products = np.where(missing, 0.0, products)
        families, share = self.errors.crossing.families, self.errors.sums.answers / self.errors.sums.answers.sum()
        total = np.zeros(len(panels))
        for family, weight in enumerate(share):
            used = panels * (self.usable[families == family].any(axis=0)).astype(float)
            number = used.sum(axis=1)
            number[number == 0] = np.nan
            square = np.einsum("nj,nj->n", used @ products[family], used) / number**2
            square[np.einsum("nj,nj->n", used @ missing[family].astype(float), used) > 0] = np.nan
            total += weight * square
        return total

    def _products(self, folds: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean products of errors, (F, J, J), the answers behind them in the folds, and those in all."""
        products, pairs = self.errors.products(folds)
        _, everywhere = self.errors.products()  # whether enough is known does not depend on the part of the prompts
        filled = np.where(everywhere >= self.least, products, _weighted(products, pairs))
        return np.where(everywhere.sum(axis=0) >= self.least, filled, np.nan), pairs, everywhere

    def bias(self, panels: np.ndarray, folds: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean square over models of the bias of panels, without what sampling of prompts adds, (n,), and its standard error.

        A jackknife over the G folds: with q of all folds and q_g without one, G q - (G - 1) mean q_g; the error is NaN, and q
        as it is, with fewer than FEW_FOLDS. Against other judges, q has what these take from it.
        """
        folds = self.errors.folds if folds is None else folds
        square, number = self._square(panels, folds), len(folds)
        if number < FEW_FOLDS:
            return square, np.full(len(panels), np.nan)
        without = np.array([self._square(panels, left) for left in leave_one_out(folds)])
        return number * square - (number - 1) * without.mean(axis=0), jackknife_error(without)

    def _square(self, panels: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """Mean square over models of the signed bias, (n,), and what a reference of judges takes from it.

        With biases that are independent, of variance v, of the n judges in the reference and of k judges of the panel, s of
        these among the n, that is v (2 s / k - 1) / n, a mean over models.
        """
        square = (self.signed(panels, folds) ** 2).mean(axis=1)
        if self.errors.has_human_scores:
            return square
        biases, number = self.errors.biases(folds)
        unrelated = (number > 0) & ~self.errors.crossing.related
        share = 1 / np.maximum(unrelated.sum(axis=1), 2)
        variance = np.nanmean(np.where(unrelated, biases**2, np.nan) / (1 - share)[:, None])
        among, used = (panels.astype(float) @ cells.T for cells in (unrelated & self.usable, self.usable))
        return square + (variance * (2 * among / np.maximum(used, 1) - 1) * share).mean(axis=1)

    def correlation(self, panels: np.ndarray, folds: np.ndarray | None = None) -> np.ndarray:
        """Mean correlation of the errors of panels' judges, (n,): mean covariance of two judges over mean variance of one.

        Only answers outside both judges' families count.
        """
        products, pairs, everywhere = self._products(folds)
        outside = self.errors.unrelated_to_family
        both = outside[:, :, None] * outside[:, None, :]
        mean = _weighted(products, pairs * both)
        enough = ((everywhere * both).sum(axis=0) >= self.least) & ~np.isnan(mean)
        mean = np.where(enough, mean, 0.0)
        panels = panels.astype(float)
        variance = panels @ mean.diagonal() / np.maximum(panels @ enough.diagonal(), 1)
        apart = ~np.eye(len(mean), dtype=bool)
        totals, number = (np.einsum("nj,nj->n", panels @ (values * apart), panels) for values in (mean, enough))
        correlation = np.full(len(panels), np.nan)
        return np.divide(totals / np.maximum(number, 1), variance, out=correlation, where=(number > 0) & (variance > 0))


def _weighted(products: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Mean over families, (J, J), weighted by answers; NaN without any."""
    rows = pairs.sum(axis=0)
    return np.divide((np.nan_to_num(products) * pairs).sum(axis=0), rows, out=np.full(rows.shape, np.nan), where=rows > 0)


def leave_one_out(folds: np.ndarray) -> list[np.ndarray]:
    """The folds without each in turn."""
    return [np.delete(folds, place) for place in range(len(folds))]


def jackknife_error(without: np.ndarray) -> np.ndarray:
    """Standard error from values without one of G parts, (G, ...): sqrt((G - 1) / G sum of squared deviations)."""
    return np.sqrt((len(without) - 1) * without.var(axis=0))


def independent_judges(judges: int | np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Number of independent judges with the information of so many whose errors have this correlation, k / (1 + (k - 1) r).

    It is infinite if their errors cancel. Source: Kish's effective sample size, for panels of judges Kohli (2026), arXiv
    2605.29800.
    """
    with np.errstate(divide="ignore"):
        return judges / np.maximum(1 + (judges - 1) * correlation, 0)
