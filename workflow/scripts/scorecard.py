"""Draw the scorecard: published values against this study's, and their deviations by figure."""

from recuse.base.log import logged
from recuse.plot.scorecard import scorecard as scorecard_of
from recuse.plot.style import Subject, read, save


def draw_scorecard(*, scorecard: str, subject: Subject, outputs: list[str]) -> None:
    figure = scorecard_of(read(scorecard), subject)
    save(figure, outputs, title=f"Published values against this study's: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        draw_scorecard(
            scorecard=snakemake.input.scorecard,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
