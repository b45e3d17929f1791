"""How precisely few human labels tell a model's human mean, alone and with the ratings of all judges."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import enumerated
from recuse.inference.ppi import FEW_LABELLED, HUMANS, JUDGES, STRATA
from recuse.plot.axes import round_numbers
from recuse.plot.colours import FAINT, NEUTRAL
from recuse.plot.intervals import PAPER
from recuse.plot.page import Entry, Page, family_entries, grid, joined, page_of_words
from recuse.plot.style import BOLD, DOUBLE_COLUMN, EDGE, LINE, SMALL, UPRIGHT, Subject, language, wrap

COLUMNS = 3
NUMBERS = 0.38  # inches beside the axis text
GUTTER = 0.16
HEIGHT = 1.15
BELOW = 0.28  # inches under a panel, for its numbers
ABOVE = 0.26  # inches over a panel, beside the lines of its title
BOTTOM = 0.24  # inches for the text under all panels
WAYS = {
    HUMANS: ("human labels alone (grey)", {"marker": "s", "markersize": 3.0, "linestyle": "-"}),
    JUDGES: ("with all judges' ratings, taken as one", {"marker": "^", "markersize": 3.8, "linestyle": (0, (3, 1.2))}),
    STRATA: ("with them, apart by dimension and self, family, others", {"marker": "o", "markersize": 3.2, "linestyle": "-"}),
}
DIGITS = (1, 2, 3, 5), (1, 2, 4, 6, 8)  # of the numbers of the upright axis: those of which more lie on it
SAVED = {JUDGES: "as one", STRATA: "apart"}
NONE = (
    "Nothing to draw: no row has a human score, or no number of labelled prompts that config names leaves as many prompts "
    "without labels."
)


@language()
def few_labels(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw the width of the interval against the number of labels, in a panel for each model, a line for each way.

    `table`: see recuse.inference.ppi.widths. Each panel says which share of the labels is saved at the
    largest number of them.
    """
    table = table.dropna(subset="width")
    if not len(table):
        return page_of_words(subject, NONE)
    models = subject.palette.order(table["model"])
    rows, columns = grid(len(models), COLUMNS)
    left = EDGE + 2 * LINE + NUMBERS
    width = (DOUBLE_COLUMN - EDGE - left - (columns - 1) * GUTTER) / columns
    headings = [wrap(model, BOLD * width) for model in models]
    lines = max(heading.count("\n") + 1 for heading in headings)
    step = (width + GUTTER, BELOW + HEIGHT + ABOVE + (lines - 1) * LINE)
    body = rows * step[1] + BOTTOM
    greys = {way: NEUTRAL if way == HUMANS else FAINT for way in WAYS}
    ways = [Entry(words, line={"color": greys[way], "lw": 1.2, **line}) for way, (words, line) in WAYS.items()]
    legend = [family_entries(subject.palette, models), ways]
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=body, legend=legend, note=_note(table, confidence))
    panels = page.panels(len(models), columns, corner=(left, BOTTOM + BELOW), size=(width, HEIGHT), step=step)
    for model, heading, each in zip(models, headings, panels, strict=True):
        own = table[table["model"] == model]
        _frame(each.axes, table, first=each.first)
        each.axes.set_title(heading, size=SMALL)
        for way in WAYS:
            _draw(each.axes, own[own["method"] == way], way, NEUTRAL if way == HUMANS else subject.palette.colour(model))
        corner = {"transform": each.axes.transAxes, "ha": "right", "va": "top", "zorder": 5, "bbox": PAPER}
        each.axes.text(0.99, 0.98, _saved(own), **corner)
    page.centred((left + DOUBLE_COLUMN - EDGE) / 2, 0.06, "labelled prompts: those with human scores")
    axis = f"width of the {100 * confidence:g} % interval, unit scale 0–1"
    axis = wrap(axis, rows * (HEIGHT + BELOW))
    page.text(left - NUMBERS - (axis.count("\n") + 1) * LINE / 2, body / 2, axis, **UPRIGHT)
    return page.figure


def _frame(axes: Axes, table: pd.DataFrame, *, first: bool) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(table["prompts"].min() / 1.25, table["prompts"].max() * 1.25)
    axes.set_ylim(table["width"].min() / 1.15, table["width"].max() * 1.4)  # room for words
    for axis, places in (
        (axes.xaxis, round_numbers(axes.get_xlim())),
        (axes.yaxis, max((round_numbers(axes.get_ylim(), digits) for digits in DIGITS), key=len)),
    ):
        axis.set_ticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0, labelleft=first)
    axes.grid()


def _draw(axes: Axes, rows: pd.DataFrame, way: str, colour: str) -> None:
    """One line: its points hollow where few prompts are labelled."""
    rows = rows.sort_values("prompts")
    line = {"color": colour, "lw": 1.2, **WAYS[way][1]}
    axes.plot(rows["prompts"], rows["width"], zorder=3, gid=way, **{**line, "marker": "none"})
    few = rows["prompts"] < FEW_LABELLED
    for part, face in ((rows[few], "white"), (rows[~few], colour)):
        point = {**line, "linestyle": "none", "markerfacecolor": face}
        axes.plot(part["prompts"], part["width"], zorder=4, gid="points", **point)


def _saved(own: pd.DataFrame) -> str:
    """What the judges save at the largest number of labels, of one model; nothing if these are few, or do not vary."""
    at = _at_most(own).set_index("method")["saved"].dropna()
    return "\n".join(f"saved {words}: {100 * at[way]:.0f} %" for way, words in SAVED.items() if way in at)


def _at_most(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the largest number of labelled prompts; none where that is few."""
    return rows[(rows["prompts"] == rows["prompts"].max()) & (rows["prompts"] >= FEW_LABELLED)]


def _note(table: pd.DataFrame, confidence: float) -> str:
    least, most = (table[table["prompts"] == ends] for ends in (table["prompts"].min(), table["prompts"].max()))
    enough = _at_most(table)
    spans = [
        f"{100 * shares.min():.0f} to {100 * shares.max():.0f} % taken {words}"
        for way, words in SAVED.items()
        if len(shares := enough.loc[enough["method"] == way, "saved"].dropna())
    ]
    counts = enumerated([str(count) for count in sorted(table["prompts"].unique())])
    held = dict.fromkeys(f"{_held(rows)} with {rows['prompts'].iloc[0]} prompts" for rows in (least, most))
    saved = (
        f"With {most['prompts'].iloc[0]} labelled prompts, which are {_ends(most['labels'])} human scores of a model, the "
        f"judges' ratings save a share of the labels ({', '.join(spans)}, "
        "by model): with so many fewer the interval is as narrow as by human labels alone."
    )
    points = (
        f"Points: means over {table['draws'].max()} random choices of {counts} prompts, the same for all lines; hollow: "
        f"fewer than {FEW_LABELLED}. Intervals are to hold the mean over all prompts in {100 * confidence:g} % of the choices, "
        f"and do so in {' and '.join(held)}."
    )
    return joined(saved if spans else "", points, _saved_really(least))


def _ends(values: pd.Series) -> str:
    return " to ".join(dict.fromkeys(f"{value:,.0f}" for value in (values.min(), values.max())))


def _held(rows: pd.DataFrame) -> str:
    """In how many of the choices the intervals hold, from the worst to the best way; means over models."""
    return f"{_ends(100 * rows.groupby('method')['covered'].mean())} %"


def _saved_really(rows: pd.DataFrame) -> str:
    """What the errors of the choices say that few prompts save: by the intervals it may seem to be more."""
    prompts = rows["prompts"].iloc[0]
    squares = (rows["rmse"] ** 2).groupby(rows["method"]).mean()
    if prompts >= FEW_LABELLED or squares[HUMANS] <= 0:
        return ""
    shares = {words: 1 - squares[way] / squares[HUMANS] for way, words in SAVED.items() if way in squares}
    saved = " and ".join(f"{100 * share:.0f} % taken {words}" for words, share in shares.items()).replace("-", "−")
    return f"By the errors that are really made with {prompts} prompts, over all models, the judges save {saved}."
