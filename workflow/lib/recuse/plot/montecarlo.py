"""Size, power, bias or coverage of estimators on grids of simulated worlds, a panel with its own axis for each grid.

Of the worlds without self-bias, a row for each, with the judges that are called biased least and most often.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from recuse.base.words import enumerated
from recuse.model.design import ALL_JUDGES
from recuse.montecarlo.estimators import ALL, ANY_REJECTED, BIAS, BOTH, COVERED, ESTIMATORS, REJECTED
from recuse.plot.colours import BLUE, FAINT, GREEN, GRID, INK, VERMILION
from recuse.plot.intervals import page_of_rows, plain_rows, write_instead
from recuse.plot.page import Entry, Head, Page, joined, page_of_words
from recuse.plot.style import BOLD_TITLE, DOUBLE_COLUMN, EDGE, LINE, TEXT, UNIT, Subject, language, percent, text_width, wrap

COLUMNS = 2
GUTTER = 0.24
LABEL = 2.1  # inches beside a panel, for the names of the estimators
RIGHT = 0.14  # inches for half of the last number
ROW = 0.19  # inches for an estimator
BELOW = 0.36  # inches under a panel, for its numbers
SPREAD = 0.72  # of a row: over which the settings stand below one another
PALEST = 0.4  # of the colour that the first setting has
ERRORS = 2  # Monte Carlo errors on each side
VERDICTS = "verdicts"  # estimators without an estimand, which use all three
COLOURS = {"A": VERMILION, "B": BLUE, "C": GREEN, VERDICTS[0]: INK}
POINT = {"marker": "o", "markersize": 3.0, "markeredgewidth": 0.5}
BAND = "#E2E2E2"
NONE = "Nothing to draw: no world of the grids has this statistic."
TOLERANCE = 0.02  # half width of the band around the nominal share
LEAST = 0.05  # shares shown at least to each side of the nominal one
STRAIGHT = 0.002  # rating points: within them the axis of biases is nearly straight, beyond them logarithmic
LEAST_BIAS = 0.001  # biases shown at least to each side of 0
MARGIN = 0.05  # of an axis, on each side
APART = 0.07  # inches between two numbers
SHARES = (0.05, 0.2, 0.5, 1.0, 0.0, 0.3, 0.15, 0.75, 0.02, 0.4)  # numbers of an axis, the most important first
EVEN = (0.0, 1.0, 0.5, 0.25, 0.75)
NO_WORLD = "Nothing to draw: no grid has a world without self-bias."
WORLD_ROW = 0.165  # inches
NARROW = 0.7  # inches: least width of the panel of an estimator
TICKS = (0.0, 0.1, 0.3, 1.0)
HOLDS = 0.03  # above the level, which the shares of all judges may be of an estimator that holds
REFUSED = 0.005  # share of tests: if more are refused, a mark is hollow
POOLED = {"marker": "D", "markersize": 3.0, "markeredgewidth": 0.7}
BIASES = (0.01, -0.01, 0.1, 0.001, -0.001, 0.05, 0.005, -0.005, 0.002, -0.002, 0.02)
Scale = Callable[[np.ndarray], np.ndarray]


def _root(share: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(share, 0))


def _square(place: np.ndarray) -> np.ndarray:
    return np.square(np.maximum(place, 0))


@dataclass(frozen=True)
class Statistic:
    """Rows of one statistic, for all judges together, or of bias for the last, and their axis.

    scale: a place for each value, and back; words: its description for the note.
    """

    name: str
    axis: str
    scale: tuple[Scale, Scale]
    words: str
    of_numbers: Sequence[float]

    @property
    def share(self) -> bool:
        """True for a share, in per cent."""
        return self.name != BIAS

    @property
    def by_chance(self) -> bool:
        """True if the share should be the nominal level of the test."""
        return self.name == REJECTED and self.of_numbers is SHARES

    def nominal(self, confidence: float) -> float | None:
        """Where the value should be; None if anywhere."""
        if self.name == REJECTED:
            return 1 - confidence if self.by_chance else None
        return confidence if self.name == COVERED else 0.0


ROOTS = "each panel has its own axis, stretched towards {}."
STATISTICS = {
    "size": Statistic(
        REJECTED, "Share of judges without self-bias that are called biased, %", (_root, _square), ROOTS.format("0"), SHARES
    ),
    "power": Statistic(
        REJECTED, "Share of judges with self-bias that are called biased, %", (np.asarray, np.asarray), "", EVEN
    ),
    "bias": Statistic(
        BIAS,
        f"Mean estimate of the last judge's self-bias less the truth, {UNIT}",
        (lambda value: np.arcsinh(np.asarray(value) / STRAIGHT), lambda place: STRAIGHT * np.sinh(place)),
        f"each panel has its own axis, nearly linear within {STRAIGHT:g} points of 0 and logarithmic beyond.",
        BIASES,
    ),
    "coverage": Statistic(
        COVERED,
        "Share of intervals that contain the planted self-bias, %",
        (lambda share: 1 - _root(1 - np.asarray(share)), lambda place: 1 - _square(1 - np.asarray(place))),
        ROOTS.format("100 %"),
        [1 - share for share in SHARES],
    ),
}


@language()
def montecarlo(
    table: pd.DataFrame, subject: Subject, *, name: str, grids: Mapping[str, Mapping], world: str, confidence: float
) -> Figure:
    """Draw one of STATISTICS of self-bias: a panel for each grid, a row for each estimator, a point for each setting.

    `table`: the table of that name, see `recuse.montecarlo.estimators`; grids: title, dials in words and estimators of each;
    world: what the worlds have in common, in words. Dashed: the nominal share, or no bias, in a band of TOLERANCE; bars: ERRORS
    Monte Carlo errors on each side.
    """
    statistic = STATISTICS[name]
    drawn = _rows(table, statistic)
    panels = {grid: drawn[drawn["grid"] == grid] for grid in grids if (drawn["grid"] == grid).any()}
    if not panels:
        return page_of_words(subject, NONE)
    nominal = statistic.nominal(confidence)
    columns = min(COLUMNS, len(panels))
    width = (DOUBLE_COLUMN - 2 * EDGE - (columns - 1) * GUTTER) / columns
    headings = {}  # lines over a panel: what the grid is called, then its dials
    for grid in panels:
        title = wrap(grids[grid]["title"], BOLD_TITLE * width).split("\n")
        dials = [line for text in grids[grid]["dials"] for line in wrap(text, width).split("\n")]
        headings[grid] = [(line, {"weight": "bold"}) for line in title] + [(line, {"color": FAINT}) for line in dials]
    tall = {grid: ROW * own["estimator"].nunique() for grid, own in panels.items()}
    above = {grid: len(heading) * LINE + 0.06 for grid, heading in headings.items()}
    filled = _stacked({grid: above[grid] + tall[grid] + BELOW for grid in panels}, columns)
    body = max(depth for _, depth in filled.values())
    letters = sorted({_estimand(name).partition(", by")[0] for name in _present(drawn)})
    swatches = [Entry(words, [{"color": COLOURS[words[0]], "lw": 0}]) for words in letters]
    order = "in each row, from the top and from pale to dark: the values listed first above the panel, in that order"
    shades = Entry(order, [{"color": shade, "lw": 0} for shade in _shades(INK, 4)])
    head = Head(_of_letters(drawn, statistic, nominal), f"{statistic.axis}; {ERRORS} Monte Carlo errors on each side")
    note = joined(f"{world} {drawn['replicates'].max():,} draws of each world.", _without(panels, grids))
    page = Page(subject=subject, head=head, width=DOUBLE_COLUMN, body=body + 0.08, legend=[swatches, [shades]], note=note)
    for grid, own in panels.items():
        column, depth = filled[grid]
        x, bottom = EDGE + column * (width + GUTTER), body - depth + BELOW
        for number, (text, settings) in enumerate(headings[grid]):
            page.text(x, bottom + tall[grid] + above[grid] - (number + 0.5) * LINE, text, **settings)
        axes = page.axes(x + LABEL, bottom, width - LABEL - RIGHT, tall[grid])
        _frame(axes, own, statistic, nominal, width - LABEL - RIGHT)
        _draw(axes, own)
    return page.figure


def _stacked(heights: Mapping[str, float], columns: int) -> dict[str, tuple[int, float]]:
    """Column of each panel, the least full one, and how far down it then reaches."""
    depth, places = [0.0] * columns, {}
    for name, height in heights.items():
        column = depth.index(min(depth))
        depth[column] += height
        places[name] = column, depth[column]
    return places


def _rows(table: pd.DataFrame, statistic: Statistic) -> pd.DataFrame:
    """The rows that are drawn; the size of an estimator that tests all biases at once is how often it rejects any."""
    at_once = table["estimator"].map(lambda name: ESTIMATORS[name].at_once).astype(bool)
    alone = (table["statistic"] == statistic.name) & (table["quantity"] == "self_bias")
    any_of_all = (table["statistic"] == ANY_REJECTED) & (table["quantity"] == BOTH)
    shown = table[np.where(at_once & statistic.by_chance, any_of_all, alone & ~at_once)]
    term = shown["term"].fillna(ALL)
    if not statistic.share:
        return shown[term == term[term != ALL_JUDGES].max()]
    # Some estimators have only the mean over judges.
    chosen = shown[term.isin([ALL, ALL_JUDGES])].sort_values("term", na_position="first", kind="stable")
    return chosen.drop_duplicates(["grid", "setting", "estimator"]).sort_index()


def _estimand(estimator: str) -> str:
    return ESTIMATORS[estimator].estimand or VERDICTS


def _label(estimator: str) -> str:
    words = ESTIMATORS[estimator].words
    return f"{ESTIMATORS[estimator].estimand[0]}: {words}" if ESTIMATORS[estimator].estimand else words


def _present(drawn: pd.DataFrame) -> list[str]:
    return [name for name in ESTIMATORS if (drawn["estimator"] == name).any()]


def _shades(colour: str, count: int) -> list[str]:
    """`count` shades from pale to the colour itself."""
    parts = np.linspace(PALEST, 1, count) if count > 1 else np.ones(1)
    return [to_hex(1 - part * (1 - np.array(to_rgb(colour)))) for part in parts]


def _limits(statistic: Statistic, low: np.ndarray, high: np.ndarray, nominal: float | None) -> tuple[float, float]:
    """Ends of a panel's axis: all bars from `low` to `high`, what is nominal and something to its sides, and a margin."""
    there, back = statistic.scale
    if nominal is None:
        ends = np.array([0.0, 1.0])
    else:
        least = LEAST if statistic.share else LEAST_BIAS
        ends = np.array([min(low.min(), nominal - least), max(high.max(), nominal + least)])
    first, last = there(np.clip(ends, 0, 1) if statistic.share else ends)
    margin = MARGIN * (last - first)
    return float(back(first - margin)), float(back(last + margin))


def _numbers(statistic: Statistic, ends: tuple[float, float], nominal: float | None, width: float) -> list[tuple[float, str]]:
    """Places on an axis of `width` inches and their numbers: the nominal one, then as many others as do not meet."""
    there = statistic.scale[0]
    first, last = there(np.array(ends))
    taken: list[tuple[float, str, float, float]] = []
    for value in [*([] if nominal is None else [nominal]), *statistic.of_numbers]:
        text = f"{100 * value if statistic.share else value:.4g}".replace("-", "−")
        place, half = width * float((there(np.array(value)) - first) / (last - first)), text_width(text) / 2
        free = all(abs(place - other) > half + wide + APART for *_, other, wide in taken)
        if free and -1e-6 <= place <= width + 1e-6:
            taken.append((value, text, place, half))
    return [(value, text) for value, text, *_ in sorted(taken)]


def _frame(axes: Axes, own: pd.DataFrame, statistic: Statistic, nominal: float | None, width: float) -> None:
    """Rows of estimators, numbers on the axis, and where the points should be."""
    names = _present(own)
    error = ERRORS * own["mc_error"]
    ends = _limits(statistic, own["value"] - error, own["value"] + error, nominal)
    axes.set_xscale("function", functions=statistic.scale)
    axes.set_xlim(ends)
    plain_rows(axes, names)
    axes.set_yticks(range(len(names)), [wrap(_label(name), LABEL - 0.08) for name in names], linespacing=1.05)
    axes.set_xticks(*zip(*_numbers(statistic, ends, nominal, width), strict=True))
    axes.minorticks_off()
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color=GRID, lw=0.6, zorder=0.9)
    if nominal is not None:
        if statistic.share:
            axes.axvspan(nominal - TOLERANCE, nominal + TOLERANCE, color=BAND, lw=0, zorder=1, gid="band")
        axes.axvline(nominal, color=INK, lw=0.8, linestyle=(0, (4, 2)), zorder=2, gid="nominal")


def _draw(axes: Axes, own: pd.DataFrame) -> None:
    """Points with their Monte Carlo errors, of each estimator from the first setting down to the last, and joined."""
    settings = list(own["setting"].drop_duplicates())
    shifts = SPREAD * ((np.arange(len(settings)) + 0.5) / len(settings) - 0.5)
    for place, name in enumerate(_present(own)):
        rows = own[own["estimator"] == name]
        at = [settings.index(setting) for setting in rows["setting"]]
        heights, shades = place + shifts[at], _shades(COLOURS[_estimand(name)[0]], len(settings))
        value, error = rows["value"].to_numpy(float), ERRORS * rows["mc_error"].to_numpy(float)
        axes.hlines(heights, value - error, value + error, color=[shades[number] for number in at], lw=1.1, gid="errors")
        axes.plot(value, heights, color=shades[0], lw=0.8, zorder=3, gid=name)
        for number, x, height in zip(at, value, heights, strict=True):
            axes.plot([x], [height], color=shades[number], linestyle="none", clip_on=False, zorder=4, gid="point", **POINT)


def _without(panels: Mapping[str, pd.DataFrame], grids: Mapping[str, Mapping]) -> str:
    """Estimators with nothing to draw in a panel in whose worlds they are tried, such as one that refuses."""
    tried = {name: [grid for grid in panels if name in grids[grid]["estimators"]] for name in ESTIMATORS}
    silent = {name: [grid for grid in of if not (panels[grid]["estimator"] == name).any()] for name, of in tried.items()}
    words = [
        _label(name) + (f" ({enumerated([grids[grid]['title'] for grid in of])})" if of != tried[name] else "")
        for name, of in silent.items()
        if of
    ]
    return f"Tried, without a result: {enumerated(words)}." if words else ""


def _of_letters(drawn: pd.DataFrame, statistic: Statistic, nominal: float | None) -> str:
    """What the estimators of each estimand come to: the mean power, the greatest error, or the share near its nominal value."""
    letters = drawn["estimator"].map(lambda name: ESTIMATORS[name].estimand[:1] or VERDICTS)
    parts = []
    for letter, values in drawn["value"].groupby(letters):
        if nominal is None:
            parts.append(f"{letter} {100 * values.mean():.0f} %")
        elif not statistic.share:
            parts.append(f"{letter} {values.abs().max():.3f}")
        else:
            within = values <= nominal + TOLERANCE if statistic.by_chance else values >= nominal - TOLERANCE
            parts.append(f"{letter} in {within.sum()} of {len(values)}")
    if nominal is None:
        return f"Mean power: {enumerated(parts)}"
    if not statistic.share:
        return f"Largest mean error: {enumerated(parts)}"
    return f"{'Few enough false alarms' if statistic.by_chance else 'Intervals wide enough'}: {enumerated(parts)} results"


@language()
def worlds(table: pd.DataFrame, subject: Subject, *, estimators: Sequence[str], world: str, confidence: float) -> Figure:
    """Draw how often each of `estimators` calls a judge biased in the worlds without self-bias, a row each.

    `table`: that of worlds; world: what the worlds have in common, in words. Dot: mean over judges; line: from the lowest judge
    to the highest; diamond: the test of the mean over judges; hollow: some tests are refused. Dashed: the nominal level.
    """
    drawn = table[(table["planted"] == 0) & table["estimator"].isin(estimators)]
    names, titles, nominal = _present(drawn), list(drawn["title"].drop_duplicates()), 1 - confidence
    if drawn.empty:
        return page_of_words(subject, NO_WORLD)
    room = {"most": len(names), "row": WORLD_ROW, "below": BELOW, "gutter": 0.2, "right": 0.1, "least": NARROW}
    heads = [wrap(_label(name), BOLD_TITLE * (NARROW + 0.1), TEXT) for name in names]
    above = LINE * (1.2 + max(head.count("\n") for head in heads))
    alone = {"color": INK, "linestyle": "none"}
    legend = [
        [
            Entry("mean over judges, and lowest to highest judge", line={"color": INK, "lw": 1.1, **POINT}),
            Entry("test of the mean self-bias", line={**alone, **POOLED}),
            Entry("some tests refused", line={**alone, **POINT, "markerfacecolor": "white"}),
        ]
    ]
    unit = f"share of judges without self-bias that are called biased, %, at the {percent(nominal)} level (dashed)"
    head = Head(_finding(drawn, names, nominal), unit)
    note = f"{world} {drawn['replicates'].max():,} draws of each world."
    page, panels = page_of_rows(subject, head, titles, heads, legend, above=above, note=note, **room)
    for name, axes in zip(names, panels.axes, strict=True):
        axes.set_xscale("function", functions=(_root, _square))
        axes.set(xlim=(0, 1), ylim=(len(titles) - 0.5, -0.5))
        axes.set_xticks(TICKS, [f"{100 * tick:.0f}" for tick in TICKS])
        axes.minorticks_off()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y")
        axes.axvspan(nominal - TOLERANCE, nominal + TOLERANCE, color=BAND, lw=0, zorder=1, gid="band")
        axes.axvline(nominal, color=INK, lw=0.8, linestyle=(0, (4, 2)), zorder=2, gid="nominal")
        for _, row in drawn[drawn["estimator"] == name].iterrows():
            _draw_world(axes, titles.index(row["title"]), row, COLOURS[_estimand(name)[0]])
    page.centred(panels.middle, 0.06, "called biased, %")
    return page.figure


def _draw_world(axes: Axes, place: int, row: Mapping, colour: str) -> None:
    """The tests of one estimator in one world."""
    marks = [("mean", "refused", POINT), ("pooled", "pooled_refused", POOLED)]
    present = [mark for mark in marks if not np.isnan(row[mark[0]])]
    if not present:
        write_instead(axes, place, "refused")
    if not np.isnan(row["lowest"]):
        axes.hlines(place, row["lowest"], row["highest"], color=colour, lw=1.1, gid="judges")
    for name, refused, mark in present:
        face = {"markerfacecolor": "white"} if row[refused] > REFUSED else {}
        axes.plot([row[name]], [place], color=colour, linestyle="none", clip_on=False, zorder=4, gid=name, **mark, **face)


def _finding(drawn: pd.DataFrame, names: Sequence[str], nominal: float) -> str:
    """In how many worlds each estimator holds its level for every judge, of those in which it has a result."""
    most, counts = nominal + HOLDS, []
    for name in names:
        shares = drawn.loc[drawn["estimator"] == name, "highest"].dropna()
        counts += [f"{_label(name)} in {(shares <= most).sum()} of {len(shares)} worlds"] if len(shares) else []
    return f"At most {percent(most)} false alarms for every judge: {enumerated(counts)}"
