"""Estimate self- and family-bias against unrelated cells, and say which cells identify each coefficient of several specs."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import IDENTIFIABILITY, IDIOSYNCRASY, RESIDUALS, write_table
from recuse.data.study import Study
from recuse.inference.identifiability import identifiability, identifiability_of_idiosyncrasy
from recuse.inference.idiosyncrasy import idiosyncrasy_rows, residual_rows
from recuse.model.estimable import estimable_specs, sliced_by


def estimands(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    specs: Mapping,
    settings: Mapping,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    tables = Study(study, cells, ratings)
    compared = sliced_by(specs, settings["idiosyncrasy"], tables)
    fitted = estimable_specs(specs, settings["identifiability"], tables)
    drawn = {"confidence": confidence, "seed": seed, "draws": settings["assignments"]}
    idiosyncrasy = [row for spec in compared for row in idiosyncrasy_rows(spec, tables, **drawn)]
    preferences = [row for spec in compared for row in residual_rows(spec, tables, confidence=confidence)]
    identified = [row for spec in fitted for row in identifiability(spec, tables)]
    identified += [row for spec in compared for row in identifiability_of_idiosyncrasy(spec, tables)]
    write_table(outputs["idiosyncrasy"], IDIOSYNCRASY, idiosyncrasy, study=study)
    write_table(outputs["residuals"], RESIDUALS, preferences, study=study)
    write_table(outputs["identifiability"], IDENTIFIABILITY, identified, study=study)


if __name__ == "__main__":
    run(estimands, snakemake)
