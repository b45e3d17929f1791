"""Check the single raters' scores of a study and tabulate how well they agree."""

from recuse.steps.raters import raters_tables
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(raters_tables, snakemake)
