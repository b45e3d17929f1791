"""Reads the plan of an audit, and says what it will ask and cost."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

from recuse.audit.effects import POWER
from recuse.audit.plan import AuditPlan
from recuse.audit.published import with_published_texts
from recuse.audit.settings import PAPERS, Audit
from recuse.audit.size import assumed_spread, prompts_needed
from recuse.collect.dry_run import ABSENT
from recuse.collect.estimate import cost_page, estimates
from recuse.collect.requests import Request
from recuse.collect.study import merged_in_words
from recuse.collect.table import Collected
from recuse.collect.texts import prices_in, table_path
from recuse.config.declared.sections import validated
from recuse.config.declared.settings import Settings
from recuse.config.read import read

RESULTS = "results/audits"


def audit_settings(path: str) -> Audit:
    """The settings in a file; ConfigError if one is wrong."""
    return validated(Audit, read(Path(path)), name=path)


def files_named(path: str) -> list[str]:
    """The tables and the file of prices that a plan names."""
    audit = audit_settings(path)
    tables = [None if audit.prompts in PAPERS else audit.prompts, audit.answers, audit.prices]
    tables += [chosen.file for chosen in audit.options().values()]
    return [*dict.fromkeys(table_path(table) for table in tables if table is not None)]


def read_audit(path: str, settings: Settings) -> AuditPlan:
    """Read a plan; ConfigError if a setting is wrong, DataError if a table is.

    settings: the project's, for its seed, the level of intervals, and where papers are fetched
    from.
    """
    audit = audit_settings(path)
    name, paper = Path(path).stem, ""
    if audit.prompts in PAPERS:
        paper = audit.prompts
        audit = with_published_texts(audit, Path(RESULTS, name, "texts"), settings)
    prices = {} if audit.prices is None else prices_in(audit.prices, read(Path(audit.prices)))
    plan = AuditPlan.from_settings(name, audit, seed=settings.seed, prices=prices)
    if not paper:
        plan.check_texts()
    return replace(plan, paper=paper, confidence=settings.confidence)


def results_folder(plan: AuditPlan) -> Path:
    """The folder with the results of an audit."""
    return Path(RESULTS) / plan.study


def plan_page(collected: Collected) -> str:
    """Say what an audit would ask and cost, how many prompts it needs, and show the first request.

    Texts of usual length stand in for answers that are not written yet.
    """
    plan: AuditPlan = collected.plan
    entries = collected.entries
    answers = plan.answers(entries, absent="word " * ABSENT)
    requests = [request for wave in plan.waves(answers) for request in wave]
    if not requests:
        return "The plan asks for nothing.\n"
    every = [*plan.writing(), *requests]
    known = [entries[request.key] for request in every if request.key in entries]
    shown = Counter(request.about["treatment"] for request in requests)
    treatments = ", ".join(f"{name} {number:,}" for name, number in shown.items())
    prompts = len({request.about["prompt"] for request in requests})
    notes = [f"Judgments on {prompts:,} prompts by treatment: {treatments}."]
    notes.append(_prompts_in_words(plan, requests, prompts))
    notes += merged_in_words(plan, requests, answers)
    return cost_page(estimates(every, known), requests[0], spent=entries.spent, notes=notes)


def _prompts_in_words(plan: AuditPlan, requests: Iterable[Request], prompts: int) -> str:
    """Say how many prompts the plan's `self_bias` needs.

    A difference between own answers and others' has the variances of both. Effects that cannot be
    tested, because a judge has no such answers, do not count.
    """
    sought = plan.collect.self_bias
    tests = sum(len(treatment.contrasts) for treatment in plan.treatments)
    shown = Counter()
    for about in (request.about for request in requests):
        shown[about["treatment"], about["judge"], about["model"] == about["judge"]] += 1
    needed = []
    for treatment, judge in product(plan.treatments, plan.judges):
        own, others = (shown[treatment.name, judge, is_own] for is_own in (True, False))
        counts = [own, others] if treatment.contrasts[0].beyond_others else [own + others]
        if 0 in counts:
            continue
        units = [max(1, count / len(treatment.arms) / prompts) for count in counts]
        spread = assumed_spread(plan.kind, *units)
        needed.append(prompts_needed(spread, bias=sought, confidence=plan.confidence, tests=tests))
    if None in needed or not needed:
        return f"No number of prompts is enough to find an effect of {sought:g} in every treatment."
    return (
        f"To find an effect of {sought:g} in any treatment with probability {POWER:.0%}, you need"
        f" about {max(needed):,} prompts, if replies vary as usual."
    )
