"""Judge the tables of a study of comparisons by what its paper prints."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.base.tables import SCORECARD, read_table, write_table
from recuse.published.attacks import read_attacks
from recuse.published.scorecard import scorecard_of_comparisons

TABLES = ("verbosity", "agreement", "rbo", "asr", "ranks", "votes_by_position", "vote_shares")  # those that the study has


def compare(
    *, study: str, source: str, kind: str, published: str, attacks: str, tables: Mapping[str, str], output: str
) -> None:  # fmt: skip
    found = {name: read_table(path) for name, path in tables.items()}
    values = read_table(published), read_attacks(attacks) if attacks else []
    write_table(output, SCORECARD, scorecard_of_comparisons(*values, found, study=study, source=source, kind=kind))


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        compare(
            study=snakemake.wildcards.study,
            published=snakemake.input.published,
            attacks=next(iter(snakemake.input.attacks), ""),
            tables={name: path for name in TABLES if (path := snakemake.input.get(name))},
            output=snakemake.output.scorecard,
            **{key: snakemake.params[key] for key in ("source", "kind")},
        )
