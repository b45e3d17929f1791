"""Judges' ratings on the human scale, by lines that are fitted to human scores of other prompts."""

from recuse.base.database import Connection, records
from recuse.base.tables import column_names
from recuse.data.study import LEAST_SCORED

CALIBRATION = column_names(
    "study judge dimension answers prompts intercept slope error error_of_mean error_of_rating",
)
FOLDS = 5  # of a judge's prompts with human scores in a dimension, in turn
EVERY = -1  # in place of a fold: the line of all prompts, for those without human scores
FLAT = 1e-12  # variance of ratings: below it they are equal


def calibrated(connection: Connection, ratings: str, rating: str) -> str:
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
    scored = f"({ratings}) where gt_unit is not null and {rating} is not null"
    connection.execute(f"""
        create temp table folds as
        from (select distinct judge, dimension, prompt,
                dense_rank() over (partition by judge, dimension order by prompt) % {FOLDS} as fold
              from {scored})
        qualify count(*) over (partition by judge, dimension) >= {LEAST_SCORED}""")
    connection.execute(f"""
        create temp table lines as
        with sums as (
          select judge, dimension, fold, count(*) as n, sum({rating}) as x, sum(gt_unit) as y,
                 sum({rating} ** 2) as xx, sum({rating} * gt_unit) as xy
          from (from {scored}) join folds using (judge, dimension, prompt) group by all)
        select judge::varchar as of_judge, dimension::varchar as of_dimension, of_fold,
               sum(x) / sum(n) as mean_rating, sum(y) / sum(n) as mean,
               sum(xx) / sum(n) - mean_rating ** 2 as variance,
               if(variance > {FLAT}, (sum(xy) / sum(n) - mean_rating * mean) / variance, 0) as slope,
               mean - slope * mean_rating as intercept
        from sums join (select unnest(range({EVERY}, {FOLDS})) as of_fold) on fold <> of_fold
        group by all""")
    return f"""
        select of_rating.*, intercept + slope * {rating} as human_scale_unit, mean as mean_unit
        from ({ratings}) as of_rating left join folds using (judge, dimension, prompt)
        left join lines on of_judge = judge::varchar
          and of_dimension = dimension::varchar
          and of_fold = coalesce(fold, {EVERY})"""


def calibration_rows(connection: Connection, calibrated_ratings: str) -> list[dict]:
    """The rows of the table of calibration, for each judge and dimension with a line.

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
    return records(connection.execute(query))
