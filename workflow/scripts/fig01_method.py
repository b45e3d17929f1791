"""Draw Figure 1: the method on three simulated worlds."""

from recuse.base.log import logged
from recuse.plot.method import method
from recuse.plot.style import Subject, save
from recuse.simulate.method import simulate_worlds


def fig01_method(*, seed: int, subject: Subject, outputs: list[str]) -> None:
    figure = method(simulate_worlds(seed=seed), subject)
    save(figure, outputs, title=f"The method on three simulated worlds, whatever the study: {subject.label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig01_method(
            seed=snakemake.params.seed,
            subject=Subject.from_config(**snakemake.params.subject),
            outputs=list(snakemake.output),
        )
