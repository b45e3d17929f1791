"""Tabulate which conclusions of the first check hold in the others, and the verdict on each judge and family."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import CONCLUSIONS, VERDICTS, read_table, write_table
from recuse.data.describe import PEARSON
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions, specs_with_rows, without_human_scores
from recuse.inference.verdict import verdict_rows


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
    asked = Robustness(checks, specs, confidence, power)
    tables = Tables({check.table: _rows(inputs[check.table]) for check in checks}, reasons)
    if without_human_scores(reasons):
        asked = asked.without_human_scores(specs_with_rows(asked.checks, tables, instead))
    rows = list(conclusions(asked, tables, _rows(inputs["scorecard"]), order=order))
    write_table(outputs["conclusions"], CONCLUSIONS, rows, study=study)
    rating = {row["judge"] for row in read_table(inputs["completeness"])}
    judges = [*(judge for judge in order["self_bias"] if judge in rating), *sorted(rating - {*order["self_bias"]})]
    astray = [row["judge"] for row in read_table(inputs["correlations"]) if _does_not_follow(row)]
    verdicts = verdict_rows(rows, judges, astray, checks=verdict, confidence=confidence)
    write_table(outputs["verdicts"], VERDICTS, verdicts, study=study)


def _does_not_follow(row: Mapping[str, str]) -> bool:
    """Whether the correlation with the human scores, over all dimensions, is not clearly above 0."""
    return (row["dimension"], row["statistic"]) == ("", PEARSON) and not (row["ci_low"] and float(row["ci_low"]) > 0)


def _rows(paths: str | Sequence[str]) -> list[dict]:
    """The rows of a table, or of several in a list."""
    return [row for path in ([paths] if isinstance(paths, str) else paths) for row in read_table(path)]


if __name__ == "__main__":
    run(conclude, snakemake)
