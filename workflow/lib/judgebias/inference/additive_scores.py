"""Scores of models from the pairs of a judge and a model that are kept: a model is not paid for having mild judges."""

import numpy as np

from judgebias.inference.additive_fit import AdditiveFit


def score_weights_of_pairs(kept: np.ndarray) -> np.ndarray:
    """Weights w, (M, J, M), that make the scores of the means of pairs, sum of w[m] mean for model m; NaN if it has none.

    The score is c_m + mean of a_j over the judges that are left, of the least-squares fit mean_jm = a_j + c_m to the kept
    pairs, each as one observation: a pair that is not kept counts as the fit says. Where a model's judges are all kept for all
    models it is the mean over judges of the mean over rows. Without this, a model whose severe judges are left out would rise.
    The same holds of a model all of whose judges are kept. It is not estimable where no chain of kept pairs leads from model to
    model.

    kept: (J, M) of bool.
    """
    judges, models = kept.shape
    judge, model = np.indices(kept.shape)
    fit = AdditiveFit.of(judge.ravel(), model.ravel(), kept.ravel())
    left = kept.any(axis=1)
    mean = left / max(1, left.sum())
    target = np.concatenate([np.tile(mean, (models, 1)), np.eye(models)], axis=1)
    weights = np.zeros((models, judges, models))
    weights[:, kept] = target @ fit.inverse
    for whole in np.flatnonzero((kept == left[:, None]).all(axis=0)):  # what the fit says, but for rounding
        weights[whole] = np.outer(mean, np.arange(models) == whole)
    weights[~fit.determined(target)] = np.nan
    return weights
