"""Attack success rate by perturbation and judge, and votes by the place of the answers: Tables 1,
3, 4 and 6 of Chen et al.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.papers.attack_values import key_of_attack, read_attacks
from recuse.plot.axes import limits_of
from recuse.plot.colours import BLUE, INK, ORANGE
from recuse.plot.intervals import (
    BELOW,
    POINT,
    PRINTED,
    STROKE,
    PanelRows,
    draw_bar,
    draw_point,
    excludes,
    frame_rows,
    interval_entries,
    page_of_sections,
    row_within,
    write_absent,
    write_directions,
    write_instead,
    write_number,
)
from recuse.plot.page import (
    BY_CONDITION,
    LEAST_PANEL,
    NO_EXPERIMENT,
    Entry,
    Head,
    Page,
    page_of_words,
    tally,
    with_text_names,
)
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, Subject, language, percent_as_given, widest

COLUMNS = ("condition", "model_a", "model_b")  # of an experiment
LIMITS = (-0.04, 1.04)
AVERAGE = "average rank"
ACROSS = "attack success rate"
NO_RATES = "No attack success rate: no perturbed answer has a control group."
VOTES_ROW = 0.22
VOTES_TITLE = 0.28  # inches for the title of a panel
VOTES_GUTTER = 0.3  # inches between the panels
SHARE = 0.55  # of the width of both panels: the bars
EDGING = {"edgecolor": "white", "lw": 0.4}
PLACES = {
    "first": ("shown first", {"facecolor": BLUE, **EDGING}),
    "tie": ("tie", {"facecolor": "#D9D9D9", **EDGING}),
    "second": ("shown second", {"facecolor": ORANGE, "hatch": "//////", **EDGING}),
}
NO_VOTES = "No votes by position: there is no vote about perturbed answers."


class _Block(NamedTuple):
    """One experiment: its rates, its panels (condition, model_a, model_b), and their heading,
    judges and titles.
    """

    rates: pd.DataFrame
    panels: Sequence[tuple[str, str, str]]
    rows: PanelRows
    averages: Sequence[str]


@language()
def attack_success(
    rates: pd.DataFrame,
    ranks: pd.DataFrame,
    subject: Subject,
    *,
    confidence: float,
    published: Sequence[str] = (),
) -> Figure:
    """ASR with its interval, a panel for each perturbation (and pair of models), the experiments
    one below another.

    rates, ranks: the tables of success rates and of average ranks, in whose order judges are drawn;
    see `recuse.papers.attacks` and `ranks`. published: the file of printed rates, in a list; each
    is drawn beside the rate of the same attack on the same judge; see `key_of_attack`.
    """
    if rates.empty:
        return page_of_words(subject, NO_RATES)
    rates, ranks = (with_text_names(table, "experiment", *COLUMNS) for table in (rates, ranks))
    quoted = [row for path in published for row in read_attacks(path) if row["quantity"] == "asr"]
    rows = rates.to_dict("records")
    key = key_of_attack(quoted, rows)
    values = {key(row): float(row["value"]) for row in quoted}
    rates = rates.assign(printed=[values.get(key(row), np.nan) for row in rows])
    blocks = [
        _block(own, ranks[ranks["experiment"] == name])
        for name, own in rates.groupby("experiment", sort=False)
    ]
    counted = Entry("these votes", line={"color": BLUE, "lw": STROKE, **POINT})
    head = Head(
        _most_robust(rates),
        f"share of attacks that succeed, lower is more robust; exact {percent_as_given(confidence)}"
        " interval",
    )
    printed = [Entry("as printed by Chen et al. for their votes", line=PRINTED)] * bool(
        rates["printed"].notna().any()
    )
    sizes = {"below": 0.42, "least": 1.0, "right": widest([AVERAGE]) + 0.08}
    legend = [[counted, *printed]]
    page, drawn, places = page_of_sections(
        subject, head, [block.rows for block in blocks], legend, most=4, **sizes
    )
    for block, panels, (middle, bottom) in zip(blocks, drawn, places, strict=True):
        for key, panel in zip(block.panels, panels, strict=False):
            rows = block.rates[(block.rates[list(COLUMNS)] == list(key)).all(axis=1)]
            _draw_rates(panel.axes, rows, block.rows.names)
            if panel.last:
                write_number(panel.axes, -0.5, AVERAGE, 0.08, ha="left", up=LINE / 2)
                for place, text in enumerate(block.averages):
                    write_number(panel.axes, place, text, 0.08, ha="left")
        page.centred(middle, bottom + 0.06, ACROSS)
    return page.figure


def _most_robust(rates: pd.DataFrame) -> str:
    """The judges on whom attacks succeed least and most, by their mean rates."""
    means = rates.groupby("judge", sort=False)["asr"].mean().dropna()
    if means.empty:
        return "No attack can be judged"
    best, worst = means.idxmin(), means.idxmax()
    if best == worst:
        return f"Attacks on {best} succeed in {100 * means[best]:.0f} % of the samples"
    least, most = (f"{judge} ({100 * means[judge]:.0f} %)" for judge in (best, worst))
    return f"Attacks succeed least on {least} and most on {most}, on average"


def _natural(names: Sequence[str]) -> list:
    """Key that sorts names by their numbers where these are what differs: 7B, 13B, 70B."""
    return [
        [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
        for name in names
    ]


def _block(rates: pd.DataFrame, ranks: pd.DataFrame) -> _Block:
    experiment = rates["experiment"].iloc[0]
    panels = sorted(set(zip(*(rates[name] for name in COLUMNS), strict=True)), key=_natural)
    conditions, first, second = (sorted(set(names)) for names in zip(*panels, strict=True))
    pair = (
        f"{first[0]} against {second[0] if len(second) == 1 else 'others'}"
        if len(first) == 1
        else "several pairs of models"
    )
    averages = dict(zip(ranks["judge"], ranks["average_rank"], strict=True))
    judges = [judge for judge in ranks["judge"] if judge in set(rates["judge"])]
    titles = []
    for condition, model_a, model_b in panels:
        models = [model_a] * (len(first) > 1) + [model_b] * (len(second) > 1)
        parts = [condition.replace("_", " ").replace("+", " + ")] * (
            len(conditions) > 1 or not models
        )
        titles.append(": ".join([*parts, " against ".join(models)]) if models else parts[0])
    if len(conditions) == 1 and len(panels) > 1:
        pair = f"{conditions[0].replace('_', ' ')}, {pair}"
    texts = ["–" if np.isnan(averages[judge]) else f"{averages[judge]:.2f}" for judge in judges]
    samples = [rates.loc[(rates[list(COLUMNS)] == list(key)).all(axis=1), "n"] for key in panels]
    counts = ["n = " + "–".join(map(str, sorted({n.min(), n.max()}))) for n in samples]
    rows = PanelRows(
        ": ".join(filter(None, [experiment, pair])), judges, list(zip(titles, counts, strict=True))
    )
    return _Block(rates, panels, rows, texts)


def _draw_rates(axes: Axes, rates: pd.DataFrame, judges: Sequence[str]) -> None:
    frame_rows(axes, limits=LIMITS, rows=len(judges))
    write_absent(axes, judges, rates["judge"], "not judged")
    for row in rates.to_dict("records"):
        place = judges.index(row["judge"])
        if np.isnan(row["asr"]):
            write_instead(axes, place, "no sample")
            continue
        draw_bar(axes, place, row, BLUE)
        draw_point(axes, place, row["asr"], BLUE)
        if not np.isnan(row["printed"]):
            axes.plot([row["printed"]], [place], zorder=5, gid="printed", **PRINTED)


@language()
def votes_by_position_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Shares of votes by place as stacked bars, and the difference of first and second with its
    interval.

    A row for each judge, the experiments one below another, each under its name if any has one.
    `table`: the table of votes by position, see `recuse.papers.attacks`.
    """
    if table.empty:
        return page_of_words(subject, NO_VOTES)
    table = with_text_names(table, "experiment")
    # From the top down: an experiment, if any has a name, then its judges
    rows: list[tuple[str, Mapping | None]] = []
    for experiment, votes in table.groupby("experiment", sort=False):
        rows += [(experiment or NO_EXPERIMENT, None)] if (table["experiment"] != "").any() else []
        ordered = votes.sort_values("difference", key=abs, kind="stable", na_position="last")
        rows += [(row["judge"], row) for row in ordered.to_dict("records")]
    headings = widest((name for name, row in rows if row is None), weight="bold")
    label = max(widest(table["judge"]), headings) + 0.1
    row_height = row_within(len(rows), VOTES_ROW)
    beside, height = widest([*map(str, table["n"]), "votes"]) + 0.12, len(rows) * row_height
    across = max(DOUBLE_COLUMN, 2 * EDGE + label + VOTES_GUTTER + beside + 2 * LEAST_PANEL)
    panels = across - 2 * EDGE - label - VOTES_GUTTER - beside
    width, other = SHARE * panels, (1 - SHARE) * panels
    verbs = (
        ("prefers the answer shown first", "prefer the answer shown first"),
        ("prefers the second", "prefer the second"),
    )
    who = () if table["judge"].is_unique else BY_CONDITION
    head = Head(
        tally(table, *verbs, *who),
        f"share of votes; {percent_as_given(confidence)} bootstrap interval over questions",
    )
    places = [Entry(name, [swatch, swatch]) for name, swatch in PLACES.values()]
    legend = [places, interval_entries()]
    body = BELOW + height + VOTES_TITLE
    page = Page(subject=subject, head=head, width=across, body=body, legend=legend)
    bars = page.axes(EDGE + label, BELOW, width, height)
    frame_rows(bars, limits=(0, 1), rows=len(rows))
    bars.set_yticks(range(len(rows)), [name for name, _ in rows])
    for heading in (
        text for text, (_, row) in zip(bars.get_yticklabels(), rows, strict=True) if row is None
    ):
        heading.set_weight("bold")
    bars.set_title("Answer chosen")
    points = page.axes(EDGE + label + width + VOTES_GUTTER, BELOW, other, height)
    limits = limits_of([0.0, *table[["difference", "ci_low", "ci_high"]].to_numpy(float).ravel()])
    frame_rows(points, limits=limits, rows=len(rows))
    points.set_yticks(range(len(rows)), [])
    points.set_title("First minus second")
    right = across - EDGE
    page.text(right, BELOW + height + LINE / 2, "votes", ha="right")
    for place, (_, row) in enumerate(rows):
        page.text(
            right,
            BELOW + height - (place + 0.5) * row_height,
            "" if row is None else str(row["n"]),
            ha="right",
        )
        if row is not None:
            _draw_votes(bars, points, place, row)
    write_directions(points, "second", "first")
    return page.figure


def _draw_votes(bars: Axes, points: Axes, place: int, row: Mapping) -> None:
    """An interval of a difference has no width if the votes of all questions are balanced."""
    if not row["n"]:
        write_instead(bars, place, "errors only")
        write_instead(points, place, "errors only")
        return
    left = 0.0
    for name, (_, swatch) in PLACES.items():
        bars.barh([place], [row[name]], 0.7, left=left, zorder=3, gid=name, **swatch)
        left += row[name]
    draw_bar(points, place, row, INK)
    draw_point(points, place, row["difference"], INK, filled=excludes(row, 0))
