"""Draw Figure 6: mean score of each model's completions by each judge and by the humans, by dimension."""

from recuse.base.log import logged
from recuse.plot.heatmaps import mean_scores_by_dimension
from recuse.plot.style import Subject, read, save


def fig06_mean_scores_by_dimension(*, mean_scores: str, subject: Subject, outputs: list[str]) -> None:
    figure = mean_scores_by_dimension(read(mean_scores), subject)
    save(figure, outputs, title=f"Mean score of each model's completions by judge and dimension: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig06_mean_scores_by_dimension(
            mean_scores=snakemake.input.mean_scores,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
