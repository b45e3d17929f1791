"""The commands of audits: `gate`, and `audit`, which shows judges the same answers with one thing
changed, or says what that would cost.
"""

from argparse import Namespace
from collections.abc import Callable

from recuse.audit.gate import add_gate_command
from recuse.collect.command import add_spending_options, budget_in
from recuse.commands import write_page


def add_commands(command: Callable) -> None:
    """Add `audit` and `gate`; command: adds one, and returns its parser."""
    add_audit_command(command)
    add_gate_command(command)


def add_audit_command(command: Callable) -> None:
    """Add `audit`; command: adds one, and returns its parser."""
    words = (
        "Show judges the same answers twice, with one thing changed, as a plan describes. A ledger"
        " keeps every response, and no answered request is sent again."
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
        help="a plan that was asked before: also write by how much each effect differs from its",
    )
    add_spending_options(audit)


def run_audit(arguments: Namespace) -> None:
    """Send the requests that the ledger has no answer to, and write the results; with --dry-run,
    only say what that would cost.
    """
    from recuse.audit.inputs import page_before, read_audit
    from recuse.audit.run import audit
    from recuse.collect.table import Collected
    from recuse.config.load import load

    config = load(None)
    plan = read_audit(arguments.plan, config)
    if arguments.dry_run:
        write_page(page_before(Collected.in_ledger(plan), confidence=config["confidence"]))
        return
    against = read_audit(arguments.against, config) if arguments.against else None
    for line in audit(plan, config, budget=budget_in(arguments), against=against):
        write_page(f"{line}\n")
