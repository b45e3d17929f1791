"""Figure of the scorecard: published values against ours, and their differences."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recuse.data.registry import HUMAN
from recuse.papers.claims import ABSENT
from recuse.papers.values import JUDGES, ORDER
from recuse.plot.colours import INK, NEUTRAL, RULE
from recuse.plot.intervals import WORDS, plain_rows, write_number
from recuse.plot.page import Entry, Head, Page, family_entries, some
from recuse.plot.style import DOUBLE_COLUMN, EDGE, Subject, language, widest

CLIP = 3.0  # tolerances: larger deviations are counted at the edge
ROW = 0.2
BELOW = 0.42  # inches for ticks and axis text
TITLE = 0.24
GUTTER = 0.42  # inches between the panels on top, for their numbers
MARGIN = 0.36  # inches left of the first panel, for its axis text and numbers
BETWEEN = 0.2  # inches between the panels on top and the rows below
COUNT = 0.4  # inches for the number beyond the edge
SAME = {
    "marker": "o",
    "markersize": 2.6,
    "markeredgewidth": 0.0,
    "linestyle": "none",
    "alpha": 0.65,
}
OTHER = {"marker": "x", "markersize": 3.4, "markeredgewidth": 0.9, "linestyle": "none"}
ABSENT_TEXT = {key: value for key, value in WORDS.items() if key != "bbox"}
LEVELS = 7  # heights within a row, so that points on one spot show
LEAST_PANELS = 3  # that the width is shared by, so that one alone does not fill the page
SMALLEST_RANGE = 0.02  # of an axis, so that its numbers are short
# The panel on top, by title, of each item of the scorecard of comparisons.
OF_COMPARISONS = {
    "verbosity": "Verbosity bias",
    "agreement": "Agreement with the humans",
    "rbo": "Rank-biased overlap",
    "cognitive_biases": "Cognitive biases",
    "asr": "Attack success rate",
    "votes_by_position": "Shares of votes",
    "vote_shares": "Shares of votes",
    "rank": "Ranks of judges",
    "ranks": "Ranks of judges",
}


@language()
def scorecard_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Published values against this study's (top), and their deviations in units of the tolerance
    by figure (below).

    `table`: the scorecard, with item, figure, spec, quantity, term, published, ours, deviation,
    verdict. Dots match, crosses differ; deviations beyond CLIP are counted at the edge, and
    verdicts beside each row.
    """
    values, claims = table[table["item"] != "claim"], table[table["item"] == "claim"]
    figures = sorted(
        dict.fromkeys(values["figure"]),
        key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER),
    )
    count_texts = [verdict_text(values[values["figure"] == name]) for name in figures]
    height = len(figures) * ROW
    panels = _panels(values)
    columns = max(len(panels), LEAST_PANELS)
    size = (DOUBLE_COLUMN - 2 * EDGE - MARGIN - (columns - 1) * GUTTER) / columns
    upper = BELOW + height + BETWEEN
    body = upper + BELOW + size + TITLE if panels else upper
    legend = [
        Entry("match", line={"color": INK, **SAME}),
        Entry("differs", line={"color": INK, **OTHER}),
    ]
    if _of_comparisons(values):  # whose judges are all drawn alike
        note = cause_text(values)
    else:
        human = (
            [Entry("human raters", [{"color": NEUTRAL, "lw": 0}])]
            if HUMAN in set(values["term"])
            else []
        )
        legend, note = (
            [*family_entries(subject.palette, JUDGES), *human, *legend],
            claim_text(claims),
        )
    tested = values[values["verdict"] != ABSENT]
    match = some((tested["verdict"] == "match").sum(), len(tested), "comparable published value")
    finding = "No published value can be compared"
    if len(tested):
        finding = f"This study reproduces {match}"
        if subject.kind == "simulated":
            finding = f"Made to be like the published values, simulated ones match {match}"
    head = Head(finding, "top: units of the published table; below: deviations in tolerances")
    page = Page(
        subject=subject, head=head, width=DOUBLE_COLUMN, body=body, legend=[legend], note=note
    )
    for number, (title, rows) in enumerate(panels):
        left = EDGE + MARGIN + number * (size + GUTTER)
        axes = page.axes(left, upper + BELOW, size, size)
        _against(axes, rows, subject, title)
        page.centred(left + size / 2, upper + 0.06, "published")
    left = EDGE + widest(figures) + 0.1 + COUNT
    strip = DOUBLE_COLUMN - 2 * EDGE - widest(figures) - 0.1 - widest(count_texts) - 2 * COUNT
    axes = page.axes(left, BELOW, strip, height)
    _deviations(axes, values, figures, subject)
    for place, text in enumerate(count_texts):
        write_number(axes, place, text, COUNT, ha="left")
    page.centred(left + strip / 2, 0.06, "deviation from the published value, in tolerances")
    return page.figure


def verdict_text(rows: pd.DataFrame) -> str:
    """Count verdicts in words, as in `17 match, 1 differs, 36 absent`; verdicts without a row are
    left out.
    """
    counts = rows["verdict"].value_counts()
    words = {
        "match": "match",
        "differs": "differs" if counts.get("differs") == 1 else "differ",
        "data absent": "absent",
    }
    return ", ".join(
        f"{counts[verdict]} {word}" for verdict, word in words.items() if verdict in counts
    )


def claim_text(rows: pd.DataFrame) -> str:
    """Count the claims in words; empty where there are none."""
    counts = rows["verdict"].value_counts()
    words = {"match": "hold", "differs": "fail", "data absent": "data absent"}
    parts = [f"{counts[verdict]} {word}" for verdict, word in words.items() if verdict in counts]
    return f"Claims of the paper: {', '.join(parts)}." if parts else ""


def cause_text(values: pd.DataFrame) -> str:
    """The causes of the values of each panel of comparisons: planted, of other data, or
    restated.
    """
    caused = values.assign(title=values["item"].map(OF_COMPARISONS)).dropna(subset=["cause"])
    causes = (
        caused.drop_duplicates(["title", "cause"])
        .groupby("title", sort=False)["cause"]
        .agg("; ".join)
    )
    return " ".join(f"{title}: {cause}." for title, cause in causes.items())


def _of_comparisons(values: pd.DataFrame) -> bool:
    """True for values of comparisons, whose judges are not those of Play Favorites."""
    return bool(values["item"].isin(list(OF_COMPARISONS)).any())


def _panels(values: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Title and rows of each panel on top; log-odds apart from points of the unit scale. Of
    comparisons, judged values only.
    """
    if _of_comparisons(values):
        judged = values[values["verdict"] != ABSENT]
        titles = judged["item"].map(OF_COMPARISONS)
        return [
            (title, judged[titles == title])
            for title in dict.fromkeys(OF_COMPARISONS.values())
            if title in set(titles)
        ]
    ordinal = values["spec"].fillna("").str.startswith("ordinal")
    return [
        ("Bias", values[(values["item"] == "estimate") & ~ordinal]),
        ("Bias, log-odds", values[ordinal]),
        ("Mean scores", values[values["item"] == "mean_score"]),
        ("Correlations", values[values["item"] == "correlation"]),
    ]


def _against(axes: Axes, rows: pd.DataFrame, subject: Subject, title: str) -> None:
    """Our value against the published one, with the line of equality."""
    axes.set_title(title)
    axes.spines[["left", "right", "top"]].set_visible(False)
    rows = rows.dropna(subset=["ours"])
    if rows.empty:
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "data absent", transform=axes.transAxes, ha="center", **ABSENT_TEXT)
        return
    ends = rows[["published", "ours"]].to_numpy(float)
    middle, half = (ends.max() + ends.min()) / 2, max(ends.max() - ends.min(), SMALLEST_RANGE) / 2
    limits = (middle - 1.12 * half, middle + 1.12 * half)
    axes.set(xlim=limits, ylim=limits)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    axes.grid()
    axes.tick_params(axis="y", length=0, pad=2)
    axes.set_ylabel("this study", labelpad=2)
    axes.plot(limits, limits, color=INK, lw=0.7, zorder=2, gid="identity")
    _draw(axes, rows["published"].to_numpy(), rows["ours"].to_numpy(), rows, subject)


def _draw(axes: Axes, x: np.ndarray, y: np.ndarray, rows: pd.DataFrame, subject: Subject) -> None:
    """A point at each of these places, in the order of `rows`; those that differ above the
    others.
    """
    quantities = np.where(rows["quantity"] == "family_bias", "family_bias", "self_bias")
    biases = zip(quantities, rows["term"], rows["item"], strict=True)
    palette = subject.palette
    colours = np.array(
        [NEUTRAL if item in OF_COMPARISONS else palette.of_bias(*bias) for *bias, item in biases],
        object,
    )
    differs = (rows["verdict"] == "differs").to_numpy()
    for mark, zorder, chosen in ((SAME, 3, ~differs), (OTHER, 4, differs)):
        look = {
            "marker": mark["marker"],
            "s": mark["markersize"] ** 2,
            "lw": mark["markeredgewidth"],
            "alpha": mark.get("alpha"),
        }
        axes.scatter(
            x[chosen], y[chosen], color=colours[chosen], zorder=zorder, gid="value", **look
        )


def _deviations(axes: Axes, values: pd.DataFrame, figures: Sequence[str], subject: Subject) -> None:
    """A row of points for each figure; arrows count the points beyond CLIP on either side."""
    axes.set_xlim(-CLIP, CLIP)
    axes.set_xticks(np.arange(-CLIP, CLIP + 1))
    plain_rows(axes, figures)
    axes.tick_params(axis="y", pad=72 * COUNT + 3)
    axes.axvline(0, color=INK, lw=0.9, zorder=2)
    for place in (-1, 1):
        axes.axvline(place, color=INK, lw=0.9, ls=(0, (3, 2)), zorder=2, gid="tolerance")
    for place in range(1, len(figures)):
        axes.axhline(place - 0.5, color=RULE, lw=0.4, zorder=1)
    shown = [values[:0].assign(height=0.0)]
    for place, figure in enumerate(figures):
        rows = (
            values[(values["figure"] == figure)]
            .dropna(subset=["deviation"])
            .sort_values("deviation")
        )
        if rows.empty:
            axes.text(0, place, "data absent", ha="center", **WORDS)
        within = rows[rows["deviation"].abs() <= CLIP]
        shown.append(
            within.assign(
                height=place + 0.6 * (np.arange(len(within)) % LEVELS / (LEVELS - 1) - 0.5)
            )
        )
        outside = {"textcoords": "offset points", "va": "center_baseline", "gid": "beyond"}
        if low := int((rows["deviation"] < -CLIP).sum()):
            axes.annotate(f"{low} ◂", (-CLIP, place), (-3, 0), ha="right", **outside)
        if high := int((rows["deviation"] > CLIP).sum()):
            axes.annotate(f"▸ {high}", (CLIP, place), (3, 0), ha="left", **outside)
    points = pd.concat(shown)
    _draw(axes, points["deviation"].to_numpy(), points["height"].to_numpy(), points, subject)
