"""What more prompts or labels would show: detectable self-bias and false alarms, and human means from few labels."""

from collections.abc import Mapping
from itertools import cycle

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from recuse.base.words import counted, enumerated
from recuse.inference.power import NEVER, OVERSIZED, UNKNOWN_PREFERENCES
from recuse.inference.ppi import FEW_LABELLED, HUMANS, JUDGES, STRATA
from recuse.plot.axes import round_numbers
from recuse.plot.colours import FAINT, INK, NEUTRAL
from recuse.plot.intervals import PAPER, WORDS
from recuse.plot.page import Entry, Page, family_entries, joined, page_of_panels, page_of_words
from recuse.plot.style import BOLD_TITLE, DOUBLE_COLUMN, EDGE, LINE, SMALL, UNIT, UPRIGHT, Subject, language, percent, wrap

NUMBERS = 0.45  # inches beside the axis texts
GUTTER = 0.16
FOUND, ALARMS = 1.5, 0.95  # inches: heights of the panels of detectable biases and of false alarms
BETWEEN = 0.34  # inches under a panel, for its numbers
ABOVE = 0.1  # inches over a panel, beside the lines of its title
STYLES = ("-", (0, (3, 1.2)), (0, (1, 1)))  # by number of models
COLOURS = "viridis", 0.0, 0.78  # from the fewest raters to the most; none is the grey of the other keys
WIDTHS = 2.4, 1.1  # likewise, so that lines which lie on one another are seen
EXACT, EXACT_SCORES = 0, "human scores taken as exact"  # number of raters, then, and its name
AIM = {"color": INK, "lw": 0.9, "linestyle": (0, (6, 2))}
FLOOR = {"marker": "<", "markersize": 4.5, "linestyle": "none"}
MARKED = {OVERSIZED: "{:,.0f} *", UNKNOWN_PREFERENCES: "unknown"}  # by the note
SMALLEST = f"smallest detectable bias,\n{UNIT}"
FALSE_ALARMS = "unbiased judges\ncalled biased"
NONE = "No power: no judge with its own slope on human scores rates itself (tables/power.csv)."

# Prediction-powered estimates.
WAYS = {
    HUMANS: ("human labels alone (grey)", {"marker": "s", "markersize": 3.0, "linestyle": "-"}),
    JUDGES: ("with all judges' ratings, pooled", {"marker": "^", "markersize": 3.8, "linestyle": (0, (3, 1.2))}),
    STRATA: (
        "with them, stratified by dimension and self, family, others",
        {"marker": "o", "markersize": 3.2, "linestyle": "-"},
    ),
}
DIGITS = (1, 2, 3, 5), (1, 2, 4, 6, 8)  # of the numbers of the upright axis: those of which more lie on it
SAVED = {JUDGES: "pooled", STRATA: "stratified"}
NO_LABELS = (
    "Nothing to draw: no row has a human score, or every number of labelled prompts in config is above half of the prompts."
)


@language()
def power(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw for each estimand the smallest detectable self-bias and the false alarms against the number of prompts.

    `table`: see recuse.inference.power.power_rows. A line for each number of raters (colour) and of models
    (style); under the panels, the number of prompts that the target self-bias takes.
    """
    table = table.assign(raters=table["raters"].fillna(EXACT).astype(int))
    if not table["detectable"].notna().any():
        return page_of_words(subject, NONE)
    estimands = list(table["estimand"].drop_duplicates())
    left = EDGE + 2 * LINE + NUMBERS
    width = (DOUBLE_COLUMN - EDGE - left - (len(estimands) - 1) * GUTTER) / len(estimands)
    headings = [wrap(estimand, BOLD_TITLE * width) for estimand in estimands]
    words = (table["raters"].nunique() + 2.6) * LINE  # inches for the numbers of prompts
    lower = words + BETWEEN
    upper = lower + ALARMS + BETWEEN / 2
    body = upper + FOUND + ABOVE + max(heading.count("\n") + 1 for heading in headings) * LINE
    raters, models = (sorted(table[key].unique()) for key in ("raters", "models"))
    name, first, last = COLOURS
    shades = [to_hex(shade) for shade in matplotlib.colormaps[name](np.linspace(first, last, len(raters)))]
    widths = np.linspace(*reversed(WIDTHS), len(raters))[::-1]
    lines = {
        (rater, model): {"color": shade, "linestyle": style, "lw": width}
        for rater, shade, width in zip(raters, shades, widths, strict=True)
        for model, style in zip(models, cycle(STYLES), strict=False)
    }
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=body, legend=_legend(table, lines), note=_note(table, confidence))
    for number, estimand in enumerate(estimands):
        x = left + number * (width + GUTTER)
        part = table[table["estimand"] == estimand]
        sizes, alarms = page.axes(x, upper, width, FOUND), page.axes(x, lower, width, ALARMS)
        _frame(sizes, alarms, table, 1 - confidence, first=number == 0)
        sizes.set_title(headings[number], size=SMALL)
        for (rater, model), line in lines.items():
            rows = (
                part[(part["raters"] == rater) & (part["models"] == model)].dropna(subset="detectable").sort_values("prompts")
            )
            sizes.plot(rows["prompts"], rows["detectable"], zorder=3, gid="detectable", **line)
            alarms.plot(rows["prompts"], rows["size"], zorder=3, gid="size", **line)
            for floor in rows.loc[rows["floor"] > 0, "floor"].head(1):
                place = {"color": line["color"], "clip_on": False, "zorder": 4}
                sizes.plot([sizes.get_xlim()[1]], [floor], gid="floor", **place, **FLOOR)
        unknown = (part["note"] == UNKNOWN_PREFERENCES).any()
        in_panels = {sizes: "at least", alarms: "unknown"} if unknown else {}
        if not part["detectable"].notna().any():
            in_panels = {sizes: "not estimable"}
        for axes, text in in_panels.items():
            axes.text(0.5, 0.25, text, transform=axes.transAxes, ha="center", **WORDS)
        page.centred(x + width / 2, words + 0.02, "prompts")
        for column, model in enumerate(models):
            middle = x + (column + 0.5) * width / len(models)
            page.text(middle, words - LINE - LINE, f"{model} models", ha="center", color=FAINT)
            rows = part[part["models"] == model].drop_duplicates("raters").sort_values("raters")
            for line, row in enumerate(rows.to_dict("records")):
                page.text(middle, words - LINE - (line + 2) * LINE, _prompts(row), ha="center")
    page.text(EDGE, words - LINE, f"Prompts needed to detect {table['self_bias'].iloc[0]:g}:", weight="bold")
    for line, number in enumerate(raters):
        page.text(EDGE, words - (line + 3) * LINE, counted(number, "rater") if number != EXACT else "exact scores")
    for height, text in ((lower + ALARMS / 2, FALSE_ALARMS), (upper + FOUND / 2, SMALLEST)):
        page.text(EDGE + LINE, height, text, linespacing=1.3, **UPRIGHT)
    return page.figure


def _legend(table: pd.DataFrame, lines: Mapping[tuple, Mapping]) -> list[list[Entry]]:
    raters = {key[0]: {**line, "linestyle": "-"} for key, line in lines.items()}
    models = {key[1]: {**line, "color": FAINT, "lw": WIDTHS[1]} for key, line in lines.items()}
    judges = table.drop_duplicates("models").set_index("models")["judges"]
    marks = [Entry(f"target self-bias, {table['self_bias'].iloc[0]:g}", line=AIM)]
    if (table["floor"] > 0).any():
        marks.append(Entry("floor: no number of prompts gets below it", line={**FLOOR, "color": FAINT}))
    by_raters = [
        Entry(EXACT_SCORES if number == EXACT else f"{counted(number, 'human rater')} of a completion", line=line)
        for number, line in raters.items()
    ]
    by_models = [Entry(f"{number} models, {counted(judges[number], 'judge')}", line=line) for number, line in models.items()]
    return [by_raters, by_models, marks]


def _note(table: pd.DataFrame, confidence: float) -> str:
    power, level = percent(table["power"].iloc[0]), percent(1 - confidence)
    if (table["raters"] == EXACT).all():
        reliability, looks = "", "looks"
        taken = ". The reliability of the human scores is unknown, and the effect of measurement error left out."
    else:
        reliability, looks = ", and the reliability of its human scores", "and measurement error in the human scores look"
        taken = "; more raters remove the error. Where lines coincide, the number of raters makes no difference."
    sentences = [
        f"Above: the smallest self-bias that a test with {level} false alarms detects with probability {power}, whichever "
        f"judge has it. Below: how often the study's own test at {level} calls an unbiased judge biased, for the judge with "
        f"the highest rate. Both computed from noise, preferences and slopes in these ratings{reliability}. A judge's "
        "preference for single models sets the floor; more models lower it. A and B do not allow for this preference: it "
        f"{looks} like bias, and the more so with more prompts{taken}"
    ]
    notes = table["note"].dropna().unique()
    sentences += ["Never: the floor is above the target."] if NEVER in notes else []
    sentences += [f"*: {OVERSIZED}; the number is for a test of the right size."] if OVERSIZED in notes else []
    sentences += [f"At least, unknown: {UNKNOWN_PREFERENCES}."] if UNKNOWN_PREFERENCES in notes else []
    sentences += [f"–: {note}." for note in notes if note not in (NEVER, OVERSIZED, UNKNOWN_PREFERENCES)]
    return "\n".join(sentences)


def _frame(sizes: Axes, alarms: Axes, table: pd.DataFrame, level: float, *, first: bool) -> None:
    prompts, ends = table["prompts"], table[["detectable", "floor"]].assign(aim=table["self_bias"]).replace(0.0, np.nan)
    for axes in (sizes, alarms):
        axes.set(xscale="log", xlim=(prompts.min() / 1.15, prompts.max() * 1.15))
        axes.tick_params(axis="y", length=0, labelleft=first)
        axes.grid()
    sizes.set(yscale="log", ylim=(ends.min(axis=None) / 1.2, ends.max(axis=None) * 1.2))
    alarms.set(ylim=(0, 1.04))
    places = round_numbers(sizes.get_ylim(), (1, 2, 3, 5))
    sizes.set_yticks(places, [f"{place:g}" for place in places])
    alarms.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    places = round_numbers(sizes.get_xlim(), (1, 3) if prompts.max() > 10 * prompts.min() else (1, 2, 5))
    sizes.set_xticks(places, [""] * len(places))
    alarms.set_xticks(places, [f"{place:,.0f}" for place in places])
    sizes.minorticks_off()
    alarms.minorticks_off()
    sizes.axhline(table["self_bias"].iloc[0], zorder=2, gid="aim", **AIM)
    alarms.axhline(level, color=INK, lw=0.8, linestyle=(0, (1, 1.5)), zorder=2, gid="nominal")


def _prompts(row: Mapping) -> str:
    if row["note"] == NEVER:
        return "never"
    if row["note"] in MARKED:
        return MARKED[row["note"]].format(row["prompts_needed"])
    return "–" if np.isnan(row["prompts_needed"]) else f"{row['prompts_needed']:,.0f}"


@language()
def ppi(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw the width of the interval against the number of labels, a panel for each model, a line for each method.

    `table`: see recuse.inference.ppi.widths. Each panel gives the share of labels saved at the largest number of them.
    """
    table = table.dropna(subset="width")
    if not len(table):
        return page_of_words(subject, NO_LABELS)
    models = subject.palette.order(table["model"])
    greys = {way: NEUTRAL if way == HUMANS else FAINT for way in WAYS}
    ways = [Entry(words, line={"color": greys[way], "lw": 1.2, **line}) for way, (words, line) in WAYS.items()]
    page, panels = page_of_panels(
        subject,
        models,
        [family_entries(subject.palette, models), ways],
        most=3,
        height=1.15,
        numbers=0.38,
        across="labelled prompts: those with human scores",
        up=f"width of the {percent(confidence)} interval, unit scale 0–1",
        note=_note_of_labels(table, confidence),
    )
    for model, panel in zip(models, panels, strict=True):
        rows = table[table["model"] == model]
        _frame_widths(panel.axes, table)
        for way in WAYS:
            _draw(panel.axes, rows[rows["method"] == way], way, NEUTRAL if way == HUMANS else subject.palette.colour(model))
        corner = {"transform": panel.axes.transAxes, "ha": "right", "va": "top", "zorder": 5, "bbox": PAPER}
        panel.axes.text(0.99, 0.98, _saved(rows), **corner)
    return page.figure


def _frame_widths(axes: Axes, table: pd.DataFrame) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(table["prompts"].min() / 1.25, table["prompts"].max() * 1.25)
    axes.set_ylim(table["width"].min() / 1.15, table["width"].max() * 1.4)  # room for words
    for axis, places in (
        (axes.xaxis, round_numbers(axes.get_xlim())),
        (axes.yaxis, max((round_numbers(axes.get_ylim(), digits) for digits in DIGITS), key=len)),
    ):
        axis.set_ticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
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
    """What the judges save at the largest number of labels of a model; empty if these are few or do not vary."""
    at = _at_most(own).set_index("method")["saved"].dropna()
    return "\n".join(f"saved {words}: {100 * at[way]:.0f} %" for way, words in SAVED.items() if way in at)


def _at_most(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the largest number of labelled prompts; none if that is few."""
    return rows[(rows["prompts"] == rows["prompts"].max()) & (rows["prompts"] >= FEW_LABELLED)]


def _note_of_labels(table: pd.DataFrame, confidence: float) -> str:
    least, most = (table[table["prompts"] == ends] for ends in (table["prompts"].min(), table["prompts"].max()))
    enough = _at_most(table)
    spans = [
        f"{100 * shares.min():.0f} to {100 * shares.max():.0f} % {words}"
        for way, words in SAVED.items()
        if len(shares := enough.loc[enough["method"] == way, "saved"].dropna())
    ]
    counts = enumerated([str(count) for count in sorted(table["prompts"].unique())])
    covered = {rows["prompts"].iloc[0]: 100 * rows.groupby("method")["covered"].mean() for rows in (least, most)}
    # From the worst to the best way; means over models.
    held = [f"{_ends(shares)} % with {prompts} prompts" for prompts, shares in covered.items()]
    saved = (
        f"With {most['prompts'].iloc[0]} labelled prompts ({_ends(most['labels'])} human scores of a model), the judges' "
        f"ratings save a share of the labels ({', '.join(spans)}, by model): with so many fewer, the interval is as narrow as "
        "with human labels alone."
    )
    points = (
        f"Points: means over {table['draws'].max()} random choices of {counts} prompts, the same for all lines; hollow: fewer "
        f"than {FEW_LABELLED}. Intervals should contain the mean over all prompts in {percent(confidence)} of the choices and "
        f"do so in {' and '.join(held)}."
    )
    return joined(saved if spans else "", points, _saved_by_errors(least))


def _ends(values: pd.Series) -> str:
    return " to ".join(dict.fromkeys(f"{value:,.0f}" for value in (values.min(), values.max())))


def _saved_by_errors(rows: pd.DataFrame) -> str:
    """The saving by the actual errors of the choices with few prompts, where intervals may show more."""
    prompts = rows["prompts"].iloc[0]
    squares = (rows["rmse"] ** 2).groupby(rows["method"]).mean()
    if prompts >= FEW_LABELLED or squares[HUMANS] <= 0:
        return ""
    shares = {words: 1 - squares[way] / squares[HUMANS] for way, words in SAVED.items() if way in squares}
    saved = " and ".join(f"{100 * share:.0f} % {words}" for words, share in shares.items()).replace("-", "−")
    return f"By the actual errors with {prompts} prompts, over all models, the judges save {saved}."
