"""What the figures of cognitive biases call them, and how they tell quoted shares from computed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judgebias.drawing.conditions import by_experiment
from judgebias.drawing.page import Entry
from judgebias.drawing.palette import BLUE, GREEN, SKY_BLUE, VERMILION
from judgebias.ratings.registry import HUMAN

if TYPE_CHECKING:
    import pandas as pd

NAMES = {  # in the order of the figures
    "order_first": "Order: first",
    "order_last": "Order: last",
    "compassion_first": "Compassion: first",
    "compassion_last": "Compassion: last",
    "egocentric_order": "Egocentric",
    "egocentric_comp": "Egocentric, names shown",
    "salience": "Salience",
    "bandwagon": "Bandwagon",
    "attentional": "Attentional",
}
ORIGINS = {  # of a judge's share
    "quoted": "quoted from the authors' released table",
    "computed": "computed from the verdicts",
}
MARKS = {  # by the origin of a share; the last is the humans'
    "quoted": {"color": SKY_BLUE, "marker": "s"},
    "computed": {"color": BLUE, "marker": "o"},
    "released shares": {"color": GREEN, "marker": "D"},
}
HUMANS = MARKS["released shares"]
RANDOM = {"color": VERMILION, "lw": 1.2, "linestyle": (0, (2, 1.2)), "solid_capstyle": "butt"}
NOTHING = "Nothing to draw: no comparison tests a cognitive bias."


def drawable(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of a table that have a share, each judge by one name, and what is to be said of it.

    Judges of several experiments are told apart, and a judge called `Human` from the humans of the released shares.
    """
    computed = table["origin"] == "computed"
    named = by_experiment(table.assign(judge=table["judge"].mask(computed & (table["judge"] == HUMAN), f"{HUMAN} (judge)")))
    empty = named[named["share"].isna()]
    judges = [f"{NAMES[bias]} ({(empty['bias'] == bias).sum()})" for bias in biases_of(empty)]
    words = f" Without a share, as all comparisons are left out, by number of judges: {'; '.join(judges)}." if judges else ""
    words += " A judge counts once in each experiment." * (table["experiment"].nunique(dropna=False) > 1)
    return named[named["share"].notna()], words


def random_entry() -> Entry:
    """Legend of the RANDOM threshold."""
    return Entry("RANDOM: two independent fair choices, in closed form", line=RANDOM)


def origins(table: pd.DataFrame) -> dict[str, str]:
    """Where the judges' shares in a table come from, and that in words."""
    present = set(table.loc[table["judge"] != HUMAN, "origin"])
    return {origin: text for origin, text in ORIGINS.items() if origin in present}


def biases_of(table: pd.DataFrame) -> list[str]:
    """The biases that a table has, in the order of the figures."""
    return [bias for bias in NAMES if bias in set(table["bias"])]


def judges_of(table: pd.DataFrame) -> list[str]:
    """The judges of a table in its order, without the humans."""
    return [judge for judge in dict.fromkeys(table["judge"]) if judge != HUMAN]


def shares(table: pd.DataFrame, rankers: Sequence[str], biases: Sequence[str]) -> np.ndarray:
    """Share by ranker and bias, (rankers, biases); NaN where the table has none."""
    wide = table.pivot(index="judge", columns="bias", values="share")
    return wide.reindex(index=list(rankers), columns=list(biases)).to_numpy(float)


def thresholds(table: pd.DataFrame, biases: Sequence[str]) -> np.ndarray:
    """RANDOM threshold of each of `biases`."""
    return table.drop_duplicates("bias").set_index("bias")["random"].reindex(list(biases)).to_numpy(float)
