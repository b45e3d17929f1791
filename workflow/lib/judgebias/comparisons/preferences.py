"""From single votes to the preference of a sample: what every table of perturbation attacks begins from."""

import duckdb

from judgebias.comparisons.schemas import CONTROL
from judgebias.database import files, text

# Of CoBBLEr's tests (see `cognitive`), which perturb no answer: they may stand in one experiment with a control group.
OF_OTHER_TESTS = ("order", "compassion", "bandwagon", "attentional")


def create_votes(connection: duckdb.DuckDBPyConnection, comparisons: str) -> None:
    """Create the temporary view `votes`: the verdicts about perturbed answers in the canonical table, a parquet file.

    They are those of experiments that have a control group, under any condition that has a name and is none of
    OF_OTHER_TESTS: the control group's, or the perturbation's of the answer of model_b. One row per vote, with the columns of
    the canonical table.
    """
    connection.execute(f"""
        create temp table attacked as
        select distinct experiment from {files([comparisons])} where condition = {text(CONTROL)}""")
    connection.execute(f"""
        create temp view votes as
        select * from {files([comparisons])}
        where condition not in ('', {", ".join(map(text, OF_OTHER_TESTS))})
          and experiment in (select experiment from attacked)""")


def create_samples(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the temporary table `samples` from the view `votes`, by judge, experiment, condition, item, model_a and model_b.

    votes: how many verdicts there are, without errors; errors: how many are errors. preference: a vote scores 0 for the answer
    of model_a, 0.5 for a tie, 1 for that of model_b; a mean of the scores below, equal to or above 0.5 is the preference `a`,
    `tie` or `b`; NULL where there are only errors (Chen et al., section 4.4).
    """
    connection.execute("""
        create temp table samples as
        select judge, experiment, condition, item, model_a, model_b,
               count(*) filter (outcome <> 'error') as votes, count(*) filter (outcome = 'error') as errors,
               case sign(count(*) filter (outcome = 'b') - count(*) filter (outcome = 'a'))
                   when -1 then 'a' when 1 then 'b' else if(count(*) filter (outcome <> 'error') = 0, null, 'tie')
               end as preference
        from votes group by all""")
