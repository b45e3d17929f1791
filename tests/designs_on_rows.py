"""The design of a spec on raw rows, for naive versions of what is computed from sums."""

import duckdb
import numpy as np

from picked_rows import column
from recuse.model import resampling
from recuse.model.design import design_terms
from recuse.model.resampling import Resamples
from recuse.validation.compare import compared

FACTORS = ("judge", "model", "judge_family", "model_family", "dimension")


def factors_on_rows(frame, names=FACTORS):
    return {name: frame[name].to_numpy(dtype=str) for name in names}


def frame_on_rows(study):
    """The canonical ratings of a study; factors are texts."""
    frame = duckdb.sql(f"from '{study.ratings[0]}'").df()
    return frame.astype(dict.fromkeys(FACTORS, str))


def carried_terms(factors, **names):
    """The terms that some row carries."""
    return [term for term in design_terms(factors, **names) if term.carried.any()]


def term_places(terms):
    """The place of each term by its quantity and name."""
    return {(term.quantity, term.term): place for place, term in enumerate(terms)}


def regressors_on_rows(terms, *covariates):
    """X (rows, terms); covariates: the human scores, and lengths if a term has them."""
    values = (1.0, *map(np.asarray, covariates))
    return np.stack([term.carried * values[term.regressor] for term in terms], axis=1)


def largest_difference(specs, study):
    """Of all numbers of some specs between the library and statsmodels on rows; nan if one is."""
    rows = compared(specs, study, confidence=0.9)
    return np.max(column(rows, "largest_difference"))


def design_on_rows(frame, spec):
    """X (rows, terms) and its terms, of the rows of a spec without slices; the factors of the rows
    are texts in `frame`.
    """
    terms = carried_terms(factors_on_rows(frame), names=spec.model.terms)
    return regressors_on_rows(terms, frame["gt_unit"].to_numpy()), terms


def times_drawn(prompts, replicates, seed=7):
    """How often each replicate draws each prompt, (replicates, prompts)."""
    drawn = Resamples(prompts, replicates=replicates, seed=seed)
    pieces = range(-(-prompts // resampling.PROMPTS))
    return np.concatenate(
        [np.concatenate(list(drawn.piece_draws(piece))) for piece in pieces], axis=1
    )
