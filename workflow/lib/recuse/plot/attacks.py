"""Attack success rate by perturbation and judge: Tables 1, 3 and 4 of Chen et al., with intervals."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.intervals import POINT, PRINTED, STROKE, frame_rows, write_instead
from recuse.plot.page import Entry, Page, corners, grid, page_of_words
from recuse.plot.style import BLUE, DOUBLE_COLUMN, EDGE, LINE, SINGLE_COLUMN, SMALL, TEXT, Subject, language, widest, wrap
from recuse.published.attacks import key_of_attack, read_attacks

COLUMNS = ("condition", "model_a", "model_b")  # of an experiment
ROW = 0.2
LIMITS = (-0.04, 1.04)
BELOW = 0.4  # inches for ticks and axis text
TICKS = 0.2  # inches for the numbers under the panels of every experiment but the last
GUTTER = 0.16  # inches between panels
LEAST_PANEL = 1.0  # inches
BOLD = 0.85  # of a width that a text may have in normal weight to fit in bold
COMPUTED = {"color": BLUE, "markerfacecolor": BLUE, **POINT}
AVERAGE = "average rank"
ACROSS = "attack success rate (ASR, lower is more robust)"
NO_ROWS = "No attack success rate: there is no perturbed answer beside a control group."
NOTE = (
    "ASR: of the samples where the judge did not prefer the answer before it was perturbed, the share where it prefers it "
    "after; where the perturbation makes the answer worse, of the samples where it did not prefer the other answer, the share "
    "where it still does not. n: these samples. Judges by average rank over the panels of an experiment; rank 1 is the lowest "
    "ASR."
)


@dataclass(frozen=True)
class Block:
    """One experiment: its rates, its panels (condition, model_a, model_b) with their titles, its judges from the top down."""

    heading: str
    rates: pd.DataFrame
    panels: Sequence[tuple[str, str, str]]
    titles: Sequence[str]
    judges: Sequence[str]
    averages: Sequence[str]


@language()
def attack_success(
    rates: pd.DataFrame, ranks: pd.DataFrame, subject: Subject, *, confidence: float, published: Sequence[str] = ()
) -> Figure:
    """ASR with its interval, a panel for each perturbation (and pair of models), the experiments one below another.

    rates: the table of success rates, ranks: that of average ranks, whose order the judges have; see
    `recuse.pairwise.attacks` and `ranks`. published: the file of printed rates, in a list; they are drawn beside those of the
    same attack on the same judge; see `key_of_attack`.
    """
    if rates.empty:
        return page_of_words(subject, NO_ROWS)
    rates = _with_names(rates)
    rates = rates.assign(printed=_printed(rates, [row for path in published for row in read_attacks(path)]))
    ranks = _with_names(ranks)
    blocks = [_block(found, ranks[ranks["experiment"] == name]) for name, found in rates.groupby("experiment", sort=False)]
    columns = max(grid(len(block.panels), 4)[1] for block in blocks)
    label = widest(judge for block in blocks for judge in block.judges) + 0.1
    beside = widest([AVERAGE]) + 0.08
    across = SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN
    panel = max(LEAST_PANEL, (across - 2 * EDGE - label - beside - (columns - 1) * GUTTER) / columns)
    width = 2 * EDGE + label + columns * panel + (columns - 1) * GUTTER + beside
    above = [_space_above(block, panel) for block in blocks]
    heights = [
        grid(len(block.panels), columns)[0] * (len(block.judges) * ROW + space)
        for block, space in zip(blocks, above, strict=True)
    ]
    body = BELOW + sum(heights) + (len(blocks) - 1) * TICKS + len(blocks) * 1.3 * LINE
    page = Page(subject=subject, width=width, body=body, legend=_legend(rates, confidence), note=NOTE)
    top = body
    for block, height, space in zip(blocks, heights, above, strict=True):
        top -= 1.3 * LINE
        page.text(EDGE, top + 0.5 * LINE, block.heading, weight="bold", size=TEXT)
        top -= height
        _draw_block(page, block, (EDGE + label, top), (panel, space), columns)
        top -= TICKS
    page.centred(EDGE + label + (columns * panel + (columns - 1) * GUTTER) / 2, 0.06, ACROSS)
    return page.figure


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with an empty text where a name is missing, and text where a name looks like a number."""
    names = [name for name in ("experiment", *COLUMNS) if name in table]
    return table.assign(**{name: table[name].astype(object).fillna("").astype(str) for name in names})


def _printed(rates: pd.DataFrame, published: Sequence[Mapping]) -> list[float]:
    """The printed rate of each row of `rates`; NaN where there is none."""
    published, own = [row for row in published if row["quantity"] == "asr"], rates.to_dict("records")
    key = key_of_attack(published, own)
    known = {key(row): float(row["value"]) for row in published}
    return [known.get(key(row), np.nan) for row in own]


def _block(rates: pd.DataFrame, ranks: pd.DataFrame) -> Block:
    experiment = rates["experiment"].iloc[0]
    panels = sorted(set(zip(*(rates[name] for name in COLUMNS), strict=True)), key=_natural)
    conditions, first, second = (sorted(set(names)) for names in zip(*panels, strict=True))
    pair = f"{first[0]} against {second[0] if len(second) == 1 else 'others'}" if len(first) == 1 else "several pairs of models"
    averages = dict(zip(ranks["judge"], ranks["average_rank"], strict=True))
    judges = [judge for judge in ranks["judge"] if judge in set(rates["judge"])]
    titles = []
    for condition, model_a, model_b in panels:
        models = [model_a] * (len(first) > 1) + [model_b] * (len(second) > 1)
        parts = [condition.replace("_", " ").replace("+", " + ")] * (len(conditions) > 1 or not models)
        titles.append(": ".join([*parts, " against ".join(models)]) if models else parts[0])
    if len(conditions) == 1 and len(panels) > 1:
        pair = f"{conditions[0].replace('_', ' ')}, {pair}"
    texts = ["–" if np.isnan(averages[judge]) else f"{averages[judge]:.2f}" for judge in judges]
    return Block(": ".join(filter(None, [experiment, pair])), rates, panels, titles, judges, texts)


def _space_above(block: Block, panel: float) -> float:
    """Inches for the title of a panel and its n."""
    return LINE * (2.2 + max(wrap(title, BOLD * panel, TEXT).count("\n") for title in block.titles))


def _natural(names: Sequence[str]) -> list:
    """Key that sorts names by their numbers where these are what differs: 7B, 13B, 70B."""
    return [[int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)] for name in names]


def _draw_block(page: Page, block: Block, corner: tuple[float, float], size: tuple[float, float], columns: int) -> None:
    """Panels of `size` (width, space above) in inches, the lowest row's first at `corner`."""
    (left, bottom), (panel, above), height = corner, size, len(block.judges) * ROW
    places = corners(len(block.panels), columns, step=(panel + GUTTER, height + above))
    for number, (key, title, (x, y)) in enumerate(zip(block.panels, block.titles, places, strict=True)):
        axes = page.axes(left + x, bottom + y, panel, height)
        frame_rows(axes, limits=LIMITS, rows=len(block.judges), breaks=[])
        axes.set_yticks(range(len(block.judges)), block.judges if number % columns == 0 else [])
        axes.tick_params(labelbottom=number + columns >= len(block.panels))
        rates = block.rates[(block.rates[list(COLUMNS)] == list(key)).all(axis=1)]
        axes.set_title(wrap(title, BOLD * panel, TEXT), pad=4 + 72 * LINE)
        samples = sorted({rates["n"].min(), rates["n"].max()})
        where = {"xycoords": "axes fraction", "textcoords": "offset points", "size": SMALL, "va": "center_baseline"}
        axes.annotate("n = " + "–".join(map(str, samples)), (0, 1), (0, 36 * LINE), **where)
        _draw_panel(axes, rates, block.judges)
        if number % columns == columns - 1 or number == len(block.panels) - 1:
            for text, place in ((AVERAGE, None), *zip(block.averages, range(len(block.judges)), strict=True)):
                up = height + LINE / 2 if place is None else height - (place + 0.5) * ROW
                page.text(left + x + panel + 0.08, bottom + y + up, text)


def _draw_panel(axes: Axes, rates: pd.DataFrame, judges: Sequence[str]) -> None:
    for judge in sorted(set(judges) - set(rates["judge"])):
        write_instead(axes, judges.index(judge), "not judged")
    for row in rates.to_dict("records"):
        place = judges.index(row["judge"])
        if np.isnan(row["asr"]):
            write_instead(axes, place, "no sample")
            continue
        ends = [row["ci_low"], row["ci_high"]]
        axes.plot(ends, [place, place], color=COMPUTED["color"], lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
        axes.plot([row["asr"]], [place], linestyle="none", zorder=4, gid="point", **COMPUTED)
        if not np.isnan(row["printed"]):
            axes.plot([row["printed"]], [place], zorder=5, gid="printed", **PRINTED)


def _legend(rates: pd.DataFrame, confidence: float) -> list[list[Entry]]:
    counted = Entry(f"of these votes, exact {100 * confidence:g} % interval", line={"lw": STROKE, **COMPUTED})
    printed = Entry("as printed by Chen et al. for their votes", line=PRINTED)
    return [[counted, *([printed] if rates["printed"].notna().any() else [])]]
