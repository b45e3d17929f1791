"""Tabulate which conclusions of the first check hold in the others, the verdicts on judges and families, and panels."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import CONCLUSIONS, PANEL, ROUND_ROBIN, VERDICTS, read_table, write_table
from recuse.data.describe import judges_astray
from recuse.data.study import Study
from recuse.inference.judge_levels import linked_judges
from recuse.inference.panel import panel_rows
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions
from recuse.inference.round_robin import round_robin_rows
from recuse.inference.verdict import rating_judges, verdicts_on_ratings


def conclude(
    *,
    study: str,
    inputs: Mapping[str, str | Sequence[str]],
    checks: Mapping,
    verdict: Mapping[str, str],
    specs: Mapping,
    confidence: float,
    power: float,
    instead: Mapping,
    order: Mapping,
    outputs: Mapping[str, str],
) -> None:
    checks, reasons = RobustnessCheck.from_config(checks), read_table(inputs["not_estimable"])
    read = {check.table: _rows(inputs[check.table]) for check in checks}
    tables = Tables(read, reasons, read_table(inputs["wordings"]))
    asked = Robustness(checks, specs, confidence, power).of_study(tables, reasons, instead=instead)
    rows = list(conclusions(asked, tables, order=order))
    write_table(outputs["conclusions"], CONCLUSIONS, rows, study=study)
    judges = rating_judges(read_table(inputs["completeness"]), order["self_bias"])
    verdicts = verdicts_on_ratings(
        rows,
        judges,
        judges_astray(read_table(inputs["correlations"])),
        checks=verdict,
        confidence=confidence,
    )
    write_table(outputs["verdicts"], VERDICTS, verdicts, study=study)


def panel(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    reliability: str,
    verdicts: str,
    settings: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    tables = Study(study, cells, ratings)
    reliabilities = {row["dimension"]: float(row["mean"]) for row in read_table(reliability)}
    judges = linked_judges(tables, dimensions=settings.get("dimensions", ()))
    rows = panel_rows(judges, tables, reliabilities, read_table(verdicts), least=settings["least"], confidence=confidence)
    write_table(outputs["panel"], PANEL, rows, study=study)
    write_table(outputs["round_robin"], ROUND_ROBIN, round_robin_rows(judges, tables, rows), study=study)


def tabulate(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    reliability: str,
    inputs: Mapping[str, str | Sequence[str]],
    settings: Mapping,
    panels: Mapping,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    conclude(study=study, inputs=inputs, **settings, confidence=confidence, outputs=outputs)
    tables = {"study": study, "cells": cells, "ratings": ratings, "reliability": reliability}
    panel(**tables, verdicts=outputs["verdicts"], settings=panels, confidence=confidence, outputs=outputs)


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)]


if __name__ == "__main__":
    run(tabulate, snakemake)
