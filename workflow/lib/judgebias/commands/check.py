"""Say what files of ratings support before any fit: which biases they can tell, how small, and what is amiss."""

from argparse import ArgumentParser, Namespace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from judgebias.commands.importing import RATERS, tells_single_raters
from judgebias.commands.output import check_output, write_output, write_page
from judgebias.commands.reading import Given, add_files, given_by, tables_of, with_import
from judgebias.configuration import PROJECT, load
from judgebias.database import bounded_memory
from judgebias.errors import DataError, DesignError

# What takes long to import is imported in the functions: the other commands import this module, too.
if TYPE_CHECKING:
    from judgebias.doctor.findings import Finding
    from judgebias.inference.reliability import Reliability
    from judgebias.ratings.study import Study

FACTS = PROJECT / "workflow" / "data" / "twin_facts.csv"  # the published agreement of the humans, where no single ratings are


def add_check(commands) -> None:
    """Add the command to the subparsers of a parser."""
    parser: ArgumentParser = commands.add_parser("check", help="say what files of ratings support", description=__doc__)
    add_files(parser)
    parser.add_argument("--output", help="CSV file to write the findings to, one in each row")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write what the files support to the standard output, and as a table to `--output`.

    Raises what the steps of the workflow raise about the files; DesignError, after all is written, where they support no bias.
    """
    check_output(arguments.output)
    given = given_by(arguments, load(arguments.config))
    with TemporaryDirectory() as folder, bounded_memory(given.config["memory_limit"], f"{folder}/spill"):
        findings = _findings(given, folder)

    from judgebias.doctor.findings import STOP
    from judgebias.doctor.page import page_of
    from judgebias.tables import CHECK

    if arguments.output is not None:
        write_output(arguments.output, CHECK, ({"study": given.study, **found.row} for found in findings))
    write_page(page_of(given.study, findings))
    for found in findings:
        if found.level == STOP:
            raise DesignError(f"{', '.join(file.path for file in given.files)}: {found.words}; {found.advice}")


def _findings(given: Given, folder: str) -> "list[Finding]":
    from judgebias.doctor.check import check_study
    from judgebias.doctor.facts import facts_of

    given = with_import(given, folder)
    study = _tables(given, folder)
    planner = {key: given.config["inference"]["planner"][key] for key in ("gamma", "power")}
    told = {"imports": given.settings.get("import"), "named": given.settings.get("families")}
    facts = facts_of(study, f"{folder}/completeness.csv", **told)
    return check_study(facts, _reliability(given, study, folder), **planner, confidence=given.config["confidence"])


def _tables(given: Given, folder: str) -> "Study":
    """The tables of the study; where a name is not known, the error says what to write for all such names."""
    try:
        return tables_of(given, folder)
    except DataError as error:
        from judgebias.doctor.unknown_names import unknown_names, what_to_write

        names = unknown_names(given.source())
        if not names:
            raise
        raise DataError(f"{error}\n{what_to_write(names, given.config['models'])}") from error


def _reliability(given: Given, study: "Study", folder: str) -> "dict[str, Reliability]":
    """Reliability of the human scores: of the raters that config names or imports, or the published one."""
    from judgebias.inference.reference_tables import reliability_of
    from judgebias.ratings.raters import check_raters

    raw = f"{folder}/{RATERS}" if tells_single_raters(given.settings) else given.settings.get("raters")
    raters = [f"{folder}/raters.parquet"] if raw is not None else []
    if raters:
        check_raters(raw, given.source().registry, ratings=study.ratings, output=raters[0])
    alphas = [str(FACTS)] if "source" in given.settings else []
    return reliability_of(study, raters=raters, alphas=alphas, of_alpha=given.config["inference"]["raters"])
