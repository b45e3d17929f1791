"""Tabulate the cognitive biases of each judge of a study of comparisons, and their random thresholds."""

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import COGNITIVE_BIASES, RANDOM, write_table
from recuse.pairwise.cognitive import cognitive_biases, judges_without_answers, random_thresholds


def tabulate(*, study: str, comparisons: str, confidence: float, seed: int, biases: str, thresholds: str) -> None:
    strangers: dict[str, list[str]] = {}
    for experiment, judge in judges_without_answers(comparisons):
        strangers.setdefault(experiment, []).append(judge)
    for experiment, judges in strangers.items():
        among = f" of experiment '{experiment}'" if experiment else ""
        print(f"egocentric bias: these judges are no models{among} here: {', '.join(judges)}")
    found = cognitive_biases(comparisons, confidence=confidence, seed=seed)
    write_table(biases, COGNITIVE_BIASES, ({"study": study, **row} for row in found))
    write_table(thresholds, RANDOM, ({"study": study, **row} for row in random_thresholds(seed=seed)))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        tabulate(
            study=snakemake.wildcards.study,
            comparisons=snakemake.input.comparisons,
            confidence=snakemake.params.confidence,
            seed=snakemake.params.seed,
            biases=snakemake.output.cognitive_biases,
            thresholds=snakemake.output.random_thresholds,
        )
