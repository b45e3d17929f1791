"""What inputs support: the findings of `recuse check`, and the tables of verdicts that they are
read from.

Every step is the workflow's, without Snakemake. Slow imports, numpy above all, are in the
functions.
"""

from typing import TYPE_CHECKING, NamedTuple

from recuse.base.database import Connection
from recuse.base.errors import DataError
from recuse.inputs import RATERS, Inputs, tables_of

if TYPE_CHECKING:
    from recuse.check.facts import Finding
    from recuse.data.study import StudyTables
    from recuse.inference.reliability import Reliability
    from recuse.pairwise.choices import Choices


def findings_of(inputs: Inputs, folder: str) -> "list[Finding]":
    """What the inputs, once imported, support, with temporary tables in `folder`.

    Raises what the steps of the workflow raise about the files.
    """
    from recuse.check.names import unknown_names, what_to_write

    if not inputs.study.has_ratings():
        return findings_on_pairs(inputs, pairs_of(inputs, folder))
    try:
        study = tables_of(inputs, folder)
    except DataError as error:  # about one unknown name: say what to write for all of them
        names = unknown_names(inputs.source())
        if not names:
            raise
        raise DataError(str(error), *what_to_write(names, inputs.study.config["models"])) from error
    return findings_on(inputs, study, folder)


def findings_on(inputs: Inputs, study: "StudyTables", folder: str) -> "list[Finding]":
    """What the ratings of a study support, by its tables in `folder`."""
    from recuse.check.check import check_study
    from recuse.check.facts import facts_of

    of, config = inputs.study, inputs.study.config
    of_config = {"imports": of.import_settings(), "named": of.setting("families")}
    facts = facts_of(study, f"{folder}/completeness.csv", **of_config)
    return check_study(
        facts,
        reliability_in(inputs, study, folder),
        **of.power_settings(),
        confidence=config["confidence"],
    )


def reliability_in(inputs: Inputs, study: "StudyTables", folder: str) -> "dict[str, Reliability]":
    """The reliability of the human scores by dimension, where single raters or published numbers
    tell it.
    """
    from recuse.base.places import PROJECT
    from recuse.data.raters import check_raters
    from recuse.inference.reliability import reliability_of

    settings = inputs.study.settings
    raw = f"{folder}/{RATERS}" if inputs.study.imports_raters() else settings.get("raters")
    raters = [f"{folder}/raters.parquet"] if raw is not None else []
    if raters:
        source = inputs.source()
        check_raters(
            raw, source.registry, ratings=study.ratings, output=raters[0], declared=source.declared
        )
    alphas = [str(PROJECT / "workflow" / "data" / "twin_facts.csv")] if "source" in settings else []
    return reliability_of(
        study, raters=raters, alphas=alphas, of_alpha=inputs.study.config["inference"]["raters"]
    )


def pairs_of(inputs: Inputs, folder: str) -> str:
    """Check the files of verdicts and write comparisons.parquet and completeness.csv into `folder`;
    returns the first.
    """
    from recuse.pairwise.table import normalise

    study, comparisons = inputs.study, f"{folder}/comparisons.parquet"
    normalise(
        study.name,
        [file.path for file in inputs.files],
        both_orders=study.setting("both_orders"),
        declared={} if study.import_settings() else study.setting("verify"),
        models=study.models(),
        comparisons=comparisons,
        completeness=f"{folder}/completeness.csv",
    )
    return comparisons


class PairTables(NamedTuple):
    """What judges and humans choose in comparisons, and rows of the tables of that and of
    verdicts.
    """

    pairs: Connection
    of: "Choices"
    choices: list[dict]
    verdicts: list[dict]


def tables_of_pairs(inputs: Inputs, comparisons: str) -> PairTables:
    """Tabulate the canonical comparisons (parquet)."""
    from recuse.pairwise.choices import choices, choices_of
    from recuse.pairwise.questions import open_pairs
    from recuse.pairwise.regression import Regression, read_compared
    from recuse.pairwise.verdicts import verdicts
    from recuse.pairwise.wordings import rows_over_wordings

    config, families = inputs.study.config, inputs.study.families()
    pairs = open_pairs(comparisons, {})
    level, of = config["confidence"], choices_of(pairs, families)
    rows = list(choices(of, confidence=level, seed=config["seed"]))
    regression = []
    if "regression" in inputs.study.analyses():
        regression = list(
            rows_over_wordings(Regression(read_compared(comparisons, families)), confidence=level)
        )
    settings = {
        "order": list(families),
        "confidence": level,
        "power": config["inference"]["power"]["power"],
    }
    return PairTables(pairs, of, rows, list(verdicts(rows, regression, of.judges, **settings)))


def findings_on_pairs(inputs: Inputs, comparisons: str) -> "list[Finding]":
    """What the canonical comparisons (parquet) support."""
    from recuse.check.pairs import check_comparisons

    power = inputs.study.config["inference"]["power"]["power"]
    return check_comparisons(*tables_of_pairs(inputs, comparisons), power=power)
