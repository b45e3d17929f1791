"""Rows of tables, picked out by what stands in their columns."""

from operator import itemgetter


def fields(row, names):
    """What a row has in columns, whose names are separated by spaces; of several, a tuple."""
    return itemgetter(*names.split())(row)


def column(rows, name):
    """What all rows have in a column, as a list."""
    return [row[name] for row in rows]


def keyed(rows, names):
    """The rows by what they have in columns, in which no two rows are the same."""
    rows = list(rows)
    table = {fields(row, names): row for row in rows}
    assert len(table) == len(rows), f"two rows have the same {names}"
    return table


def where(rows, **values):
    """The rows that have these values in these columns."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def only(rows, **values):
    """The one row that has these values in these columns."""
    (row,) = where(rows, **values)
    return row
