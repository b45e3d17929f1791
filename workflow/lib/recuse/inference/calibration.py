"""Judges' ratings on the human scale, by lines that are fitted to human scores of other prompts."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from recuse.base.database import create_table
from recuse.base.tables import column_names
from recuse.data.study import LEAST_SCORED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CALIBRATION = column_names(
    "study judge dimension answers prompts intercept slope error error_of_mean error_of_rating",
)
FOLDS = 5  # of a judge's prompts with human scores in a dimension, in turn
EVERY = -1  # in place of a fold: the line of all prompts, for those without human scores
FLAT = 1e-12  # variance of ratings: below it they are equal


def calibrated(connection: "DuckDBPyConnection", ratings: str, rating: str) -> str:
    """SQL for `ratings` (SQL) with two columns more: human_scale_unit and mean_unit.

    human_scale_unit is intercept + slope x `rating`, a column on the unit scale, by least squares
    of the human scores on the judge's ratings in the dimension; mean_unit is the mean of these
    scores. A prompt with human scores takes both from the other FOLDS - 1 folds of the judge's such
    prompts.
    They are NULL where the judge has human scores on fewer than LEAST_SCORED prompts in the
    dimension.

    ratings: with the columns judge, dimension, prompt, gt_unit. connection: on which the SQL is to
    run; it gets two temporary tables.
    """
    connection.execute(
        f"""
        create temp table folds as
        select distinct judge, dimension, prompt,
          dense_rank() over (partition by judge, dimension order by prompt) % {FOLDS} as fold
        from ({ratings}) where gt_unit is not null and {rating} is not null"""
    )
    sums = ", ".join(
        f"sum({product})"
        for product in ("1", rating, "gt_unit", f"{rating} * {rating}", f"{rating} * gt_unit")
    )
    query = f"""
        select judge::varchar, dimension::varchar, fold, count(distinct prompt), {sums}
        from ({ratings}) join folds using (judge, dimension, prompt)
        where gt_unit is not null and {rating} is not null group by all order by all"""
    by_pair: dict[tuple[str, str], dict[int, np.ndarray]] = {}
    for judge, dimension, fold, *of_fold in connection.execute(query).fetchall():
        by_pair.setdefault((judge, dimension), {})[fold] = np.array(of_fold, dtype=float)
    lines = []
    for pair, folds in by_pair.items():
        total = sum(folds.values())
        if total[0] < LEAST_SCORED:
            continue
        for fold in (EVERY, *range(FOLDS)):
            lines.append((*pair, fold, *line_of_sums(total - folds.get(fold, 0.0))))
    create_table(
        connection,
        "lines",
        "of_judge varchar, of_dimension varchar, of_fold bigint, intercept double, slope double,"
        " mean double",
        lines,
    )
    return f"""
        select of_rating.*, intercept + slope * {rating} as human_scale_unit, mean as mean_unit
        from ({ratings}) as of_rating left join folds using (judge, dimension, prompt)
        left join lines on of_judge = judge::varchar
          and of_dimension = dimension::varchar
          and of_fold = coalesce(fold, {EVERY})"""


def line_of_sums(sums: np.ndarray) -> tuple[float, float, float]:
    """Intercept, slope and mean of y, from the number of prompts, then sums of 1, x, y, x^2, x y; a
    slope of 0 if x does not vary.
    """
    _, n, x, y, xx, xy = sums
    variance = xx / n - (x / n) ** 2
    slope = (xy / n - x * y / n**2) / variance if variance > FLAT else 0.0
    return float(y / n - slope * x / n), float(slope), float(y / n)


def calibration_rows(
    connection: "DuckDBPyConnection", calibrated_ratings: str
) -> Iterator[Mapping]:
    """Yield the rows of the table of calibration, for each judge and dimension with a line.

    intercept and slope are those of all prompts. Of the ratings with a human score, whose lines
    come from other prompts: answers, prompts, and root mean squares of human score less
    human_scale_unit (error), mean_unit (error_of_mean) and rating_unit (error_of_rating).

    calibrated_ratings: SQL by `calibrated`, on the same connection, with the column rating_unit.
    """
    errors = ", ".join(
        f"sqrt(avg((gt_unit - {value}) ** 2)) as {name}"
        for name, value in (
            ("error", "human_scale_unit"),
            ("error_of_mean", "mean_unit"),
            ("error_of_rating", "rating_unit"),
        )
    )
    query = f"""
        select judge::varchar as judge, dimension::varchar as dimension, count(*) as answers,
               count(distinct prompt) as prompts, any_value(intercept) as intercept,
               any_value(slope) as slope, {errors}
        from ({calibrated_ratings}) as held_out
        join lines on of_judge = judge::varchar
          and of_dimension = dimension::varchar and of_fold = {EVERY}
        where gt_unit is not null and human_scale_unit is not null
        group by all order by all"""
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    yield from (dict(zip(names, row, strict=True)) for row in result.fetchall())
