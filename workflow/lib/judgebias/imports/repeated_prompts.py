"""Prompts of one id in several datasets: other prompts, which are told apart by the dataset."""

import duckdb

REPEATED = "repeated"  # table of ids
# SQL for the id of a prompt, over prompt_id and dataset.
PROMPT = f"""prompt_id || case when prompt_id in (select prompt_id from {REPEATED})
                                then ' (' || coalesce(dataset, '') || ')' else '' end"""


def create_repeated(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Create REPEATED, of the prompts of the view `typed` whose id stands in several datasets; a line about them, None of none.

    It is empty unless a judge rates answers of one model to such prompts in several datasets: else a prompt that goes by two
    datasets is one prompt.
    """
    several = "having min(dataset) <> max(dataset)"
    twice = f"select 1 from typed group by judge_name, model_name, dimension, prompt_id {several} limit 1"
    needed = connection.execute(twice).fetchone() is not None
    found = f"select prompt_id, min(dataset) as one, max(dataset) as other from typed group by prompt_id {several} order by all"
    connection.execute(f"create temp table {REPEATED} as {found} {'' if needed else 'limit 0'}")
    first = connection.execute(f"select * from {REPEATED} limit 1").fetchone()
    if first is None:
        return None
    prompt, one, other = first
    (count,) = connection.execute(f"select count(*) from {REPEATED}").fetchone()
    return (
        f"prompts in several datasets, told apart by these: {count}, the first is '{prompt}', now '{prompt} ({one})' and "
        f"'{prompt} ({other})'"
    )
