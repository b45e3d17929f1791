"""The design of a spec on raw rows, for naive versions of what is computed from sums."""

import numpy as np

from recuse.model import resampling
from recuse.model.design import terms_of
from recuse.model.resampling import Resamples

FACTORS = ("judge", "model", "judge_family", "model_family", "dimension")


def design_on_rows(frame, spec):
    """X (rows, terms) and its terms, of the rows of a spec without slices; the factors of the rows
    are texts in `frame`.
    """
    factors = {name: frame[name].to_numpy(dtype=str) for name in FACTORS}
    terms = [term for term in terms_of(factors, names=spec.model.terms) if term.carried.any()]
    return np.stack(
        [term.carried * (1.0, frame["gt_unit"].to_numpy())[term.regressor] for term in terms],
        axis=1,
    ), terms


def times_drawn(prompts, replicates, seed=7):
    """How often each replicate draws each prompt, (replicates, prompts)."""
    drawn = Resamples(prompts, replicates=replicates, seed=seed)
    pieces = range(-(-prompts // resampling.PROMPTS))
    return np.concatenate([np.concatenate(list(drawn.of_piece(piece))) for piece in pieces], axis=1)
