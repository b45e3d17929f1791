"""Cognitive biases by judge, the three figures of CoBBLEr: share by bias, profile of each judge, average by size."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.plot.colours import BLUE, FAINT, GREEN, GRID, INDIGO, MAUVE, OLIVE, ROSE, RULE, SAND, SKY_BLUE, VERMILION, WINE
from recuse.plot.conditions import by_experiment
from recuse.plot.intervals import plain_rows
from recuse.plot.page import Entry, Page, grid, joined, page_of_words, page_width
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, Subject, language, text_width, widest, wrap

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
SHORT = dict(zip(NAMES, ("OF", "OL", "CF", "CL", "E", "EN", "S", "B", "A"), strict=True))  # beside the axes of a polygon
# Colour is the test, Tol's, as Okabe and Ito's tell whose a share is; hatched is its second variant.
FACES = {
    "order_first": (INDIGO, ""),
    "order_last": (INDIGO, "////"),
    "compassion_first": (SAND, ""),
    "compassion_last": (SAND, "////"),
    "egocentric_order": (WINE, ""),
    "egocentric_comp": (WINE, "////"),
    "salience": (ROSE, ""),
    "bandwagon": (OLIVE, ""),
    "attentional": (MAUVE, ""),
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
OF_HUMANS = "humans, mean of the released shares"
RANDOM = {"color": VERMILION, "lw": 1.2, "linestyle": (0, (2, 1.2)), "solid_capstyle": "butt"}
OF_RANDOM = Entry("RANDOM: two independent fair choices, in closed form", line=RANDOM)
NOTHING = "Nothing to draw: no comparison tests a cognitive bias."
BELOW = 0.42  # inches for ticks and axis text

# Share by bias.
BAND = 0.3  # inches in which the points of a bias are scattered
LANE = 0.13  # inches of a line of names above them
RIGHT = 0.14
FENCE = 1.5  # interquartile ranges beyond the quartiles: what is farther out is an outlier (Tukey)
FEW = 4  # so few judges have no quartiles worth the name: all are named
LIMITS = (-0.02, 1.02)
POINT = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4}
SHARES = "share of comparisons in which the judge is biased; of salience, where it picks the longer"
NAMED = (
    "Named: the most biased judge, and outliers (more than 1.5 interquartile ranges beyond the quartiles); where a bias has "
    "four judges or fewer, all."
)
SCATTER = "Height within a row is random, so that points do not hide one another."
INTERVALS = "The judges' intervals are in the table cognitive_biases."

# Profile of each judge.
LEAST = 3  # axes: fewer make no polygon
COLUMNS = 6
SIDE = 1.13  # inches of a panel with its gap
RADIUS = 0.70  # of the half of a panel: outside it stand the names of the axes
SPOKE = {"color": GRID, "lw": 0.6, "zorder": 1}
FILL = 0.18
TITLE = 0.85 * SIDE  # inches of a line of a panel's title
OUTLINE = {"markersize": 2.5, "lw": 1.1}
FEW_BIASES = f"Nothing to draw: a polygon needs {LEAST} biases or more, and the comparisons test fewer."
SCALE = "Each axis runs from 0 to the share of the most biased judge (of RANDOM, where that is greater), which the key gives."
OPEN = " Shares that are not known leave the outline open."

# Average by size.
ROW = 0.34
BAR = 0.62  # of a row
NUMBER = 0.46  # inches for the number beside a bar
ALL = "all judges"
NO_SIZE = "size unknown"
PARTLY = " The mean of a bias is over the judges that it can be looked for in."
NO_COMMON = "Nothing to draw: the judges of different sizes have no bias in common."


@language()
def bias_jitter(table: pd.DataFrame, random: pd.DataFrame, subject: Subject, *, confidence: float, seed: int) -> Figure:
    """Share of biased comparisons, a row for each bias, a point for each judge, with the RANDOM threshold.

    `table`: experiment, judge, bias, origin, share, random; of the humans also ci_low and ci_high.
    `random`: closed_form and simulated thresholds. Points are scattered at random; the same `seed` scatters them alike.
    """
    table, words = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, NOTHING + words)
    judges = table[table["judge"] != HUMAN]
    label = widest(NAMES[bias] for bias in biases) + 0.1
    panel = DOUBLE_COLUMN - 2 * EDGE - label - RIGHT
    inch = (LIMITS[1] - LIMITS[0]) / panel
    rows = [_place_names(_named(judges[judges["bias"] == bias]), inch) for bias in biases]
    heights = [BAND + LANE * (1 + max((lane for *_, lane in names), default=-1)) + 0.06 for names in rows]
    count = f"{judges['judge'].nunique()} judges."
    intervals = INTERVALS if (judges["origin"] == "computed").any() else ""
    note = joined(count, NAMED, SCATTER, intervals, _simulated(random)) + words
    interval = f"{100 * confidence:g} % bootstrap interval over instructions"
    humans = [Entry(f"{OF_HUMANS}, {interval}", line={"lw": 1.2, **HUMANS, **POINT})] * _has_humans(table)
    legend = [_judges_entries(table, {"linestyle": "none", **POINT}), [*humans, OF_RANDOM]]
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=BELOW + sum(heights), legend=legend, note=note)
    axes = page.axes(EDGE + label, BELOW, panel, sum(heights))
    floors = sum(heights) - np.cumsum(heights)
    _frame_shares(axes, sum(heights), biases, floors)
    generator = np.random.default_rng(seed)
    for bias, floor, height, names in zip(biases, floors, heights, rows, strict=True):
        own = table[table["bias"] == bias]
        axes.plot([own["random"].iloc[0]] * 2, [floor, floor + height], zorder=2, gid="random", **RANDOM)
        _draw_judges(axes, own[own["judge"] != HUMAN], floor, names, generator)
        _draw_humans(axes, own[own["judge"] == HUMAN], floor)
    page.centred(EDGE + label + panel / 2, 0.06, SHARES)
    return page.figure


@language()
def bias_polygon(table: pd.DataFrame, subject: Subject) -> Figure:
    """Share of each bias on an axis of its own, a panel for each judge, with the polygon of random choices.

    `table`: experiment, judge, bias, origin, share, random. An axis is scaled to its most biased judge, or to the RANDOM
    threshold where that is greater. Where a judge has no share of a bias its outline is open.
    """
    table, words = _drawable(table)
    biases = _biases(table)
    if len(biases) < LEAST:
        return page_of_words(subject, (FEW_BIASES if biases else NOTHING) + words)
    judges = _judges(table)
    rankers = judges + [HUMAN] * _has_humans(table)
    marks = {ranker: MARKS[origin] for ranker, origin in zip(table["judge"], table["origin"], strict=True)}
    random = _thresholds(table, biases)
    values = _shares(table, rankers, biases)  # (rankers, biases)
    most = np.nanmax(np.vstack([values[: len(judges)], random]), axis=0)
    titles = {ranker: wrap(ranker, TITLE) for ranker in rankers}
    step = SIDE, SIDE + 0.1 + LINE * max(title.count("\n") + 1 for title in titles.values())
    rows, columns = grid(len(rankers), COLUMNS)
    humans = [Entry(OF_HUMANS, line={**HUMANS, **OUTLINE})] * _has_humans(table)
    ends = [Entry(f"{SHORT[bias]} {NAMES[bias]} {end:.2f}") for bias, end in zip(biases, most, strict=True)]
    legend = [[*_judges_entries(table, OUTLINE), *humans], [OF_RANDOM], [Entry("full axis:"), *ends]]
    width = page_width(legend, several=columns > 2)
    note = SCALE + OPEN * bool(np.isnan(values).any()) + words
    page = Page(subject=subject, width=width, body=rows * step[1], legend=legend, note=note)
    left = (width - columns * SIDE) / 2
    panels = page.panels(len(rankers), columns, corner=(left, 0.0), size=(SIDE, SIDE), step=step)
    for ranker, shown, each in zip(rankers, values, panels, strict=True):
        page.text(each.left + SIDE / 2, each.bottom + SIDE, titles[ranker], ha="center", va="bottom", weight="bold")
        _frame_polygon(each.axes, biases)
        _outline(each.axes, random / most, gid="random", **RANDOM)
        _outline(each.axes, shown / most, gid="human" if ranker == HUMAN else "judge", **marks[ranker], **OUTLINE)
    return page.figure


@language()
def bias_by_size(table: pd.DataFrame, subject: Subject) -> Figure:
    """Average share over the biases by group of judges of one size, stacked by bias, with the average threshold.

    `table`: experiment, judge, size, bias, origin, share, random. A bar is as long as the mean over biases of the mean share
    over those judges of the group that have one, and each part of it is one bias's. Groups stand as the table names their
    sizes; where it names none there is one group. Only biases that every group has are averaged; the humans are left out.
    """
    table, words = _drawable(table)
    judges = table[table["judge"] != HUMAN]
    groups = _groups(judges)
    biases = [bias for bias in _biases(judges) if all(bias in set(own["bias"]) for own in groups.values())]
    if not biases:
        return page_of_words(subject, NO_COMMON if len(groups) else NOTHING + words)
    labels = [f"{group} ({own['judge'].nunique()})" for group, own in groups.items()]
    label = widest(labels) + 0.1
    panel, height = DOUBLE_COLUMN - 2 * EDGE - label - NUMBER, len(groups) * ROW
    threshold = float(_thresholds(judges, biases).mean())
    missing = [NAMES[bias] for bias in _biases(judges) if bias not in biases]
    sized = "Parameters of the judges as released, in" if list(groups) != [ALL] else "In"
    note = f"{sized} brackets the number of judges. Shares of the judges: {', or '.join(_origins(judges).values())}."
    note += f" Not averaged, as not every group has it: {'; '.join(missing)}." * bool(missing)
    note += PARTLY * bool(np.isnan(_shares(judges, _judges(judges), biases)).any()) + words
    parts = [Entry(NAMES[bias], [_face(bias)]) for bias in biases]
    line = Entry(f"RANDOM: mean of the thresholds of these biases in closed form, {threshold:.3f}", line=RANDOM)
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=BELOW + height, legend=[parts, [line]], note=note)
    axes = page.axes(EDGE + label, BELOW, panel, height)
    for place, own in enumerate(groups.values()):
        _draw_bar(axes, place, biases, np.nanmean(_shares(own, _judges(own), biases), axis=0) / len(biases))
    axes.set_xlim(0, max(axes.get_xlim()[1], 1.06 * threshold))
    plain_rows(axes, labels)
    axes.axvline(threshold, zorder=4, gid="random", **RANDOM)
    mean = f"share of comparisons in which a judge is biased, mean over {len(biases)} biases"
    page.centred(EDGE + label + panel / 2, 0.06, mean)
    return page.figure


def _drawable(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of a table that have a share, each judge by one name, and what is to be said of it.

    Judges of several experiments are told apart, and a judge called `Human` from the humans of the released shares.
    """
    computed = table["origin"] == "computed"
    named = by_experiment(table.assign(judge=table["judge"].mask(computed & (table["judge"] == HUMAN), f"{HUMAN} (judge)")))
    empty = named[named["share"].isna()]
    judges = [f"{NAMES[bias]} ({(empty['bias'] == bias).sum()})" for bias in _biases(empty)]
    words = f" Without a share, as all comparisons are left out, by number of judges: {'; '.join(judges)}." if judges else ""
    words += " A judge counts once in each experiment." * (table["experiment"].nunique(dropna=False) > 1)
    return named[named["share"].notna()], words


def _origins(table: pd.DataFrame) -> dict[str, str]:
    """Where the judges' shares in a table come from, and that in words."""
    present = set(table.loc[table["judge"] != HUMAN, "origin"])
    return {origin: text for origin, text in ORIGINS.items() if origin in present}


def _judges_entries(table: pd.DataFrame, mark: dict) -> list[Entry]:
    return [Entry(f"judge, {text}", line={**MARKS[origin], **mark}) for origin, text in _origins(table).items()]


def _has_humans(table: pd.DataFrame) -> bool:
    return bool((table["judge"] == HUMAN).any())


def _biases(table: pd.DataFrame) -> list[str]:
    """The biases that a table has, in the order of the figures."""
    return [bias for bias in NAMES if bias in set(table["bias"])]


def _judges(table: pd.DataFrame) -> list[str]:
    """The judges of a table in its order, without the humans."""
    return [judge for judge in dict.fromkeys(table["judge"]) if judge != HUMAN]


def _shares(table: pd.DataFrame, rankers: Sequence[str], biases: Sequence[str]) -> np.ndarray:
    """Share by ranker and bias, (rankers, biases); NaN where the table has none."""
    wide = table.pivot(index="judge", columns="bias", values="share")
    return wide.reindex(index=list(rankers), columns=list(biases)).to_numpy(float)


def _thresholds(table: pd.DataFrame, biases: Sequence[str]) -> np.ndarray:
    """RANDOM threshold of each of `biases`."""
    return table.drop_duplicates("bias").set_index("bias")["random"].reindex(list(biases)).to_numpy(float)


def _simulated(random: pd.DataFrame) -> str:
    """How near the simulated thresholds come to those in closed form."""
    apart = (random["simulated"] - random["closed_form"]).abs().max()
    count, error = int(random["replicates"].min()), random["std_error"].max()
    return f"RANDOM simulated, {count:,} comparisons a bias: within {apart:.4f} of the line (standard error up to {error:.4f})."


def _frame_shares(axes: Axes, height: float, biases: Sequence[str], floors: Sequence[float]) -> None:
    axes.set(xlim=LIMITS, ylim=(0, height))
    axes.set_xticks(np.arange(0, 1.01, 0.25), ["0", "0.25", "0.5", "0.75", "1"])
    axes.grid(axis="x")
    axes.set_yticks([floor + BAND / 2 for floor in floors], [NAMES[bias] for bias in biases])
    axes.tick_params(axis="y", length=0)
    for floor in floors[:-1]:
        axes.axhline(floor, color=RULE, lw=0.6, zorder=1)


def _named(rows: pd.DataFrame) -> list[tuple[float, str]]:
    """Share and name of the judges of one bias that are named, from the left."""
    shares = rows["share"].to_numpy(float)
    low, high = np.quantile(shares, [0.25, 0.75]) if len(shares) else (0.0, 0.0)
    reach = FENCE * (high - low)
    most = (shares > 0) & (shares == shares.max(initial=0.0))
    outside = (shares < low - reach) | (shares > high + reach) | most | (len(shares) <= FEW)
    return sorted(zip(shares[outside].tolist(), rows["judge"].to_numpy()[outside].tolist(), strict=True))


def _place_names(named: Sequence[tuple[float, str]], inch: float) -> list[tuple[float, str, float, int]]:
    """Share, name, middle of the name, and the lowest lane where it meets none to its left; `inch` in units of the axis."""
    ends: list[float] = []  # of the last name in each lane
    placed = []
    for share, name in named:
        half = (text_width(name) / 2 + 0.04) * inch
        middle = min(max(share, LIMITS[0] + half), LIMITS[1] - half)
        lane = next((number for number, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[lane : lane + 1] = [middle + half]
        placed.append((share, name, middle, lane))
    return placed


def _draw_judges(
    axes: Axes,
    rows: pd.DataFrame,
    floor: float,
    names: Sequence[tuple[float, str, float, int]],
    generator: np.random.Generator,
) -> None:
    height = floor + BAND * generator.uniform(0.15, 0.85, len(rows))
    for (_, row), y in zip(rows.iterrows(), height, strict=True):
        axes.plot([row["share"]], [y], linestyle="none", zorder=4, gid="judge", **MARKS[row["origin"]], **POINT)
    at = dict(zip(rows["judge"], height, strict=True))
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # behind a name, so that no line crosses it
    for share, name, middle, lane in names:
        base = floor + BAND + LANE * (lane + 0.5)
        axes.plot([share, middle], [at[name], base - LANE / 2 + 0.01], color=FAINT, lw=0.5, zorder=2.5)
        axes.text(middle, base, name, ha="center", va="center_baseline", zorder=5, gid="name", bbox=paper)


def _draw_humans(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    colour, middle = HUMANS["color"], floor + BAND / 2
    for _, row in rows.iterrows():
        axes.plot([row["ci_low"], row["ci_high"]], [middle] * 2, color=colour, lw=1.2, zorder=3, gid="human interval")
        axes.plot([row["share"]], [middle], linestyle="none", zorder=5, gid="human", **HUMANS, **POINT)


def _directions(count: int) -> np.ndarray:
    """Unit vectors, (count, 2), clockwise from the top."""
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _frame_polygon(axes: Axes, biases: Sequence[str]) -> None:
    axes.set(xlim=(-1 / RADIUS, 1 / RADIUS), ylim=(-1 / RADIUS, 1 / RADIUS), xticks=[], yticks=[])
    axes.spines["bottom"].set_visible(False)
    directions = _directions(len(biases))
    closed = np.vstack([directions, directions[:1]])
    axes.plot(*closed.T, **SPOKE)
    for bias, (x, y) in zip(biases, directions, strict=True):
        axes.plot([0, x], [0, y], **SPOKE)
        axes.text(1.22 * x, 1.22 * y, SHORT[bias], ha="center", va="center_baseline")


def _outline(axes: Axes, lengths: np.ndarray, *, gid: str, **settings) -> None:
    """The corners at `lengths` of the axes, joined where neighbouring axes both have one; filled where all have."""
    ends = lengths[:, None] * _directions(len(lengths))
    axes.plot(*np.vstack([ends, ends[:1]]).T, gid=gid, zorder=3, **settings)
    if np.isfinite(lengths).all() and gid != "random":
        axes.fill(*ends.T, color=settings["color"], alpha=FILL, lw=0, zorder=2)


def _groups(judges: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each size, in the order in which the table names them; judges without a size last."""
    if judges["size"].isna().all():
        return {ALL: judges} if len(judges) else {}
    size = judges["size"].fillna(NO_SIZE)
    order = sorted(dict.fromkeys(size), key=lambda name: name == NO_SIZE)
    return {name: judges[size == name] for name in order}


def _face(bias: str) -> dict:
    colour, hatch = FACES[bias]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "lw": 0.4}


def _draw_bar(axes: Axes, place: int, biases: Sequence[str], parts: np.ndarray) -> None:
    starts = np.cumsum(parts) - parts
    for bias, start, part in zip(biases, starts, parts, strict=True):
        axes.barh([place], [part], BAR, left=[start], zorder=3, gid=bias, **_face(bias))
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # behind a number
    where = {"textcoords": "offset points", "va": "center_baseline", "gid": "total", "zorder": 5, "bbox": paper}
    axes.annotate(f"{parts.sum():.3f}", (parts.sum(), place), (4, 0), **where)
