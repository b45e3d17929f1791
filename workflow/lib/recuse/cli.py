"""The library from the command line: `recuse fit`, `recuse check` and `recuse verify`, or `python -P -m recuse <command>`.

The first two read files of ratings, or of judgments that config imports, by the steps of the workflow, without Snakemake:
numbers and errors are the same.
Slow imports, numpy above all, are in the functions: `command` sets the number of threads before.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from os.path import exists, normpath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from recuse.base.database import bounded, bytes_of
from recuse.base.errors import ConfigError, DataError, DesignError, RecuseError, UnexpectedError, check_known, in_one_sentence
from recuse.base.tables import CHECK, ESTIMATES, read_table, write_table
from recuse.base.words import visible
from recuse.data.registry import files_in, named_files, parts_of, raw_files

if TYPE_CHECKING:
    from recuse.check.facts import Finding
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles
    from recuse.data.study import Study

RAW, RATERS = "raw.parquet", "raw_raters.parquet"  # written by an import


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
            "files", nargs="+", metavar="[dimension=]file", help="the study's files, or files that config imports"
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
    from recuse.config.load import load
    from recuse.data.ratings import cells_of_files
    from recuse.data.study import Study
    from recuse.model.estimates import estimate
    from recuse.model.spec import Spec

    check_output(arguments.output)
    config = load(arguments.config)
    check_known("--spec", [arguments.spec], config["specs"], "specs")
    spec = Spec.of(arguments.spec, **config["specs"][arguments.spec])
    inputs = inputs_of(arguments, config)
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
    from recuse.config.load import load

    check_output(arguments.output)
    inputs = inputs_of(arguments, load(arguments.config), compared=True)
    with in_folder(inputs) as folder:
        findings = (_findings_of_comparisons if inputs.compared else _findings)(imported(inputs, folder), folder)
    if arguments.output is not None:
        write_output(arguments.output, CHECK, ({"study": inputs.study, **finding.row} for finding in findings))
    write_page(page_of(inputs.study, findings, of_ratings=not inputs.compared))
    for finding in findings:
        if finding.level == STOP:
            raise DesignError(f"{', '.join(file.path for file in inputs.files)}: {finding.words}; {finding.advice}")


def _findings(inputs: "Inputs", folder: str) -> "list[Finding]":
    from recuse.check.check import check_study
    from recuse.check.facts import facts_of
    from recuse.check.names import unknown_names, what_to_write
    from recuse.config.load import PROJECT
    from recuse.data.raters import check_raters
    from recuse.data.registry import tells_raters
    from recuse.inference.reliability import reliability_of

    config, settings = inputs.config, inputs.settings
    try:
        study = tables_of(inputs, folder)
    except DataError as error:  # about one unknown name: say what to write for all of them
        names = unknown_names(inputs.source())
        if not names:
            raise
        raise DataError(str(error), *what_to_write(names, config["models"])) from error
    raw = f"{folder}/{RATERS}" if tells_raters(settings.get("import", {})) else settings.get("raters")
    raters = [f"{folder}/raters.parquet"] if raw is not None else []
    if raters:
        source = inputs.source()
        check_raters(raw, source.registry, ratings=study.ratings, output=raters[0], declared=source.declared)
    alphas = [str(PROJECT / "workflow" / "data" / "twin_facts.csv")] if "source" in settings else []
    reliability = reliability_of(study, raters=raters, alphas=alphas, of_alpha=config["inference"]["raters"])
    power = {key: config["inference"]["power"][key] for key in ("self_bias", "power")}
    of_config = {"imports": settings.get("import"), "named": settings.get("families")}
    facts = facts_of(study, f"{folder}/completeness.csv", **of_config)
    return check_study(facts, reliability, **power, confidence=config["confidence"])


def _findings_of_comparisons(inputs: "Inputs", folder: str) -> "list[Finding]":
    from recuse.check.pairs import check_comparisons
    from recuse.config.studies import families_of, models_of
    from recuse.pairwise.choices import choices, choices_of, verdicts
    from recuse.pairwise.questions import open_pairs
    from recuse.pairwise.table import normalise

    config, comparisons = inputs.config, f"{folder}/comparisons.parquet"
    normalise(
        inputs.study,
        [file.path for file in inputs.files],
        both_orders=inputs.settings.get("both_orders", True),
        declared={} if "import" in inputs.settings else inputs.settings.get("verify"),
        models=models_of(config, inputs.study),
        comparisons=comparisons,
        completeness=f"{folder}/completeness.csv",
    )
    pairs, families = open_pairs(comparisons, {}), families_of(config, inputs.study)
    level, power = config["confidence"], config["inference"]["power"]["power"]
    of = choices_of(pairs, families)
    rows = list(choices(of, confidence=level, seed=config["seed"]))
    told = list(verdicts(rows, of.judges, order=list(families), confidence=level, power=power))
    return check_comparisons(pairs, of, rows, told, power=power)


class Inputs(NamedTuple):
    """Files of ratings, or of verdicts, and the study of `config` that describes them."""

    study: str
    files: "Sequence[RatingsFile]"
    config: Mapping

    @property
    def settings(self) -> Mapping:
        """The study's entry in `config`."""
        return self.config["comparisons" if self.compared else "studies"][self.study]

    @property
    def compared(self) -> bool:
        """Whether the files are of verdicts."""
        return self.study in self.config["comparisons"]

    def source(self) -> "StudyFiles":
        """The files as the steps of the workflow read them; those of an import once it is made."""
        from recuse.data.ratings import StudyFiles
        from recuse.data.registry import models_with, scales_in_steps

        return StudyFiles.from_config(
            [file.path for file in self.files],
            [file.dimension for file in self.files],
            scales=scales_in_steps(self.settings["scales"], self.settings.get("import", {})),
            task_types=self.settings.get("task_types", {}),
            models=models_with(self.settings.get("families", {}), self.config["models"]),
            imported="import" in self.settings,
            declared=self.settings.get("verify"),
        )


def inputs_of(arguments: Namespace, config: Mapping, *, compared: bool = False) -> Inputs:
    """The files and the study that the arguments name; ConfigError if they do not fit `config`.

    The study is that of `--study`, else one that imports exactly these files, else the one whose files these are; one of
    comparisons only if `compared`.
    """
    from recuse.data.files import RatingsFile

    named, study = [_path_and_dimension(argument) for argument in arguments.files], arguments.study
    imports = {name: settings["import"] for name, settings in config["studies"].items() if "import" in settings}
    if study is None:
        paths = {normpath(path) for path, _ in named}
        study = next((name for name, settings in imports.items() if paths == set(map(normpath, _paths(settings)))), None)
    if study not in imports:
        of_verdicts = _compared_study(config, study, [normpath(path) for path, _ in named])
        if of_verdicts is not None and not compared:
            raise ConfigError(
                f"config: comparisons: {of_verdicts}: these are verdicts on pairs of answers, and `fit` is for ratings; run "
                f"the workflow for a report (`snakemake {of_verdicts}`), see docs/comparisons.md"
            )
        study, named = (of_verdicts, named) if of_verdicts is not None else study_of(config, study, named)
    return Inputs(study, [RatingsFile(*each) for each in named], config)


def study_of(
    config: Mapping, name: str | None, named: Sequence[tuple[str, str | None]]
) -> tuple[str, list[tuple[str, str | None]]]:
    """The study of that name, or the one with the files in `named` if it is None; and (path, dimension) of each file.

    named: as by `recuse.data.registry.named_files`. A missing dimension is that of the file in config. ConfigError if there is
    no such study, or if a dimension is not the study's, or not the file's in config.
    """
    files = raw_files(named)
    if name is None:
        paths = {normpath(path) for path, _ in files}
        name = next((study for study in config["studies"] if paths == _files_of(config, study).keys()), None)
    if name is None:
        from recuse.config.load import project_settings

        added = [study for study in config["studies"] if study not in project_settings()["studies"]]
        advice = "describe their study under `studies:` of a file and pass it by --config, see docs/own-data.md"
        if added:
            advice = f"name by --study the one whose scales and task types apply: {', '.join(added)}"
        raise ConfigError(f"config: studies: none has the files {', '.join(path for path, _ in named)}; {advice}")
    check_known("--study", [name], config["studies"], "studies")
    where, declared, dimensions = f"studies: {name}", _files_of(config, name), []
    for path, stated in files:
        dimension = declared.get(normpath(path))
        if stated is not None:
            check_known(f"{where}: {stated}={path}", [stated], config["studies"][name]["scales"], "its scales")
        if stated is not None and dimension not in (None, stated):
            other = f"found {stated}={path}, write {dimension}={path}"
            raise ConfigError(f"config: {where}: files: {path} is of {dimension}; {other}")
        dimensions.append((path, dimension if stated is None else stated))
    return name, dimensions


def _compared_study(config: Mapping, name: str | None, paths: Sequence[str]) -> str | None:
    """The study of comparisons of that name or, if it is None, with one of the files at `paths`; None if there is none."""
    for study, settings in config["comparisons"].items():
        places = [normpath(path) for path in _paths(settings) + _paths(settings.get("import", {}))]  # files or folders
        inside = any(path == place or path.startswith(f"{place}/") for path in paths for place in places)
        if study == name or (name is None and inside):
            return study
    return None


def _files_of(config: Mapping, study: str) -> dict[str, str | None]:
    """Path -> dimension of each file that config names for a study; of a folder, of its parts."""
    named = named_files(config["studies"][study].get("files", ()))
    return {normpath(part): dimension for path, dimension in named for part in parts_of(path)}


def _path_and_dimension(argument: str) -> tuple[str, str | None]:
    dimension, mark, path = argument.partition("=")
    return (path, dimension) if mark and not exists(argument) else (argument, None)  # `=` may be part of a file's name


def _paths(settings: Mapping) -> list[str]:
    return [path for path, _ in named_files(settings.get("files", ()))]


@contextmanager
def in_folder(inputs: Inputs) -> Iterator[str]:
    """Give a folder for temporary files, and limit DuckDB to these, the inputs' files and the limits of config."""
    settings = inputs.settings.get("import", {})
    named = [*(file.path for file in inputs.files), *_paths(settings.get("references", {}))]
    files = [*filter(None, [inputs.settings.get("raters")]), *(path for name in named for path in files_in(name))]
    limit, longest_line = inputs.config["memory_limit"], int(bytes_of(inputs.config["line_limit"]))
    with TemporaryDirectory() as place, bounded(limit, f"{place}/work", files=files, longest_line=longest_line) as folder:
        yield folder


def imported(inputs: Inputs, folder: str) -> Inputs:
    """The inputs, with what the workflow would import from the files, now in `folder`, if the study imports them."""
    if "import" not in inputs.settings:
        return inputs
    from recuse.data.files import RatingsFile
    from recuse.data.imports.ratings import import_ratings
    from recuse.data.imports.verdicts import import_verdicts
    from recuse.data.registry import models_with, tells_raters

    settings, key = inputs.settings["import"], "verdicts" if inputs.compared else "ratings"
    outputs = {key: f"{folder}/{RAW}", "imported": f"{folder}/imported.csv"}
    files = [path for file in inputs.files for path in files_in(file.path)]
    references = [path for named in _paths(settings.get("references", {})) for path in files_in(named)]
    shared = {"settings": settings, "outputs": outputs, "declared": inputs.settings.get("verify")}
    if tells_raters(settings) and not inputs.compared:
        outputs["raters"] = f"{folder}/{RATERS}"
    with redirect_stdout(sys.stderr):  # the standard output is for the command's results
        if inputs.compared:
            import_verdicts(inputs.study, files, references, **shared)
        else:
            models = models_with(inputs.settings.get("families", {}), inputs.config["models"])
            import_ratings(inputs.study, files, references, **shared, scales=inputs.settings["scales"], models=models)
    return inputs._replace(files=[RatingsFile(outputs[key])])


def tables_of(inputs: Inputs, folder: str) -> "Study":
    """Check the files and write ratings.parquet, cells.parquet and completeness.csv into `folder`, as the workflow does."""
    from recuse.data.cells import build_cells
    from recuse.data.ratings import no_complete_row, normalise
    from recuse.data.study import Study

    ratings, cells, completeness = (f"{folder}/{name}" for name in ("ratings.parquet", "cells.parquet", "completeness.csv"))
    normalise(inputs.study, inputs.source(), ratings=ratings, completeness=completeness)
    if not any(int(row["used"]) for row in read_table(completeness)):  # later steps would name a file in the folder
        raise no_complete_row(inputs.files)
    build_cells(ratings, cells)
    return Study(inputs.study, cells, [ratings])


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
