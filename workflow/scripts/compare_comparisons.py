"""Compare the tables of a study of comparisons with the values in its paper."""

from collections.abc import Mapping, Sequence

from recuse.base.tables import read_table, write_table
from recuse.papers.attack_values import read_attacks
from recuse.papers.scorecard import SCORECARD, scorecard_of_comparisons
from recuse.workflow.runner import run


def compare(
    *,
    study: str,
    source: str,
    kind: str,
    inputs: Mapping,
    published: str,
    attacks: Sequence[str],
    scorecard: str,
) -> None:
    tables = {
        name: read_table(path)
        for name, path in inputs.items()
        if name not in ("published", "attacks")
    }
    printed = read_table(published), [value for path in attacks for value in read_attacks(path)]
    write_table(
        scorecard,
        SCORECARD,
        scorecard_of_comparisons(*printed, tables, study=study, source=source, kind=kind),
    )


if __name__ == "__main__":
    run(compare, snakemake)
