"""Draw Figure 2: mean score of each model's completions by each judge and by the humans."""

from judgebias.heatmaps import mean_scores as draw_mean_scores
from judgebias.logs import logged
from judgebias.palette import Palette
from judgebias.style import Subject, read, save


def fig02_mean_scores(*, mean_scores: str, models: dict, families: dict, label: str, kind: str, outputs: list[str]) -> None:
    subject = Subject(label, kind, Palette(models, families))
    figure = draw_mean_scores(read(mean_scores), subject)
    save(figure, outputs, title=f"Mean score of each model's completions by judge: {label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig02_mean_scores(
            mean_scores=snakemake.input.mean_scores,
            models=snakemake.params.models,
            families=snakemake.params.families,
            label=snakemake.params.label,
            kind=snakemake.params.kind,
            outputs=list(snakemake.output),
        )
