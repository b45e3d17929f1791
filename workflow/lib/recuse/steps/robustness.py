"""Biases beyond ordinary preference and over wordings, the cells that identify them, and what could
have distorted them.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table, write_tables
from recuse.data.study import StudyTables
from recuse.inference.idiosyncrasy import (
    IDIOSYNCRASY,
    POOLED,
    RESIDUALS,
    idiosyncrasies,
    idiosyncrasy_rows,
    pooled_rows,
    residual_rows,
)
from recuse.inference.measurement_error import (
    BREAKDOWNS,
    MEASUREMENT_ERROR,
    measurement_error_tables,
)
from recuse.inference.reliability import RELIABILITY, Reliability, estimated_reliability
from recuse.inference.sensitivity import SENSITIVITY, sensitivity_rows
from recuse.inference.wordings import WORDINGS, wording_rows
from recuse.model.estimable import estimable_specs, sliced_by, study_for
from recuse.model.identifiability import IDENTIFIABILITY, identifiability


def estimands(
    *,
    tables: StudyTables,
    preference: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate biases beyond ordinary preference and over wordings, and what identifies them.

    preference: `Study.preference_settings`.
    """
    specs, settings = preference["specs"], preference["settings"]
    compared = sliced_by(specs, settings["idiosyncrasy"], tables)
    fitted = estimable_specs(specs, settings["identifiability"], tables)
    slices = []
    for spec in compared:
        slices += idiosyncrasies(spec, tables, slices)
    identified = [row for spec in fitted for row in identifiability(spec, study_for(spec, tables))]
    written = {
        "idiosyncrasy": (IDIOSYNCRASY, idiosyncrasy_rows(slices, confidence=confidence)),
        "pooled": (POOLED, pooled_rows(slices, confidence=confidence)),
        "residuals": (RESIDUALS, residual_rows(slices, confidence=confidence)),
        "identifiability": (IDENTIFIABILITY, identified),
        "wordings": (WORDINGS, wording_rows(study=tables, **preference["asked"])),
    }
    write_tables(outputs, written, study=tables.name)


def tabulate_reliability(
    *,
    tables: StudyTables,
    raters: Sequence[str],
    alphas: Sequence[str],
    of_alpha: int,
    reliability: str,
) -> dict[str, Reliability]:
    """Tabulate the reliability of the human scores, and return it by dimension."""
    found = estimated_reliability(tables.scored, raters=raters, alphas=alphas, of_alpha=of_alpha)
    rows = ({"dimension": dimension, **vars(each)} for dimension, each in found.items())
    write_table(reliability, RELIABILITY, rows, study=tables.name)
    return found


def sensitivity(
    *,
    tables: StudyTables,
    raters: Sequence[str],
    alphas: Sequence[str],
    distortion: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate the reliability of the human scores, and what errors in them and omitted variables
    would change.

    distortion: `Study.distortion_settings`.
    """
    specs, settings = distortion["specs"], distortion["settings"]
    reliabilities = tabulate_reliability(
        tables=tables,
        raters=raters,
        alphas=alphas,
        of_alpha=settings["raters"],
        reliability=outputs["reliability"],
    )
    study, instead = tables.scored, settings["without_human_scores"]
    noisy = estimable_specs(specs, settings["measurement_error"], study, instead=instead)
    varied = estimable_specs(specs, settings["sensitivity"], study, instead=instead)
    corrected = measurement_error_tables(noisy, study, reliabilities, raters, confidence=confidence)
    omitted = []
    for spec in varied:
        omitted += sensitivity_rows(spec, study, confidence=confidence)
    written = {
        "measurement_error": (MEASUREMENT_ERROR, corrected["measurement_error"]),
        "reliability_curve": (MEASUREMENT_ERROR, corrected["reliability_curve"]),
        "breakdowns": (BREAKDOWNS, corrected["breakdowns"]),
        "sensitivity": (SENSITIVITY, omitted),
    }
    write_tables(outputs, written, study=tables.name)
