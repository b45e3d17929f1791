"""What functions of `import recuse` return: at the prompt and in a notebook it is the answer, as in
the report; `frame` has every row and number.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from recuse.base.errors import DataError
from recuse.base.reasons import in_words as reason_in_words
from recuse.base.tables import column_names, read_table
from recuse.base.words import text_table, visible

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recuse.config.studies import Study

# Columns of texts; all others are numbers.
TEXTS = frozenset(
    column_names(
        "study spec slice kind quantity term note doubt estimand verdict favours reason advice",
        "disagreement topic subject level words scores model file kind example",
    )
)
MOST = 40  # rows that are printed
SMALLEST = 1e-4  # p-value that is printed as a number


def frame(columns: Sequence[str], rows: Iterable[Mapping]) -> "pd.DataFrame":
    """Rows as a DataFrame: texts are empty where there are none, numbers NaN."""
    import pandas as pd

    rows, table = list(rows), {}
    for name in columns:
        fields = [row.get(name) for row in rows]
        if name in TEXTS:
            table[name] = [
                "" if field is None or field != field else str(field) for field in fields
            ]
        else:
            table[name] = pd.to_numeric([None if field == "" else field for field in fields])
    return pd.DataFrame(table, columns=list(columns))


@dataclass(frozen=True, eq=False)
class Result:
    """The answer to a question; it prints as a report or table.

    frame: its rows, with the names and numbers of the workflow's table. title, headings, cells and
    notes: what is printed.
    """

    frame: "pd.DataFrame"
    title: str
    headings: Sequence[str] = ()
    cells: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    draw: "Callable[[], Figure] | None" = field(default=None, repr=False)

    def plot(self) -> "Figure":
        """Draw it as in the report, with matplotlib. Needs the extra `plot`."""
        if self.draw is None:
            raise DataError("plot: the report has no figure of this answer; see recuse.plot")
        return self.draw()

    def __str__(self) -> str:
        """The title, the table and the notes."""
        parts = [visible(self.title, but="\n")]
        if self.cells:
            parts.append("\n".join(text_table(self.headings, self.cells[:MOST])))
        if notes := self._notes:
            parts.append("\n".join(notes))
        return "\n\n".join(parts)

    __repr__ = __str__

    @property
    def _notes(self) -> list[str]:
        more = len(self.cells) - MOST
        rest = [f"{more} more rows: see `frame`"] if more > 0 else []
        return [*rest, *map(visible, self.notes)]

    def _repr_html_(self) -> str:
        if not self.cells:
            return f"<pre>{escape(str(self))}</pre>"
        head = "".join(f"<th>{escape(name)}</th>" for name in self.headings)
        rows = []
        for row in self.cells[:MOST]:
            rows.append("".join(f"<td>{escape(visible(cell))}</td>" for cell in row))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(visible(self.title))}</p>{table}{notes}"


@dataclass(frozen=True, eq=False, repr=False)
class FitResult(Result):
    """A spec fitted to ratings.

    frame: the rows of the workflow's estimates/<spec>.csv.
    biases: the self-biases and family-biases.
    not_estimable: what has no estimate, and why.
    spec: its name; words: the model in words.
    """

    spec: str = ""
    words: str = ""
    biases: "pd.DataFrame | None" = None
    not_estimable: "pd.DataFrame | None" = None


def fit_result(study: "Study", spec: str, settings: Mapping, folder: str) -> FitResult:
    """The fit of a spec with these settings, whose tables are in `folder`."""
    from recuse.model.estimates import ESTIMATES, NOT_ESTIMABLE
    from recuse.model.spec import BIASES, Spec, spec_in_words

    words = spec_in_words(Spec.of(spec, **settings))
    level = f"{100 * study.confidence:g} %"
    rows = read_table(f"{folder}/estimates/{spec}.csv")
    missing = read_table(f"{folder}/not_estimable.csv")
    table = frame(ESTIMATES, rows)
    columns = ["slice"] if table["slice"].any() else []
    columns += ["quantity", "term", "estimate", "std_error", "ci_low", "ci_high", "p_value"]
    biases = table.loc[table["quantity"].isin(BIASES), columns].reset_index(drop=True)
    notes = [row["remark"] for row in read_table(f"{folder}/remarks.csv")]
    for row in missing:
        names = (row["slice"], row["quantity"], row["term"])
        term = " of ".join(filter(None, names)) or "the fit"
        notes.append(f"not estimable: {term}: {reason_in_words(row['reason'])}")
    return FitResult(
        table,
        f"{study.name}: {words}; {level} intervals, sizes as shares of the scale",
        columns,
        [[*map(_decimals, row[:-1]), _p_value(row[-1])] for row in biases.values.tolist()],
        notes,
        spec=spec,
        words=words,
        biases=biases,
        not_estimable=frame(NOT_ESTIMABLE, missing),
    )


def _decimals(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return "" if isnan(value) else f"{value:.4f}"


def _p_value(value: float) -> str:
    return "< 0.0001" if value < SMALLEST else _decimals(value)
