"""The commands `audit` and `gate`."""

from argparse import Namespace
from collections.abc import Callable

from recuse.audit.gate import add_gate_command
from recuse.collect.command import add_spending_options, budget_in
from recuse.commands import write_page


def add_commands(command: Callable) -> None:
    """Add `audit` and `gate`; command: adds a command, and returns its parser."""
    add_audit_command(command)
    add_gate_command(command)


def add_audit_command(command: Callable) -> None:
    """Add `audit`; command: adds a command, and returns its parser."""
    words = (
        "Show judges the same answers twice, with one thing changed, as the plan says. A ledger keeps"
        " every response, and answered requests are not sent again."
    )
    audit = command(
        "audit",
        run_audit,
        "find what sways a judge, by experiment",
        words,
        "recuse audit plan.yaml --dry-run",
    )
    audit.add_argument("plan", metavar="plan.yaml", help="YAML file with judges and treatments")
    audit.add_argument(
        "--against",
        metavar="other.yaml",
        help="an earlier plan: also write how each effect differs from the effect there",
    )
    add_spending_options(audit)


def run_audit(arguments: Namespace) -> None:
    """Send unanswered requests and write the results; with --dry-run, only say what that would
    cost.
    """
    from recuse.audit.inputs import plan_page, read_audit
    from recuse.audit.run import audit
    from recuse.collect.table import Collected
    from recuse.config.load import load

    settings = load(None)
    plan = read_audit(arguments.plan, settings)
    if arguments.dry_run:
        write_page(plan_page(Collected.in_ledger(plan)))
        return
    against = read_audit(arguments.against, settings) if arguments.against else None
    for line in audit(plan, budget=budget_in(arguments), against=against):
        write_page(f"{line}\n")
