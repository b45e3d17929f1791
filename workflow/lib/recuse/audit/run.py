"""Running an audit: ask, then write its results, also of what was answered before a run ended."""

from collections.abc import Iterator, Mapping

from recuse.audit.inputs import results_folder
from recuse.audit.observations import observations, write_observations
from recuse.audit.paper_metrics import write_paper_metrics
from recuse.audit.plan import AuditPlan
from recuse.base.errors import CollectError
from recuse.base.words import counted
from recuse.collect.plan import VERDICTS
from recuse.collect.study import ask
from recuse.collect.table import Collected
from recuse.collect.words import counts_summary, run_summary


def audit(plan: AuditPlan, config: Mapping, *, budget: float | str | None = None) -> Iterator[str]:
    """Ask what the ledger has no answer to, write the results, and yield lines for the terminal.

    CollectError if asking was stopped, after the results of what is answered are written, or if no
    reply could be read. budget: as of `ask`.
    """
    stopped = None
    try:
        for part, outcome in ask(plan, budget=budget):
            yield run_summary(part, outcome)
    except CollectError as error:
        stopped = error
    collected = Collected.in_ledger(plan)
    rows = observations(collected)
    if rows:
        yield counts_summary(collected.counts())
        yield write_results(plan, rows, config)
    if stopped is not None:
        raise stopped
    if all(row["value"] is None for row in rows):
        raise CollectError(
            f"{plan.ledger}: no reply could be read; look at them, and change `mode` or `wordings`"
        )


def write_results(plan: AuditPlan, rows: list[dict], config: Mapping) -> str:
    """Write the results of an audit, and return what to say about them."""
    folder = results_folder(plan)
    write_observations(folder, rows)
    if plan.paper and plan.kind == VERDICTS:
        write_paper_metrics(folder, rows, confidence=config["confidence"], seed=plan.seed)
    return f"{folder}/observations.csv: {counted(len(rows), 'observation')}."
