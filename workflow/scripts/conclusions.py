"""Tabulate which conclusions of the first check hold in the others, and the verdict on each judge and family."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import CONCLUSIONS, VERDICTS, read_table, write_table
from recuse.data.describe import judges_astray
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions
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


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)]


if __name__ == "__main__":
    run(conclude, snakemake)
