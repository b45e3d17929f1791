"""Ask judges what a study's ledger has no answer to, and tabulate what it then holds."""

import json
import sys
from collections.abc import Mapping

from recuse.base.digests import file_sha256
from recuse.base.outputs import write_text
from recuse.base.products import register
from recuse.collect.inputs import read_plan, stopping_rule
from recuse.collect.product import PRODUCT as COLLECT
from recuse.collect.study import ask
from recuse.collect.table import Collected
from recuse.collect.words import run_summary
from recuse.config.declared.settings import check_settings
from recuse.config.studies import Study
from recuse.imports.product import PRODUCT as IMPORTS
from recuse.papers.product import PRODUCT as PAPERS
from recuse.workflow.runner import run


def collect_study(
    *, study: str, ledger: str, answered: str, collected: str, seen: str, config: Mapping
) -> None:
    register([COLLECT, IMPORTS, PAPERS])  # whose keys are checked
    asked = Study(study, check_settings(config))
    plan = read_plan(asked)
    for part, outcome in ask(plan, enough=stopping_rule(asked)):
        print(run_summary(part, outcome), file=sys.stderr)
    left = file_sha256(plan.ledger)
    answers = Collected.in_ledger(plan)
    answers.write(answered)
    answers.write_counts(collected)
    write_text(seen, json.dumps({"found": ledger, "left": left}) + "\n")


if __name__ == "__main__":
    run(collect_study, snakemake)
