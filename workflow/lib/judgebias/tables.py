"""Tidy CSV tables: one schema per kind of table, fixed column order, floats that read back equal."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judgebias.full_disks import named

ESTIMATES = (
    "study", "spec", "slice", "quantity", "term",
    "estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "n_term", "note",
    "effect", "effect_std_error", "effect_ci_low", "effect_ci_high",
    "boot_std_error", "boot_ci_low", "boot_ci_high", "estimand",
    "df", "wild_p_value", "wild_ci_low", "wild_ci_high",
)  # fmt: skip
SMOOTHS = ("study", "spec", "slice", "judge", "reference", "value", "std_error", "ci_low", "ci_high")
CHECK = ("study", "topic", "subject", "finding", "level", "words", "advice")
NOT_ESTIMABLE = ("study", "spec", "slice", "quantity", "term", "reason")
REMARKS = ("study", "spec", "slice", "remark")
MEAN_SCORES = ("study", "dimension", "judge", "model", "mean", "n")
CORRELATIONS = (
    "study", "dimension", "judge", "statistic", "value", "std_error", "ci_low", "ci_high", "n",
)  # fmt: skip
AGREEMENT = ("study", "dimension", "statistic", "value", "n")
MULTIPLICITY = (
    "study", "spec", "slice", "estimand", "quantity", "term", "tests", "estimate", "std_error", "p_value",
    "holm_p_value", "bh_p_value", "max_t_p_value", "simultaneous_ci_low", "simultaneous_ci_high", "replicates",
)  # fmt: skip
PLACEBO = (
    "study", "spec", "slice", "estimand", "quantity", "term",
    "estimate", "std_error", "df", "ci_low", "ci_high", "p_value", "randomisation_p_value", "draws", "cells", "reason",
)  # fmt: skip
TASTES = (
    "study", "spec", "slice", "estimand", "judge", "model", "relation", "residual", "std_error", "df", "band", "n", "reason",
)  # fmt: skip
IDENTIFIABILITY = (
    "study", "spec", "slice", "estimand", "quantity", "term", "words", "n", "n_term", "cells", "carried_by", "against",
    "n_against", "share_carried", "share_same_judge", "share_same_model", "share_others", "rank_deficiency", "tied_to",
)  # fmt: skip
LEADERBOARD = (
    "study", "spec", "slice", "scores", "estimand", "model", "judges", "score", "std_error", "ci_low", "ci_high",
    "rank", "rank_low", "rank_high", "change", "change_ci_low", "change_ci_high", "replicates", "note",
)  # fmt: skip
FEW_LABELS = (
    "study", "model", "method", "prompts", "draws", "labels", "full_mean",
    "std_error", "width", "rmse", "covered", "saved", "note",
)  # fmt: skip
PLANNER = (
    "study", "estimand", "judges", "models", "dimensions", "raters", "prompts", "gamma", "power",
    "detectable", "detectable_least", "floor", "prompts_needed", "bias", "size", "note",
)  # fmt: skip
RELIABILITY = ("study", "dimension", "single", "raters", "mean", "origin")
NOISY_REFERENCE = (
    "study", "spec", "slice", "estimand", "method", "reliability", "quantity", "term",
    "estimate", "std_error", "df", "ci_low", "ci_high", "p_value", "n", "prompts", "reason", "note",
)  # fmt: skip
BREAKDOWNS = (
    "study", "spec", "slice", "estimand", "quantity", "term",
    "sign_at_1", "sign_at_lowest", "lowest", "breakdown", "reversal",
)  # fmt: skip
SENSITIVITY = (
    "study", "spec", "slice", "estimand", "quantity", "term",
    "estimate", "std_error", "classical_std_error", "df", "partial_r2",
    "robustness_value", "robustness_value_significance", "length_with_term", "length_with_rating", "bias_as_length",
    "as_length_ci_low", "as_length_ci_high", "reason", "note",
)  # fmt: skip
MISSINGNESS = (
    "study", "spec", "slice", "estimand", "method", "quantity", "term",
    "estimate", "std_error", "df", "ci_low", "ci_high", "p_value", "n", "n_term", "prompts", "reason", "note",
)  # fmt: skip
CONCLUSIONS = (
    "study", "slice", "quantity", "term", "view", "spec", "estimand", "estimate", "ci_low", "ci_high", "p_value",
    "conclusion", "first", "verdict", "words", "detectable", "randomisation_p_value",
    "printed", "printed_ci_low", "printed_ci_high", "printed_conclusion", "printed_verdict", "note",
)  # fmt: skip
COMPLETENESS = (
    "study", "dimension", "judge", "model", "prompts", "absent",
    "missing_rating", "missing_gt", "missing_length", "used",
)  # fmt: skip
CLAIMS = (
    "study", "claim", "section", "sentence", "criterion", "estimand",
    "kind", "verdict", "evidence", "published", "published_evidence",
)  # fmt: skip
SCORECARD = (
    "study", "item", "figure", "spec", "slice", "estimand", "quantity", "term", "model",
    "published", "published_ci_low", "published_ci_high", "ours", "ours_ci_low", "ours_ci_high",
    "deviation", "tolerance", "verdict", "cause",
)  # fmt: skip
PLANTED = ("slice", "quantity", "term", "planted")
RECOVERY = (
    "study", "spec", "slice", "estimand", "quantity", "term",
    "planted", "estimate", "std_error", "ci_low", "ci_high", "z", "inside",
)  # fmt: skip
CROSSCHECK = ("study", "spec", "slice", "estimand", "compared", "terms", "largest_difference", "tolerance")

VALIDITY = (
    "grid", "dial", "setting", "estimator", "estimand", "quantity", "term", "planted",
    "statistic", "value", "mc_error", "replicates",
)  # fmt: skip
VALIDITY_EXPECTED = (
    "grid", "dial", "setting", "estimator", "estimand", "quantity", "term", "planted", "statistic",
    "low", "high", "value", "mc_error", "replicates", "verdict",
)  # fmt: skip


def write_table(path: str | Path | int, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as CSV under `columns`, to a path or to an open file by its number.

    A missing key, None or NaN is an empty field, a float its `repr`.

    A key that is not one of `columns` is an error (ValueError), so that no fact is lost unseen.
    """
    with named(path), open(path, "w", newline="", encoding="utf-8") as file:
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
