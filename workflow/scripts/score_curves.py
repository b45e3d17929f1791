"""Draw the score of the first answer by its relative length, a panel for each judge and for the humans."""

from recuse.base.log import logged
from recuse.plot.length_curves import score_curves as draw_score_curves
from recuse.plot.style import Subject, read, save


def score_curves(*, score_curves: str, subject: Subject, outputs: list[str]) -> None:
    figure = draw_score_curves(read(score_curves), subject)
    save(figure, outputs, title=f"Score of an answer by its relative length, for each judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        score_curves(
            score_curves=snakemake.input.score_curves,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
