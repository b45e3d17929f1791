"""Draw Figure 1: the method on three simulated worlds."""

from judgebias.logs import logged
from judgebias.method import simulate_worlds
from judgebias.method_figure import method
from judgebias.palette import Palette
from judgebias.style import Subject, save


def fig01_method(*, seed: int, models: dict, families: dict, label: str, kind: str, outputs: list[str]) -> None:
    figure = method(simulate_worlds(seed=seed), Subject(label, kind, Palette(models, families)))
    save(figure, outputs, title=f"The method on three simulated worlds, none of them: {label}")


if __name__ == "__main__":
    with logged(snakemake.log[0]):
        fig01_method(
            seed=snakemake.params.seed,
            models=snakemake.params.models,
            families=snakemake.params.families,
            label=snakemake.params.label,
            kind=snakemake.params.kind,
            outputs=list(snakemake.output),
        )
