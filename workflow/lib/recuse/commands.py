"""What the commands `check` and `fit` do, and how commands write what they find.

Slow imports, numpy above all, are in the functions: the entry point sets the number of threads
before.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import exists
from pathlib import Path

from recuse.base.errors import ConfigError, DesignError, check_known
from recuse.base.log import listening
from recuse.base.reasons import in_words
from recuse.base.tables import write_table
from recuse.base.words import visible
from recuse.inputs import Inputs, inputs_from_files, inputs_in
from recuse.pipeline import RatingsPipeline, in_folder, pipeline, with_imported_files

CONFIGURATION = (".yaml", ".yml")
CHECKED_FIRST = 100_000_000  # read within seconds
ELSEWHERE = "name a file that can be written by --output"


def run_fit(arguments: Namespace) -> None:
    """Write the table of estimates of one spec, and to the standard error what is not estimable.

    Raises what the steps of the workflow raise, and ConfigError about `--output`; nothing is
    written then.
    """
    from recuse.model.estimates import ESTIMATES, estimate

    check_output(arguments.output)
    inputs, *others = _named_inputs(arguments)
    if others:
        names = ", ".join(each.study.name for each in (inputs, *others))
        raise ConfigError(
            f"--study: {arguments.files[0]} has several studies; name one by --study: {names}"
        )
    described = inputs.study
    check_known(["--spec"], [arguments.spec], described.specs, "specs")
    spec = described.every_spec[arguments.spec]
    with in_folder(inputs) as folder:
        study = RatingsPipeline(with_imported_files(inputs, folder), folder).tables
        estimated = estimate(spec, study, confidence=described.confidence, seed=described.seed)
    write_output(arguments.output, ESTIMATES, estimated.estimates)
    for row in estimated.not_estimable:
        term = " of ".join(filter(None, (row["quantity"], row["term"]))) or "the fit"
        parts = row["spec"], row["slice"], "not estimable", term, in_words(row["reason"])
        print(visible(": ".join(filter(None, parts))), file=sys.stderr)
    for row in estimated.remarks:
        print(
            visible(": ".join(filter(None, (row["spec"], row["slice"], row["remark"])))),
            file=sys.stderr,
        )


def run_check(arguments: Namespace) -> None:
    """Write what the files support to the standard output, and as a table to `--output`.

    Raises what the steps of the workflow raise about the files; DesignError, after all is written,
    if they support no bias.
    """
    from recuse.check.facts import CHECK, STOP
    from recuse.check.page import check_page

    check_output(arguments.output)
    findings = []
    for inputs in _named_inputs(arguments, compared=True):
        with in_folder(inputs) as folder:
            findings.append((inputs, pipeline(inputs, folder).findings()))
    if arguments.output is not None:
        rows = (
            {"study": inputs.study.name, **finding.row}
            for inputs, of_study in findings
            for finding in of_study
        )
        write_output(arguments.output, CHECK, rows)
    pages = (
        check_page(
            inputs.study.name,
            of_study,
            of_ratings=inputs.study.has_ratings(),
            gold=inputs.study.has_gold_labels(),
        )
        for inputs, of_study in findings
    )
    write_page("\n".join(pages))
    for inputs, of_study in findings:
        for finding in of_study:
            if finding.level == STOP:
                raise DesignError(
                    f"{', '.join(file.path for file in inputs.files)}: {finding.words};"
                    f" {finding.advice}"
                )


def check_first(path: str, names: Iterable[str]) -> None:
    """Raise what `check` raises about files of these studies of a configuration that cannot be
    read or used, before a run is started. Files that support no bias do not stop it.

    Studies whose files have more than CHECKED_FIRST bytes are left to the run.
    """
    from recuse.catalogue.figures import study_figures
    from recuse.config.load import load_studies

    studies = load_studies(path)
    for name in names:
        study = studies[name]
        study_figures(study)
        paths = [path for path, _ in study.entries()] + study.references()
        paths += [] if study.raters is None else [study.raters]
        if study.entries() and sum(map(_size, paths)) <= CHECKED_FIRST:
            (inputs,) = inputs_in(studies, {}, name, compared=True)
            with listening(), in_folder(inputs) as folder:
                pipeline(inputs, folder).findings()


def _size(path: str) -> int:
    """Bytes of a file, or of all files in a folder; 0 if there is none."""
    files = Path(path).rglob("*") if os.path.isdir(path) else [Path(path)]
    return sum(file.stat().st_size for file in files if file.is_file())


def _named_inputs(arguments: Namespace, *, compared: bool = False) -> list[Inputs]:
    """The study that the named files are of; of a YAML file alone, all studies that it describes,
    or the one of `--study`.
    """
    from recuse.config.load import load_studies
    from recuse.config.read import read

    settings = next((path for path in arguments.files if path.endswith(CONFIGURATION)), None)
    if settings is None:
        named = [_path_and_dimension(argument) for argument in arguments.files]
        studies = load_studies(arguments.config)
        return [inputs_from_files(studies, named, arguments.study, compared=compared)]
    if len(arguments.files) > 1 or arguments.config is not None:
        raise ConfigError(
            f"{settings}: a configuration; name it alone, or name files of a study and pass it by"
            " --config"
        )
    studies, added = load_studies(settings), read(Path(settings))
    return inputs_in(studies, added, arguments.study, compared=compared)


def _path_and_dimension(argument: str) -> tuple[str, str | None]:
    dimension, mark, path = argument.partition("=")
    # `=` may be part of a file's name
    return (path, dimension) if mark and not exists(argument) else (argument, None)


def check_output(path: str | None) -> None:
    """Raise ConfigError unless a file can be written at `path`; None is the standard output."""
    if path is not None and os.path.isdir(path):
        raise ConfigError(f"--output: {path}: a folder; name a file in it")
    if path is not None and not os.path.isdir(Path(path).parent):
        raise ConfigError(
            f"--output: {path}: there is no folder {Path(path).parent}; make it, or name a file in"
            " another"
        )


def write_output(path: str | None, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as a CSV table; on failure ConfigError, and an existing file stays as it was."""
    where = "the standard output" if path is None else f"--output: {path}"
    with writing(where, ELSEWHERE):
        # A device or a pipe
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):
            write_table(
                os.dup(sys.stdout.fileno()) if path is None else os.open(path, os.O_WRONLY),
                columns,
                rows,
            )
        else:
            write_table(Path(path).resolve(), columns, rows)


def write_page(page: str) -> None:
    """Write a text to the standard output, with the errors of `write_output`."""
    with (
        writing("the standard output", "send it to a file that can be written"),
        open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as file,
    ):
        file.write(visible(page, but="\n"))


@contextmanager
def writing(where: str, advice: str) -> Iterator[None]:
    """Turn a system error into ConfigError; do nothing if the reader has gone, as with `head`."""
    try:
        yield
    except BrokenPipeError:
        return
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}; {advice}") from error
