"""Tabulate the analyses of a set of comparisons, the verdict on each judge, and what the data
support.
"""

from collections.abc import Mapping, Sequence

from recuse.base.database import connect, files
from recuse.base.tables import read_table, write_table, write_tables
from recuse.base.words import counted
from recuse.check.facts import CHECK, Finding
from recuse.check.page import check_page
from recuse.check.pairs import check_comparisons
from recuse.inference.gold import CASES_OF_PAIRS, GOLD
from recuse.inference.gold import gold as gold_rows
from recuse.inference.verdict import VERDICTS
from recuse.pairwise.choices import CHOICES, LABEL_NOISE, choices, count_choices, label_noise
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


def verbosity_tables(
    *,
    study: str,
    comparisons: str,
    pools: Mapping[str, list[str]],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate verbosity bias, position bias and agreement with people; pools: of questions."""
    pairs, sampling = open_pairs(comparisons, pools), {"confidence": confidence, "seed": seed}
    written = {
        "verbosity": (VERBOSITY, verbosity(pairs, **sampling)),
        "position": (POSITION, position(pairs, **sampling)),
        "agreement": (PAIRWISE_AGREEMENT, human_agreement(pairs, **sampling)),
        "score_curves": (SCORE_CURVES, score_curves(pairs)),
        "alignment_curves": (ALIGNMENT_CURVES, alignment_curves(pairs, confidence=confidence)),
    }
    write_tables(outputs, written, study=study)


def regression_tables(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    seed: int,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate the regression of the verdicts, and the strengths of the models."""
    compared = read_compared(comparisons, families)
    fitted = Regression(compared)
    written = {
        "regression": (REGRESSION, rows_over_wordings(fitted, confidence=confidence)),
        "strengths": (STRENGTHS, strength_rows(fitted, confidence=confidence, seed=seed)),
    }
    write_tables(outputs, written, study=study)
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
) -> list[Finding]:
    """Tabulate the choices, how noisy their labels are if that is asked for, the verdicts and what
    the data support, which is returned.

    regression: the path of its table, or none.
    """
    sampling = {"confidence": confidence, "seed": seed}
    pairs = open_pairs(comparisons, {})
    chosen = count_choices(pairs, families)
    rows = list(choices(chosen, **sampling))
    regressed = [row for path in regression for row in read_table(path)]
    settings = {"order": list(families), "confidence": confidence, "power": power}
    settings["of_one_model"] = chosen.of_one_model
    concluded = list(verdicts(rows, regressed, chosen.judges, **settings))
    found = check_comparisons(pairs, chosen, rows, concluded, families=families, power=power)
    written = {
        "choices": (CHOICES, rows),
        "verdicts": (VERDICTS, concluded),
        "check": (CHECK, (finding.row for finding in found)),
    }
    if "label_noise" in outputs:
        written["label_noise"] = LABEL_NOISE, label_noise(chosen, **sampling)
    write_tables(outputs, written, study=study)
    print(check_page(study, found, of_ratings=False), end="")  # into the log
    return found


def gold_table(
    *,
    study: str,
    comparisons: str,
    families: Mapping[str, str],
    confidence: float,
    power: float,
    gold: str,
) -> None:
    """Tabulate how judges decide between right and wrong answers of their own."""
    connection = connect()
    judges = create_marks_of_pairs(connection, files([comparisons]))
    settings = {"cases": CASES_OF_PAIRS, "confidence": confidence, "power": power}
    rows = gold_rows(connection, families=families, judges=judges, **settings)
    write_table(gold, GOLD, rows, study=study)
