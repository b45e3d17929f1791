"""Tabulate which conclusions of the first check hold in the others, and write the page on them."""

from collections.abc import Mapping, Sequence

from recuse.base.outputs import write_text
from recuse.base.runner import run
from recuse.base.tables import CONCLUSIONS, read_table, write_table
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions, specs_with_rows, without_human_scores
from recuse.report.robustness import page


def conclude(
    *,
    study: str,
    inputs: Mapping[str, str | Sequence[str]],
    checks: Mapping,
    specs: Mapping,
    confidence: float,
    power: float,
    instead: Mapping,
    order: Mapping,
    label: str,
    kind: str,
    outputs: Mapping[str, str],
) -> None:
    checks, reasons = RobustnessCheck.from_config(checks), read_table(inputs["not_estimable"])
    asked = Robustness(checks, specs, confidence, power)
    tables = Tables({check.table: _rows(inputs[check.table]) for check in checks}, reasons)
    if without_human_scores(reasons):
        asked = asked.without_human_scores(specs_with_rows(asked.checks, tables, instead))
    rows = list(conclusions(asked, tables, _rows(inputs["scorecard"]), order=order))
    write_table(outputs["conclusions"], CONCLUSIONS, rows, study=study)
    html = page(rows, asked, label=label, kind=kind, template=inputs["template"])
    write_text(outputs["page"], html)


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)]


if __name__ == "__main__":
    run(conclude, snakemake)
