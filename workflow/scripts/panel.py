"""Tabulate panels of judges, and what a round-robin plan costs."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import PANEL, ROUND_ROBIN, read_table, write_table
from recuse.data.study import Study
from recuse.inference.judge_levels import linked_judges
from recuse.inference.panel import panel_rows
from recuse.inference.round_robin import round_robin_rows


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


if __name__ == "__main__":
    run(panel, snakemake)
