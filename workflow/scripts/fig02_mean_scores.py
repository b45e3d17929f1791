"""Draw Figure 2: mean score of each model's completions by each judge and by the humans."""

from recuse.base.log import logged
from recuse.plot.heatmaps import mean_scores as draw_mean_scores
from recuse.plot.style import Subject, read, save


def fig02_mean_scores(*, mean_scores: str, subject: Subject, outputs: list[str]) -> None:
    figure = draw_mean_scores(read(mean_scores), subject)
    save(figure, outputs, title=f"Mean score of each model's completions by judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig02_mean_scores(
            mean_scores=snakemake.input.mean_scores,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
