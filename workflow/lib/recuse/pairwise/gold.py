"""Marks of pairs whose answers are right or wrong by a key: which answer a judge prefers, by their
correctness.

Preferring one's own right answer to a wrong one is legitimate, preferring one's own wrong answer to
a right one is harmful (Chen et al., arXiv 2504.03846).
"""

from recuse.base.database import Connection, values_in
from recuse.base.errors import DataError
from recuse.inference.gold import BOTH_RIGHT, BOTH_WRONG, HARMFUL, LEGITIMATE
from recuse.pairwise.choices import UNSWAYED

# None for an error
POINTS = "case {0} when '{1}' then 1.0 when 'tie' then 0.5 when '{2}' then 0.0 end"
CASE = f"""case when right_{{0}} and not right_{{1}} then '{LEGITIMATE}' when right_{{1}} and not right_{{0}} then '{HARMFUL}'
                when right_{{0}} then '{BOTH_RIGHT}' else '{BOTH_WRONG}' end"""


def create_marks_of_pairs(connection: Connection, comparisons: str) -> list[str]:
    """Create the table `marks` of each answer in each pair, for `recuse.inference.gold`; return the
    judges, by name.

    y is the mean of the points of an answer over the verdicts on a pair, of both orders and all
    votes: 1 if it wins, 1/2 in a tie. Averaging both orders cancels a preference for a place. Left
    out are errors, conditions made to sway a judge, experiments with a control group, and pairs
    without a key for both answers. comparisons: SQL for the rows of the canonical table. DataError
    if no pair has a key.
    """
    connection.execute(
        f"""
        create temp table keyed as
        select * from {comparisons}
        where right_a is not null and right_b is not null and {UNSWAYED.format(table=comparisons)}"""
    )
    judges = values_in(connection, "select distinct judge from keyed order by 1")
    if not judges:
        raise DataError(
            "no comparison has a key; write columns right_a and right_b (true or false), or leave"
            " the analysis gold out"
        )
    sides = " union all ".join(
        f"""select {CASE.format(side, other)} as "case",
                   item as question, concat_ws(chr(31), experiment, condition, item) as block,
                   concat_ws(chr(31), model_{side}, model_{other}) as unit,
                   judge, model_{side} as model, model_{other} as other, {POINTS.format("outcome", side, other)} as points
            from keyed"""
        for side, other in ("ab", "ba")
    )
    connection.execute(f"""
        create temp table marks as
        select "case", question, block, unit, judge, model, other, avg(points) as y
        from ({sides}) where points is not null group by all""")
    return judges
