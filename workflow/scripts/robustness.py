"""Biases beyond ordinary preference and over wordings, the cells that identify them, and what could
have distorted them.
"""

from recuse.steps.robustness import estimands, sensitivity
from recuse.workflow.runner import run

if __name__ == "__main__":
    run([estimands, sensitivity], snakemake)
