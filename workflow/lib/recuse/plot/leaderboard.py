"""Models ranked by the judges' scores, with and without the estimated biases, and by the human scores."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.words import enumerated
from recuse.inference.leaderboard import DEBIASED, HUMAN, RAW, WITHOUT_FAMILY, WITHOUT_SELF
from recuse.plot.axes import limits_of, set_numbers
from recuse.plot.colours import FAINT, GRID, NEUTRAL, RULE
from recuse.plot.intervals import BETWEEN, ORDER, PITCH, POINTS, STROKE, draw_bar, draw_point, plain_rows
from recuse.plot.page import LEAST_PANEL, Entry, Page, family_entries, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, EDGE, UNIT, Subject, language, percent, widest

KINDS = {
    RAW: "judges' ratings as they are",
    DEBIASED: "estimated self- and family-bias taken off",
    WITHOUT_SELF: "without judges' ratings of their own answers",
    WITHOUT_FAMILY: "without judges' ratings of their family",
    HUMAN: "human scores (grey)",
}
MARKS = dict(zip(KINDS, POINTS, strict=False))
GUTTER = 0.3  # inches between the panels
BELOW = 0.46
ABOVE = 0.28
MOST_RANKS = 12  # numbers on the axis of ranks
NONE = "No leaderboard: no model has a score (tables/leaderboard.csv)."
CHANGED = {
    DEBIASED: "With the biases taken off ({estimand})",
    WITHOUT_SELF: "Without judges' ratings of their own answers",
    WITHOUT_FAMILY: "Without judges' ratings of their family",
    HUMAN: "By human scores",
}
MOST = 9  # models, or slices, that are named
KEY = ["spec", "slice", "model"]
INSIDE = "none beyond its rank set"
UNCHANGED = "no model changes its rank"


@language()
def leaderboard(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw scores with intervals, and ranks with rank sets: a row for each model, in the order of the ratings as they are.

    `table`: see recuse.inference.leaderboard. The rows without slice of the first spec that has any are drawn; the note says
    which models change their rank in these, and how many in the slices.
    """
    whole = table[table["slice"].isna() & table["score"].notna()]
    whole = whole[whole["spec"] == whole["spec"].iloc[0]] if len(whole) else whole
    if not len(whole):
        return page_of_words(subject, NONE)
    kinds = [kind for kind in KINDS if (whole["scores"] == kind).any()]
    models = whole[whole["scores"] == RAW].sort_values(["rank", "model"])["model"].tolist()
    row = BETWEEN + PITCH * len(kinds)
    label = widest(models) + 0.1
    across = max(DOUBLE_COLUMN, 2 * EDGE + label + GUTTER + 0.1 + 2 * LEAST_PANEL)
    width = (across - 2 * EDGE - label - GUTTER - 0.1) / 2
    marks = {kind: {"color": NEUTRAL if kind == HUMAN else FAINT, "lw": STROKE, **MARKS[kind]} for kind in kinds}
    legend = [
        family_entries(subject.palette, models),
        [Entry(ORDER), *(Entry(KINDS[kind], line=mark) for kind, mark in marks.items())],
    ]
    note = "\n".join([*sentences(table, whole), _bars(whole, confidence)])
    body = row * len(models) + BELOW + ABOVE
    page = Page(subject=subject, width=across, body=body, legend=legend, note=note)
    left, right = EDGE + label, EDGE + label + width + GUTTER
    scores, ranks = (page.axes(x, BELOW, width, row * len(models)) for x in (left, right))
    for axes, title, names in ((scores, "Scores", models), (ranks, "Ranks", [""] * len(models))):
        plain_rows(axes, names)
        axes.set_title(title)
        for place in range(1, len(names)):
            axes.axhline(place - 0.5, color=GRID, lw=0.6, zorder=0.9)
    limits = limits_of(whole[["score", "ci_low", "ci_high"]].to_numpy(float).ravel(), share=0.04, more=1e-3)
    scores.set(xlim=limits)
    set_numbers(scores.xaxis, width)
    ranks.set_xlim(0.5, len(models) + 0.5)
    ranks.set_xticks(range(1, len(models) + 1, math.ceil(len(models) / MOST_RANKS)))
    for each in whole[whole["scores"] == RAW].to_dict("records"):
        ends = np.array([-0.5, 0.5]) + models.index(each["model"])
        ranks.plot([each["rank"]] * 2, ends, color=RULE, lw=2.4, solid_capstyle="butt", zorder=1, gid="raw rank")
    page.centred(left + width / 2, 0.08, f"mean score, {UNIT}")
    page.centred(right + width / 2, 0.08, "rank, 1 is best; grey line: by the ratings as they are")
    for number, kind in enumerate(kinds):
        shift = (number - (len(kinds) - 1) / 2) * PITCH / row
        for each in whole[whole["scores"] == kind].to_dict("records"):
            colour = NEUTRAL if kind == HUMAN else subject.palette.colour(each["model"])
            place = models.index(each["model"]) + shift
            if not math.isnan(each["ci_low"]):
                draw_bar(scores, place, each, colour)
                ends = [each["rank_low"] - 0.2, each["rank_high"] + 0.2]
                ranks.plot(ends, [place] * 2, color=colour, zorder=3, gid="set", lw=4.0, alpha=0.4, solid_capstyle="butt")
            for axes, value in ((scores, each["score"]), (ranks, each["rank"])):
                draw_point(axes, place, value, colour, mark=MARKS[kind], gid=kind)
    return page.figure


def _bars(whole: pd.DataFrame, confidence: float) -> str:
    level = percent(confidence)
    if whole["ci_low"].isna().all():
        return f"No interval: {whole['note'].iloc[0]}."
    few = "".join(f" {note}." for note in whole["note"].dropna().unique())
    return (
        f"Bars: {level} intervals of scores, and rank sets, which contain the true ranks of all models at once with {level}; "
        "both by a bootstrap of prompts that re-estimates the biases. Other prompts might also have made a change within the "
        "rank set "
        "that a model has by the ratings as they are." + few
    )


def sentences(table: pd.DataFrame, whole: pd.DataFrame) -> list[str]:
    """For each kind of scores, the models whose rank differs from that by the ratings as they are, and those beyond its set.

    `whole`: rows that are ranked together; `table`: all rows, whose slices are summed up for the scores without the biases.
    """
    board = table[(table["spec"] == whole["spec"].iloc[0]) & table["slice"].isna()]
    estimand = ", ".join(board["estimand"].dropna().unique())
    changes = []
    for kind, name in CHANGED.items():
        rows = _beside_raw(whole, kind)
        reasons = enumerated(board.loc[(board["scores"] == kind) & board["score"].isna(), "note"].unique())
        if len(rows) or reasons:
            changes.append(f"{name.format(estimand=estimand)}: {_changes(rows) if len(rows) else reasons}.")
    slices = _beside_raw(table[table["slice"].notna()], DEBIASED)
    if len(slices):
        named = list(slices["slice"].unique())
        parts = enumerated(named) if len(named) <= MOST else f"{len(named)} parts of the ratings"
        moved = slices[slices["moved"]]
        models = [f"{row.model} in {row.slice}" for row in moved[moved["beyond"]].itertuples()]
        beyond = f"beyond the rank set: {enumerated(models)}" if models else INSIDE
        ranks = f"{len(moved)} of {len(slices)} ranks change, {beyond}" if len(moved) else UNCHANGED
        changes.append(f"In {parts} alone, with the biases taken off: {ranks}.")
    return changes


def _beside_raw(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Rows of a kind with the raw rank; moved: another rank, beyond: outside of the raw rank set.

    If some models have no such score, the raw rank is among the others, and no change is known to be beyond.
    """
    rows = rows.assign(slice=rows["slice"].fillna(""))
    raw = rows[rows["scores"] == RAW].set_index(KEY)[["rank", "rank_low", "rank_high"]].add_prefix("raw_")
    ranks_of = rows[(rows["scores"] == kind) & rows["score"].notna()].join(raw, on=KEY)
    together = ranks_of.groupby(KEY[:-1])["raw_rank"]
    of_all = ranks_of.join(raw.groupby(KEY[:-1]).size().rename("of_all"), on=KEY[:-1])["of_all"]
    beyond = (ranks_of["rank"] < ranks_of["raw_rank_low"]) | (ranks_of["rank"] > ranks_of["raw_rank_high"])
    ranks_of, beyond = ranks_of.assign(raw_rank=together.rank(method="min")), beyond & (together.transform("size") == of_all)
    return ranks_of.assign(moved=ranks_of["rank"] != ranks_of["raw_rank"], beyond=beyond).sort_values("raw_rank", kind="stable")


def _changes(rows: pd.DataFrame) -> str:
    moved = rows[rows["moved"]]
    if not len(moved):
        return UNCHANGED
    named = [f"{row.model} {row.raw_rank:.0f} → {row.rank:.0f}" for row in moved.head(MOST).itertuples()]
    more = [f"and {len(moved) - MOST} more"] if len(moved) > MOST else []
    beyond = moved.loc[moved["beyond"], "model"]
    verdict = f"{enumerated(list(beyond))} beyond the rank set" if len(beyond) else INSIDE
    return f"{len(moved)} of {len(rows)} models change their rank, {verdict} ({', '.join(named + more)})"
