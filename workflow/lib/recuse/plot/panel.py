"""Which judges to combine: bias between models and error of single answers against the number of judges."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import capitalised, counted, enumerated, number
from recuse.inference.panel import KEPT, LEFT_OUT
from recuse.inference.panel_choice import BETWEEN, BIAS, ERROR, PURPOSES
from recuse.plot.axes import put, set_numbers
from recuse.plot.colours import BLUE, GRID, INK, VERMILION
from recuse.plot.page import Entry, Head, joined, page_of_panels, page_of_words
from recuse.plot.style import UNIT, Subject, language, percent

TALL = 2.2  # inches of a panel
BESIDE = 0.13  # of the step between two sizes, to each side
LOOKS = {
    KEPT: ("judges rate their own family too", VERMILION, -BESIDE, {"marker": "o", "markersize": 4.2}),
    LEFT_OUT: ("ratings of a judge's own family left out", BLUE, BESIDE, {"marker": "s", "markersize": 3.8}),
}
TITLES = {BIAS: "Bias between models", ERROR: "Error of single answers"}
OTHER = {"marker": "_", "markersize": 5, "linestyle": "none", "alpha": 0.35}
HELD_OUT = {"marker": "x", "markersize": 4.4, "linestyle": "none"}
MOST_NAMES = 6  # judges of a panel in words
NONE = "No panel can be assessed (tables/panel.csv): {note}."


@language()
def panel(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw the panels of each size, and the best with interval and value on held-out prompts, beside the bias and the error.

    `table`: see recuse.inference.panel_choice.panel_rows. Sizes stand side by side, the panel of all judges last.
    """
    names = [name for name in TITLES if table["best"].dropna().astype(str).str.contains(name).any()]
    if not names:
        notes = table["note"].dropna()
        return page_of_words(subject, NONE.format(note=notes.iloc[0] if len(notes) else "no judge shares answers"))
    drawn = table.dropna(subset="place")
    sizes = sorted(drawn["size"].unique())
    kinds = [kind for kind in LOOKS if (drawn["family_ratings"] == kind).any()]
    legend = [
        [Entry(LOOKS[kind][0], line={"color": LOOKS[kind][1], "lw": 1.2, **LOOKS[kind][3]}) for kind in kinds],
        [
            Entry("the best panel of its size", line={"color": INK, "lw": 1.0, **LOOKS[KEPT][3]}),
            Entry("one chosen and then tested on other prompts", line={"color": INK, **HELD_OUT}),
            Entry("others", line={"color": INK, **OTHER}),
        ],
    ]
    unit = f"{UNIT}; root mean square over models, and over answers; {percent(confidence)} intervals by prompt"
    page, panels = page_of_panels(
        subject,
        Head(finding(table), unit),
        [TITLES[name] for name in names],
        legend,
        most=2,
        height=TALL,
        numbers=0.38,
        across="judges in the panel",
        up="root mean square",
        each=True,
        note=joined(*advice(table), _absent(table)),
    )
    for name, place in zip(names, panels, strict=True):
        _frame(place.axes, drawn, name, sizes)
        for kind in kinds:
            _draw(place.axes, drawn[drawn["family_ratings"] == kind], name, kind, sizes)
    return page.figure


def finding(table: pd.DataFrame) -> str:
    """How many independent judges carry as much information, and the remaining bias of the panel for comparing models."""
    judges = int(table["size"].max())
    whole = table[table["size"] == judges].dropna(subset="place")
    parts = []
    if len(effective := whole["effective"].dropna()):
        parts.append(f"{judges} judges carry the information of {number(effective.iloc[0], 1)} independent ones")
    chosen = _chosen(table, BIAS)
    if chosen is not None:
        left = whole[BIAS].dropna()
        ends = [number(chosen[f"{BIAS}_ci_{end}"], 3) for end in ("low", "high") if not np.isnan(chosen[f"{BIAS}_ci_{end}"])]
        bias = number(chosen[BIAS], 3) + (f" ({' to '.join(ends)})" if ends else "")
        words = f"remaining bias with {counted(int(chosen['size']), 'judge')}: {bias}"
        parts.append(f"{words}, with all of them: {number(left.min(), 3)}" if chosen["size"] < judges and len(left) else words)
    return capitalised("; ".join(parts)) if parts else "Some panels can be compared"


def _chosen(table: pd.DataFrame, name: str) -> pd.Series | None:
    rows = table[table["recommended"].fillna("").str.split().map(lambda words: PURPOSES[name] in words)]
    return rows.iloc[0] if len(rows) else None


def advice(table: pd.DataFrame) -> list[str]:
    """Which panels to take, a sentence for each purpose."""
    sentences = []
    for name, purpose in ((BIAS, "compare models"), (ERROR, "score single answers")):
        row = _chosen(table, name)
        if row is not None:
            judges = row["panel"].split(BETWEEN)
            whose = "its own family" if len(judges) == 1 else "their own families"
            kept = f"{'with' if row['family_ratings'] == KEPT else 'without'} ratings of {whose}"
            sentences.append(f"To {purpose}: {enumerated(judges, MOST_NAMES)}, {kept}.")
    return sentences


def _absent(table: pd.DataFrame) -> str:
    """Why some panels are not drawn."""
    rows = table[table["place"].isna() & table["note"].notna() & table["panel"].isna() & table["size"].notna()]
    rows = rows.rename(columns={"size": "judges"})
    reasons: dict[str, list[str]] = {}
    for row in rows.itertuples():
        kept = "" if row.family_ratings == KEPT else ", family ratings left out"
        reasons.setdefault(row.note, []).append(f"{counted(int(row.judges), 'judge')}{kept}")
    unlinked = int((table["place"].isna() & table["panel"].notna()).sum())
    return joined(
        *(f"{enumerated(sizes)}: {note}." for note, sizes in reasons.items()),
        f"{counted(unlinked, 'judge')} left out: too few answers shared with the others." if unlinked else "",
    )


def _frame(axes: Axes, table: pd.DataFrame, name: str, sizes: list[float]) -> None:
    ends = table[[name, f"{name}_ci_high", f"held_out_{name}"]].to_numpy(float)
    axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(0, 1.06 * np.nanmax(ends)))
    axes.set_xticks(range(len(sizes)), [f"{size:.0f}" for size in sizes])
    set_numbers(axes.yaxis, TALL, between=False)
    axes.grid(axis="y", color=GRID, lw=0.6)
    axes.set_axisbelow(True)


def _draw(axes: Axes, table: pd.DataFrame, name: str, kind: str, sizes: list[float]) -> None:
    """The panels of each size: all that the table lists, then the best, joined by a line."""
    _, colour, shift, mark = LOOKS[kind]
    place = np.searchsorted(sizes, table["size"]) + shift
    put(axes, place, table[name], color=colour, zorder=2, gid="others", **OTHER)
    is_best = table["best"].fillna("").str.split().map(lambda words: name in words).to_numpy(bool)
    best, x = table[is_best], place[is_best]
    if not len(best):
        return
    for across, low, high in zip(x, best[f"{name}_ci_low"], best[f"{name}_ci_high"], strict=True):
        put(axes, [across] * 2, [low, high], color=colour, lw=1.4, zorder=3, gid="interval")
    put(axes, x, best[name], color=colour, lw=1.0, zorder=4, gid="best", clip_on=False, **mark)
    put(axes, x, best[f"held_out_{name}"], color=INK, zorder=5, gid="held out", **HELD_OUT)
