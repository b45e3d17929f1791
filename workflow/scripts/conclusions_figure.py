"""Draw which conclusions of the first view stand in the others."""

from collections.abc import Mapping

from judgebias.drawing.conclusions import conclusions
from judgebias.drawing.style import Subject, read, save
from judgebias.inference.views import Asked, View
from judgebias.logs import logged


def conclusions_figure(
    *, table: str, views: Mapping, specs: Mapping, confidence: float, power: float, subject: Subject, outputs: list[str]
) -> None:
    figure = conclusions(read(table), subject, Asked(View.from_config(views), specs, confidence, power))
    save(figure, outputs, title=f"Which conclusions stand in other views: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        conclusions_figure(
            table=snakemake.input.conclusions,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
            **{key: snakemake.params[key] for key in ("views", "specs", "confidence", "power")},
        )
