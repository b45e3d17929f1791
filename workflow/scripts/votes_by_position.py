"""Draw the shares of votes for the answer shown first, for neither and for the one shown second."""

from recuse.base.log import logged
from recuse.plot.position import votes_by_position as draw_votes_by_position
from recuse.plot.style import Subject, read, save


def votes_by_position(*, votes_by_position: str, subject: Subject, confidence: float, outputs: list[str]) -> None:
    figure = draw_votes_by_position(read(votes_by_position), subject, confidence=confidence)
    save(figure, outputs, title=f"Votes by the place of the answers: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        votes_by_position(
            votes_by_position=snakemake.input.votes_by_position,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
