"""Compare the ratings of The Multivac with what it prints."""

from collections.abc import Sequence

from recuse.base.tables import read_table, write_table
from recuse.papers.multivac_values import RANKINGS, rankings, scorecard_of_multivac
from recuse.papers.scorecard import SCORECARD
from recuse.workflow.runner import run


def compare(
    *,
    study: str,
    estimates: Sequence[str],
    ratings: Sequence[str],
    published: Sequence[str],
    outputs,
) -> None:
    ranked = rankings(ratings)
    write_table(outputs["rankings"], RANKINGS, ranked, study=study)
    fitted = [row for path in estimates for row in read_table(path)]
    rows = scorecard_of_multivac(*map(read_table, published), fitted, ranked, study=study)
    write_table(outputs["scorecard"], SCORECARD, rows)


if __name__ == "__main__":
    run(compare, snakemake)
