"""Draw which conclusions of the first view stand in the others."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.base.tables import read_table
from recuse.inference.robustness import Robustness, RobustnessCheck, without_human_scores
from recuse.plot.robustness import conclusions
from recuse.plot.style import Subject, read, save


def conclusions_figure(
    *, table: str, not_estimable: str, views: Mapping, specs: Mapping, confidence: float, power: float, subject: Subject,
    outputs: list[str],
) -> None:  # fmt: skip
    rows, asked = read(table), Robustness(RobustnessCheck.from_config(views), specs, confidence, power)
    if without_human_scores(read_table(not_estimable)):
        asked = asked.without_human_scores(rows.groupby("view")["spec"].unique().to_dict())
    figure = conclusions(rows, subject, asked)
    save(figure, outputs, title=f"Which conclusions stand in other views: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        conclusions_figure(
            table=snakemake.input.conclusions,
            not_estimable=snakemake.input.not_estimable,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
            **{key: snakemake.params[key] for key in ("views", "specs", "confidence", "power")},
        )
