"""Draw the curves of the additive model: each judge's expected rating by human score, with intervals."""

from recuse.base.log import logged
from recuse.plot.smooths import smooths as draw_smooths
from recuse.plot.style import Subject, interval_text, read, save


def gam_smooths(
    *,
    smooths: str,
    subject: Subject,
    confidence: float,
    covariance: str,
    outputs: list[str],
) -> None:
    interval = interval_text(confidence, covariance)
    figure = draw_smooths(read(smooths), subject, interval=interval)
    save(figure, outputs, title=f"Expected rating by human score, a curve for each judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        gam_smooths(
            smooths=snakemake.input.smooths,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            covariance=snakemake.params.covariance,
            outputs=list(snakemake.output),
        )
