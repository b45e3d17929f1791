"""Ask judges what an audit's ledger has no answer to, and write its results."""

import sys
from collections.abc import Mapping

from recuse.audit.inputs import read_audit
from recuse.audit.run import audit
from recuse.base.products import register
from recuse.collect.product import PRODUCT as COLLECT
from recuse.config.declared.settings import check_settings
from recuse.imports.product import PRODUCT as IMPORTS
from recuse.papers.product import PRODUCT as PAPERS
from recuse.workflow.runner import run


def run_audit(*, plan: str, config: Mapping) -> None:
    register([COLLECT, IMPORTS, PAPERS])  # whose keys are checked
    for line in audit(read_audit(plan, check_settings(config))):
        print(line, file=sys.stderr)


if __name__ == "__main__":
    run(run_audit, snakemake)
