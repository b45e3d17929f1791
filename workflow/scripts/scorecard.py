"""Draw the scorecard: published values against this study's, and their deviations by figure."""

from judgebias.logs import logged
from judgebias.palette import Palette
from judgebias.scorecard_figure import scorecard as scorecard_of
from judgebias.style import Subject, read, save


def draw_scorecard(*, scorecard: str, models: dict, families: dict, label: str, kind: str, outputs: list[str]) -> None:
    figure = scorecard_of(read(scorecard), Subject(label, kind, Palette(models, families)))
    save(figure, outputs, title=f"Published values against this study's: {label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        draw_scorecard(
            scorecard=snakemake.input.scorecard,
            models=snakemake.params.models,
            families=snakemake.params.families,
            label=snakemake.params.label,
            kind=snakemake.params.kind,
            outputs=list(snakemake.output),
        )
