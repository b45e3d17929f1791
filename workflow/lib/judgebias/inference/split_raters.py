"""One rater as the reference and the others as its instrument: no reliability is needed where there are scores of raters."""

from dataclasses import dataclass

import numpy as np

from judgebias.database import files, text
from judgebias.fits.design import REFERENCE
from judgebias.fits.prompt_sums import products
from judgebias.inference.errors_in_reference import DesignCells
from judgebias.ratings.moments import LENGTH, Moments
from judgebias.ratings.teams import RATERS


@dataclass(frozen=True)
class SplitRaters:
    """The error variance of each completion is what its k raters say, s^2 / k, with s^2 their variance (k - 1).

    The fit so corrected is that by instrumental variables in which each rater in turn is the reference, with the mean of the
    others as its instrument, judge by judge, over all raters: the mean over pairs a != b of r_a r_b is mean(r)^2 - s^2 / k. It
    asks for errors of raters that are independent of each other, and for no equal variances. No rater goes before another.
    The rows have s^2 / k as their last covariate, and no term is of it.
    """

    place: int  # of the error variance in (1, reference, ...)

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,); `moments` have them in the place of the length."""
        return moments.tensor[:, 0, 0, 0, LENGTH]

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums."""
        row = cells.layouts[:, REFERENCE]
        pairs = products(cells.layouts.shape[1])
        weights = np.zeros((len(pairs), *row.shape))
        weights[pairs.index((0, self.place))] = row * (row @ estimate)[:, None]
        return weights


def with_split_raters(rows: str, raters: str) -> str:
    """SQL for `rows` of the canonical ratings with the mean of their raters as gt_unit, and s^2 / k of them as x.

    raters: the canonical raters (parquet). Rows of completions with fewer than two raters are left out.
    """
    scores = f"""
        select dimension, prompt_id, model, avg(rating) as score, var_samp(rating) / count(*) as error
        from {files([raters])} where team = {text(RATERS)} group by all having count(*) > 1"""
    return f"""
        select rated.* replace ((score - scale_low) / (scale_high - scale_low) as gt_unit),
               error / (scale_high - scale_low) ** 2 as x
        from ({rows}) as rated join ({scores}) using (dimension, prompt_id, model)"""
