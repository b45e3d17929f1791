"""The command `collect`: ask judges for ratings or verdicts, or say what that would cost."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from recuse.base.errors import CollectError, ConfigError, check_known
from recuse.commands import write_page
from recuse.data.registry import COMPARED, RATED
from recuse.inputs import inputs_in
from recuse.pipeline import in_folder


def add_collect_command(command: Callable) -> None:
    """Add `collect`; command: adds one, and returns its parser."""
    words = (
        "Ask judges for what `collect` of a study describes. A ledger keeps every response, and no"
        " answered request is sent again."
    )
    collect = command(
        "collect",
        run_collect,
        "ask judges for ratings or verdicts",
        words,
        "recuse collect plan.yaml --dry-run",
    )
    collect.add_argument(
        "config", metavar="plan.yaml", help="YAML file with a study that has `collect`"
    )
    collect.add_argument(
        "--study", help="the study; default: the only one in the file that asks judges"
    )
    add_spending_options(collect)


def add_spending_options(command: ArgumentParser) -> None:
    """Add `--budget` and `--dry-run`, the options of every command that asks judges."""
    command.add_argument(
        "--budget",
        help=(
            "the most to spend in all, in units of the price file, or `unlimited`; default: the"
            " plan's budget"
        ),
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="show what would be asked and what it costs, and the first request; send nothing",
    )


def budget_in(arguments: Namespace) -> float | str | None:
    """The budget that the command line names; ConfigError unless it is money or UNLIMITED."""
    from recuse.collect.study import UNLIMITED

    budget = arguments.budget
    if budget in (None, UNLIMITED):
        return budget
    try:
        return float(budget)
    except ValueError:
        raise ConfigError(
            f"--budget: found {budget}; write an amount of money, or {UNLIMITED}"
        ) from None


def run_collect(arguments: Namespace) -> None:
    """Send the requests that the ledger has no answer to, and print a summary; with --dry-run,
    only what that would cost.
    """
    from recuse.collect.dry_run import page_before
    from recuse.collect.inputs import read_plan, stopping_rule
    from recuse.collect.study import ask
    from recuse.collect.table import Collected
    from recuse.collect.words import counts_summary, run_summary
    from recuse.config.load import load_studies
    from recuse.config.read import read

    all_studies = load_studies(arguments.config)
    added = read(Path(arguments.config))
    studies = [
        name
        for part in (RATED, COMPARED)
        for name, entry in added.get(part, {}).items()
        if "collect" in entry
    ]
    if arguments.study is not None:
        check_known(["--study"], [arguments.study], studies, "the studies that ask judges")
        studies = [arguments.study]
    if len(studies) != 1:
        named = (
            f"has {', '.join(studies)}; name one by --study"
            if studies
            else "has no study with `collect`; see docs/collect.md"
        )
        raise ConfigError(f"{arguments.config}: {named}")
    budget = budget_in(arguments)
    (inputs,) = inputs_in(all_studies, added, studies[0], compared=True)
    with in_folder(inputs):
        study = inputs.study
        plan = read_plan(study)
        if arguments.dry_run:
            page = page_before(
                Collected.in_ledger(plan),
                families=study.setting("families"),
                human_scores=study.settings.import_.references is not None,
                confidence=study.confidence,
                power=study.inference.power.power,
            )
            write_page(page)
            return
        for part, outcome in ask(plan, budget=budget, enough=stopping_rule(study)):
            write_page(f"{run_summary(part, outcome)}\n")
        counts = Collected.in_ledger(plan).counts()
        write_page(f"{counts_summary(counts)}\n")
        if not any(row["ratings"] for row in counts):
            raise CollectError(
                f"{plan.ledger}: no reply could be read; look at them, and change `mode` or"
                " `wordings`"
            )
    write_page(f"Next: recuse check {arguments.config}; recuse run {arguments.config}\n")
