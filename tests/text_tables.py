"""Tables that tests hold as text."""

import csv
import re

import pandas as pd


def cases(text):
    """The cases of a text: each is a line, and an indented line below it."""
    return [tuple(case.split("\n    ")) for case in re.split(r"\n(?! )", text.strip("\n"))]


def lines(text):
    """The lines of a text, each split at its blanks."""
    return [line.split() for line in text.strip().splitlines()]


def words(rows):
    """Rows of values as `lines` has those of a text; what is missing is a dash."""
    texts = (" ".join("-" if value is None else str(value) for value in row) for row in rows)
    return [text.split() for text in texts]


def csv_rows(text):
    """The rows of a CSV text as dicts."""
    return list(csv.DictReader(text.strip().splitlines()))


def csv_frame(text):
    """The rows of a CSV text as a frame of texts."""
    return pd.DataFrame(csv_rows(text))


def fields(text):
    """The lines of a text, each split at its bars."""
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
