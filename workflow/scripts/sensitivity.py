"""Tabulate what errors of the human scores, omitted variables and missing ratings would make of the estimates."""

from collections.abc import Mapping

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import BREAKDOWNS, MISSINGNESS, NOISY_REFERENCE, RELIABILITY, SENSITIVITY, write_table
from recuse.data.study import Study
from recuse.inference.bounds import bounds_rows
from recuse.inference.measurement_error import measurement_error_tables
from recuse.inference.reliability import reliability_of
from recuse.inference.sensitivity import sensitivity_rows
from recuse.model.terms import applicable

OF_REFERENCE = {"noisy_reference": NOISY_REFERENCE, "reliability_curve": NOISY_REFERENCE, "breakdowns": BREAKDOWNS}


def tabulate(*, study: Study, origin: Mapping, specs: Mapping, settings: Mapping, confidence: float, outputs: Mapping) -> None:
    keys, instead = ("noisy_reference", "sensitivity", "missingness"), settings["without_human_scores"]
    specs = {key: applicable(specs, settings[key], study, instead=instead) for key in keys}
    reliability = reliability_of(study, **origin)
    known = ({"study": study.name, "dimension": name, **vars(each)} for name, each in reliability.items())
    write_table(outputs["reliability"], RELIABILITY, known)
    tables = measurement_error_tables(specs["noisy_reference"], study, reliability, origin["raters"], confidence=confidence)
    for name, columns in OF_REFERENCE.items():
        write_table(outputs[name], columns, tables[name])
    for name, columns, rows_of in (
        ("sensitivity", SENSITIVITY, sensitivity_rows),
        ("missingness", MISSINGNESS, bounds_rows),
    ):
        rows = (row for spec in specs[name] for row in rows_of(spec, study, confidence=confidence))
        write_table(outputs[name], columns, rows)


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    given, outputs = dict(snakemake.params.items()), dict(snakemake.output.items())
    origin = {key: list(snakemake.input[key]) for key in ("raters", "alphas")} | {"of_alpha": given["settings"]["raters"]}
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        study = Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings)
        tabulate(study=study, origin=origin, outputs=outputs, **given)
