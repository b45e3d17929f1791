"""Tabulate what judges and people choose in a set of comparisons, the verdict on each judge, and what the data support."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import CHECK, CHOICES, LABEL_NOISE, VERDICTS, read_table, write_table
from recuse.check.page import page_of
from recuse.check.pairs import check_comparisons
from recuse.pairwise.choices import choices, choices_of, label_noise
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verdicts import verdicts


def tabulate(
    *,
    study: str,
    comparisons: str,
    regression: Sequence[str],
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    power: float,
    outputs: Mapping[str, str],
) -> None:
    pairs = open_pairs(comparisons, {})
    of = choices_of(pairs, families)
    rows = list(choices(of, confidence=confidence, seed=seed))
    regressed = [row for path in regression for row in read_table(path)]
    judged = list(verdicts(rows, regressed, of.judges, order=list(families), confidence=confidence, power=power))
    write_table(outputs["choices"], CHOICES, rows, study=study)
    write_table(outputs["label_noise"], LABEL_NOISE, label_noise(of, confidence=confidence, seed=seed), study=study)
    write_table(outputs["verdicts"], VERDICTS, judged, study=study)
    findings = check_comparisons(pairs, of, rows, judged, power=power)
    write_table(outputs["check"], CHECK, (finding.row for finding in findings), study=study)
    print(page_of(study, findings, of_ratings=False), end="")  # into the log


if __name__ == "__main__":
    run(tabulate, snakemake)
