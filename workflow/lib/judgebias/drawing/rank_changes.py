"""Whether a ranking changes, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgebias.drawing.spec_words import enumerated
from judgebias.inference.words import DEBIASED, HUMAN, RAW, WITHOUT_FAMILY, WITHOUT_SELF

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    DEBIASED: "With the biases taken off ({estimand})",
    WITHOUT_SELF: "Without judges' ratings of themselves",
    WITHOUT_FAMILY: "Without judges' ratings of their family",
    HUMAN: "By human scores",
}
MOST = 9  # models, or slices, that are named
KEY = ["spec", "slice", "model"]
INSIDE = "none beyond its rank set"


def sentences(table: pd.DataFrame, whole: pd.DataFrame) -> list[str]:
    """Say of each kind of scores which models have another rank than by the ratings as they are, and which beyond its set.

    `whole`: rows that are ranked together; `table`: all rows, whose slices are summed up for the scores with the biases off.
    """
    own = table[(table["spec"] == whole["spec"].iloc[0]) & table["slice"].isna()]
    estimand = ", ".join(own["estimand"].dropna().unique())
    said = []
    for kind, name in KINDS.items():
        rows = _beside_raw(whole, kind)
        reasons = enumerated(own.loc[(own["scores"] == kind) & own["score"].isna(), "note"].unique())
        if len(rows) or reasons:
            said.append(f"{name.format(estimand=estimand)}: {_changes(rows) if len(rows) else reasons}.")
    slices = _beside_raw(table[table["slice"].notna()], DEBIASED)
    if len(slices):
        named = list(slices["slice"].unique())
        parts = enumerated(named) if len(named) <= MOST else f"{len(named)} parts of the ratings"
        said.append(f"In {parts} alone, with the biases taken off: {_changes_of(slices)}.")
    return said


def _beside_raw(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Rows of a kind with the raw rank; moved: another rank, beyond: outside of the raw rank set.

    Where some models have no such score, the raw rank is among the others, and nothing is known to be beyond.
    """
    rows = rows.assign(slice=rows["slice"].fillna(""))
    raw = rows[rows["scores"] == RAW].set_index(KEY)[["rank", "rank_low", "rank_high"]].add_prefix("raw_")
    own = rows[(rows["scores"] == kind) & rows["score"].notna()].join(raw, on=KEY)
    together = own.groupby(KEY[:-1])["raw_rank"]
    of_all = own.join(raw.groupby(KEY[:-1]).size().rename("of_all"), on=KEY[:-1])["of_all"]
    beyond = (own["rank"] < own["raw_rank_low"]) | (own["rank"] > own["raw_rank_high"])
    own, beyond = own.assign(raw_rank=together.rank(method="min")), beyond & (together.transform("size") == of_all)
    return own.assign(moved=own["rank"] != own["raw_rank"], beyond=beyond).sort_values("raw_rank", kind="stable")


def _changes(rows: pd.DataFrame) -> str:
    moved = rows[rows["moved"]]
    if not len(moved):
        return "no model changes its rank"
    named = [f"{row.model} {row.raw_rank:.0f} → {row.rank:.0f}" for row in moved.head(MOST).itertuples()]
    more = [f"and {len(moved) - MOST} more"] if len(moved) > MOST else []
    beyond = moved.loc[moved["beyond"], "model"]
    verdict = f"{enumerated(list(beyond))} beyond the rank set" if len(beyond) else INSIDE
    return f"{len(moved)} of {len(rows)} models change their rank, {verdict} ({', '.join(named + more)})"


def _changes_of(slices: pd.DataFrame) -> str:
    moved = slices[slices["moved"]]
    if not len(moved):
        return "no model changes its rank"
    named = [f"{row.model} in {row.slice}" for row in moved[moved["beyond"]].itertuples()]
    verdict = f"beyond the rank set: {enumerated(named)}" if named else INSIDE
    return f"{len(moved)} of {len(slices)} ranks change, {verdict}"
