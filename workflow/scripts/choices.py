"""Tabulate what judges and humans choose in a set of comparisons, the verdict on each judge, and what the data support."""

from collections.abc import Mapping

from recuse.base.runner import run
from recuse.base.tables import CHECK, CHOICES, LABEL_NOISE, VERDICTS, write_table
from recuse.check.check import page_of
from recuse.check.pairs import check_comparisons
from recuse.pairwise.choices import choices, choices_of, label_noise, verdicts
from recuse.pairwise.questions import open_pairs


def tabulate(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    power: float,
    outputs: Mapping[str, str],
) -> None:
    pairs = open_pairs(comparisons, {})
    of = choices_of(pairs, families)
    rows = list(choices(of, confidence=confidence, seed=seed))
    told = list(verdicts(rows, of.judges, order=list(families), confidence=confidence, power=power))
    write_table(outputs["choices"], CHOICES, rows, study=study)
    write_table(outputs["label_noise"], LABEL_NOISE, label_noise(of, confidence=confidence, seed=seed), study=study)
    write_table(outputs["verdicts"], VERDICTS, told, study=study)
    findings = check_comparisons(pairs, of, rows, told, power=power)
    write_table(outputs["check"], CHECK, (finding.row for finding in findings), study=study)
    print(page_of(study, findings, of_ratings=False), end="")  # into the log


if __name__ == "__main__":
    run(tabulate, snakemake)
