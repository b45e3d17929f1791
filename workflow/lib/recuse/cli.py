"""The library from the command line: `recuse fit`, `recuse check` and `recuse verify`, or `python -P -m recuse <command>`.

The first two read files of ratings, or of judgments that config imports, see recuse.inputs. Slow imports, numpy above all, are
in the functions: `command` sets the number of threads before.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import exists
from pathlib import Path
from typing import NoReturn

from recuse.base.errors import ConfigError, DataError, DesignError, RecuseError, UnexpectedError, check_known, in_one_sentence
from recuse.base.tables import CHECK, ESTIMATES, write_table
from recuse.base.words import visible
from recuse.inputs import Inputs, findings_of, imported, in_folder, inputs_in, inputs_of, tables_of

CONFIGURATION = (".yaml", ".yml")


def command() -> NoReturn:
    """Run the command line as its own process, and end it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums in one order, as in the workflow's jobs; read when numpy is imported
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere  # None where it is closed
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # an orderly shutdown would take longer than a fit


def main() -> int:
    """Run the command that the command line names; returns the exit status.

    In Python's development mode (`python -X dev -m recuse`), a fault of this project prints its traceback.
    """
    arguments = _parser().parse_args()
    try:
        with in_one_sentence():
            arguments.run(arguments)
    except RecuseError as error:
        if isinstance(error, UnexpectedError) and sys.flags.dev_mode:
            raise
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as a shell reports it
    return 0


def _parser() -> ArgumentParser:
    description = "The library from the command line: `python -P -m recuse <command>`."
    parser = ArgumentParser(prog="recuse", description=description)
    commands = parser.add_subparsers(required=True, metavar="command")
    words = "Check raw files of ratings and fit a spec; the table of estimates is the workflow's, byte for byte."
    fit = commands.add_parser("fit", help="fit a spec to files of ratings", description=words)
    words = "Say before any fit what files of ratings or verdicts support: which biases, how small, and what is wrong."
    check = commands.add_parser("check", help="say what files of ratings or verdicts support", description=words)
    for each, run in ((fit, run_fit), (check, run_check)):
        each.add_argument(
            "files",
            nargs="+",
            metavar="[dimension=]file",
            help="the study's files, or files that config imports; or a YAML file alone: --config, and the studies in it",
        )
        each.add_argument("--study", help="study of config whose scales apply; default: the one with these files")
        each.add_argument("--config", help="YAML file with additions and changes to config.yaml")
        each.set_defaults(run=run)
    fit.add_argument("--spec", default="main", help="spec of config; default: %(default)s, which is Equation 1")
    fit.add_argument("--output", help="CSV file to write; default: the standard output")
    check.add_argument("--output", help="CSV file to write the findings to, one per row")
    words = "Read every file again and say which results are not those of their data, settings and code, or were changed."
    verify = commands.add_parser("verify", help="say whether results belong together", description=words)
    verify.add_argument("studies", nargs="+", metavar="study", help="study whose results are in results/<study>")
    verify.add_argument(
        "--config", action="append", default=[], help="file that `--configfile` named for the run; once for each"
    )
    verify.set_defaults(run=run_verify)
    return parser


def run_verify(arguments: Namespace) -> None:
    """Write what does not belong together; DataError, after all is written, if anything does not."""
    from recuse.base.verify import verify

    wrong = []
    for study in arguments.studies:
        number, faults = verify(study, arguments.config)
        lines = [f"{fault.path}: {fault.problem}" for fault in faults] or [f"{study}: all {number} results belong together"]
        write_page("".join(f"{line}\n" for line in lines))
        wrong += [study] if faults else []
    if wrong:
        raise DataError(f"{', '.join(wrong)}: run the workflow again, and delete files that no rule writes")


def run_fit(arguments: Namespace) -> None:
    """Write the table of estimates of one spec, and to the standard error what is not estimable.

    Raises what the steps of the workflow raise, and ConfigError about `--output`; nothing is written then.
    """
    from recuse.data.ratings import cells_of_files
    from recuse.data.study import Study
    from recuse.model.estimates import estimate
    from recuse.model.spec import Spec

    check_output(arguments.output)
    inputs, *others = _inputs_of(arguments)
    if others:
        names = ", ".join(each.study for each in (inputs, *others))
        raise ConfigError(f"--study: {arguments.files[0]} has several studies; name one by --study: {names}")
    config = inputs.config
    check_known("--spec", [arguments.spec], config["specs"], "specs")
    spec = Spec.of(arguments.spec, **config["specs"][arguments.spec])
    with in_folder(inputs) as folder:
        inputs = imported(inputs, folder)
        if spec.by_row:
            study = tables_of(inputs, folder)
        else:
            study = Study(inputs.study, cells_of_files(inputs.study, inputs.source(), folder))
        estimated = estimate(spec, study, confidence=config["confidence"], seed=config["seed"])
    write_output(arguments.output, ESTIMATES, estimated.estimates)
    for row in estimated.not_estimable:
        term = " of ".join(filter(None, (row["quantity"], row["term"]))) or "the fit"
        reason = row["reason"].removeprefix("not estimable: ")
        print(visible(": ".join(filter(None, (row["spec"], row["slice"], "not estimable", term, reason)))), file=sys.stderr)
    for row in estimated.remarks:
        print(visible(": ".join(filter(None, (row["spec"], row["slice"], row["remark"])))), file=sys.stderr)


def run_check(arguments: Namespace) -> None:
    """Write what the files support to the standard output, and as a table to `--output`.

    Raises what the steps of the workflow raise about the files; DesignError, after all is written, if they support no bias.
    """
    from recuse.check.check import page_of
    from recuse.check.facts import STOP

    check_output(arguments.output)
    findings = []
    for inputs in _inputs_of(arguments, compared=True):
        with in_folder(inputs) as folder:
            findings.append((inputs, findings_of(imported(inputs, folder), folder)))
    if arguments.output is not None:
        rows = ({"study": inputs.study, **finding.row} for inputs, of_study in findings for finding in of_study)
        write_output(arguments.output, CHECK, rows)
    pages = (page_of(inputs.study, of_study, of_ratings=not inputs.compared) for inputs, of_study in findings)
    write_page("\n".join(pages))
    for inputs, of_study in findings:
        for finding in of_study:
            if finding.level == STOP:
                raise DesignError(f"{', '.join(file.path for file in inputs.files)}: {finding.words}; {finding.advice}")


def _inputs_of(arguments: Namespace, *, compared: bool = False) -> list[Inputs]:
    """The study that the named files are of; of a YAML file alone, all studies that it describes, or the one of `--study`."""
    from recuse.config.load import load, read

    settings = next((path for path in arguments.files if path.endswith(CONFIGURATION)), None)
    if settings is None:
        named = [_path_and_dimension(argument) for argument in arguments.files]
        return [inputs_of(load(arguments.config), named, arguments.study, compared=compared)]
    if len(arguments.files) > 1 or arguments.config is not None:
        raise ConfigError(f"{settings}: a configuration; name it alone, or name files of a study and pass it by --config")
    return inputs_in(load(settings), read(Path(settings)), arguments.study, compared=compared)


def _path_and_dimension(argument: str) -> tuple[str, str | None]:
    dimension, mark, path = argument.partition("=")
    return (path, dimension) if mark and not exists(argument) else (argument, None)  # `=` may be part of a file's name


def check_output(path: str | None) -> None:
    """Raise ConfigError unless a file can be written at `path`; None is the standard output."""
    if path is not None and os.path.isdir(path):
        raise ConfigError(f"--output: {path}: a folder; name a file in it")
    if path is not None and not os.path.isdir(Path(path).parent):
        raise ConfigError(f"--output: {path}: there is no folder {Path(path).parent}; make it, or name a file in another")


def write_output(path: str | None, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as a CSV table; on failure ConfigError, and an existing file stays as it was."""
    where = "the standard output" if path is None else f"--output: {path}"
    with _writing(where, "name a file that can be written by --output"):
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):  # a device or a pipe
            write_table(os.dup(sys.stdout.fileno()) if path is None else os.open(path, os.O_WRONLY), columns, rows)
        else:
            write_table(Path(path).resolve(), columns, rows)


def write_page(page: str) -> None:
    """Write a text to the standard output, with the errors of `write_output`."""
    with (
        _writing("the standard output", "send it to a file that can be written"),
        open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as file,
    ):
        file.write(visible(page, but="\n"))


@contextmanager
def _writing(where: str, advice: str) -> Iterator[None]:
    """Turn a system error into ConfigError; do nothing if the reader has gone, as with `head`."""
    try:
        yield
    except BrokenPipeError:
        return
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}; {advice}") from error
