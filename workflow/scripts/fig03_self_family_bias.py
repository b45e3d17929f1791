"""Draw Figure 3: self-bias by judge and family-bias by family, with intervals."""

from judgebias.intervals import self_family_bias
from judgebias.logs import logged
from judgebias.style import Subject, interval_text, read, save


def fig03_self_family_bias(
    *,
    estimates: str,
    subject: Subject,
    confidence: float,
    covariance: str,
    outputs: list[str],
) -> None:
    interval = interval_text(confidence, covariance)
    figure = self_family_bias(read(estimates), subject, interval=interval)
    save(figure, outputs, title=f"Self-bias by judge and family-bias by family: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig03_self_family_bias(
            estimates=snakemake.input.estimates,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            covariance=snakemake.params.covariance,
            outputs=list(snakemake.output),
        )
