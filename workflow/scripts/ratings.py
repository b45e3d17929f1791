"""Check the raw files of a study, write its canonical ratings, and collapse them into cells."""

from recuse.steps.ratings import normalise_study
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(normalise_study, snakemake)
