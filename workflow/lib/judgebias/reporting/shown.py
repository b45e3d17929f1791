"""A table as a page shows it: the columns of its view, numbers as one reads them, no more rows than one looks at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from judgebias.pages import number
from judgebias.reporting.views import HEADINGS, Row, View

MOST = 200  # rows that a page holds of one table
FEW = 40  # rows: a longer table is folded up
DECIMALS = 4
SMALLEST_P = 1e-4
# Columns of names, be they of digits.
TEXTS = {"judge", "model", "term", "spec", "slice", "dimension", "experiment", "systems", "figure", "section"}
KEYS = {"statistic", "bias", "scores", "condition", "draws"}  # columns of words with underscores
QUANTITIES = {"self_bias": "self-bias", "family_bias": "family-bias"}
ENDLESS = {"inf": "∞", "-inf": "−∞"}


@dataclass(frozen=True)
class Shown:
    """A table as a page shows it."""

    name: str
    title: str
    words: str
    headings: Sequence[tuple[str, bool]]  # the words, and whether the column holds numbers
    rows: Sequence[Sequence[tuple[str, str]]]  # of each cell what is shown and, if it says more, the whole value
    count: int  # of rows that there are
    file: str  # beside the page; "" if the rows are of several

    @property
    def folded(self) -> bool:
        """True for a table that is opened on demand."""
        return len(self.rows) > FEW


def shown(name: str, view: View, rows: Iterable[Row], file: str) -> Shown:
    """What a page shows of the table `name`, rows of texts, whose CSV file is `file` beside the page.

    view: what is shown of it. Columns without a value are left out, and rows after the first MOST.
    """
    kept = [view.told(row) for row in rows if view.kept(row)]
    columns = [column for column in view.columns if any(row.get(column) for row in kept)]
    numeric = [column not in TEXTS and all(is_number(row[column]) for row in kept if row[column]) for column in columns]
    headings = [
        (HEADINGS.get(column, column.replace("_", " ")), numbers) for column, numbers in zip(columns, numeric, strict=True)
    ]
    cells = [
        [_cell(column, row[column], numbers) for column, numbers in zip(columns, numeric, strict=True)] for row in kept[:MOST]
    ]
    return Shown(name, view.title, view.words, headings, cells, len(kept), file)


def is_number(text: str) -> bool:
    """True for what Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def in_figures(text: str, *, is_p: bool = False) -> str:
    """A number of a CSV file as one reads it: four decimals, thousands apart, a p-value no smaller than one believes."""
    value = float(text)
    if is_p and value < SMALLEST_P:
        return "< 0.0001"
    if text.lstrip("-").isdigit():
        return f"{value:,.0f}".replace("-", "−")
    return number(value, DECIMALS) if isfinite(value) else ENDLESS.get(text, text)


def _cell(column: str, text: str, is_numeric: bool) -> tuple[str, str]:
    """What is shown of a cell, and the whole of a number that is rounded."""
    if text and is_numeric:
        read = in_figures(text, is_p=column == "p_value")
        return read, "" if read == text else text
    return QUANTITIES.get(text, text) if column == "quantity" else text.replace("_", " ") if column in KEYS else text, ""
