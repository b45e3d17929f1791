"""The command `import`: a study's files as one table, or the settings that import some files."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from os.path import exists
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from recuse.base.database import bounded, connect, parse_bytes, read_footer, text
from recuse.base.errors import ConfigError
from recuse.base.outputs import replacing
from recuse.base.tables import read_table
from recuse.commands import CONFIGURATION, ELSEWHERE, check_output, run_check, write_page, writing
from recuse.data.registry import IMPORTED_SCALES, files_in
from recuse.imports.words import fault
from recuse.inputs import inputs_in
from recuse.pipeline import in_folder, pipeline


def add_commands(command: Callable) -> None:
    """Add `import`; command: adds one, and returns its parser."""
    words = (
        "Import the ratings or verdicts of a study, with the human scores, into one table, and"
        " count what was imported. With --guess, write a configuration for files: `recuse import"
        " --guess judged.csv human.csv`."
    )
    example = "recuse import mine.yaml --output all.csv"
    into = command("import", run_import, "write a study's files as one table", words, example)
    into.add_argument(
        "files",
        nargs="+",
        metavar="file",
        help="YAML file with a study that has `import`; with --guess, files of ratings or verdicts",
    )
    into.add_argument("--study", help="the study; default: the only one in the file")
    into.add_argument(
        "--guess",
        action="store_true",
        help="write a YAML file that imports these files, with each guess marked, and check it",
    )
    into.add_argument(
        "--output", help="CSV or parquet file to write; with --guess, YAML file, default: mine.yaml"
    )


# The error about an argument of the command, or a file that it names
refused = partial(fault, error=ConfigError)


def run_import(arguments: Namespace) -> None:
    """Write the rows of a study that `import` describes as one table, and what was imported to the
    standard output.

    Ratings and human scores are in the units of the study's files.
    """
    from recuse.config.load import load_studies
    from recuse.config.read import read
    from recuse.data.ratings import in_units

    check_output(arguments.output)
    if arguments.guess:
        _guess(arguments.files, arguments.output or "mine.yaml")
        return
    settings, *others = arguments.files
    if others:
        raise refused(others[0], "two_files")
    if arguments.output is None or Path(arguments.output).suffix not in (".csv", ".parquet"):
        raise refused(f"--output: {arguments.output or 'missing'}", "no_table")
    studies, added = load_studies(settings), read(Path(settings))
    several = inputs_in(studies, added, arguments.study, compared=True)
    inputs, *others = several
    if others:
        names = [each.study.name for each in several]
        raise refused("--study", "several_studies", settings=settings, studies=names)
    if inputs.study.settings.import_ is None:
        raise refused(f"config: {inputs.study.name}", "no_import")
    with in_folder(inputs) as folder:
        table = pipeline(inputs, folder).inputs.files[0].path  # refuses what a run would refuse
        counts = [
            f"{row['file']}: {row['kind']}: {int(row['n']):,}"
            for row in read_table(f"{folder}/imported.csv")
        ]
        steps = (read_footer(table, IMPORTED_SCALES) or {}).get("steps", {})
        rows, table = (
            in_units([table], steps, ("rating", "gt")),
            f"{folder}/rows{Path(arguments.output).suffix}",
        )
        connect().execute(f"copy ({rows}) to {text(table)}")
        with (
            writing(f"--output: {arguments.output}", ELSEWHERE),
            replacing(arguments.output) as part,
        ):
            copyfile(table, part)
    write_page("".join(f"{line}\n" for line in [*counts, f"Written: {arguments.output}"]))


def _guess(paths: Sequence[str], output: str) -> None:
    """Write what imports these files to a YAML file, with each guess marked, and check it;
    ConfigError if the file exists.
    """
    from recuse.config.load import load
    from recuse.imports.guess import ASKED, guess

    if exists(output):
        raise refused(f"--output: {output}", "exists")
    if not output.endswith(CONFIGURATION):
        raise refused(f"--output: {output}", "no_settings", suffixes=CONFIGURATION)
    for path in paths:
        if path.endswith(CONFIGURATION):
            raise refused(path, "settings")
        if not exists(path):
            raise refused(path, "nothing_to_guess")
    settings = load(None)
    limits = {
        "files": [path for each in paths for path in files_in(each)],
        "longest_line": int(parse_bytes(settings.line_limit)),
    }
    with (
        TemporaryDirectory() as place,
        bounded(settings.memory_limit, f"{place}/work", **limits),
        redirect_stdout(StringIO()),
    ):
        text = guess(paths)  # the check prints the same lines again
    with writing(f"--output: {output}", ELSEWHERE), replacing(output) as part:
        Path(part).write_text(text, "utf-8")
    write_page(f"Written: {output}. Check each line of it that says `guessed`.\n\n{text}\n")
    asked = [line.strip() for line in text.splitlines() if f":  # {ASKED}" in line]
    if asked:
        raise ConfigError(*refused(output, "open_questions", output=output).args, *asked)
    run_check(Namespace(files=[output], study=None, config=None, output=None))
