"""Tabulate the cognitive biases of each judge of a study of comparisons."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import COGNITIVE_BIASES, write_table
from recuse.pairwise.cognitive import cognitive_biases, judges_without_answers


def tabulate(*, study: str, comparisons: str, confidence: float, seed: int, outputs: Mapping[str, str]) -> None:
    without_answers: dict[str, list[str]] = {}
    for experiment, judge in judges_without_answers(comparisons):
        without_answers.setdefault(experiment, []).append(judge)
    for experiment, judges in without_answers.items():
        among = f" of experiment '{experiment}'" if experiment else ""
        print(f"egocentric bias: these judges are not among the models{among}: {', '.join(judges)}")
    biases = cognitive_biases(comparisons, confidence=confidence, seed=seed)
    write_table(outputs["cognitive_biases"], COGNITIVE_BIASES, biases, study=study)


if __name__ == "__main__":
    run(tabulate, snakemake)
