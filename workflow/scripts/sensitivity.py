"""Tabulate what measurement error in the human scores and omitted variables could do to the estimates."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import BREAKDOWNS, MEASUREMENT_ERROR, RELIABILITY, SENSITIVITY, write_table
from recuse.data.study import Study
from recuse.inference.measurement_error import measurement_error_tables
from recuse.inference.reliability import reliability_of
from recuse.inference.sensitivity import sensitivity_rows
from recuse.model.estimable import estimable_specs


def tabulate(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    raters: Sequence[str],
    alphas: Sequence[str],
    specs: Mapping,
    settings: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    tables, instead = Study(study, cells, ratings), settings["without_human_scores"]
    noisy, varied = (
        estimable_specs(specs, settings[key], tables, instead=instead) for key in ("measurement_error", "sensitivity")
    )
    reliability = reliability_of(tables, raters=raters, alphas=alphas, of_alpha=settings["raters"])
    of_dimensions = ({"dimension": dimension, **vars(each)} for dimension, each in reliability.items())
    write_table(outputs["reliability"], RELIABILITY, of_dimensions, study=study)
    corrected = measurement_error_tables(noisy, tables, reliability, raters, confidence=confidence)
    write_table(outputs["measurement_error"], MEASUREMENT_ERROR, corrected["measurement_error"], study=study)
    write_table(outputs["reliability_curve"], MEASUREMENT_ERROR, corrected["reliability_curve"], study=study)
    write_table(outputs["breakdowns"], BREAKDOWNS, corrected["breakdowns"], study=study)
    omitted = (row for spec in varied for row in sensitivity_rows(spec, tables, confidence=confidence))
    write_table(outputs["sensitivity"], SENSITIVITY, omitted, study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
