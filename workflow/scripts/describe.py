"""Say before any fit what the ratings of a study support, and tabulate mean scores and judge-human
correlations.
"""

from recuse.steps.describe import describe_and_check
from recuse.workflow.runner import run

if __name__ == "__main__":
    run(describe_and_check, snakemake)
