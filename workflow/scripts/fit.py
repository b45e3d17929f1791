"""Fit the specs of a stage to a study, and add what is said of their fits to the tables of the
stages before.
"""

from recuse.steps.fit import fit_specs
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(fit_specs, snakemake)
