"""Draw how much longer each perturbation makes the answers."""

from recuse.base.log import logged
from recuse.plot.length_bias import length_confound as draw_length_confound
from recuse.plot.style import Subject, read, save


def length_confound(*, length_confound: str, subject: Subject, confidence: float, outputs: list[str]) -> None:
    figure = draw_length_confound(read(length_confound), subject, confidence=confidence)
    save(figure, outputs, title=f"Change of the answers' length by perturbation and Bloom level: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        length_confound(
            length_confound=snakemake.input.length_confound,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            outputs=list(snakemake.output),
        )
