"""Tidy CSV tables: one schema per kind of table, fixed column order, floats that read back equal."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ESTIMATES = (
    "study", "spec", "slice", "quantity", "term",
    "estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "n_term", "note",
    "effect", "effect_std_error", "effect_ci_low", "effect_ci_high",
    "boot_std_error", "boot_ci_low", "boot_ci_high",
)  # fmt: skip
SMOOTHS = ("study", "spec", "slice", "judge", "reference", "value", "std_error", "ci_low", "ci_high")
NOT_ESTIMABLE = ("study", "spec", "slice", "quantity", "term", "reason")
REMARKS = ("study", "spec", "slice", "remark")
MEAN_SCORES = ("study", "dimension", "judge", "model", "mean", "n")
CORRELATIONS = (
    "study", "dimension", "judge", "statistic", "value", "std_error", "ci_low", "ci_high", "n",
)  # fmt: skip
AGREEMENT = ("study", "dimension", "statistic", "value", "n")
COMPLETENESS = (
    "study", "dimension", "judge", "model", "prompts", "absent",
    "missing_rating", "missing_gt", "missing_length", "used",
)  # fmt: skip
CLAIMS = (
    "study", "claim", "section", "sentence", "criterion",
    "kind", "verdict", "evidence", "published", "published_evidence",
)  # fmt: skip
SCORECARD = (
    "study", "item", "figure", "spec", "slice", "quantity", "term", "model",
    "published", "published_ci_low", "published_ci_high", "ours", "ours_ci_low", "ours_ci_high",
    "deviation", "tolerance", "verdict", "cause",
)  # fmt: skip
PLANTED = ("slice", "quantity", "term", "planted")
RECOVERY = (
    "study", "spec", "slice", "quantity", "term",
    "planted", "estimate", "std_error", "ci_low", "ci_high", "z", "inside",
)  # fmt: skip
CROSSCHECK = ("study", "spec", "slice", "compared", "terms", "largest_difference", "tolerance")


def write_table(path: str | Path | int, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as CSV under `columns`, to a path or to an open file by its number.

    A missing key, None or NaN is an empty field, a float its `repr`.

    A key that is not one of `columns` is an error (ValueError), so that no fact is lost unseen.
    """
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)


def read_table(path: str | Path) -> list[dict[str, str]]:
    """Read a CSV table as one dict of texts per row; numbers are for the caller to convert."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _field(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else value
