"""Draw the consistency of each judge over the two orders and its preference for the answer shown first."""

from recuse.base.log import logged
from recuse.plot.position import position as draw_position
from recuse.plot.style import Subject, read, save


def position(*, position: str, subject: Subject, confidence: float, outputs: list[str]) -> None:
    figure = draw_position(read(position), subject, confidence=confidence)
    save(figure, outputs, title=f"What the order of the answers does to each judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        position(
            position=snakemake.input.position,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
