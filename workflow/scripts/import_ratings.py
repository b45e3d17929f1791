"""Import a study's raw ratings, its raters if there are any, and the table of what was imported."""

from collections.abc import Mapping, Sequence

from recuse.imports.ratings import import_ratings
from recuse.workflow.runner import run


def import_study(
    *,
    study: str,
    raw: Sequence[str],
    references: Sequence[str],
    params: Mapping,
    outputs: Mapping[str, str],
) -> None:
    import_ratings(study, raw, references, **params, outputs=outputs)


if __name__ == "__main__":
    run(import_study, snakemake)
