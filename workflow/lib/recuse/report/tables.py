"""The tables of a report: which rows are shown, and their numbers as a reader sees them. Titles,
sentences and columns are in workflow/report/tables.yaml.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite

import yaml

from recuse.base.places import WORKFLOW
from recuse.base.reasons import in_words, parse
from recuse.base.tables import Row
from recuse.base.words import number

DECLARED = WORKFLOW / "report" / "tables.yaml"
TableRows = Sequence[Row]
Tables = Mapping[str, TableRows]


def where(rows: TableRows, **values: str) -> list[Row]:
    """The rows with these values in the columns of these names."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def number_in(row: Row, column: str) -> float:
    """The number in a column; NaN for an empty field."""
    text = row[column]
    return float("nan" if text == "" else text)


def grouped(rows: TableRows, key: Callable[[Row], object]) -> dict[object, list[Row]]:
    """The rows of each key, in the order in which these come first."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


# Table -> which of its rows are shown, where that is not a choice of values
SHOWN = {
    "not_estimable": lambda row: parse(row["reason"])[1].get("kind") != "model",
    "check": lambda row: row["level"] != "fine" or row["topic"] == "verdict",
}
Values = Mapping[str, Sequence[str]]
Words = Mapping[str, Mapping[str, str]]  # what stands for a name, by column


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a table: its title, a sentence, columns of the CSV file, and which rows:
    those with values among `only`, and none with one among `but`.
    """

    title: str
    words: str
    columns: str
    coded: str = "reason"  # the column of codes with facts
    only: Values = field(default_factory=dict)
    but: Values = field(default_factory=dict)

    def shows(self, row: Row) -> bool:
        """Whether the page shows a row."""
        is_wanted = all(row[column] in values for column, values in self.only.items())
        return is_wanted and not any(row[column] in values for column, values in self.but.items())


@cache
def _declared() -> Mapping[str, Mapping]:
    return yaml.safe_load(DECLARED.read_text("utf-8"))


def excerpts(*, has_human_scores: bool = True) -> dict[str, Excerpt]:
    """Table -> what is shown of it, in the order of the page."""
    tables = dict(_declared()["tables"])
    if not has_human_scores:
        tables |= _declared()["without_human_scores"]
    return {name: Excerpt(**settings) for name, settings in tables.items()}


MOST = 60  # rows of a table on a page; a longer one is a link
DECIMALS = 4
SMALLEST_P = 1e-4
# Columns of names, even if these are digits.
TEXTS = {
    "prompt_id",
    "dataset",
    "judge",
    "model",
    "term",
    "spec",
    "slice",
    "dimension",
    "experiment",
    "systems",
    "figure",
    "section",
}
# Columns of codes, whose underscores are spaces to a reader; other columns may hold users' names
CODES = {
    "quantity",
    "statistic",
    "bias",
    "scores",
    "condition",
    "draws",
    "first",
    "conclusion",
    "family_ratings",
}
QUANTITIES = {"self_bias": "self-bias", "family_bias": "family-bias"}
ENDLESS = {"inf": "∞", "-inf": "−∞"}


def shown(
    name: str,
    excerpt: Excerpt,
    rows: Iterable[Row],
    file: str,
    words: Words,
) -> dict:
    """What a page shows of the table `name`: columns with some value, and the excerpt's rows, but
    for those of a file with more than MOST.

    rows: texts; file: the CSV file, next to the page, "" if the rows are from several; words: what
    stands for a name, by column. `headings`
    are words, and whether the column holds numbers; cells of `rows` are pairs of text and, if
    rounded, the full value; `count` is of all rows.
    """
    headings = _declared()["headings"]
    kept = [row for row in rows if excerpt.shows(row) and SHOWN.get(name, bool)(row)]
    columns = [column for column in excerpt.columns.split() if any(row.get(column) for row in kept)]
    numeric = {
        column: column not in TEXTS and all(_is_number(row[column]) for row in kept if row[column])
        for column in columns
    }
    return {
        "name": name,
        "title": excerpt.title,
        "words": excerpt.words,
        "headings": [
            (headings.get(column, column.replace("_", " ")), is_numeric)
            for column, is_numeric in numeric.items()
        ],
        "rows": [
            [_cell(column, row, numeric, excerpt.coded, words) for column in columns]
            for row in (kept if len(kept) <= MOST or not file else [])
        ],
        "count": len(kept),
        "file": file,
    }


def _is_number(text: str) -> bool:
    """True for what Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def in_figures(text: str) -> str:
    """A number of a CSV file for a reader: four decimals, and commas between thousands."""
    value = float(text)
    if text.lstrip("-").isdigit():
        return f"{value:,.0f}".replace("-", "−")
    return number(value, DECIMALS) if isfinite(value) else ENDLESS.get(text, text)


def _cell(
    column: str,
    row: Row,
    numeric: Mapping[str, bool],
    coded: str,
    words: Words,
) -> tuple[str, str]:
    """What is shown of a cell, and the full value of a rounded number."""
    text = row[column]
    if text and numeric[column]:
        is_small = column == "p_value" and float(text) < SMALLEST_P
        rounded = f"< {SMALLEST_P:.4f}" if is_small else in_figures(text)
        return rounded, "" if rounded == text else text
    names = {"quantity": QUANTITIES, **words}.get(column, {})
    if text in names:
        text = names[text]
    elif column == coded:
        text = in_words(text)
    elif column in CODES:
        text = text.replace("_", " ")
    return text, ""
