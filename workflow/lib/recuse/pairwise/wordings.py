"""The regression where judges were asked in several wordings: intervals that hold for others,
too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from recuse.inference.wordings import Crossed, Part
from recuse.pairwise.regression import BIASES, Regression, estimate_columns, regression_rows

_Key = tuple[str, str, str]  # question, quantity, term


def rows_over_wordings(of: Regression, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of `regression_rows`; with several wordings, biases have intervals over
    questions and wordings.

    These replace narrower ones, by `recuse.inference.wordings.Crossed` and fits to the verdicts of
    each wording; `one_ci_low` and `one_ci_high` are for those that were asked. wordings: in how
    many the judges of the term were asked.
    """
    rows = regression_rows(of, confidence=confidence)
    compared = of.compared
    if len(compared.wordings) < 2:
        yield from rows
        return
    fits = (
        Regression(compared.among(compared.wording == code))
        for code in range(len(compared.wordings))
    )
    parts = [_parts(regression_rows(each, confidence=confidence)) for each in fits]
    for row in rows:
        yield _over(row, [each[_key(row)] for each in parts if _key(row) in each], confidence)


def _key(row: Mapping) -> _Key:
    return row["question"], row["quantity"], row["term"]


def _parts(rows: Iterable[Mapping]) -> dict[_Key, Part]:
    """The biases with an interval."""
    known = [row for row in rows if row["quantity"] in BIASES and "ci_low" in row]
    return {
        _key(row): Part(row["estimate"], row["std_error"], row.get("df", float("inf")), row["n"])
        for row in known
    }


def _over(row: Mapping, parts: Sequence[Part], confidence: float) -> dict:
    """A row with its interval over wordings, if it has one and that is wider."""
    whole = _parts([row]).get(_key(row))
    if whole is None:
        return dict(row)
    crossed = {
        **row,
        "wordings": max(1, len(parts)),
        "one_ci_low": row["ci_low"],
        "one_ci_high": row["ci_high"],
    }
    if len(parts) > 1:
        error, df = Crossed(whole, parts).generalised()
        wider = estimate_columns(whole.estimate, error, df, confidence)
        crossed |= wider if wider["ci_low"] < row["ci_low"] else {}
    return crossed
