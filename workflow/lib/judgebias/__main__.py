"""The library from the command line, without Snakemake: `python -m judgebias <command>`."""

import argparse
import os
import sys
from tempfile import gettempdir

from judgebias.commands.check import add_check
from judgebias.commands.fit import add_fit
from judgebias.errors import JudgeBiasError
from judgebias.full_disks import full_disk_named


def main() -> int:
    """Run the command that the command line names; returns the status to end with."""
    parser = argparse.ArgumentParser(prog="python -m judgebias", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for add in (add_fit, add_check):
        add(commands)
    arguments = parser.parse_args()
    try:
        with full_disk_named(gettempdir()):
            arguments.run(arguments)
    except JudgeBiasError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums in one order, as in the workflow's jobs; read when numpy is imported
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere  # None where it is closed
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # nothing is left to do; taking the process down in order would last longer than a fit
