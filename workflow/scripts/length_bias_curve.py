"""Draw the preference for the longer answer by how much longer it is."""

from recuse.base.log import logged
from recuse.plot.length_bias import length_bias_curve as draw_length_bias_curve
from recuse.plot.style import Subject, read, save


def length_bias_curve(*, length_curve: str, subject: Subject, confidence: float, outputs: list[str]) -> None:
    figure = draw_length_bias_curve(read(length_curve), subject, confidence=confidence)
    save(figure, outputs, title=f"Preference for the longer answer by difference of length: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        length_bias_curve(
            length_curve=snakemake.input.length_curve,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
