"""Small tables to draw, and what to look for in a drawing."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.random import default_rng

from recuse.model.estimates import ESTIMATES, MULTIPLICITY, NOT_ESTIMABLE
from recuse.plot.biases import self_family_bias
from recuse.plot.colours import Palette
from recuse.plot.style import EDGE, SINGLE_COLUMN, SMALL, Subject, language, wrap

FAMILIES = {"Claude": {"colour": "#D55E00"}, "GPT": {"colour": "#009E73"}, "Llama 3": {}}
MODELS = {
    "Claude v2": {"family": "Claude"},
    "Claude 3 Sonnet": {"family": "Claude"},
    "GPT-4o": {"family": "GPT"},
    "Llama 3 8B": {"family": "Llama 3"},
    "absent from the study": {"family": "Llama 3"},
}
PRESENT = list(MODELS)[:4]
SIX = [
    "Completeness",
    "Conciseness",
    "Faithfulness",
    "Helpfulness",
    "Logical correctness",
    "Logical robustness",
]
WALD = {"confidence": 0.9, "covariance": "HC0"}
INTERVAL = "90 % Wald interval, HC0"
CLUSTERED = {
    "spec": "clustered",
    "tests": "self- and family-biases",
    "sliced": "",
    "errors": "by prompt",
}


SUBJECT = {"label": "a study", "kind": "simulated", "models": MODELS, "families": FAMILIES}


def subject(kind="simulated", models=MODELS, estimand=""):
    return Subject("a study", kind, Palette(models, FAMILIES), estimand)


def scores(dimensions=SIX, judges=(*PRESENT, "Human"), models=PRESENT):
    cells = [(d, j, m) for d in (None, *dimensions) for j in reversed(judges) for m in models]
    table = pd.DataFrame(cells, columns=["dimension", "judge", "model"])
    return table.assign(mean=default_rng(2).uniform(0.3, 1, len(table)), n=100)


def estimates(judges=PRESENT, families=("Claude", "GPT")):
    terms = [("self_bias", judge) for judge in judges] + [
        ("family_bias", family) for family in families
    ]
    table = pd.DataFrame(terms, columns=["quantity", "term"]).assign(slice=None)
    centre = np.linspace(-0.03, 0.02, len(table))
    return table.assign(estimate=centre, ci_low=centre - 0.012, ci_high=centre + 0.012)


def coefficients(dimensions=SIX):
    rows = [
        (d, j, s) for d in dimensions for j in PRESENT for s in ("pearson", "spearman", "gamma")
    ]
    table = pd.DataFrame(rows, columns=["dimension", "judge", "statistic"])
    centre = default_rng(3).uniform(0.1, 0.7, len(table))
    return table.assign(value=centre, ci_low=centre - 0.05, ci_high=centre + 0.05)


def artists(drawing, gid):
    """What is drawn under a name in a figure, or in one panel of it."""
    panels = drawing.axes if isinstance(drawing, Figure) else [drawing]
    return [artist for axes in panels for artist in axes.get_children() if artist.get_gid() == gid]


def x_values(marks):
    """Where marks stand on the horizontal axis."""
    return [mark.get_xdata()[0] for mark in marks]


def panel_titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def row_names(axes):
    """What stands beside the rows of a panel."""
    return [label.get_text() for label in axes.get_yticklabels()]


def by_row(axes, gid="point"):
    """Where the marks of a kind stand, by the name of their row."""
    names, places = row_names(axes), axes.get_yticks()
    rows = [np.abs(places - mark.get_ydata()[0]).argmin() for mark in artists(axes, gid)]
    return dict(zip([names[row] for row in rows], x_values(artists(axes, gid)), strict=True))


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def prose(figure):
    """All that a figure says, in one line."""
    return " ".join(" ".join(texts(figure)).split())


def filled(point):
    return to_hex(point.get_markerfacecolor()) == to_hex(point.get_color())


def spec_table(rows, spec="a"):
    """Estimates of one spec: rows of (slice, quantity, term, estimate, ci_low, ci_high)."""
    table = pd.DataFrame(
        rows, columns=["slice", "quantity", "term", "estimate", "ci_low", "ci_high"]
    )
    return table.assign(spec=spec, study="s", n=1234).reindex(columns=ESTIMATES)


def by_slice(names, judges=PRESENT):
    """Estimates of every judge and family in each of the slices `names`, no two of them the
    same.
    """
    terms = [("self_bias", judge) for judge in judges]
    terms += [("family_bias", family) for family in ("Claude", "GPT")]
    rows = [(name, *term) for name in names for term in terms]
    centres = np.linspace(-0.05, 0.04, len(rows))
    table = spec_table(
        [
            (*row, centre, centre - 0.01, centre + 0.01)
            for row, centre in zip(rows, centres, strict=True)
        ]
    )
    return table.assign(effect=table["estimate"] / 8)


def gaps(*rows):
    """The table of what is not estimable: rows of (spec, slice, reason), or (spec, slice, reason,
    quantity, term).
    """
    keys = "spec", "slice", "reason", "quantity", "term"
    return pd.DataFrame([dict(zip(keys, row, strict=False)) for row in rows], columns=NOT_ESTIMABLE)


def simultaneous(table, *, spec="clustered", width=0.02):
    """The table of multiplicity with an interval of this half width for each row of a table of
    estimates.
    """
    ends = {
        "simultaneous_ci_low": table["estimate"] - width,
        "simultaneous_ci_high": table["estimate"] + width,
    }
    return table.assign(spec=spec, tests=len(table), **ends).reindex(columns=MULTIPLICITY)


def on_paper(figure, renderer=None):
    """True if no text or mark leaves the paper and none is set smaller than SMALL. renderer: one
    that drew the figure, whose measures of texts are known then.
    """
    with language():
        drawn, paper = figure.get_tightbbox(renderer), figure.get_size_inches()
    inside = min(drawn.x0, drawn.y0) >= 0 and drawn.x1 <= paper[0] and drawn.y1 <= paper[1]
    return inside and min(text.get_size() for text in figure.findobj(Text)) >= SMALL


VERY_LONG = "long" * 75  # a name


def is_page_with(figure, text):
    """True if a figure says `text` and has nothing to draw."""
    lines = wrap(text, SINGLE_COLUMN - 2 * EDGE).split("\n")
    return not figure.axes and set(lines) <= set(texts(figure)) and on_paper(figure)


def self_and_family_bias(table, study=None, *, reasons=None, multiplicity=None, clustered=None):
    """Figure 3 of a table of estimates of the spec `a`."""
    nothing = gaps() if reasons is None else reasons
    others = simultaneous(estimates()) if multiplicity is None else multiplicity
    return self_family_bias(
        table, nothing, others, study or subject(), spec="a", simultaneous=clustered, **WALD
    )
