"""Draw Figure 5: correlation of each judge with the humans, by dimension, with intervals."""

from judgebias.correlation_panels import correlations as draw_correlations
from judgebias.logs import logged
from judgebias.palette import Palette
from judgebias.style import Subject, interval_text, read, save


def fig05_correlations(
    *,
    correlations: str,
    models: dict,
    families: dict,
    label: str,
    kind: str,
    confidence: float,
    outputs: list[str],
) -> None:
    subject = Subject(label, kind, Palette(models, families))
    interval = interval_text(confidence, "jackknife")  # the one standard error that the table holds
    figure = draw_correlations(read(correlations), subject, interval=interval)
    save(figure, outputs, title=f"Correlation of each judge with the humans by dimension: {label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig05_correlations(
            correlations=snakemake.input.correlations,
            models=snakemake.params.models,
            families=snakemake.params.families,
            label=snakemake.params.label,
            kind=snakemake.params.kind,
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
