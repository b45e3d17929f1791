"""Draw the curves of the additive model: each judge's expected rating by human score, with intervals."""

from judgebias.logs import logged
from judgebias.palette import Palette
from judgebias.smooths import smooths as draw_smooths
from judgebias.style import Subject, interval_text, read, save


def gam_smooths(
    *,
    smooths: str,
    models: dict,
    families: dict,
    label: str,
    kind: str,
    confidence: float,
    covariance: str,
    outputs: list[str],
) -> None:
    subject = Subject(label, kind, Palette(models, families))
    interval = interval_text(confidence, covariance)
    figure = draw_smooths(read(smooths), subject, interval=interval)
    save(figure, outputs, title=f"Expected rating by human score, a curve for each judge: {label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        gam_smooths(
            smooths=snakemake.input.smooths,
            models=snakemake.params.models,
            families=snakemake.params.families,
            label=snakemake.params.label,
            kind=snakemake.params.kind,
            confidence=snakemake.params.confidence,
            covariance=snakemake.params.covariance,
            outputs=list(snakemake.output),
        )
