"""Draw each judge's agreement with the humans by the relative length of the answer they chose, with counts."""

from recuse.base.log import logged
from recuse.plot.length_curves import alignment_curves as draw_alignment_curves
from recuse.plot.style import Subject, read, save


def alignment_curves(*, alignment_curves: str, subject: Subject, confidence: float, outputs: list[str]) -> None:
    figure = draw_alignment_curves(read(alignment_curves), subject, confidence=confidence)
    save(figure, outputs, title=f"Agreement of each judge with the humans by relative length: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        alignment_curves(
            alignment_curves=snakemake.input.alignment_curves,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
