"""Tabulate the analyses of a set of comparisons that a study declares, the verdict on each judge,
and what the data support.
"""

from collections.abc import Mapping, Sequence

from recuse.base.database import connect, files
from recuse.base.tables import read_table, write_table
from recuse.base.words import counted
from recuse.check.facts import CHECK
from recuse.check.page import page_of
from recuse.check.pairs import check_comparisons
from recuse.inference.gold import CASES_OF_PAIRS, GOLD
from recuse.inference.gold import gold as gold_rows
from recuse.inference.verdict import VERDICTS
from recuse.pairwise.choices import CHOICES, LABEL_NOISE, choices, choices_of, label_noise
from recuse.pairwise.cognitive import COGNITIVE_BIASES, cognitive_biases, judges_without_answers
from recuse.pairwise.gold import create_marks_of_pairs
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.regression import REGRESSION, Regression, read_compared
from recuse.pairwise.strengths import STRENGTHS, strength_rows
from recuse.pairwise.verbosity import (
    ALIGNMENT_CURVES,
    PAIRWISE_AGREEMENT,
    POSITION,
    SCORE_CURVES,
    VERBOSITY,
    alignment_curves,
    human_agreement,
    position,
    score_curves,
    verbosity,
)
from recuse.pairwise.verdicts import verdicts
from recuse.pairwise.wordings import rows_over_wordings
from recuse.papers.attacks import (
    ASR,
    LENGTH_CURVE,
    RANKS,
    VOTE_SHARES,
    VOTES_BY_POSITION,
    average_ranks,
    create_samples,
    create_votes,
    length_curve,
    success_rates,
    vote_shares,
    votes_by_position,
    worsening_among,
)
from recuse.workflow.runner import run


def verbosity_tables(
    *,
    study: str,
    comparisons: str,
    pools: Mapping[str, list[str]],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    pairs, sampling = open_pairs(comparisons, pools), {"confidence": confidence, "seed": seed}
    curves = alignment_curves(pairs, confidence=confidence)
    write_table(outputs["verbosity"], VERBOSITY, verbosity(pairs, **sampling), study=study)
    write_table(outputs["position"], POSITION, position(pairs, **sampling), study=study)
    write_table(
        outputs["agreement"], PAIRWISE_AGREEMENT, human_agreement(pairs, **sampling), study=study
    )
    write_table(outputs["score_curves"], SCORE_CURVES, score_curves(pairs), study=study)
    write_table(outputs["alignment_curves"], ALIGNMENT_CURVES, curves, study=study)


def regression_tables(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    compared = read_compared(comparisons, families)
    fitted = Regression(compared)
    rows = rows_over_wordings(fitted, confidence=confidence)
    write_table(outputs["regression"], REGRESSION, rows, study=study)
    write_table(
        outputs["strengths"],
        STRENGTHS,
        strength_rows(fitted, confidence=confidence, seed=seed),
        study=study,
    )
    errors, lengthless = (compared.left_out[name] for name in ("errors", "no_length"))
    print(
        f"left out: {counted(errors, 'error')}; {counted(lengthless, 'verdict')} without lengths"
        " count as of equal length"
    )


def choices_tables(
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
    judged = list(
        verdicts(
            rows, regressed, of.judges, order=list(families), confidence=confidence, power=power
        )
    )
    write_table(outputs["choices"], CHOICES, rows, study=study)
    write_table(
        outputs["label_noise"],
        LABEL_NOISE,
        label_noise(of, confidence=confidence, seed=seed),
        study=study,
    )
    write_table(outputs["verdicts"], VERDICTS, judged, study=study)
    findings = check_comparisons(pairs, of, rows, judged, power=power)
    write_table(outputs["check"], CHECK, (finding.row for finding in findings), study=study)
    print(page_of(study, findings, of_ratings=False), end="")  # into the log


def gold_table(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    power: float,
    gold: str,
) -> None:
    connection = connect()
    judges = create_marks_of_pairs(connection, files([comparisons]))
    settings = {"cases": CASES_OF_PAIRS, "confidence": confidence, "power": power}
    rows = gold_rows(connection, families=families, judges=judges, **settings)
    write_table(gold, GOLD, rows, study=study)


def cognitive_table(
    *, study: str, comparisons: str, confidence: float, seed: int, outputs: Mapping[str, str]
) -> None:
    without_answers: dict[str, list[str]] = {}
    for experiment, judge in judges_without_answers(comparisons):
        without_answers.setdefault(experiment, []).append(judge)
    for experiment, judges in without_answers.items():
        among = f" of experiment '{experiment}'" if experiment else ""
        print(f"egocentric bias: these judges are not among the models{among}: {', '.join(judges)}")
    biases = cognitive_biases(comparisons, confidence=confidence, seed=seed)
    write_table(outputs["cognitive_biases"], COGNITIVE_BIASES, biases, study=study)


def attack_tables(
    *,
    study: str,
    comparisons: str,
    worsening: Sequence[str],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    connection = connect()
    create_votes(connection, comparisons)
    create_samples(connection)
    rates = success_rates(connection, worsening=worsening, confidence=confidence)
    print(worsening_among(rates, worsening, study=study))
    sampling = {"confidence": confidence, "seed": seed}
    write_table(outputs["asr"], ASR, rates, study=study)
    write_table(outputs["ranks"], RANKS, average_ranks(rates), study=study)
    write_table(
        outputs["votes_by_position"],
        VOTES_BY_POSITION,
        votes_by_position(connection, **sampling),
        study=study,
    )
    write_table(
        outputs["length_curve"], LENGTH_CURVE, length_curve(connection, **sampling), study=study
    )
    write_table(outputs["vote_shares"], VOTE_SHARES, vote_shares(connection), study=study)


def tabulate(
    *,
    study: str,
    comparisons: str,
    analyses: Sequence[str],
    families: Mapping[str, str],
    pools: Mapping[str, list[str]],
    worsening: Sequence[str],
    confidence: float,
    seed: int,
    power: float,
    outputs: Mapping[str, str],
) -> None:
    tables = {
        "study": study,
        "comparisons": comparisons,
        "confidence": confidence,
        "outputs": outputs,
    }
    if "verbosity" in analyses:
        verbosity_tables(**tables, pools=pools, seed=seed)
    if "regression" in analyses:
        regression_tables(**tables, families=families, seed=seed)
    if "choices" in outputs:
        regression = [outputs["regression"]] if "regression" in outputs else []
        choices_tables(**tables, regression=regression, families=families, seed=seed, power=power)
    if "cognitive_biases" in analyses:
        cognitive_table(**tables, seed=seed)
    if "attacks" in analyses:
        attack_tables(**tables, worsening=worsening, seed=seed)
    if "gold" in analyses:
        path = outputs["gold"]
        gold_table(
            study=study,
            comparisons=comparisons,
            families=families,
            confidence=confidence,
            power=power,
            gold=path,
        )


if __name__ == "__main__":
    run(tabulate, snakemake)
