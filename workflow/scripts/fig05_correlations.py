"""Draw Figure 5: correlation of each judge with the humans, by dimension, with intervals."""

from recuse.base.log import logged
from recuse.plot.correlations import correlations as draw_correlations
from recuse.plot.style import Subject, interval_text, read, save


def fig05_correlations(
    *,
    correlations: str,
    subject: Subject,
    confidence: float,
    outputs: list[str],
) -> None:
    interval = interval_text(confidence, "jackknife")  # the one standard error that the table holds
    figure = draw_correlations(read(correlations), subject, interval=interval)
    save(figure, outputs, title=f"Correlation of each judge with the humans by dimension: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig05_correlations(
            correlations=snakemake.input.correlations,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
