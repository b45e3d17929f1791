"""Check the verdicts of a study and write its canonical comparisons."""

from recuse.pairwise.table import normalise
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(normalise, snakemake)
