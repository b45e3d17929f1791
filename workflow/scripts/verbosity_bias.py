"""Draw the verbosity bias of each judge, by condition, beside the values that Saito et al. print of other data."""

from recuse.base.log import logged
from recuse.base.tables import read_table
from recuse.plot.style import Subject, read, save
from recuse.plot.verbosity import verbosity_bias as draw_verbosity_bias


def verbosity_bias(
    *, verbosity: str, subject: Subject, confidence: float, outputs: list[str], published: str | None = None
) -> None:
    rows = read_table(published) if published else []
    printed = [{**row, "value": float(row["value"])} for row in rows if row["quantity"] == "verbosity_bias"]
    figure = draw_verbosity_bias(read(verbosity), subject, confidence=confidence, published=printed)
    save(figure, outputs, title=f"Verbosity bias of each judge: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        verbosity_bias(
            verbosity=snakemake.input.verbosity,
            subject=Subject.from_config(**snakemake.params.subject),
            confidence=snakemake.params.confidence,
            published=next(iter(snakemake.input.published), None),
            outputs=list(snakemake.output),
        )
