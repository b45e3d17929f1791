"""Runs an audit: asks, then writes the results, also if asking was stopped."""

import math
from collections.abc import Callable, Iterator, Mapping

from recuse.audit.card import write_card
from recuse.audit.effects import effect_rows
from recuse.audit.inputs import results_folder
from recuse.audit.mitigation import CHANGES, change_rows
from recuse.audit.observations import observations, write_observations
from recuse.audit.paper_metrics import write_paper_metrics
from recuse.audit.plan import AuditPlan
from recuse.base.errors import CollectError, ConfigError, DataError
from recuse.base.tables import write_table
from recuse.base.words import level, text_table
from recuse.collect.plan import VERDICTS
from recuse.collect.study import ask
from recuse.collect.table import Collected
from recuse.collect.words import counts_summary, run_summary
from recuse.report.verdict import PERCENT, POINTS


def audit(
    plan: AuditPlan,
    *,
    budget: float | str | None = None,
    against: AuditPlan | None = None,
) -> Iterator[str]:
    """Send unanswered requests, write the results, and yield lines for the terminal.

    CollectError if no reply could be read, or if asking was stopped; then the results so far are
    written first. budget: as for `ask`. against: a plan that was asked before, whose effects are
    compared with these.
    """
    stopped = None
    before = [] if against is None else _replies(plan, against)
    try:
        for part, outcome in ask(plan, budget=budget, enough=_stopping_rule(plan)):
            yield run_summary(part, outcome)
    except CollectError as error:
        stopped = error
    collected = Collected.in_ledger(plan)
    rows = observations(collected)
    if rows:
        yield counts_summary(collected.counts())
        yield write_results(plan, rows)
        if against is not None and stopped is None:
            yield write_changes(plan, rows, {against.study: before})
    if stopped is not None:
        raise stopped
    if all(row["value"] is None for row in rows):
        raise CollectError(
            f"{plan.ledger}: no reply could be read; look at the replies, and change `mode` or"
            " `wordings`"
        )


def _stopping_rule(plan: AuditPlan) -> Callable[[Collected], bool] | None:
    """Return a function that says whether intervals are as narrow as the plan's `width` asks; None
    if the plan has none.
    """
    width = plan.collect.design.width
    if width is None:
        return None

    def enough(collected: Collected) -> bool:
        rows = effect_rows(
            observations(collected),
            plan.treatments,
            confidence=plan.confidence,
            seed=plan.seed,
        )
        found = [row for row in rows if "verdict" in row]
        # An effect without an interval, for lack of prompts, may have one later.
        return all(
            row.get("ci_high", math.inf) - row.get("ci_low", 0) <= 2 * width for row in found
        )

    return enough


def write_results(plan: AuditPlan, rows: list[dict]) -> str:
    """Write the results of an audit, and return the card for the terminal, with the
    path of its page.
    """
    folder = results_folder(plan)
    settings = {"confidence": plan.confidence, "seed": plan.seed}
    write_observations(folder, rows)
    if plan.paper and plan.kind == VERDICTS:
        write_paper_metrics(folder, rows, **settings)
    card = write_card(folder, rows, plan.treatments, **settings)
    return f"{card}\nCard: {folder / 'card.html'}"


def _replies(plan: AuditPlan, before: AuditPlan) -> list[dict]:
    """The observations of an earlier plan, with which `plan` is compared."""
    if before.study == plan.study or before.kind != plan.kind:
        raise ConfigError(
            f"found two plans {before.study} and {plan.study}, of {before.kind} and {plan.kind};"
            " compare plans with different file names that both ask for ratings or for verdicts"
        )
    collected = Collected.in_ledger(before)
    rows = observations(collected) if collected.entries else []
    if not rows:
        raise CollectError(
            f"{before.ledger}: found no replies to compare with; run `recuse audit"
            f" {before.study}.yaml` first"
        )
    return rows


def write_changes(plan: AuditPlan, rows: list[dict], before: Mapping[str, list[dict]]) -> str:
    """Write how effects differ from those of an earlier audit on the same prompts, and return a
    table for the terminal.

    before: the earlier audit's name, and its observations.
    """
    (name,) = before
    confidence = plan.confidence
    changes = [*change_rows({**before, plan.study: rows}, plan.treatments, confidence=confidence)]
    if not changes:
        raise DataError(
            f"{plan.study} and {name}: found no effect with ten prompts in common; name judges,"
            " treatments and prompts alike in both plans"
        )
    write_table(results_folder(plan) / f"against_{name}.csv", CHANGES, changes)
    unit = POINTS if plan.kind == VERDICTS else PERCENT
    cells = []
    for row in changes:
        sizes = [unit.text(row[each]) for each in ("estimate_before", "estimate_after", "estimate")]
        cells.append([row["judge"], row["contrast"], *sizes, unit.span(row)])
    headings = ["judge", "bias", name, plan.study, "change", f"{level(confidence)} interval"]
    return "\n".join([f"Change in {unit.name}:", *text_table(headings, cells)]) + "\n"
