"""Estimate biases beyond ordinary preference, and over wordings; say which cells identify each coefficient of several specs."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import IDENTIFIABILITY, IDIOSYNCRASY, POOLED, RESIDUALS, WORDINGS, write_table
from recuse.data.study import Study
from recuse.inference.identifiability import identifiability
from recuse.inference.idiosyncrasy import idiosyncrasies, idiosyncrasy_rows, pooled_rows, residual_rows
from recuse.inference.wordings import wording_rows
from recuse.model.estimable import estimable_specs, sliced_by


def estimands(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    specs: Mapping,
    settings: Mapping,
    asked: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    tables = Study(study, cells, ratings)
    compared = sliced_by(specs, settings["idiosyncrasy"], tables)
    fitted = estimable_specs(specs, settings["identifiability"], tables)
    slices = [each for spec in compared for each in idiosyncrasies(spec, tables)]
    identified = [row for spec in fitted for row in identifiability(spec, tables)]
    for name, columns, rows in (
        ("idiosyncrasy", IDIOSYNCRASY, idiosyncrasy_rows),
        ("pooled", POOLED, pooled_rows),
        ("residuals", RESIDUALS, residual_rows),
    ):
        write_table(outputs[name], columns, rows(slices, confidence=confidence), study=study)
    write_table(outputs["identifiability"], IDENTIFIABILITY, identified, study=study)
    write_table(outputs["wordings"], WORDINGS, wording_rows(study=tables, **asked), study=study)


if __name__ == "__main__":
    run(estimands, snakemake)
