"""Draw what stands beside the estimates: the leaderboard, curves over reliability, few labels, the planner."""

from collections.abc import Mapping

from recuse.base.log import logged
from recuse.plot.leaderboard import leaderboard
from recuse.plot.power import planner
from recuse.plot.ppi import few_labels
from recuse.plot.reliability import reliability
from recuse.plot.style import Subject, read, save

DRAWINGS = {"leaderboard": leaderboard, "reliability": reliability, "few_labels": few_labels, "planner": planner}


def inference_figure(
    *, drawing: str, tables: Mapping[str, str], subject: Subject, confidence: float, title: str, outputs: list[str]
) -> None:
    figure = DRAWINGS[drawing]({name: read(path) for name, path in tables.items()}, subject, confidence=confidence)
    save(figure, outputs, title=f"{title}: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        inference_figure(
            tables={name: path for name, path in snakemake.input.items() if name != "code"},
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
            **{key: snakemake.params[key] for key in ("drawing", "confidence", "title")},
        )
