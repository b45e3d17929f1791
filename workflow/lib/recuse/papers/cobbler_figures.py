"""The figures of CoBBLEr: cognitive biases of each judge, and overlap of its rankings with the
annotators'.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.plot.axes import put
from recuse.plot.colours import (
    BLUE,
    GREEN,
    INDIGO,
    INK,
    MAUVE,
    OLIVE,
    ROSE,
    RULE,
    SAND,
    SKY_BLUE,
    VERMILION,
    WINE,
)
from recuse.plot.intervals import plain_rows, row_within, write_number
from recuse.plot.page import (
    LEAST_PANEL,
    Entry,
    Head,
    Page,
    by_experiment,
    outcomes,
    page_of_words,
    page_width,
    some,
)
from recuse.plot.style import (
    DOUBLE_COLUMN,
    EDGE,
    LINE,
    SINGLE_COLUMN,
    Subject,
    language,
    percent_as_given,
    widest,
    wrap,
)

BIASES = {  # in the order of the figures: name, colour and hatch
    # Colour is the test, Tol's, as Okabe and Ito's tell whose a share is; hatched is its second
    # variant.
    "order_first": ("Order: first", INDIGO, ""),
    "order_last": ("Order: last", INDIGO, "////"),
    "compassion_first": ("Compassion: first", SAND, ""),
    "compassion_last": ("Compassion: last", SAND, "////"),
    "egocentric_order": ("Egocentric", WINE, ""),
    "egocentric_comp": ("Egocentric, names shown", WINE, "////"),
    "salience": ("Salience", ROSE, ""),
    "bandwagon": ("Bandwagon", OLIVE, ""),
    "attentional": ("Attentional", MAUVE, ""),
}
NAMES = {bias: name for bias, (name, *_) in BIASES.items()}
# Of a judge's share
ORIGINS = {
    "quoted": "quoted from the authors' released table",
    "computed": "computed from the verdicts",
}
MARKS = {"quoted": {"color": SKY_BLUE, "marker": "s"}, "computed": {"color": BLUE, "marker": "o"}}
HUMANS = {"color": GREEN, "marker": "D"}
OF_HUMANS = "humans, mean of the released shares"
RANDOM = {"color": VERMILION, "lw": 1.2, "linestyle": (0, (2, 1.2)), "solid_capstyle": "butt"}
OF_RANDOM = Entry("random choices", line=RANDOM)
NOTHING = "Nothing to draw: no comparison tests a cognitive bias."
BELOW = 0.42  # inches for ticks and axis text

# Share by bias.
ROW_OF_POINTS = 0.36  # inches
NAMED_WIDTH = 1.4  # inches beside a row, for the judges that are named
FENCE = 1.5  # interquartile ranges beyond the quartiles: what is farther out is an outlier (Tukey)
FEW = 4  # so few judges have no quartiles worth the name: all are named
LIMITS = (-0.02, 1.02)
POINT = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4}
NAMED = "Named beside a row: the most biased judge and outliers."

# Profile of each judge.
CELL = 0.56, 0.185  # inches
# Its dark end keeps a contrast to the numbers
SHADES = LinearSegmentedColormap.from_list("excess", ["#FFFFFF", "#9A9A9A"])

# Average by size.
ALL = "all judges"
NO_SIZE = "size unknown"
PARTLY = " The mean of a bias is over the judges that have a share of it."
NO_COMMON = "Nothing to draw: the judges of different sizes have no bias in common."

# Overlap of rankings, as the two published aggregates were computed: systems, form, ties, released
# folder of win counts.
SHOWN = (
    (15, "truncated", "listed", "model_annotations"),
    (13, "extrapolated", "by name", "model_annotations/new"),
)
ROW = 0.19
NUMBER = 0.36  # inches beside a bar, for its number
VALID = 0.42  # inches beside that, for the share of valid verdicts
GUTTER = 0.2
WITH_SINGLE, LISTED = "judges_with_annotators", "listing_order"
LINES = {  # statistic: what the legend says, and the line
    LISTED: (
        "the list of the systems, blind to the answers",
        {"color": VERMILION, "lw": 1.4, "linestyle": (0, (4, 2))},
    ),
    "inter_annotator": (
        "annotators with one another",
        {"color": GREEN, "lw": 1.4, "linestyle": (0, (1, 1))},
    ),
}
BETTER = {"facecolor": BLUE, "edgecolor": BLUE, "lw": 0.8}
NO_BETTER = {**BETTER, "facecolor": "white"}
NO_RANKINGS = "Nothing to draw: there are no rankings to compare."


@language()
def bias_jitter(table: pd.DataFrame, subject: Subject, *, confidence: float, seed: int) -> Figure:
    """Share of biased comparisons, a row for each bias, a point for each judge, with the RANDOM
    threshold.

    `table`: experiment, judge, bias, origin, share, random; of the humans also ci_low and ci_high.
    Heights within a row are drawn with `seed`.
    """
    table, words = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, NOTHING + words)
    judges = table[table["judge"] != HUMAN]
    label = widest(NAMES[bias] for bias in biases) + 0.1
    panel = DOUBLE_COLUMN - 2 * EDGE - label - 0.14 - NAMED_WIDTH
    names = [_named(judges[judges["bias"] == bias]) for bias in biases]
    heights = [max(ROW_OF_POINTS, LINE * (1.4 + text.count("\n"))) for text in names]
    unit = (
        "share of comparisons in which the judge is biased; of salience, where it picks the longer"
        " answer"
    )
    interval = (
        f"{unit}; humans: {percent_as_given(confidence)} bootstrap interval over instructions"
        if _has_humans(table)
        else unit
    )
    humans = [Entry(OF_HUMANS, line={"lw": 1.2, **HUMANS, **POINT})] * _has_humans(table)
    legend = [[*_judges_entries(table, {"linestyle": "none", **POINT}), *humans, OF_RANDOM]]
    note, head = NAMED + words, Head(_strongest(judges, biases), interval)
    page = Page(
        subject=subject,
        head=head,
        width=DOUBLE_COLUMN,
        body=BELOW + sum(heights),
        legend=legend,
        note=note,
    )
    axes = page.axes(EDGE + label, BELOW, panel, sum(heights))
    floors = sum(heights) - np.cumsum(heights)
    axes.set(xlim=LIMITS, ylim=(0, sum(heights)))
    axes.set_xticks(np.arange(0, 1.01, 0.25), ["0", "0.25", "0.5", "0.75", "1"])
    axes.grid(axis="x")
    axes.set_yticks(
        [floor + height / 2 for floor, height in zip(floors, heights, strict=True)],
        [NAMES[bias] for bias in biases],
    )
    axes.tick_params(axis="y", length=0)
    for floor in floors[:-1]:
        axes.axhline(floor, color=RULE, lw=0.6, zorder=1)
    generator = np.random.default_rng(seed)
    for bias, floor, height, text in zip(biases, floors, heights, names, strict=True):
        shares, middle = table[table["bias"] == bias].to_dict("records"), floor + height / 2
        put(
            axes,
            [shares[0]["random"]] * 2,
            [floor, floor + height],
            zorder=2,
            gid="random",
            **RANDOM,
        )
        page.text(EDGE + label + panel + 0.14, BELOW + middle, text, va="center", gid="names")
        places = floor + height * generator.uniform(0.15, 0.85, len(shares))
        for row, place in zip(shares, places, strict=True):
            look = {"linestyle": "none", "zorder": 4, **POINT}
            if row["judge"] == HUMAN:
                put(
                    axes,
                    [row["ci_low"], row["ci_high"]],
                    [middle] * 2,
                    color=HUMANS["color"],
                    lw=1.2,
                    gid="human interval",
                )
                put(axes, [row["share"]], [middle], gid="human", **HUMANS, **look)
            else:
                put(axes, [row["share"]], [place], gid="judge", **MARKS[row["origin"]], **look)
    page.centred(EDGE + label + panel / 2, 0.06, "share of comparisons")
    return page.figure


def _strongest(judges: pd.DataFrame, biases: Sequence[str]) -> str:
    """The bias that exceeds random choices by the most, averaged over judges."""
    excess = (
        (judges["share"] - judges["random"]).groupby(judges["bias"]).mean().reindex(list(biases))
    )
    if not excess.max() > 0:
        return "On average no bias exceeds random choices"
    rows = judges[judges["bias"] == excess.idxmax()]
    exceed = some((rows["share"] > rows["random"]).sum(), len(rows))
    return (
        f"The strongest bias is “{NAMES[excess.idxmax()]}”: it exceeds random choices in {exceed}"
    )


@language()
def bias_profile(table: pd.DataFrame, subject: Subject) -> Figure:
    """Share of each bias by judge as a table, shaded by how far it exceeds random choices, whose
    shares are the last row.

    `table`: experiment, judge, bias, origin, share, random. A cell without a share is empty.
    """
    table, words = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, NOTHING + words)
    judges = _judges(table)
    rankers = judges + [HUMAN] * _has_humans(table)
    # (biases,), (rankers, biases)
    random, values = _thresholds(table, biases), _shares(table, rankers, biases)
    excess = np.clip(values - random, 0, None)
    counts = (excess[: len(judges)] > 0).sum(axis=1)
    most, least = judges[int(counts.argmax())], judges[int(counts.argmin())]
    finding = (
        f"{most} exceeds random choices in {some(counts.max(), len(biases), 'bias', 'biases')}"
    )
    finding += f", {least} in {counts.min()}" if counts.max() > counts.min() else ""
    rows = [*rankers, "random choices"]
    label, above = widest(rows) + 0.1, 0.8 * widest(NAMES[bias] for bias in biases) + 0.1
    size = CELL[0] * len(biases), row_within(len(rows), CELL[1]) * len(rows)
    width = max(SINGLE_COLUMN, 2 * EDGE + label + size[0] + 0.6)
    legend = [
        [
            Entry(
                "beyond random choices",
                [{"color": SHADES(share), "lw": 0} for share in np.linspace(0, 1, 6)],
            )
        ]
    ]
    head = Head(
        finding,
        "share of comparisons in which the judge is biased; judges' shares"
        f" {' or '.join(_origins(table).values())}",
    )
    page = Page(
        subject=subject,
        head=head,
        width=width,
        body=size[1] + above + 0.1,
        legend=legend,
        note=words,
    )
    axes = page.axes(EDGE + label, 0.1, *size)
    axes.spines["bottom"].set_visible(False)
    shades = np.vstack([excess, np.zeros(len(biases))])  # (rankers + 1, biases)
    axes.pcolormesh(
        shades,
        cmap=SHADES,
        vmin=0,
        vmax=max(np.nanmax(shades), 1e-9),
        edgecolors="white",
        lw=0.8,
        gid="cells",
    )
    axes.invert_yaxis()
    for (row, column), share in np.ndenumerate(np.vstack([values, random])):
        if not np.isnan(share):
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{share:.2f}",
                ha="center",
                va="center_baseline",
                gid="share",
            )
    axes.axhline(len(judges), color=INK, lw=0.6)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.xaxis.tick_top()
    axes.set_xticks(
        np.arange(len(biases)) + 0.5,
        [NAMES[bias] for bias in biases],
        rotation=45,
        ha="left",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0)
    return page.figure


@language()
def bias_by_size(table: pd.DataFrame, subject: Subject) -> Figure:
    """Average share over the biases by group of judges of one size, stacked by bias, with the
    average threshold.

    `table`: experiment, judge, size, bias, origin, share, random. A bar is as long as the mean over
    biases of the mean share over those judges of the group that have one, and each part of it is
    one bias's. Groups stand as the table names their sizes; where it names none there is one group.
    Only biases that every group has are averaged; the humans are left out.
    """
    table, words = _drawable(table)
    judges = table[table["judge"] != HUMAN]
    sizes = judges["size"].astype(object).fillna(NO_SIZE if judges["size"].notna().any() else ALL)
    order = sorted(dict.fromkeys(sizes), key=lambda name: name == NO_SIZE)
    groups = {size: judges[sizes == size] for size in order}
    biases = [
        bias
        for bias in _biases(judges)
        if all(bias in set(group["bias"]) for group in groups.values())
    ]
    if not biases:
        return page_of_words(subject, NO_COMMON if len(groups) else NOTHING + words)
    labels = [f"{size} ({group['judge'].nunique()})" for size, group in groups.items()]
    label = widest(labels) + 0.1
    across, height = max(DOUBLE_COLUMN, 2 * EDGE + label + 0.46 + LEAST_PANEL), len(groups) * 0.34
    panel = across - 2 * EDGE - label - 0.46
    threshold = float(_thresholds(judges, biases).mean())
    missing = [NAMES[bias] for bias in _biases(judges) if bias not in biases]
    note = f"Not averaged, as not every group has it: {'; '.join(missing)}." * bool(missing)
    note += PARTLY * bool(np.isnan(_shares(judges, _judges(judges), biases)).any()) + words
    edge = {"edgecolor": "white", "lw": 0.4}
    faces = {
        bias: {"facecolor": BIASES[bias][1], "hatch": BIASES[bias][2], **edge} for bias in biases
    }
    means = {
        name: np.nanmean(_shares(group, _judges(group), biases), axis=0).mean()
        for name, group in groups.items()
    }
    most = max(means, key=means.get)
    who = f"the most biased judges ({most})" if len(means) > 1 else "judges"
    finding = (
        f"On average {who} are biased in {means[most]:.3f} of comparisons, random choices in"
        f" {threshold:.3f}"
    )
    head = Head(
        finding,
        f"share of comparisons, mean over {len(biases)} biases; number of judges in brackets",
    )
    legend = [[Entry(NAMES[bias], [face]) for bias, face in faces.items()], [OF_RANDOM]]
    page = Page(
        subject=subject, head=head, width=across, body=BELOW + height, legend=legend, note=note
    )
    axes = page.axes(EDGE + label, BELOW, panel, height)
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # behind a number
    number = {
        "textcoords": "offset points",
        "va": "center_baseline",
        "gid": "total",
        "zorder": 5,
        "bbox": paper,
    }
    for place, group in enumerate(groups.values()):
        parts = np.nanmean(_shares(group, _judges(group), biases), axis=0) / len(biases)
        for (bias, face), start, part in zip(
            faces.items(), np.cumsum(parts) - parts, parts, strict=True
        ):
            axes.barh([place], [part], 0.62, left=[start], zorder=3, gid=bias, **face)
        axes.annotate(f"{parts.sum():.3f}", (parts.sum(), place), (4, 0), **number)
    axes.set_xlim(0, max(axes.get_xlim()[1], 1.06 * threshold))
    plain_rows(axes, labels)
    axes.axvline(threshold, zorder=4, gid="random", **RANDOM)
    page.centred(
        EDGE + label + panel / 2, 0.06, "mean share of comparisons in which a judge is biased"
    )
    return page.figure


def _drawable(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of a table that have a share, each judge by one name, and what is to be said of it.

    Judges of several experiments are told apart, and a judge called `Human` from the humans of the
    released shares.
    """
    computed = table["origin"] == "computed"
    named = by_experiment(
        table.assign(
            judge=table["judge"].mask(computed & (table["judge"] == HUMAN), f"{HUMAN} (judge)")
        )
    )
    empty = named[named["share"].isna()]
    judges = [f"{NAMES[bias]} ({(empty['bias'] == bias).sum()})" for bias in _biases(empty)]
    words = (
        " Without a share, as all comparisons are left out, by number of judges:"
        f" {'; '.join(judges)}."
        if judges
        else ""
    )
    words += " A judge counts once in each experiment." * (
        table["experiment"].nunique(dropna=False) > 1
    )
    return named[named["share"].notna()], words


def _origins(table: pd.DataFrame) -> dict[str, str]:
    """Where the judges' shares in a table come from, and that in words."""
    present = set(table.loc[table["judge"] != HUMAN, "origin"])
    return {origin: text for origin, text in ORIGINS.items() if origin in present}


def _judges_entries(table: pd.DataFrame, mark: dict) -> list[Entry]:
    return [
        Entry(f"judge, {text}", line={**MARKS[origin], **mark})
        for origin, text in _origins(table).items()
    ]


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
    return (
        table.drop_duplicates("bias")
        .set_index("bias")["random"]
        .reindex(list(biases))
        .to_numpy(float)
    )


def _named(rows: pd.DataFrame) -> str:
    """The judges of one bias that are named, a line each with its share, the most biased first."""
    shares = rows["share"]
    low, high = shares.quantile(0.25), shares.quantile(0.75)
    beyond = (shares < low - FENCE * (high - low)) | (shares > high + FENCE * (high - low))
    named = rows[beyond | ((shares > 0) & (shares == shares.max())) | (len(rows) <= FEW)]
    ordered = named.sort_values("share", ascending=False, kind="stable")
    return "\n".join(
        wrap(f"{row.share:.2f} {row.judge}", NAMED_WIDTH) for row in ordered.itertuples()
    )


@language()
def rank_overlap_bars(table: pd.DataFrame, valid: pd.DataFrame, subject: Subject) -> Figure:
    """Rank-biased overlap by judge, a panel for each set of systems in the form and with the ties
    of the published aggregate.

    `table`: statistic, form, systems, ties, judge, value. `valid`: judge, prompt, rate, written
    beside the bars: a judge without valid verdicts ranks by the ties alone. A bar is the overlap
    with single annotators, filled where it is more than that of the list of the systems, which is
    the same whatever they answered.
    """
    panels = []
    for systems, form, ties, prompt in SHOWN:
        rows = table[
            (table["systems"] == systems) & (table["form"] == form) & (table["ties"] == ties)
        ]
        if len(rows):
            panels.append(
                rows.merge(
                    valid.loc[valid["prompt"] == prompt, ["judge", "rate"]], on="judge", how="left"
                )
            )
    if not panels:
        return page_of_words(subject, NO_RANKINGS)
    most = max(len(_of_judges(rows, WITH_SINGLE)) for rows in panels)
    label = widest(table["judge"].dropna()) + 0.1
    bars = [Entry("judge, better than the list", [BETTER]), Entry("no better", [NO_BETTER])]
    legend = [[*bars, *(Entry(text, line=line) for text, line in LINES.values())]]
    first = _of_judges(panels[0], WITH_SINGLE)
    better = (first["value"] > _of_lines(panels[0])[LISTED]).sum()
    verbs = tuple(
        f"{verb} the systems more like an annotator than a list made blind"
        for verb in ("ranks", "rank")
    )
    finding = outcomes(len(first), [(better, verbs)])
    head = Head(
        finding,
        "rank-biased overlap (p = 0.8) with the annotators, mean over single annotators and"
        " instructions",
    )
    across = page_width(legend, several=len(panels) > 1)
    panel = (across - 2 * EDGE - (len(panels) - 1) * GUTTER) / len(panels) - label - NUMBER - VALID
    page = Page(
        subject=subject, head=head, width=across, body=BELOW + most * ROW + 0.3, legend=legend
    )
    left = EDGE + label
    for rows in panels:
        judges = _of_judges(rows, WITH_SINGLE)
        axes = page.axes(left, BELOW + (most - len(judges)) * ROW, panel, len(judges) * ROW)
        _draw_overlaps(axes, judges, _of_lines(rows))
        first = rows.iloc[0]
        axes.set_title(f"{first['systems']} systems, {first['form']}", x=-label / panel)
        page.text(
            left + panel + NUMBER + VALID, BELOW + most * ROW + 0.09, "RBO    valid", ha="right"
        )
        left += panel + NUMBER + VALID + GUTTER + label
    page.centred(across / 2, 0.06, "rank-biased overlap (RBO)")
    return page.figure


def _of_judges(rows: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """The judges' rows of `statistic`, the largest overlap first."""
    chosen = rows[rows["judge"].notna() & (rows["statistic"] == statistic)]
    return chosen.sort_values("value", ascending=False, kind="stable")


def _of_lines(rows: pd.DataFrame) -> pd.Series:
    """The value of each of LINES."""
    return rows[rows["judge"].isna()].set_index("statistic")["value"].loc[list(LINES)]


def _draw_overlaps(axes: Axes, judges: pd.DataFrame, lines: pd.Series) -> None:
    axes.set_xlim(0, 1.06 * max(judges["value"].max(), *lines))
    plain_rows(axes, judges["judge"])
    for place, row in enumerate(judges.to_dict("records")):
        look = BETTER if row["value"] > lines[LISTED] else NO_BETTER
        axes.barh([place], [row["value"]], 0.68, zorder=2, gid="judge", **look)
        write_number(axes, place, f"{row['value']:.3f}", NUMBER)
        write_number(
            axes,
            place,
            "" if np.isnan(row["rate"]) else f"{100 * row['rate']:.1f} %",
            NUMBER + VALID,
        )
    for statistic, (_, line) in LINES.items():
        axes.axvline(lines[statistic], zorder=3, gid=statistic, **line)
