"""Take the estimated biases off the ratings, rank the models, and tabulate how few labels and how many prompts would do."""

from collections.abc import Mapping

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import FEW_LABELS, LEADERBOARD, PLANNER, read_table, write_table
from recuse.data.study import Study
from recuse.inference.leaderboard import leaderboards, write_debiased
from recuse.inference.power import power_rows
from recuse.inference.ppi import ppi_rows, prompt_scores
from recuse.model.spec import Spec
from recuse.model.terms import applicable


def leaderboard(*, study: Study, inputs: Mapping, specs: Mapping, settings: Mapping, outputs: Mapping, **level) -> None:
    main, drawn = Spec.of("main", **specs["main"]), {"replicates": settings["replicates"], **level}
    chosen = ["main"], settings["leaderboard"]
    taken_off, boards = (applicable(specs, names, study, instead=settings["without_human_scores"]) for names in chosen)
    write_table(outputs["leaderboard"], LEADERBOARD, (row for spec in boards for row in leaderboards(spec, study, **drawn)))
    estimates = (row for path in inputs["estimates"] for row in read_table(path))
    write_debiased([*taken_off, main][0], study, estimates, outputs["debiased"])
    labels = ppi_rows(prompt_scores(main, study), **settings["few_labels"], **level) if study.has_human_scores else ()
    write_table(outputs["few_labels"], FEW_LABELS, ({"study": study.name, **row} for row in labels))
    reliability = read_table(inputs["reliability"])
    plans = power_rows(main, study, reliability, **settings["planner"], confidence=level["confidence"])
    write_table(outputs["planner"], PLANNER, ({"study": study.name, **row} for row in plans))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        leaderboard(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            inputs=dict(snakemake.input.items()),
            outputs=dict(snakemake.output.items()),
            **dict(snakemake.params.items()),
        )
