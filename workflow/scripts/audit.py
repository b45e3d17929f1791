"""Ask judges what an audit's ledger has no answer to, and write its results."""

import sys
from collections.abc import Mapping

from recuse.audit.inputs import read_audit
from recuse.audit.run import audit
from recuse.workflow.runner import run


def run_audit(*, plan: str, config: Mapping) -> None:
    for line in audit(read_audit(plan, config)):
        print(line, file=sys.stderr)


if __name__ == "__main__":
    run(run_audit, snakemake)
