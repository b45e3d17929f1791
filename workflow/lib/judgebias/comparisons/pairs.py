"""Both orders of a comparison side by side: what every statistic of order, length and human agreement begins from."""

import duckdb

from judgebias.database import files

# Both orders must agree for a verdict to count; a comparison with an error or with one order alone gives none.
DEBIASED = """case when outcome_ab is null or outcome_ba is null or 'error' in (outcome_ab, outcome_ba) then 'error'
                   when outcome_ab = outcome_ba then outcome_ab else 'tie' end"""
# The verdict of a comparison with one order alone.
SINGLE = "case when outcome_ba is null then outcome_ab when outcome_ab is null then outcome_ba end"


def create_pairs(connection: duckdb.DuckDBPyConnection, comparisons: str) -> None:
    """Create the temporary table `pairs` from the canonical table of comparisons, a parquet file.

    One row per experiment, condition, judge, item, model_a, model_b and vote, in this order, with the columns human, length_a,
    length_b (each NULL where there is none), outcome_ab and outcome_ba (the verdicts with the answer of model_a and of model_b
    shown first; NULL where that order is absent), favoured_ab and favoured_ba (the answer that the added statement of that
    order speaks for), debiased: the verdict if both orders agree, `tie` if they do not, `error` if one of them is an error
    or absent (Saito et al., section 4), and single: the verdict where there is one order alone, else NULL.
    """
    connection.execute(f"""
        create temp table pairs as
        select *, {DEBIASED} as debiased, {SINGLE} as single
        from (select experiment, condition, judge, item, model_a, model_b, vote,
                     any_value(human) as human, any_value(length_a) as length_a, any_value(length_b) as length_b,
                     any_value(outcome) filter ("order" = 'ab') as outcome_ab,
                     any_value(outcome) filter ("order" = 'ba') as outcome_ba,
                     any_value(favoured) filter ("order" = 'ab') as favoured_ab,
                     any_value(favoured) filter ("order" = 'ba') as favoured_ba
              from {files([comparisons])} group by all)
        order by experiment, condition, judge, item, model_a, model_b, vote""")
