"""Small tables of what stands beside the estimates, to draw."""

from itertools import product

import numpy as np
import pandas as pd

from drawings import PRESENT
from recuse.base.reasons import Reason, because
from recuse.inference.leaderboard import DEBIASED, LEADERBOARD, SHRUNK
from recuse.inference.measurement_error import BREAKDOWNS, MEASUREMENT_ERROR
from recuse.inference.power import POWER
from recuse.inference.reliability import RELIABILITY
from recuse.model.spec import A, C

BY_MODEL = "B against other judges, by model"


def board(ranks, sets=1):
    """Rows of the leaderboard: `ranks` by kind; a rank set goes `sets` ranks to each side."""
    rows = [
        {
            "spec": "main",
            "scores": kind,
            "estimand": SHRUNK if kind == DEBIASED else None,
            "model": model,
            "score": 1 - rank / 10,
            "ci_low": 0.95 - rank / 10,
            "ci_high": 1.05 - rank / 10,
            "rank": rank,
            "rank_low": rank - sets,
            "rank_high": rank + sets,
        }
        for kind, of_kind in ranks.items()
        for model, rank in zip(PRESENT, of_kind, strict=True)
    ]
    return pd.DataFrame(rows, columns=LEADERBOARD)


def curves(terms=(("self_bias", "GPT-4o"), ("family_bias", "Claude"))):
    rows = [
        {
            "study": "s",
            "spec": spec,
            "estimand": estimand,
            "method": "moments",
            "reliability": at,
            "quantity": quantity,
            "term": term,
            "estimate": (value := 0.1 * at - 0.04),
            "std_error": 0.01,
            "df": 9,
            "ci_low": value - 0.02,
            "ci_high": value + 0.02,
        }
        for spec, estimand in (("a", A), ("b", BY_MODEL))
        for quantity, term in terms
        for at in (1.0, 0.65, 0.3)
    ]
    return pd.DataFrame(rows, columns=MEASUREMENT_ERROR)


def reliability_tables(curve=None, known=("Tone", "Wit")):
    curve = curves() if curve is None else curve
    own = curve.drop_duplicates(["spec", "quantity", "term"]).assign(reliability=np.nan)
    unknown = pd.DataFrame(
        [{"spec": "a", "reason": because(Reason.RELIABILITY_UNKNOWN, names="Wit")}],
        columns=MEASUREMENT_ERROR,
    )
    breakdown = (
        own[["study", "spec", "slice", "estimand", "quantity", "term"]]
        .assign(breakdown=0.6, reversal=0.5)
        .reindex(columns=BREAKDOWNS)
    )
    table = pd.DataFrame(
        [("s", name, 0.2, 3, mean, "raters") for name, mean in zip(known, (0.4, 0.7), strict=False)]
    )
    return {
        "curves": curve,
        "breakdowns": breakdown,
        "measurement_error": own if known else unknown,
        "reliabilities": table.set_axis(RELIABILITY, axis=1)
        if known
        else pd.DataFrame(columns=RELIABILITY),
    }


def plans():
    """A detects what B does not, C is not estimable."""
    designs = pd.DataFrame(
        product((4, 8), (1, 3), (100, 1000)), columns=["models", "raters", "prompts"]
    )
    designs["judges"], found = designs["models"], (designs["prompts"] * designs["models"]) ** -0.5
    sized = designs.assign(size=0.1 * designs["raters"])
    never, none = because(Reason.FLOOR_ABOVE_AIM), because(Reason.NOTHING_TO_COMPARE)
    parts = [
        sized.assign(
            estimand=A, detectable=found, floor=0.0, prompts_needed=1234.0 * designs["models"]
        ),
        sized.assign(estimand=BY_MODEL, detectable=0.03 + found, floor=0.03, reason=never),
        designs.assign(estimand=C, reason=none),
    ]
    rows = pd.concat(parts, ignore_index=True).reindex(columns=POWER)
    return rows.assign(self_bias=0.02, power=0.8)
