"""The figures of CoBBLEr: cognitive biases of each judge, and overlap of its rankings with the
annotators'.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.papers.attack_figures import stack
from recuse.plot.axes import put
from recuse.plot.cells import ShadedCells, cells_figure
from recuse.plot.colours import (
    BLUE,
    GREEN,
    INDIGO,
    MAUVE,
    OLIVE,
    ROSE,
    SAND,
    SKY_BLUE,
    VERMILION,
    WINE,
)
from recuse.plot.page import (
    NO_EXPERIMENT,
    Entry,
    head,
    joined,
    page_of_words,
    sides,
    with_text_names,
    written,
)
from recuse.plot.rows import POINTS, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

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
ORIGINS = {  # of a judge's share: words, colour, marker and its letter
    "quoted": ("quoted from the authors' released table", SKY_BLUE, "s", "■"),
    "computed": ("computed from the verdicts", BLUE, "o", "●"),
}
HUMANS = Kind("", {**POINTS[3], "markersize": 3.6}, GREEN)
OF_HUMANS = Entry("humans, mean of the released shares", "◆", GREEN)
RANDOM = {"color": VERMILION, "lw": 1.2, "linestyle": (0, (2, 1.2)), "solid_capstyle": "butt"}
OF_RANDOM = Entry("random choices", "┆", VERMILION)
NOTHING = "Nothing to draw: no comparison tests a cognitive bias."
BIASED = "share of comparisons in which the judge is biased"
QUARTERS = ((0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1, "1"))

# Share by bias.
FENCE = 1.5  # interquartile ranges beyond the quartiles: what is farther out is an outlier (Tukey)
FEW = 4  # so few judges have no quartiles worth the name: all are named
SPREAD = 0.35  # of a row on both sides of its middle: where points are
POINT = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4, "zorder": 4}
NAMED = "Named beside a row: the most biased judge and outliers."

# Average by size.
ALL = "all judges"
NO_SIZE = "size unknown"
NO_COMMON = "Nothing to draw: the judges of different sizes have no bias in common."
HEIGHT = 0.2  # inches of a bar

# Overlap of rankings, as the two published aggregates were computed: systems, form, ties, released
# folder of win counts.
SHOWN = (
    (15, "truncated", "listed", "model_annotations"),
    (13, "extrapolated", "by name", "model_annotations/new"),
)
WITH_SINGLE, LISTED = "judges_with_annotators", "listing_order"
LINES = {  # statistic: line
    LISTED: {"color": VERMILION, "lw": 1.4, "linestyle": (0, (4, 2))},
    "inter_annotator": {"color": GREEN, "lw": 1.4, "linestyle": (0, (1, 1))},
}
OVERLAPS = [
    Entry("judge (filled: better than the list)", "●", BLUE),
    Entry("the list of the systems, blind to the answers", "╎", VERMILION),
    Entry("annotators with one another", "┊", GREEN),
]
RBO = "rank-biased overlap"
NO_RANKINGS = "Nothing to draw: there are no rankings to compare."


@language()
def bias_jitter(table: pd.DataFrame, subject: Subject, *, confidence: float, seed: int) -> Figure:
    """Share of biased comparisons, a row for each bias, a point for each judge, with the RANDOM
    threshold.

    `table`: experiment, judge, bias, origin, share, random; of the humans also ci_low and ci_high.
    Heights within a row are drawn with `seed`.
    """
    table, note = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, joined(NOTHING, note))
    is_human = table["judge"] == HUMAN
    judges, humans = table[~is_human], table[is_human]
    texts = {bias: _named(judges[judges["bias"] == bias]) for bias in biases}
    marks = humans.assign(row=humans["bias"], estimate=humans["share"], panel="")
    beside = pd.DataFrame({"row": biases, "panel": "", "text": [texts[bias] for bias in biases]})
    marks = pd.concat([marks, beside.assign(estimate=np.nan)])
    lines = max(1 + text.count("\n") for text in texts.values())
    facts = {"humans": len(humans), "level": confidence}
    across = "share of comparisons"
    column = Column(across=across, at=None, limits=(-0.02, 1.02), ticks=QUARTERS)
    page = rows_figure(
        marks,
        subject,
        head("bias_jitter", **_strongest(judges, biases), **facts),
        [Block([Row(bias, NAMES[bias]) for bias in biases], [column])],
        kinds={"human": HUMANS},
        row=max(0.3, 0.04 + 0.12 * lines),
        key=[*_origins(table), *[OF_HUMANS] * bool(len(humans)), OF_RANDOM],
        note=joined(NAMED, note),
    )
    generator, axes = np.random.default_rng(seed), page.axes[""]
    for bias in biases:
        rows = judges[judges["bias"] == bias]
        middle, reach = page.place("", bias), SPREAD * page.row
        ends = [middle - reach, middle + reach]
        threshold = table.loc[table["bias"] == bias, "random"].iloc[0]
        put(axes, [threshold] * 2, ends, zorder=2, gid="random", **RANDOM)
        for row, at in zip(
            rows.to_dict("records"), generator.uniform(*ends, len(rows)), strict=True
        ):
            _, colour, marker, _ = ORIGINS[row["origin"]]
            look = {"color": colour, "marker": marker, "linestyle": "none", **POINT}
            put(axes, [row["share"]], [at], gid="judge", label=row["judge"], **look)
    return page.figure


def _strongest(judges: pd.DataFrame, biases: Sequence[str]) -> dict[str, object]:
    """The bias that exceeds random choices by the most, averaged over judges, and how many judges
    have it.
    """
    above = judges["share"] - judges["random"]
    means = above.groupby(judges["bias"]).mean().reindex(list(biases))
    if not means.max() > 0:
        return {"bias": ""}
    own = above[judges["bias"] == means.idxmax()]
    return {"bias": NAMES[means.idxmax()], "count": (own > 0).sum(), "total": len(own)}


@language()
def bias_profile(table: pd.DataFrame, subject: Subject) -> Figure:
    """Share of each bias by judge as a table, shaded by how far it exceeds random choices, whose
    shares are the last row.

    `table`: experiment, judge, bias, origin, share, random. A cell without a share is empty.
    """
    table, note = _drawable(table)
    biases = _biases(table)
    if not biases:
        return page_of_words(subject, joined(NOTHING, note))
    judges = _judges(table)
    rankers = judges + [HUMAN] * bool((table["judge"] == HUMAN).any())
    random = table.drop_duplicates("bias").set_index("bias")["random"].reindex(biases)
    values = _shares(table, rankers, biases)
    excess = (values - random).clip(lower=0)
    counts = (excess.loc[judges] > 0).sum(axis=1)
    most, least = counts.idxmax(), counts.idxmin()
    origins = [entry.text.partition(", ")[2] for entry in _origins(table)]
    found = {"most": most, "least": least, "high": counts[most], "low": counts[least]}
    words = head("bias_profile", **found, total=len(biases), origins=origins)
    values.loc["random choices"], excess.loc["random choices"] = random, 0.0
    darkness = excess / max(excess.max(axis=None), 1e-9)
    cells = ShadedCells(darkness.rename(columns=NAMES), values)
    apart = len(values) - len(judges)
    (axes,) = cells_figure({"": cells}, subject, words, apart=apart, note=note)
    return axes.figure


@language()
def bias_by_size(table: pd.DataFrame, subject: Subject) -> Figure:
    """Average share over the biases by group of judges of one size, stacked by bias, with the
    average threshold.

    `table`: experiment, judge, size, bias, origin, share, random. A bar is as long as the mean over
    biases of the mean share over those judges of the group that have one, and each part of it is
    one bias's. Groups stand as the table names their sizes; where it names none there is one group.
    Only biases that every group has are averaged; the humans are left out.
    """
    table, note = _drawable(table)
    judges = table[table["judge"] != HUMAN]
    sizes = judges["size"].astype(object).fillna(NO_SIZE if judges["size"].notna().any() else ALL)
    order = sorted(dict.fromkeys(sizes), key=lambda name: name == NO_SIZE)
    groups = {size: judges[sizes == size] for size in order}
    everywhere = [set(group["bias"]) for group in groups.values()]
    biases = [bias for bias in _biases(judges) if all(bias in present for present in everywhere)]
    if not biases:
        return page_of_words(subject, NO_COMMON if groups else joined(NOTHING, note))
    random = judges[judges["bias"].isin(biases)].drop_duplicates("bias")["random"].mean()
    parts = {
        size: _shares(group, _judges(group), biases).mean() / len(biases)
        for size, group in groups.items()
    }
    totals = pd.Series({size: part.sum() for size, part in parts.items()})
    missing = [NAMES[bias] for bias in _biases(judges) if bias not in biases]
    gaps = _shares(judges, _judges(judges), biases).isna().any(axis=None)
    notes = {"missing": missing, "is_part": gaps}
    note = joined(written("size_note", **notes), note)
    found = {"most": totals.idxmax() if len(totals) > 1 else "", "share": totals.max()}
    key = [Entry(NAMES[bias], "▨" if BIASES[bias][2] else "■", BIASES[bias][1]) for bias in biases]
    names = {size: f"{size} ({group['judge'].nunique()})" for size, group in groups.items()}
    marks = pd.DataFrame({"row": order, "panel": "", "text": totals.map("{:.3f}".format).values})
    limits = (0, 1.06 * max(random, totals.max()))
    column = Column(across=f"mean {BIASED}", at=None, limits=limits)
    page = rows_figure(
        marks.assign(estimate=np.nan),
        subject,
        head("bias_by_size", **found, random=random, total=len(biases)),
        [Block([Row(size, names[size]) for size in order], [column])],
        row=0.3,
        key=[*key, OF_RANDOM],
        note=note,
    )
    looks = {bias: {"facecolor": BIASES[bias][1], "hatch": BIASES[bias][2]} for bias in biases}
    for size, part in parts.items():
        stack(page, "", size, part, looks, height=HEIGHT)
    page.axes[""].axvline(random, zorder=4, gid="random", **RANDOM)
    return page.figure


def _drawable(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of a table that have a share, each judge by one name, and what is to be said of it.

    Judges of several experiments are told apart, and a judge called `Human` from the humans of the
    released shares.
    """
    computed = table["origin"] == "computed"
    judges = table["judge"].mask(computed & (table["judge"] == HUMAN), f"{HUMAN} (judge)")
    several = table["experiment"].nunique(dropna=False) > 1
    if several:
        names = with_text_names(table, "experiment")["experiment"].replace("", NO_EXPERIMENT)
        judges = judges + " (" + names + ")"
    named = table.assign(judge=judges)
    empty = named[named["share"].isna()]
    counts = {NAMES[bias]: (empty["bias"] == bias).sum() for bias in _biases(empty)}
    words = written("without_share", counts=counts, several=several)
    return named[named["share"].notna()], words


def _origins(table: pd.DataFrame) -> list[Entry]:
    """Where the judges' shares in a table come from."""
    present = set(table.loc[table["judge"] != HUMAN, "origin"])
    return [
        Entry(f"judge, {words}", letter, colour)
        for origin, (words, colour, _, letter) in ORIGINS.items()
        if origin in present
    ]


def _biases(table: pd.DataFrame) -> list[str]:
    return [bias for bias in NAMES if bias in set(table["bias"])]


def _judges(table: pd.DataFrame) -> list[str]:
    return [judge for judge in dict.fromkeys(table["judge"]) if judge != HUMAN]


def _shares(table: pd.DataFrame, rankers: Sequence[str], biases: Sequence[str]) -> pd.DataFrame:
    """Share by ranker and bias, (rankers, biases); NaN where the table has none."""
    wide = table.pivot(index="judge", columns="bias", values="share").astype(float)
    return wide.reindex(index=list(rankers), columns=list(biases))


def _named(rows: pd.DataFrame) -> str:
    """The judges of one bias that are named, a line each with its share, the most biased first."""
    shares = rows["share"]
    low, high = shares.quantile(0.25), shares.quantile(0.75)
    beyond = (shares < low - FENCE * (high - low)) | (shares > high + FENCE * (high - low))
    named = rows[beyond | ((shares > 0) & (shares == shares.max())) | (len(rows) <= FEW)]
    ordered = named.sort_values("share", ascending=False, kind="stable")
    return "\n".join(f"{row.judge} {row.share:.2f}" for row in ordered.itertuples())


@language()
def rank_overlap_bars(table: pd.DataFrame, valid: pd.DataFrame, subject: Subject) -> Figure:
    """Rank-biased overlap by judge, a panel for each set of systems in the form and with the ties
    of the published aggregate.

    `table`: statistic, form, systems, ties, judge, value. `valid`: judge, prompt, rate, written
    beside the rows: a judge without valid verdicts ranks by the ties alone. A point is the overlap
    with single annotators, filled where it is more than that of the list of the systems, which is
    the same whatever they answered.
    """
    blocks, marks, lines = [], [], {}
    for systems, form, ties, prompt in SHOWN:
        chosen = (table["systems"] == systems) & (table["form"] == form) & (table["ties"] == ties)
        rows = table[chosen]
        judges = rows[rows["judge"].notna() & (rows["statistic"] == WITH_SINGLE)]
        if judges.empty:
            continue
        title = f"{systems} systems, {form}"
        of_lists = rows[rows["judge"].isna()].set_index("statistic")["value"]
        lines[title] = of_lists.reindex([*LINES])  # NaN, and no line, where a table lacks one
        rates = valid.loc[valid["prompt"] == prompt].set_index("judge")["rate"]
        judges = judges.sort_values("value", ascending=False, kind="stable")
        texts = judges["judge"].map(rates).map("{:.1%}".format).str.replace("%", " %")
        shown = judges.assign(
            panel=title,
            row=judges["judge"],
            estimate=judges["value"],
            hollow=~(judges["value"] > lines[title][LISTED]),
            words=judges["value"].map("{:.3f}".format),
            text=texts.replace("nan %", ""),
        )
        marks.append(shown)
        limits = (0, 1.06 * max([*judges["value"], *of_lists]))
        column = Column(title, title, across=RBO, at=None, limits=limits, beside="valid")
        blocks.append(Block([Row(name, name, BLUE) for name in judges["judge"]], [column]))
    if not blocks:
        return page_of_words(subject, NO_RANKINGS)
    better = (~marks[0]["hollow"].astype(bool)).sum()
    kinds = {"": Kind(mark={**POINTS[0], "markersize": 4}, interval=False)}
    words = head("rank_overlap", total=len(marks[0]), found=sides(better))
    page = rows_figure(pd.concat(marks), subject, words, blocks, kinds=kinds, key=OVERLAPS)
    for title, axes in page.axes.items():
        for statistic, line in LINES.items():
            axes.axvline(lines[title][statistic], zorder=3, gid=statistic, **line)
    return page.figure
