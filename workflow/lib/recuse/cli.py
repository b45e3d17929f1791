"""The library from the command line: `recuse <command>`, or `python -P -m recuse <command>`.

`check` and `fit` read files of ratings, see recuse.commands; `run` and `report` start the workflow,
see recuse.workflow.start; products add the others. Slow imports, numpy above all, are in the
functions: `command` sets the number of threads before.
"""

import os
import sys
from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Callable, Collection, Sequence
from os.path import isfile
from pathlib import Path
from pkgutil import resolve_name
from typing import NoReturn

from recuse.base.errors import (
    ConfigError,
    DataError,
    RecuseError,
    UnexpectedError,
    check_known,
    did_you_mean,
    in_one_sentence,
)
from recuse.base.products import register, registered
from recuse.commands import CONFIGURATION, check_first, run_check, run_fit, write_page
from recuse.data.registry import COMPARED, RATED
from recuse.products import PRODUCTS


def command() -> NoReturn:
    """Run the command line as its own process, and end it."""
    # Sums in one order, as in the workflow's jobs; read when numpy is imported
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # None where it is closed
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # an orderly shutdown would take longer than a fit


def main() -> int:
    """Run the command that the command line names; returns the exit status.

    In Python's development mode (`python -X dev -m recuse`), a fault of this project prints its
    traceback.
    """
    register(PRODUCTS)
    words, further = sys.argv[1:], []
    if words[:1] in (["run"], ["report"]) and "--" in words:
        place = words.index("--")
        words, further = words[:place], words[place + 1 :]
    parser, commands = _parser()
    if words and not words[0].startswith("-") and words[0] not in commands:
        parser.error(f"'{words[0]}' is not a command{did_you_mean(words[0], commands)}")
    arguments = parser.parse_args(words, Namespace(further=further))
    try:
        with in_one_sentence():
            return arguments.run(arguments) or 0
    except RecuseError as error:
        if isinstance(error, UnexpectedError) and sys.flags.dev_mode:
            raise
        print(f"error: {_located(error, words)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as a shell reports it


def _located(error: RecuseError, words: Sequence[str]) -> str:
    """The error with the line of its setting in a file that the command line names, or in
    config.yaml here.
    """
    from recuse.config.read import line_with, located

    paths = [word.removeprefix("--config=") for word in ("config.yaml", *words)]
    paths = [path for path in paths if path.endswith(CONFIGURATION) and isfile(path)]
    if isinstance(error, ConfigError):
        return str(located(error, paths))
    for path in paths if isinstance(error, DataError) and error.setting else ():
        if line := line_with(path, error.setting):
            return f"{path}, line {line}: {error}"
    return str(error)


def _parser() -> tuple[ArgumentParser, Collection[str]]:
    """The parser, and the names of its commands."""
    description = (
        "Does an LLM judge favour its own answers? `recuse <command> --help` has an example of each"
        " command."
    )
    parser = ArgumentParser(prog="recuse", description=description)
    parser.add_argument(
        "--version", action=_Version, nargs=0, default=SUPPRESS, help="print the version and exit"
    )
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(
        name: str, run: Callable[[Namespace], int | None], short: str, words: str, example: str
    ) -> ArgumentParser:
        added = commands.add_parser(
            name, help=short, description=words, epilog=f"Example: {example}"
        )
        added.set_defaults(run=run)
        return added

    short, words = (
        "copy a simulated example",
        "Copy a simulated example, two tables and their configuration, into a folder.",
    )
    example = command(
        "example", run_example, short, words, "recuse example, then recuse check mine.yaml"
    )
    example.add_argument(
        "folder", nargs="?", default=".", help="folder, created if needed; default: this one"
    )
    words = (
        "Say before any fit what files of ratings or verdicts support: which biases, how small, and"
        " what is wrong."
    )
    check = command(
        "check", run_check, "say what ratings or verdicts support", words, "recuse check mine.yaml"
    )
    words = (
        "Check files of ratings and fit a spec. The table of estimates equals the workflow's, byte"
        " for byte."
    )
    fit = command(
        "fit",
        run_fit,
        "fit a spec to ratings",
        words,
        "recuse fit mine.yaml --spec clustered --output main.csv",
    )
    for each in (check, fit):
        each.add_argument(
            "files",
            nargs="+",
            metavar="[dimension=]file",
            help=(
                "the study's files, or files that the configuration imports; or only a YAML file:"
                " all its studies"
            ),
        )
        each.add_argument(
            "--study", help="study whose scales apply; default: the one with these files"
        )
        each.add_argument("--config", help="YAML file with additions and changes to config.yaml")
    fit.add_argument(
        "--spec", default="main", help="spec to fit; default: %(default)s, which is Equation 1"
    )
    fit.add_argument("--output", help="CSV file to write; default: the standard output")
    check.add_argument("--output", help="CSV file to write the findings to, one per row")
    for product in registered():
        if product.commands:
            resolve_name(product.commands)(command)
    words = (
        "Build all results of the studies in a YAML file, or of the simulated twin of the published"
        " ratings, in results/."
    )
    run = command(
        "run",
        run_workflow,
        "build all tables, figures and the report",
        words,
        "recuse run mine.yaml --cores 4",
    )
    words = "Build the report of each study in a YAML file and print its path."
    report = command(
        "report", run_report, "build the report alone", words, "recuse report mine.yaml --open"
    )
    report.add_argument("--open", action="store_true", help="open the report in the browser")
    for each in (run, report):
        each.add_argument(
            "config",
            nargs="?",
            metavar="file.yaml",
            help="the studies; default: the simulated twin",
        )
        each.add_argument(
            "--study",
            action="append",
            default=[],
            help="a study to build; default: all in the file",
        )
        each.add_argument(
            "--cores", default="2", help="number of jobs at a time, or all; default: %(default)s"
        )
        each.epilog += (
            ". Options after `--` go to Snakemake, as in recuse run mine.yaml -- --dry-run"
        )
    words = (
        "Read every file again and say which results were changed, or come from other data,"
        " settings or code."
    )
    verify = command(
        "verify",
        run_verify,
        "say whether results are up to date and unchanged",
        words,
        "recuse verify mine.yaml",
    )
    verify.add_argument(
        "studies",
        nargs="+",
        metavar="study",
        help="study with results in results/<study>; or a YAML file: all its studies",
    )
    verify.add_argument(
        "--config",
        action="append",
        default=[],
        help="file given as `--configfile` for the run; may be repeated",
    )
    return parser, commands.choices


class _Version(Action):
    def __call__(self, parser: ArgumentParser, *arguments: object) -> None:
        from recuse.base.places import version

        parser.exit(message=f"recuse {version()}\n")


def run_example(arguments: Namespace) -> None:
    """Copy the example, and say what comes next."""
    from recuse.workflow.start import copy_example

    *tables, settings = copy_example(arguments.folder)
    place = "" if arguments.folder == "." else f"cd {arguments.folder}; "
    write_page(
        f"Copied {', '.join(tables)} and {settings}. Next: {place}recuse check mine.yaml; recuse"
        " run mine.yaml\n"
    )


def run_workflow(arguments: Namespace) -> int:
    """Build all of the studies that the arguments name, or the default; returns Snakemake's exit
    status.
    """
    from recuse.config.load import load

    studies = _chosen_studies(arguments)
    return _build(arguments, studies, studies or load(arguments.config).build)


def run_report(arguments: Namespace) -> int:
    """Build the reports, whose paths are Snakemake's last words, and open them; returns Snakemake's
    exit status.
    """
    studies = _chosen_studies(arguments) or ["twin"]
    pages = [f"results/{study}/report.html" for study in studies]
    status = _build(arguments, pages, studies)
    if arguments.open and status == 0:
        import webbrowser

        for page in pages:
            webbrowser.open(Path(page).resolve().as_uri())
    return status


def _build(arguments: Namespace, targets: Sequence[str], studies: Sequence[str]) -> int:
    from recuse.workflow.start import build

    if arguments.config is not None and not arguments.further:
        check_first(arguments.config, studies)
    settings = {"configfile": arguments.config, "cores": arguments.cores, "studies": studies}
    return build(targets, **settings, further=arguments.further)


def _chosen_studies(arguments: Namespace) -> list[str]:
    """The studies of `--study`, else those in the YAML file; a fault of that file is one sentence
    here already.
    """
    from recuse.config.load import load_studies

    studies = load_studies(arguments.config)
    check_known(["--study"], arguments.study, studies, "studies and comparisons")
    return arguments.study or ([] if arguments.config is None else _added(arguments.config))


def _added(path: str) -> list[str]:
    """The studies in a YAML file."""
    from recuse.config.read import read

    added = read(Path(path))
    return [*added.get(RATED, {}), *added.get(COMPARED, {})]


def run_verify(arguments: Namespace) -> None:
    """Write what does not belong together; DataError, after all is written, if anything does
    not.
    """
    from recuse.workflow.verify import verify

    studies, files = [], [*arguments.config]
    for name in arguments.studies:
        if name.endswith(CONFIGURATION):
            files.append(name)
            studies += _added(name)
        else:
            studies.append(name)
    wrong = []
    for study in studies:
        number, faults = verify(study, files)
        lines = [f"{fault.path}: {fault.problem}" for fault in faults] or [
            f"{study}: all {number} results belong together"
        ]
        write_page("".join(f"{line}\n" for line in lines))
        wrong += [study] if faults else []
    if wrong:
        raise DataError(
            f"{', '.join(wrong)}: run the workflow again, and delete files that no rule writes"
        )
