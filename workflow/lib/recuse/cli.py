"""The library from the command line: `recuse <command>`, or `python -P -m recuse <command>`.

`check`, `fit` and `import` read files of ratings, or of judgments that config imports, see recuse.inputs; `run` and `report`
start the workflow, see recuse.base.start. Slow imports, numpy above all, are in the functions: `command` sets the number of
threads before.
"""

import os
import sys
from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from os.path import exists
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import NoReturn

from recuse.base.database import bounded, bytes_of, connect, read_footer, text
from recuse.base.errors import (
    CollectError,
    ConfigError,
    DataError,
    DesignError,
    RecuseError,
    UnexpectedError,
    check_known,
    in_one_sentence,
)
from recuse.base.outputs import replacing
from recuse.base.reasons import in_words
from recuse.base.tables import CHECK, ESTIMATES, read_table, write_table
from recuse.base.words import visible
from recuse.data.registry import COMPARED, IMPORTED_SCALES, RATED, files_in
from recuse.inputs import Inputs, enough_in, findings_of, imported, in_folder, inputs_in, inputs_of, plan_of, tables_of

CONFIGURATION = (".yaml", ".yml")
ELSEWHERE = "name a file that can be written by --output"


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
    words, further = sys.argv[1:], []
    if words[:1] in (["run"], ["report"]) and "--" in words:
        place = words.index("--")
        words, further = words[:place], words[place + 1 :]
    arguments = _parser().parse_args(words, Namespace(further=further))
    try:
        with in_one_sentence():
            return arguments.run(arguments) or 0
    except RecuseError as error:
        if isinstance(error, UnexpectedError) and sys.flags.dev_mode:
            raise
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as a shell reports it


def _parser() -> ArgumentParser:
    description = "Does an LLM judge favour its own answers? `recuse <command> --help` has an example of each command."
    parser = ArgumentParser(prog="recuse", description=description)
    parser.add_argument("--version", action=_Version, nargs=0, default=SUPPRESS, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[Namespace], int | None], short: str, words: str, example: str) -> ArgumentParser:
        added = commands.add_parser(name, help=short, description=words, epilog=f"Example: {example}")
        added.set_defaults(run=run)
        return added

    short, words = "copy a simulated example", "Copy a simulated example, two tables and their configuration, into a folder."
    example = command("example", run_example, short, words, "recuse example, then recuse check mine.yaml")
    example.add_argument("folder", nargs="?", default=".", help="folder, made if there is none; default: this one")
    words = "Say before any fit what files of ratings or verdicts support: which biases, how small, and what is wrong."
    check = command("check", run_check, "say what ratings or verdicts support", words, "recuse check mine.yaml")
    words = "Check files of ratings and fit a spec; the table of estimates is the workflow's, byte for byte."
    fit = command("fit", run_fit, "fit a spec to ratings", words, "recuse fit mine.yaml --spec clustered --output main.csv")
    for each in (check, fit):
        each.add_argument(
            "files",
            nargs="+",
            metavar="[dimension=]file",
            help="the study's files, or files that config imports; or a YAML file alone: --config, and the studies in it",
        )
        each.add_argument("--study", help="study of config whose scales apply; default: the one with these files")
        each.add_argument("--config", help="YAML file with additions and changes to config.yaml")
    fit.add_argument("--spec", default="main", help="spec of config; default: %(default)s, which is Equation 1")
    fit.add_argument("--output", help="CSV file to write; default: the standard output")
    check.add_argument("--output", help="CSV file to write the findings to, one per row")
    words = (
        "Import the ratings or verdicts of a study, with the human scores, into one table, and count what was imported. With "
    )
    words += "--guess, write the settings that import some files: `recuse import --guess judged.csv human.csv`."
    into = command(
        "import", run_import, "write a study's files as one table", words, "recuse import mine.yaml --output all.csv"
    )
    into.add_argument(
        "files", nargs="+", metavar="file", help="YAML file with a study that has `import`; with --guess, the files of a study"
    )
    into.add_argument("--study", help="the study; default: the only one in the file")
    into.add_argument(
        "--guess", action="store_true", help="write the YAML file that imports these files, each guess marked, and check it"
    )
    into.add_argument("--output", help="CSV or parquet file to write; with --guess, YAML file, default: mine.yaml")
    words = (
        "Ask judges what a study's `collect` describes. Every response is kept in a ledger; what it holds is not asked again."
    )
    collect = command("collect", run_collect, "ask judges for ratings or verdicts", words, "recuse collect plan.yaml --dry-run")
    collect.add_argument("config", metavar="plan.yaml", help="YAML file with a study that has `collect`")
    collect.add_argument("--study", help="the study; default: the only one in the file that asks judges")
    collect.add_argument(
        "--budget", help="most money for all of it, in that of the price file, or `unlimited`; default: the plan's"
    )
    collect.add_argument(
        "--dry-run", action="store_true", help="say what it would ask and cost, print the first request, and ask nothing"
    )
    words = "Build everything of the studies in a YAML file, or the simulated twin of the published ratings, in results/."
    run = command("run", run_workflow, "build all tables, figures and the report", words, "recuse run mine.yaml --cores 4")
    words = "Build the report of each study in a YAML file, and what it needs, and print its path."
    report = command("report", run_report, "build the report alone", words, "recuse report mine.yaml --open")
    report.add_argument("--open", action="store_true", help="open the report in the browser")
    for each in (run, report):
        each.add_argument(
            "config", nargs="?", metavar="file.yaml", help="configuration of the studies; default: the simulated twin"
        )
        each.add_argument("--study", action="append", default=[], help="a study to build; default: those in the file")
        each.add_argument("--cores", default="2", help="number of jobs at a time, or all; default: %(default)s")
        each.epilog += "; what follows `--` are options of Snakemake, as in recuse run mine.yaml -- --dry-run"
    words = "Read every file again and say which results are not those of their data, settings and code, or were changed."
    verify = command(
        "verify", run_verify, "say whether results belong together", words, "recuse verify ours --config mine.yaml"
    )
    verify.add_argument("studies", nargs="+", metavar="study", help="study whose results are in results/<study>")
    verify.add_argument(
        "--config", action="append", default=[], help="file that `--configfile` named for the run; once for each"
    )
    return parser


class _Version(Action):
    def __call__(self, parser: ArgumentParser, *arguments: object) -> None:
        from recuse.base.places import version

        parser.exit(message=f"recuse {version()}\n")


def run_example(arguments: Namespace) -> None:
    """Copy the example, and say what comes next."""
    from recuse.base.start import copy_example

    *tables, settings = copy_example(arguments.folder)
    place = "" if arguments.folder == "." else f"cd {arguments.folder}; "
    write_page(f"Copied {', '.join(tables)} and {settings}. Next: {place}recuse check mine.yaml; recuse run mine.yaml\n")


def run_workflow(arguments: Namespace) -> int:
    """Build all of the studies that the arguments name, or the default; returns Snakemake's exit status."""
    return _build(arguments, _studies_of(arguments))


def run_report(arguments: Namespace) -> int:
    """Build the reports, whose paths are Snakemake's last words, and open them; returns Snakemake's exit status."""
    pages = [f"results/{study}/report.html" for study in _studies_of(arguments) or ["twin"]]
    status = _build(arguments, pages)
    if arguments.open and status == 0:
        import webbrowser

        for page in pages:
            webbrowser.open(Path(page).resolve().as_uri())
    return status


def _build(arguments: Namespace, targets: Sequence[str]) -> int:
    from recuse.base.start import build

    return build(targets, configfile=arguments.config, cores=arguments.cores, further=arguments.further)


def _studies_of(arguments: Namespace) -> list[str]:
    """The studies of `--study`, else those in the YAML file; a fault of that file is one sentence here already."""
    from recuse.config.load import load, read

    config = load(arguments.config)
    check_known("--study", arguments.study, {**config[RATED], **config[COMPARED]}, "studies and comparisons")
    added = {} if arguments.config is None else read(Path(arguments.config))
    return arguments.study or [*added.get(RATED, {}), *added.get(COMPARED, {})]


def run_collect(arguments: Namespace) -> None:
    """Ask what the ledger of a study has no answer to, and say what it then holds; with --dry-run, what that would cost."""
    from recuse.collect.study import UNLIMITED, Collected, ask, page_before
    from recuse.collect.words import of_counts, of_run
    from recuse.config.load import load, read

    config = load(arguments.config)
    added = read(Path(arguments.config))
    studies = [name for part in (RATED, COMPARED) for name, entry in added.get(part, {}).items() if "collect" in entry]
    if arguments.study is not None:
        check_known("--study", [arguments.study], studies, "the studies that ask judges")
        studies = [arguments.study]
    if len(studies) != 1:
        named = (
            f"has {', '.join(studies)}; name one by --study" if studies else "has no study with `collect`; see docs/collect.md"
        )
        raise ConfigError(f"{arguments.config}: {named}")
    budget = arguments.budget
    if budget not in (None, UNLIMITED):
        try:
            budget = float(budget)
        except ValueError:
            raise ConfigError(f"--budget: found {budget}; write an amount of money, or {UNLIMITED}") from None
    (inputs,) = inputs_in(config, added, studies[0], compared=True)
    with in_folder(inputs):
        plan = plan_of(config, inputs.study)
        if arguments.dry_run:
            settings, level = inputs.settings, config["confidence"]
            humans = "references" in settings["import"]
            of_study = {"families": settings.get("families", {}), "human_scores": humans, "confidence": level}
            write_page(page_before(Collected.in_ledger(plan), **of_study, power=config["inference"]["power"]["power"]))
            return
        for part, outcome in ask(plan, budget=budget, enough=enough_in(config, inputs.study)):
            write_page(f"{of_run(part, outcome)}\n")
        counts = Collected.in_ledger(plan).counts()
        write_page(f"{of_counts(counts)}\n")
        if not any(row["ratings"] for row in counts):
            raise CollectError(f"{plan.ledger}: no reply could be read; look at them, and change `mode` or `wordings`")
    write_page(f"Next: recuse check {arguments.config}; recuse run {arguments.config}\n")


def run_import(arguments: Namespace) -> None:
    """Write the rows of a study that `import` describes as one table, and what was imported to the standard output.

    Ratings and human scores are in the units of the study's files.
    """
    from recuse.config.load import load, read
    from recuse.data.ratings import in_units

    check_output(arguments.output)
    if arguments.guess:
        _guess(arguments.files, arguments.output or "mine.yaml")
        return
    settings, *others = arguments.files
    if others:
        raise ConfigError(f"{others[0]}: name one YAML file, or write one for these files by --guess")
    if arguments.output is None or Path(arguments.output).suffix not in (".csv", ".parquet"):
        raise ConfigError(f"--output: {arguments.output or 'missing'}: name a file ending in .csv or .parquet")
    several = inputs_in(load(settings), read(Path(settings)), arguments.study, compared=True)
    inputs, *others = several
    if others:
        names = ", ".join(each.study for each in several)
        raise ConfigError(f"--study: {settings} has several studies; name one by --study: {names}")
    if "import" not in inputs.settings:
        raise ConfigError(f"config: {inputs.study}: has no `import`; its files are in canonical columns already")
    with in_folder(inputs) as folder:
        table = imported(inputs, folder).files[0].path
        counts = [f"{row['file']}: {row['kind']}: {int(row['n']):,}" for row in read_table(f"{folder}/imported.csv")]
        steps = (read_footer(table, IMPORTED_SCALES) or {}).get("steps", {})
        rows, table = in_units([table], steps, ("rating", "gt")), f"{folder}/rows{Path(arguments.output).suffix}"
        connect().execute(f"copy ({rows}) to {text(table)}")
        with _writing(f"--output: {arguments.output}", ELSEWHERE), replacing(arguments.output) as part:
            copyfile(table, part)
    write_page("".join(f"{line}\n" for line in [*counts, f"Written: {arguments.output}"]))


def _guess(paths: Sequence[str], output: str) -> None:
    """Write what imports these files to a YAML file, with each guess marked, and check it; ConfigError if the file exists."""
    from recuse.config.load import load
    from recuse.data.imports.guess import guess

    if exists(output):
        raise ConfigError(f"--output: {output}: there already; name another file, or delete it")
    if not output.endswith(CONFIGURATION):
        raise ConfigError(f"--output: {output}: name a file ending in {' or '.join(CONFIGURATION)}")
    for path in paths:
        if path.endswith(CONFIGURATION):
            raise ConfigError(f"{path}: found settings; name the files of judgments, or leave out --guess to import by them")
        if not exists(path):
            raise ConfigError(f"{path}: no such file; name an existing one after --guess")
    config = load(None)
    limits = {"files": [path for each in paths for path in files_in(each)], "longest_line": int(bytes_of(config["line_limit"]))}
    with TemporaryDirectory() as place, bounded(config["memory_limit"], f"{place}/work", **limits), redirect_stdout(StringIO()):
        text = guess(paths)  # what it prints, the check prints again
    with _writing(f"--output: {output}", ELSEWHERE), replacing(output) as part:
        Path(part).write_text(text, "utf-8")
    write_page(f"Written: {output}. Check each line of it that says `guessed`.\n\n{text}\n")
    try:
        run_check(Namespace(files=[output], study=None, config=None, output=None))
    except DataError as error:  # which, of a table that is not understood, advises to guess
        raise DataError(*(line for line in error.args if "import --guess" not in line)) from error


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
        parts = row["spec"], row["slice"], "not estimable", term, in_words(row["reason"])
        print(visible(": ".join(filter(None, parts))), file=sys.stderr)
    for row in estimated.remarks:
        print(visible(": ".join(filter(None, (row["spec"], row["slice"], row["remark"])))), file=sys.stderr)


def run_check(arguments: Namespace) -> None:
    """Write what the files support to the standard output, and as a table to `--output`.

    Raises what the steps of the workflow raise about the files; DesignError, after all is written, if they support no bias.
    """
    from recuse.check.check import page_of
    from recuse.check.facts import STOP
    from recuse.config.studies import has_gold_labels

    check_output(arguments.output)
    findings = []
    for inputs in _inputs_of(arguments, compared=True):
        with in_folder(inputs) as folder:
            findings.append((inputs, findings_of(imported(inputs, folder), folder)))
    if arguments.output is not None:
        rows = ({"study": inputs.study, **finding.row} for inputs, of_study in findings for finding in of_study)
        write_output(arguments.output, CHECK, rows)
    pages = (
        page_of(inputs.study, of_study, of_ratings=not inputs.compared, gold=has_gold_labels(inputs.settings))
        for inputs, of_study in findings
    )
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
    with _writing(where, ELSEWHERE):
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
