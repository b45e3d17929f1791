"""Remove the estimated biases from the ratings, rank the models, and tabulate PPI and power."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import JUDGMENTS, LEADERBOARD, POWER, PPI, read_table, write_table
from recuse.data.study import Study
from recuse.inference.leaderboard import REGRESSION, judgment_rows, leaderboards, removed_biases, write_debiased
from recuse.inference.power import power_rows
from recuse.inference.ppi import ppi_rows, prompt_scores
from recuse.model.estimable import estimable_specs
from recuse.model.spec import Spec


def rank(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    estimates: Sequence[str],
    idiosyncrasy: str,
    reliability: str,
    specs: Mapping,
    settings: Mapping,
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    tables, main = Study(study, cells, ratings), Spec.of("main", **specs["main"])
    level, instead = {"confidence": confidence, "seed": seed}, settings["without_human_scores"]
    boards = estimable_specs(specs, settings["leaderboard"], tables, instead=instead)
    fitted = [row for path in estimates for row in read_table(path)]
    biases = fitted if settings["debias"] == REGRESSION else read_table(idiosyncrasy)
    chosen = {"debias": settings["debias"], "instead": instead}
    ranks = []
    for spec in boards:
        removed = removed_biases(spec, biases, **chosen)
        ranks += leaderboards(spec, tables, removed, replicates=settings["replicates"], **level)
    write_table(outputs["leaderboard"], LEADERBOARD, ranks, study=study)
    of_main = next(iter(estimable_specs(specs, ["main"], tables, instead=instead)), main)
    removed = removed_biases(of_main, biases, **chosen)
    write_debiased(of_main, tables, removed, outputs["debiased"])
    write_table(outputs["judgments"], JUDGMENTS, judgment_rows(of_main, tables, fitted, removed), study=study)
    labels = ppi_rows(prompt_scores(main, tables), **settings["ppi"], **level) if tables.has_human_scores else ()
    write_table(outputs["ppi"], PPI, labels, study=study)
    plans = power_rows(main, tables, read_table(reliability), **settings["power"], confidence=confidence)
    write_table(outputs["power"], POWER, plans, study=study)


if __name__ == "__main__":
    run(rank, snakemake)
