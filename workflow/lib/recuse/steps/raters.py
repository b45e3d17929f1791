"""Check the single raters' scores of a study and tabulate how well they agree."""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table
from recuse.data.raters import AGREEMENT, check_raters, rater_agreement
from recuse.data.registry import Registry


def raters_tables(
    *,
    study: str,
    raw: Sequence[str],
    ratings: Sequence[str],
    models: Mapping,
    imported: bool,
    declared: Mapping,
    outputs: Mapping[str, str],
) -> None:
    """Write the canonical raters (parquet) and their agreement (CSV)."""
    registry = Registry.from_config(models, imported=imported)
    check_raters(raw[0], registry, ratings=ratings, output=outputs["raters"], declared=declared)
    write_table(outputs["agreement"], AGREEMENT, rater_agreement(outputs["raters"]), study=study)
