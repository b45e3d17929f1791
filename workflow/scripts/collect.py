"""Ask judges what a study's ledger has no answer to, and tabulate what it then holds."""

import sys
from collections.abc import Mapping

from recuse.base.runner import run
from recuse.collect.inputs import read_plan, stopping_rule
from recuse.collect.study import Collected, ask
from recuse.collect.words import of_run


def collect_study(*, study: str, answered: str, collected: str, config: Mapping) -> None:
    plan = read_plan(config, study)
    for part, outcome in ask(plan, enough=stopping_rule(config, study)):
        print(of_run(part, outcome), file=sys.stderr)
    answers = Collected.in_ledger(plan)
    answers.write(answered)
    answers.write_counts(collected)


if __name__ == "__main__":
    run(collect_study, snakemake)
