"""Import the verdicts of a study of comparisons, and the table of what was imported."""

from collections.abc import Mapping, Sequence

from recuse.imports.verdicts import import_verdicts
from recuse.workflow.runner import run


def import_study(
    *,
    study: str,
    raw: Sequence[str],
    references: Sequence[str],
    params: Mapping,
    outputs: Mapping[str, str],
) -> None:
    import_verdicts(study, raw, references, **params, outputs=outputs)


if __name__ == "__main__":
    run(import_study, snakemake)
