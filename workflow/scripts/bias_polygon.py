"""Draw the biases of each judge as a polygon beside that of random choices."""

from recuse.base.log import logged
from recuse.plot.cognitive import bias_polygon as draw
from recuse.plot.style import Subject, read, save


def bias_polygon(*, cognitive_biases: str, subject: Subject, outputs: list[str]) -> None:
    save(draw(read(cognitive_biases), subject), outputs, title=f"Profile of cognitive biases by judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        bias_polygon(
            cognitive_biases=snakemake.input.cognitive_biases,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
