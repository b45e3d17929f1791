"""Check the verdicts of a study and write its canonical comparisons."""

from recuse.steps.comparisons import normalise_comparisons
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(normalise_comparisons, snakemake)
