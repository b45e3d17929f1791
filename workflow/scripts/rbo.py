"""Draw the rank-biased overlap of each judge's rankings with the annotators'."""

from recuse.base.log import logged
from recuse.plot.rank_overlap import rank_overlap_bars as draw
from recuse.plot.style import Subject, read, save


def rbo(*, rbo: str, valid_rates: str, subject: Subject, outputs: list[str]) -> None:
    save(
        draw(read(rbo), read(valid_rates), subject),
        outputs,
        title=f"Rank-biased overlap of each judge with the annotators: {subject.label}",
    )


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        rbo(
            rbo=snakemake.input.rbo,
            valid_rates=snakemake.input.valid_rates,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
