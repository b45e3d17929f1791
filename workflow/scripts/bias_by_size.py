"""Draw the average share of biased comparisons by size of the judge."""

from recuse.base.log import logged
from recuse.plot.cognitive import bias_by_size as draw
from recuse.plot.style import Subject, read, save


def bias_by_size(*, cognitive_biases: str, subject: Subject, outputs: list[str]) -> None:
    save(
        draw(read(cognitive_biases), subject),
        outputs,
        title=f"Average share of biased comparisons by size of the judge: {subject.label}",
    )


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        bias_by_size(
            cognitive_biases=snakemake.input.cognitive_biases,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
