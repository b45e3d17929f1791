"""Tabulate which conclusions of the first view stand in the others, and write the page that says it in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recuse.base.log import logged
from recuse.base.tables import CONCLUSIONS, read_table, write_table
from recuse.inference.robustness import Robustness, RobustnessCheck, Tables, conclusions, known_specs, without_human_scores
from recuse.report.robustness import page


def conclude(
    *, views: Mapping, specs: Mapping, tables: Mapping, not_estimable: str, scorecard: Sequence[str], study: str,
    order: Mapping, confidence: float, power: float, instead: Mapping, label: str, kind: str, template: str, outputs: Mapping,
) -> None:  # fmt: skip
    read = {name: [row for path in paths for row in read_table(path)] for name, paths in tables.items()}
    printed = [row for path in scorecard for row in read_table(path)]
    asked, reasons = Robustness(RobustnessCheck.from_config(views), specs, confidence, power), read_table(not_estimable)
    known = Tables(read, reasons)
    if without_human_scores(reasons):
        asked = asked.without_human_scores(known_specs(asked.checks, known, instead))
    rows = list(conclusions(asked, known, printed, study=study, order=order))
    write_table(outputs["conclusions"], CONCLUSIONS, rows)
    Path(outputs["page"]).write_text(page(rows, asked, label=label, kind=kind, template=template), encoding="utf-8")


if __name__ == "__main__":
    given, keys = snakemake.input, ("views", "specs", "confidence", "power", "instead", "label", "kind", "order")
    with logged(snakemake.log[0]):
        conclude(
            tables={name: list(given[name]) for name in snakemake.params.tables},
            not_estimable=given.not_estimable,
            scorecard=list(given.scorecard),
            study=snakemake.wildcards.study,
            template=given.template,
            outputs=dict(snakemake.output.items()),
            **{key: snakemake.params[key] for key in keys},
        )
