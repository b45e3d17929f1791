"""The figures of CoBBLEr: cognitive biases of each judge, and overlap of its rankings with the annotators'."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.plot.colours import BLUE, GREEN, GRID, INDIGO, INK, MAUVE, OLIVE, ROSE, RULE, SAND, SKY_BLUE, VERMILION, WINE
from recuse.plot.intervals import plain_rows, write_number
from recuse.plot.page import LEAST_PANEL, Entry, Page, by_experiment, grid, joined, page_of_words, page_width
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, Subject, language, percent, widest, wrap

BIASES = {  # in the order of the figures: name, letters beside the axes of a polygon, colour and hatch
    # Colour is the test, Tol's, as Okabe and Ito's tell whose a share is; hatched is its second variant.
    "order_first": ("Order: first", "OF", INDIGO, ""),
    "order_last": ("Order: last", "OL", INDIGO, "////"),
    "compassion_first": ("Compassion: first", "CF", SAND, ""),
    "compassion_last": ("Compassion: last", "CL", SAND, "////"),
    "egocentric_order": ("Egocentric", "E", WINE, ""),
    "egocentric_comp": ("Egocentric, names shown", "EN", WINE, "////"),
    "salience": ("Salience", "S", ROSE, ""),
    "bandwagon": ("Bandwagon", "B", OLIVE, ""),
    "attentional": ("Attentional", "A", MAUVE, ""),
}
NAMES = {bias: name for bias, (name, *_) in BIASES.items()}
ORIGINS = {"quoted": "quoted from the authors' released table", "computed": "computed from the verdicts"}  # of a judge's share
MARKS = {"quoted": {"color": SKY_BLUE, "marker": "s"}, "computed": {"color": BLUE, "marker": "o"}}
HUMANS = {"color": GREEN, "marker": "D"}
OF_HUMANS = "humans, mean of the released shares"
RANDOM = {"color": VERMILION, "lw": 1.2, "linestyle": (0, (2, 1.2)), "solid_capstyle": "butt"}
OF_RANDOM = Entry("RANDOM: two independent fair choices, in closed form", line=RANDOM)
NOTHING = "Nothing to draw: no comparison tests a cognitive bias."
BELOW = 0.42  # inches for ticks and axis text

# Share by bias.
ROW_OF_POINTS = 0.36  # inches
NAMED_WIDTH = 1.7  # inches beside a row, for the judges that are named
FENCE = 1.5  # interquartile ranges beyond the quartiles: what is farther out is an outlier (Tukey)
FEW = 4  # so few judges have no quartiles worth the name: all are named
LIMITS = (-0.02, 1.02)
POINT = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4}
NAMED = (
    "Named: the most biased judge and outliers (more than 1.5 interquartile ranges beyond the quartiles); if a bias has four "
    "judges or fewer, all."
)
SCATTER = "Height within a row is random, so that points do not hide one another."
INTERVALS = "The judges' intervals are in the table cognitive_biases."

# Profile of each judge.
LEAST = 3  # axes: fewer make no polygon
SIDE = 1.13  # inches of a panel with its gap
RADIUS = 0.70  # of the half of a panel: outside it stand the names of the axes
SPOKE = {"color": GRID, "lw": 0.6, "zorder": 1}
OUTLINE = {"markersize": 2.5, "lw": 1.1}
FEW_BIASES = f"Nothing to draw: a polygon needs {LEAST} biases or more, and the comparisons test fewer."
SCALE = "Each axis runs from 0 to the share of the most biased judge (of RANDOM, where that is greater), which the key gives."
OPEN = " An unknown share leaves the outline open."

# Average by size.
ALL = "all judges"
NO_SIZE = "size unknown"
PARTLY = " The mean of a bias is over the judges that have a share of it."
NO_COMMON = "Nothing to draw: the judges of different sizes have no bias in common."

# Overlap of rankings, as the two published aggregates were computed: systems, form, ties, released folder of win counts.
SHOWN = ((15, "truncated", "listed", "model_annotations"), (13, "extrapolated", "by name", "model_annotations/new"))
ROW = 0.19
NUMBER = 0.36  # inches beside a bar, for its number
VALID = 0.42  # inches beside that, for the share of valid verdicts
GUTTER = 0.2
WITH_SINGLE, WITH_TOGETHER = "judges_with_annotators", "judges_with_annotators_together"
LISTED, LISTED_TOGETHER = "listing_order", "listing_order_with_annotators_together"
SUMMED = (0, (6, 2, 1, 2))
LINES = {  # statistic: what the foot says, what the legend says, and the line
    LISTED: (
        "list",
        "the list of the systems, blind to the answers, with single annotators",
        {"color": VERMILION, "lw": 1.4, "linestyle": (0, (4, 2))},
    ),
    LISTED_TOGETHER: (
        "list with the annotators summed",
        "the list with the annotators' wins summed",
        {"color": VERMILION, "lw": 1.4, "linestyle": SUMMED},
    ),
    "inter_annotator": ("annotators", "annotators with one another", {"color": GREEN, "lw": 1.4, "linestyle": (0, (1, 1))}),
    WITH_SINGLE: ("judges", "mean of the bars", {"color": INK, "lw": 1.2, "linestyle": "-"}),
    "aggregate": (
        "aggregate",
        "aggregate: judges' wins summed, annotators' wins summed",
        {"color": INK, "lw": 1.2, "linestyle": SUMMED},
    ),
}
BETTER = {"facecolor": BLUE, "edgecolor": BLUE, "lw": 0.8}
NO_BETTER = {**BETTER, "facecolor": "white"}
MARK = {"color": "black", "marker": "D", "markersize": 4.2, "markeredgewidth": 0.9, "linestyle": "none"}
NO_BETTER_MARK = {**MARK, "markerfacecolor": "white"}
NO_RANKINGS = "Nothing to draw: there are no rankings to compare."
NOTE = (
    "All computed from the released win counts. RBO and bars: means over single annotators and instructions (p = 0.8), or over "
    "instructions if the annotators' wins are summed. Ties: the system listed first goes first (15 systems), or the first in "
    "the alphabet (13). Valid: share of comparisons with a verdict; without one a judge ranks by ties alone. Truncated overlap "
    "ends below 1, at 0.965."
)


@language()
def bias_jitter(table: pd.DataFrame, random: pd.DataFrame, subject: Subject, *, confidence: float, seed: int) -> Figure:
    """Share of biased comparisons, a row for each bias, a point for each judge, with the RANDOM threshold.

    `table`: experiment, judge, bias, origin, share, random; of the humans also ci_low and ci_high.
    `random`: closed_form and simulated thresholds. Heights within a row are drawn with `seed`.
    """
    table, words = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, NOTHING + words)
    judges = table[table["judge"] != HUMAN]
    label = widest(NAMES[bias] for bias in biases) + 0.1
    panel = DOUBLE_COLUMN - 2 * EDGE - label - 0.14 - NAMED_WIDTH
    names = [wrap(_named(judges[judges["bias"] == bias]), NAMED_WIDTH) for bias in biases]
    heights = [max(ROW_OF_POINTS, LINE * (2 + text.count("\n"))) for text in names]
    intervals = INTERVALS if (judges["origin"] == "computed").any() else ""
    apart, error = (random["simulated"] - random["closed_form"]).abs().max(), random["std_error"].max()
    simulated = (
        f"RANDOM simulated, {int(random['replicates'].min()):,} comparisons a bias: within {apart:.4f} of the line (standard "
        f"error up to {error:.4f})."
    )
    note = joined(f"{judges['judge'].nunique()} judges.", NAMED, SCATTER, intervals, simulated) + words
    interval = f"{percent(confidence)} bootstrap interval over instructions"
    humans = [Entry(f"{OF_HUMANS}, {interval}", line={"lw": 1.2, **HUMANS, **POINT})] * _has_humans(table)
    legend = [_judges_entries(table, {"linestyle": "none", **POINT}), [*humans, OF_RANDOM]]
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=BELOW + sum(heights), legend=legend, note=note)
    axes = page.axes(EDGE + label, BELOW, panel, sum(heights))
    floors = sum(heights) - np.cumsum(heights)
    axes.set(xlim=LIMITS, ylim=(0, sum(heights)))
    axes.set_xticks(np.arange(0, 1.01, 0.25), ["0", "0.25", "0.5", "0.75", "1"])
    axes.grid(axis="x")
    axes.set_yticks(
        [floor + height / 2 for floor, height in zip(floors, heights, strict=True)], [NAMES[bias] for bias in biases]
    )
    axes.tick_params(axis="y", length=0)
    for floor in floors[:-1]:
        axes.axhline(floor, color=RULE, lw=0.6, zorder=1)
    generator = np.random.default_rng(seed)
    for bias, floor, height, text in zip(biases, floors, heights, names, strict=True):
        shares, middle = table[table["bias"] == bias].to_dict("records"), floor + height / 2
        axes.plot([shares[0]["random"]] * 2, [floor, floor + height], zorder=2, gid="random", **RANDOM)
        page.text(EDGE + label + panel + 0.14, BELOW + middle, text, va="center", gid="names")
        places = floor + height * generator.uniform(0.15, 0.85, len(shares))
        for row, place in zip(shares, places, strict=True):
            look = {"linestyle": "none", "zorder": 4, **POINT}
            if row["judge"] == HUMAN:
                axes.plot([row["ci_low"], row["ci_high"]], [middle] * 2, color=HUMANS["color"], lw=1.2, gid="human interval")
                axes.plot([row["share"]], [middle], gid="human", **HUMANS, **look)
            else:
                axes.plot([row["share"]], [place], gid="judge", **MARKS[row["origin"]], **look)
    across = "share of comparisons in which the judge is biased; of salience, where it picks the longer"
    page.centred(EDGE + label + panel / 2, 0.06, across)
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
    looks = {judge: MARKS.get(origin, HUMANS) for judge, origin in zip(table["judge"], table["origin"], strict=True)}
    random = _thresholds(table, biases)
    values = _shares(table, rankers, biases)  # (rankers, biases)
    most = np.nanmax(np.vstack([values[: len(judges)], random]), axis=0)
    titles = {ranker: wrap(ranker, 0.85 * SIDE) for ranker in rankers}
    step = SIDE, SIDE + 0.1 + LINE * max(title.count("\n") + 1 for title in titles.values())
    rows, columns = grid(len(rankers), 6)
    humans = [Entry(OF_HUMANS, line={**HUMANS, **OUTLINE})] * _has_humans(table)
    ends = [Entry(f"{BIASES[bias][1]} {NAMES[bias]} {end:.2f}") for bias, end in zip(biases, most, strict=True)]
    legend = [[*_judges_entries(table, OUTLINE), *humans], [OF_RANDOM], [Entry("full axis:"), *ends]]
    width = page_width(legend, several=columns > 2)
    note = SCALE + OPEN * bool(np.isnan(values).any()) + words
    page = Page(subject=subject, width=width, body=rows * step[1], legend=legend, note=note)
    left = (width - columns * SIDE) / 2
    panels = page.panels(len(rankers), columns, corner=(left, 0.0), size=(SIDE, SIDE), step=step)
    corners = _directions(len(biases))
    for ranker, shares, each in zip(rankers, values, panels, strict=True):
        page.text(each.left + SIDE / 2, each.bottom + SIDE, titles[ranker], ha="center", va="bottom", weight="bold")
        each.axes.set(xlim=(-1 / RADIUS, 1 / RADIUS), ylim=(-1 / RADIUS, 1 / RADIUS), xticks=[], yticks=[])
        each.axes.spines["bottom"].set_visible(False)
        each.axes.plot(*np.vstack([corners, corners[:1]]).T, **SPOKE)
        for bias, (x, y) in zip(biases, corners, strict=True):
            each.axes.plot([0, x], [0, y], **SPOKE)
            each.axes.text(1.22 * x, 1.22 * y, BIASES[bias][1], ha="center", va="center_baseline")
        _outline(each.axes, random / most, gid="random", **RANDOM)
        _outline(each.axes, shares / most, gid="human" if ranker == HUMAN else "judge", **looks[ranker], **OUTLINE)
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
    sizes = judges["size"].astype(object).fillna(NO_SIZE if judges["size"].notna().any() else ALL)
    order = sorted(dict.fromkeys(sizes), key=lambda name: name == NO_SIZE)
    groups = {size: judges[sizes == size] for size in order}
    biases = [bias for bias in _biases(judges) if all(bias in set(group["bias"]) for group in groups.values())]
    if not biases:
        return page_of_words(subject, NO_COMMON if len(groups) else NOTHING + words)
    labels = [f"{size} ({group['judge'].nunique()})" for size, group in groups.items()]
    label = widest(labels) + 0.1
    across, height = max(DOUBLE_COLUMN, 2 * EDGE + label + 0.46 + LEAST_PANEL), len(groups) * 0.34
    panel = across - 2 * EDGE - label - 0.46
    threshold = float(_thresholds(judges, biases).mean())
    missing = [NAMES[bias] for bias in _biases(judges) if bias not in biases]
    sized = "Parameters of the judges as released, in" if order != [ALL] else "In"
    note = f"{sized} brackets the number of judges. Shares of the judges: {', or '.join(_origins(judges).values())}."
    note += f" Not averaged, as not every group has it: {'; '.join(missing)}." * bool(missing)
    note += PARTLY * bool(np.isnan(_shares(judges, _judges(judges), biases)).any()) + words
    edge = {"edgecolor": "white", "lw": 0.4}
    faces = {bias: {"facecolor": BIASES[bias][2], "hatch": BIASES[bias][3], **edge} for bias in biases}
    line = Entry(f"RANDOM: mean of the thresholds of these biases in closed form, {threshold:.3f}", line=RANDOM)
    legend = [[Entry(NAMES[bias], [face]) for bias, face in faces.items()], [line]]
    page = Page(subject=subject, width=across, body=BELOW + height, legend=legend, note=note)
    axes = page.axes(EDGE + label, BELOW, panel, height)
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # behind a number
    number = {"textcoords": "offset points", "va": "center_baseline", "gid": "total", "zorder": 5, "bbox": paper}
    for place, group in enumerate(groups.values()):
        parts = np.nanmean(_shares(group, _judges(group), biases), axis=0) / len(biases)
        for (bias, face), start, part in zip(faces.items(), np.cumsum(parts) - parts, parts, strict=True):
            axes.barh([place], [part], 0.62, left=[start], zorder=3, gid=bias, **face)
        axes.annotate(f"{parts.sum():.3f}", (parts.sum(), place), (4, 0), **number)
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
    return [bias for bias in NAMES if bias in set(table["bias"])]


def _judges(table: pd.DataFrame) -> list[str]:
    return [judge for judge in dict.fromkeys(table["judge"]) if judge != HUMAN]


def _shares(table: pd.DataFrame, rankers: Sequence[str], biases: Sequence[str]) -> np.ndarray:
    """Share by ranker and bias, (rankers, biases); NaN where the table has none."""
    wide = table.pivot(index="judge", columns="bias", values="share")
    return wide.reindex(index=list(rankers), columns=list(biases)).to_numpy(float)


def _thresholds(table: pd.DataFrame, biases: Sequence[str]) -> np.ndarray:
    """RANDOM threshold of each of `biases`."""
    return table.drop_duplicates("bias").set_index("bias")["random"].reindex(list(biases)).to_numpy(float)


def _named(rows: pd.DataFrame) -> str:
    """The judges of one bias that are named, with their shares, the most biased first."""
    shares = rows["share"]
    low, high = shares.quantile(0.25), shares.quantile(0.75)
    beyond = (shares < low - FENCE * (high - low)) | (shares > high + FENCE * (high - low))
    named = rows[beyond | ((shares > 0) & (shares == shares.max())) | (len(rows) <= FEW)]
    ordered = named.sort_values("share", ascending=False, kind="stable")
    return ", ".join(f"{row.judge} {row.share:.2f}" for row in ordered.itertuples())


def _directions(count: int) -> np.ndarray:
    """Unit vectors, (count, 2), clockwise from the top."""
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _outline(axes: Axes, lengths: np.ndarray, *, gid: str, **settings) -> None:
    """The corners at `lengths` of the axes, joined where neighbouring axes both have one; filled where all have."""
    ends = lengths[:, None] * _directions(len(lengths))
    axes.plot(*np.vstack([ends, ends[:1]]).T, gid=gid, zorder=3, **settings)
    if np.isfinite(lengths).all() and gid != "random":
        axes.fill(*ends.T, color=settings["color"], alpha=0.18, lw=0, zorder=2)


@language()
def rank_overlap_bars(table: pd.DataFrame, valid: pd.DataFrame, subject: Subject) -> Figure:
    """Rank-biased overlap by judge, a panel for each set of systems in the form and with the ties of the published aggregate.

    `table`: statistic, form, systems, ties, judge, value. `valid`: judge, prompt, rate, written beside the bars: a judge
    without valid verdicts ranks by the ties alone. A bar is the overlap with single annotators, a diamond on it that with the
    ranking by their wins summed; each is filled where it is more than that of the list of the systems, which is the same
    whatever they answered.
    """
    panels = []
    for systems, form, ties, prompt in SHOWN:
        rows = table[(table["systems"] == systems) & (table["form"] == form) & (table["ties"] == ties)]
        if len(rows):
            panels.append(rows.merge(valid.loc[valid["prompt"] == prompt, ["judge", "rate"]], on="judge", how="left"))
    if not panels:
        return page_of_words(subject, NO_RANKINGS)
    most = max(len(_of_judges(rows, WITH_SINGLE)) for rows in panels)
    label = widest(table["judge"].dropna()) + 0.1
    single, together = "judge with single annotators", "judge with the annotators' wins summed"
    bars = [Entry(f"{single}, better than the list", [BETTER]), Entry("no better", [NO_BETTER])]
    marks = [Entry(f"{together}, better than the list", line=MARK), Entry("no better", line=NO_BETTER_MARK)]
    legend = [bars, marks, [Entry(text, line=line) for _, text, line in LINES.values()]]
    across = page_width(legend, several=len(panels) > 1)
    panel = (across - 2 * EDGE - (len(panels) - 1) * GUTTER) / len(panels) - label - NUMBER - VALID
    body, note = BELOW + most * ROW + 0.3, f"{NOTE} {_values(panels)}"
    page = Page(subject=subject, width=across, body=body, legend=legend, note=note)
    left = EDGE + label
    for rows in panels:
        judges = _of_judges(rows, WITH_SINGLE)
        axes = page.axes(left, BELOW + (most - len(judges)) * ROW, panel, len(judges) * ROW)
        _draw_overlaps(axes, judges, _of_judges(rows, WITH_TOGETHER), _of_lines(rows))
        first = rows.iloc[0]
        axes.set_title(f"{first['systems']} systems, {first['form']}", x=-label / panel)
        page.text(left + panel + NUMBER + VALID, BELOW + most * ROW + 0.09, "RBO    valid", ha="right")
        left += panel + NUMBER + VALID + GUTTER + label
    page.centred(across / 2, 0.06, "rank-biased overlap (RBO) with the annotators' rankings")
    return page.figure


def _of_judges(rows: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """The judges' rows of `statistic`, the largest overlap first."""
    chosen = rows[rows["judge"].notna() & (rows["statistic"] == statistic)]
    return chosen.sort_values("value", ascending=False, kind="stable")


def _of_lines(rows: pd.DataFrame) -> pd.Series:
    """The value of each of LINES."""
    return rows[rows["judge"].isna()].set_index("statistic")["value"].loc[list(LINES)]


def _values(panels: Sequence[pd.DataFrame]) -> str:
    """The numbers of the lines, and of the judges that are better than the list with the annotators together, in words."""
    parts = []
    for rows in panels:
        value, together = _of_lines(rows), _of_judges(rows, WITH_TOGETHER)
        numbers = ", ".join(f"{short} {value[statistic]:.4f}" for statistic, (short, *_) in LINES.items())
        better = together[together["value"] > value[LISTED_TOGETHER]]
        named = ", ".join(f"{row.judge} {row.value:.4f}" for row in better.itertuples()) or "none"
        systems = rows["systems"].iloc[0]
        parts.append(f"{systems} systems: {numbers}; better than that with the annotators summed: {named}.")
    return f"Lines of the {' Of the '.join(parts)}"


def _draw_overlaps(axes: Axes, judges: pd.DataFrame, together: pd.DataFrame, lines: pd.Series) -> None:
    axes.set_xlim(0, 1.06 * max(judges["value"].max(), together["value"].max(), *lines))
    plain_rows(axes, judges["judge"])
    summed = together.set_index("judge")["value"]
    for place, row in enumerate(judges.to_dict("records")):
        look = BETTER if row["value"] > lines[LISTED] else NO_BETTER
        axes.barh([place], [row["value"]], 0.68, zorder=2, gid="judge", **look)
        write_number(axes, place, f"{row['value']:.3f}", NUMBER)
        write_number(axes, place, "" if np.isnan(row["rate"]) else f"{100 * row['rate']:.1f} %", NUMBER + VALID)
    for place, judge in enumerate(judges["judge"]):
        look = MARK if summed[judge] > lines[LISTED_TOGETHER] else NO_BETTER_MARK
        axes.plot([summed[judge]], [place], zorder=4, gid="together", **look)
    for statistic, (*_, line) in LINES.items():
        axes.axvline(lines[statistic], zorder=3, gid=statistic, **line)
