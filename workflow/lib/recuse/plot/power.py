"""What studies like one that there is would detect: the smallest self-bias, false alarms, and how many prompts it takes."""

from collections.abc import Mapping
from itertools import cycle

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from recuse.base.words import counted
from recuse.inference.power import NEVER, OVERSIZED, UNKNOWN_PREFERENCES
from recuse.plot.axes import round_numbers
from recuse.plot.colours import FAINT, INK
from recuse.plot.intervals import WORDS
from recuse.plot.page import Entry, Page, page_of_words
from recuse.plot.style import BOLD, DOUBLE_COLUMN, EDGE, LINE, SMALL, UNIT, UPRIGHT, Subject, language, wrap

NUMBERS = 0.45  # inches beside the axis texts
GUTTER = 0.16
FOUND, ALARMS = 1.5, 0.95  # inches: heights of the panels of detectable biases and of false alarms
BETWEEN = 0.34  # inches under a panel, for its numbers
ABOVE = 0.1  # inches over a panel, beside the lines of its title
STYLES = ("-", (0, (3, 1.2)), (0, (1, 1)))  # by number of models
COLOURS = "viridis", 0.0, 0.78  # from the fewest raters to the most; none is the grey of the other keys
WIDTHS = 2.4, 1.1  # likewise, so that lines which lie on one another are seen
EXACT, EXACT_SCORES = 0, "human scores taken as exact"  # as many raters, then
AIM = {"color": INK, "lw": 0.9, "linestyle": (0, (6, 2))}
FLOOR = {"marker": "<", "markersize": 4.5, "linestyle": "none"}
MARKED = {OVERSIZED: "{:,.0f} *", UNKNOWN_PREFERENCES: "unknown"}  # by the note
SMALLEST = f"smallest detectable bias,\n{UNIT}"
FALSE_ALARMS = "unbiased judges\ncalled biased"
NONE = "No plan: no judge with a slope of its own on human scores is rated itself (tables/planner.csv)."


@language()
def planner(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw for each estimand the smallest detectable self-bias and the false alarms against the number of prompts.

    `table`: see recuse.inference.power.power_rows. A line for each number of raters (colour) and of models
    (style); under the panels stands how many prompts the self-bias aimed at takes.
    """
    table = table.assign(raters=table["raters"].fillna(EXACT).astype(int))
    if not table["detectable"].notna().any():
        return page_of_words(subject, NONE)
    estimands = list(table["estimand"].drop_duplicates())
    left = EDGE + 2 * LINE + NUMBERS
    width = (DOUBLE_COLUMN - EDGE - left - (len(estimands) - 1) * GUTTER) / len(estimands)
    headings = [wrap(estimand, BOLD * width) for estimand in estimands]
    words = (table["raters"].nunique() + 2.6) * LINE  # inches for the numbers of prompts
    lower = words + BETWEEN
    upper = lower + ALARMS + BETWEEN / 2
    body = upper + FOUND + ABOVE + max(heading.count("\n") + 1 for heading in headings) * LINE
    lines = _lines(table)
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=body, legend=_legend(table, lines), note=_note(table, confidence))
    for number, estimand in enumerate(estimands):
        x = left + number * (width + GUTTER)
        own = table[table["estimand"] == estimand]
        sizes, alarms = page.axes(x, upper, width, FOUND), page.axes(x, lower, width, ALARMS)
        _frame(sizes, alarms, table, 1 - confidence, first=number == 0)
        sizes.set_title(headings[number], size=SMALL)
        for (raters, models), line in lines.items():
            _draw(sizes, alarms, own[(own["raters"] == raters) & (own["models"] == models)], line)
        _write_unknown(sizes, alarms, own)
        page.centred(x + width / 2, words + 0.02, "prompts")
        _write_prompts(page, own, (x, words - LINE), width)
    page.text(EDGE, words - LINE, f"Prompts that it takes to detect {table['gamma'].iloc[0]:g}:", weight="bold")
    for line, number in enumerate(sorted(table["raters"].unique())):
        page.text(EDGE, words - (line + 3) * LINE, counted(number, "rater") if number != EXACT else "exact scores")
    for height, text in ((lower + ALARMS / 2, FALSE_ALARMS), (upper + FOUND / 2, SMALLEST)):
        page.text(EDGE + LINE, height, text, linespacing=1.3, **UPRIGHT)
    return page.figure


def _lines(table: pd.DataFrame) -> dict[tuple, dict]:
    """Line of each number of raters and models."""
    raters, models = (sorted(table[key].unique()) for key in ("raters", "models"))
    name, first, last = COLOURS
    shades = [to_hex(shade) for shade in matplotlib.colormaps[name](np.linspace(first, last, len(raters)))]
    widths = np.linspace(*reversed(WIDTHS), len(raters))[::-1]
    return {
        (rater, model): {"color": shade, "linestyle": style, "lw": width}
        for rater, shade, width in zip(raters, shades, widths, strict=True)
        for model, style in zip(models, cycle(STYLES), strict=False)
    }


def _legend(table: pd.DataFrame, lines: Mapping[tuple, Mapping]) -> list[list[Entry]]:
    raters = {key[0]: {**line, "linestyle": "-"} for key, line in lines.items()}
    models = {key[1]: {**line, "color": FAINT, "lw": WIDTHS[1]} for key, line in lines.items()}
    judges = table.drop_duplicates("models").set_index("models")["judges"]
    marks = [Entry(f"self-bias aimed at, {table['gamma'].iloc[0]:g}", line=AIM)]
    if (table["floor"] > 0).any():
        marks.append(Entry("floor: more prompts do not get below it", line={**FLOOR, "color": FAINT}))
    by_raters = [
        Entry(EXACT_SCORES if number == EXACT else f"{counted(number, 'human rater')} of a completion", line=line)
        for number, line in raters.items()
    ]
    by_models = [Entry(f"{number} models, {counted(judges[number], 'judge')}", line=line) for number, line in models.items()]
    return [by_raters, by_models, marks]


def _note(table: pd.DataFrame, confidence: float) -> str:
    power, level = f"{100 * table['power'].iloc[0]:g} %", f"{100 * (1 - confidence):g} %"
    if (table["raters"] == EXACT).all():
        reliability, errors = "", "passes"
        taken = ". How reliable the human scores are is not known: what their errors would do is left out."
    else:
        reliability, errors = ", and the reliability of its human scores", "and errors of the human scores pass"
        taken = "; more raters take the errors away. Where lines lie on one another the number of raters makes no difference."
    sentences = [
        f"Above: the smallest self-bias that a test with {level} false alarms finds with probability {power}, whichever judge "
        f"has it. Below: how often the study's own test at {level} calls an unbiased judge biased, for the judge with whom "
        f"this is most often so. Both in closed form, from the noise, tastes and slopes of this study's ratings{reliability}. "
        "Taste of a judge for single models sets the floor; more models lower it. This taste, which the tests of A and B do "
        f"not allow for, {errors} for bias, the more surely the more prompts there are{taken}"
    ]
    notes = table["note"].dropna().unique()
    sentences += ["Never: the floor is above it."] if NEVER in notes else []
    sentences += [f"*: {OVERSIZED}; the number is that of a test of the right size."] if OVERSIZED in notes else []
    sentences += [f"At the least, unknown: {UNKNOWN_PREFERENCES}."] if UNKNOWN_PREFERENCES in notes else []
    sentences += [f"–: {note}." for note in notes if note not in (NEVER, OVERSIZED, UNKNOWN_PREFERENCES)]
    return "\n".join(sentences)


def _frame(sizes: Axes, alarms: Axes, table: pd.DataFrame, level: float, *, first: bool) -> None:
    prompts, ends = table["prompts"], table[["detectable", "floor"]].assign(aim=table["gamma"]).replace(0.0, np.nan)
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
    sizes.axhline(table["gamma"].iloc[0], zorder=2, gid="aim", **AIM)
    alarms.axhline(level, color=INK, lw=0.8, linestyle=(0, (1, 1.5)), zorder=2, gid="nominal")


def _draw(sizes: Axes, alarms: Axes, rows: pd.DataFrame, line: Mapping) -> None:
    rows = rows.dropna(subset="detectable").sort_values("prompts")
    sizes.plot(rows["prompts"], rows["detectable"], zorder=3, gid="detectable", **line)
    alarms.plot(rows["prompts"], rows["size"], zorder=3, gid="size", **line)
    for floor in rows.loc[rows["floor"] > 0, "floor"].head(1):
        sizes.plot([sizes.get_xlim()[1]], [floor], color=line["color"], clip_on=False, zorder=4, gid="floor", **FLOOR)


def _write_unknown(sizes: Axes, alarms: Axes, own: pd.DataFrame) -> None:
    """Say in the panels what is not estimable or not known."""
    unknown = (own["note"] == UNKNOWN_PREFERENCES).any()
    in_panels = {sizes: "at the least", alarms: "unknown"} if unknown else {}
    if not own["detectable"].notna().any():
        in_panels = {sizes: "not estimable"}
    for axes, words in in_panels.items():
        axes.text(0.5, 0.25, words, transform=axes.transAxes, ha="center", **WORDS)


def _write_prompts(page: Page, own: pd.DataFrame, corner: tuple[float, float], width: float) -> None:
    """How many prompts the self-bias takes: a line for each number of raters, a column for each of models."""
    models = sorted(own["models"].unique())
    for column, number in enumerate(models):
        middle = corner[0] + (column + 0.5) * width / len(models)
        page.text(middle, corner[1] - LINE, f"{number} models", ha="center", color=FAINT)
        rows = own[own["models"] == number].drop_duplicates("raters").sort_values("raters")
        for line, row in enumerate(rows.to_dict("records")):
            page.text(middle, corner[1] - (line + 2) * LINE, _prompts(row), ha="center")


def _prompts(row: Mapping) -> str:
    if row["note"] == NEVER:
        return "never"
    if row["note"] in MARKED:
        return MARKED[row["note"]].format(row["prompts_needed"])
    return "–" if np.isnan(row["prompts_needed"]) else f"{row['prompts_needed']:,.0f}"
