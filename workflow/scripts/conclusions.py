"""Rank the models without the biases; tabulate power, which conclusions hold in all checks,
verdicts, and panels.
"""

from recuse.steps.conclusions import conclude, rank, recommend_panel
from recuse.workflow.runner import run

if __name__ == "__main__":
    run([rank, conclude, recommend_panel], snakemake)
