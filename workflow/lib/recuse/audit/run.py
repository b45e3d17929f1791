"""Running an audit: ask, then write its results, also of what was answered before a run ended."""

import math
from collections.abc import Callable, Iterator, Mapping

from recuse.audit.card import write_card
from recuse.audit.effects import effect_rows
from recuse.audit.inputs import results_folder
from recuse.audit.observations import observations, write_observations
from recuse.audit.paper_metrics import write_paper_metrics
from recuse.audit.plan import AuditPlan
from recuse.base.errors import CollectError
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
        for part, outcome in ask(plan, budget=budget, enough=stopping_rule(plan, config)):
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


def stopping_rule(plan: AuditPlan, config: Mapping) -> Callable[[Collected], bool] | None:
    """Whether what was collected gives intervals as narrow as a plan wants; None if it says nothing
    of that.
    """
    width = plan.collect.design.width
    if width is None:
        return None

    def enough(collected: Collected) -> bool:
        rows = effect_rows(
            observations(collected),
            plan.treatments,
            confidence=config["confidence"],
            seed=plan.seed,
        )
        found = [row for row in rows if not row.get("dimension") and not row.get("wording")]
        # An effect without an interval, as with fewer than ten prompts, may have one later.
        return all(
            row.get("ci_high", math.inf) - row.get("ci_low", 0) <= 2 * width for row in found
        )

    return enough


def write_results(plan: AuditPlan, rows: list[dict], config: Mapping) -> str:
    """Write the results of an audit, and return what to say about them."""
    folder = results_folder(plan)
    settings = {"confidence": config["confidence"], "seed": plan.seed}
    write_observations(folder, rows)
    if plan.paper and plan.kind == VERDICTS:
        write_paper_metrics(folder, rows, **settings)
    return write_card(folder, rows, plan.treatments, **settings)
