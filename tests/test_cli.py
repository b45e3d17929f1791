"""The command recuse: fit has the numbers and messages of the workflow, and fails in one line."""

import errno
import gzip
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import yaml

from conftest import CONFIG, ROOT, built
from rated_tables import FIVE, rated, write_rows
from recuse import commands
from recuse.base.errors import ConfigError, DataError, RecuseError
from recuse.base.tables import read_table, write_table
from recuse.cli import main
from recuse.commands import write_output
from recuse.config.load import load, with_study
from recuse.config.studies import studies_in
from recuse.data.files import RatingsFile
from recuse.data.lines import check_declared
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.inputs import inputs_from_files
from recuse.model.estimates import ESTIMATES, estimate
from recuse.model.spec import Spec
from recuse.pipeline import RatingsPipeline, in_folder
from recuse.workflow.start import copy_example
from text_tables import cases

pytestmark = pytest.mark.usefixtures("own_folder")

HEADER = "judge,model,gt,dataset,prompt_id,rating,pred_length,dimension"
ROWS = (ROOT / "tests" / "smoke" / "ratings.csv").read_text("utf-8").splitlines()[1:]
SCALES = {"Tone": [1, 5], "Usefulness": [1, 5]}
STRAIGHT = [name for name, spec in Spec.from_config(CONFIG["specs"]).items() if not spec.needs]


@pytest.fixture
def fit(run_command):
    """Run the command on a study `mine`; returns status, table (None if there is none) and standard
    error.
    """

    def fit(*files, spec="main", scales=SCALES, added=(), **settings):
        output = Path("estimates.csv")
        output.unlink(missing_ok=True)
        study = {"title": "mine", "files": "ratings.csv", "scales": scales, **settings}
        config = {"studies": {"mine": study}, **dict(added)}
        Path("mine.yaml").write_text(yaml.safe_dump(config), "utf-8")
        options = {"study": "mine", "spec": spec, "config": "mine.yaml", "output": output.name}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        status, _, error = run_command("fit", *files, *words)
        return status, output.read_bytes() if output.exists() else None, error

    return fit


@pytest.fixture
def built_here(tmp_path):
    """The study `mine` of these files, as the workflow's steps build it."""

    def build(*files, scales=SCALES):
        registry = Registry.from_config(CONFIG["models"])
        return built(tmp_path, "mine", StudyFiles(files, scales, {}, registry))

    return build


@pytest.fixture
def expected(built_here):
    """Equation 1 by the workflow's steps: the table, or the message of the error."""

    def steps(*files, **scales):
        try:
            return table_of_estimates(built_here(*files, **scales), "main")
        except RecuseError as error:
            return f"error: {error}\n"

    return steps


def table_of_estimates(study, spec, settings=CONFIG):
    """What the workflow's step writes."""
    of_spec = Spec.of(spec, **settings["specs"][spec])
    estimated = estimate(of_spec, study, confidence=settings["confidence"], seed=settings["seed"])
    write_table("expected.csv", ESTIMATES, estimated.estimates)
    return Path("expected.csv").read_bytes()


@pytest.fixture
def straight(monkeypatch):
    """Let the command fail from now on if it writes the table of all ratings."""
    return lambda: monkeypatch.setattr("recuse.data.shards.write_sorted", None)


def write(path, rows=ROWS, header=HEADER):
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
        file.write("\n".join([header, *rows, ""]))
    return path


def swapped(row, **fields):
    """A row with other values in some columns."""
    return ",".join((dict(zip(HEADER.split(","), row.split(","), strict=True)) | fields).values())


@pytest.fixture(scope="module")
def straight_from_files(twin):
    """The twin as the command counts it; its rows cannot be read any more."""
    raw, settings = twin.cells_from.replace("cells", "raw"), CONFIG["studies"]["twin"]
    about = {key: settings[key] for key in ("title", "scales", "task_types")}
    studies = studies_in(with_study(CONFIG, studies={"mine": {"files": raw, **about}}))
    inputs = inputs_from_files(studies, [(raw, None)], "mine")
    with in_folder(inputs) as folder:
        return RatingsPipeline(inputs, folder).tables


@pytest.mark.parametrize("spec", STRAIGHT)
def test_every_spec_of_cells(spec, twin, straight_from_files):
    table = table_of_estimates(straight_from_files, spec)
    assert table == table_of_estimates(replace(twin, name="mine"), spec)
    assert len(table.splitlines()) > 20


def test_specs_that_read_rows_use_tables(fit, built_here):
    path = write("ratings.csv")
    study = built_here(RatingsFile(path))
    for spec in ("length_control", "llm_reference"):
        assert fit(path, spec=spec)[:2] == (0, table_of_estimates(study, spec))


def test_a_copied_judge_is_left_out_as_in_the_workflow(fit, built_here, straight):
    rows = [row for row in rated() if row["judge"] != FIVE[1]]
    rows += [row | {"judge": FIVE[1]} for row in rows if row["judge"] == FIVE[0]]
    path, scales = "copied.csv", {"Tone": [1, 5]}
    model = CONFIG["specs"]["model_effects"]
    specs = {name: {**model, "covariance": name.upper()} for name in ("cr1", "hc0")}
    write_rows(path, rows)
    study = built_here(RatingsFile(path), scales=scales)
    for spec in specs:
        want = table_of_estimates(study, spec, {**CONFIG, "specs": specs})
        if spec == "hc0":
            straight()
        status, table, said = fit(path, spec=spec, scales=scales, added={"specs": specs})
        assert (status, table) == (0, want)
        assert f"self_bias of {FIVE[1]}: {FIVE[1]} gives the ratings of {FIVE[0]} in 100 %" in said


def test_level_and_seed_are_those_of_config(fit, built_here):
    path = write("ratings.csv")
    study = built_here(RatingsFile(path))
    drawn = {"covariance": "CR1", "bootstrap": 100}
    added = {"specs": {"main": {}, "drawn": drawn}, "confidence": 0.5, "seed": 3}
    for spec in added["specs"]:
        want = table_of_estimates(study, spec, added)
        assert want != table_of_estimates(study, spec, {**added, "confidence": 0.9})
        same = want == table_of_estimates(study, spec, {**added, "seed": 4})
        assert same == (spec == "main")
        assert fit(path, spec=spec, added=added)[:2] == (0, want)


def test_too_many_rows_for_memory(fit):
    status, table, error = fit(write("ratings.csv"), added={"memory_limit": "3MB"})
    assert (status, table) == (1, None)
    assert error.startswith("error: config: memory_limit: 3MB: too little for this study")


INCOMPLETE = [
    swapped(ROWS[0], rating=""),
    swapped(ROWS[1], gt="NA"),
    swapped(ROWS[2], pred_length="null"),
    *ROWS[3:],
]
IN_OTHER_NOTATION = [
    swapped(row, gt=f"{float(row.split(',')[2]):.2f}", pred_length="1e2") for row in ROWS[::2]
]
FORMS = {
    "incomplete rows": INCOMPLETE,
    "no human scores": [swapped(row, gt="") for row in ROWS],
    "numbers in other notation, no lengths, two spellings of a model": [
        *IN_OTHER_NOTATION,
        *(swapped(row.replace("gpt-4o", "GPT-4o"), pred_length="") for row in ROWS[1::2]),
    ],
    "a judge without a complete row": [
        swapped(row, rating="") if row.startswith("GPT-3.5 Turbo,") else row for row in ROWS
    ],
}


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
def test_rows_in_every_form(rows, fit, expected, straight):
    path = write("ratings.csv.gz", rows)
    want = expected(RatingsFile(path))
    if (
        rows is not INCOMPLETE
    ):  # where some lack human scores, prompts are counted among all ratings
        straight()
    *found, said = fit(path)
    assert found == [0, want]
    refused = "main: not estimable: the fit: no row has a human score" in said
    assert refused == (rows is FORMS["no human scores"])


def test_a_file_for_each_dimension_in_any_order_of_rows(fit, expected, straight):
    header, files = HEADER.removesuffix(",dimension"), []
    for name in ("Usefulness", "Tone"):
        rows = sorted(row.removesuffix(f",{name}") for row in ROWS if row.endswith(name))
        files.append(RatingsFile(write(f"{name}.csv", rows[::-1], header), name))
    want = expected(*files)
    assert want == expected(RatingsFile(write("ratings.csv")))
    straight()
    assert fit(*(f"{file.dimension}={file.path}" for file in files))[:2] == (0, want)


def test_observed_scale(fit, expected, straight):
    path, scales = write("ratings.csv"), {"Tone": "observed", "Usefulness": [1, 5]}
    want = expected(RatingsFile(path), scales=scales)
    straight()
    assert fit(path, scales=scales)[:2] == (0, want)


def faulty(**fields):
    """The rows with other values in one of them."""
    return [*ROWS[:7], swapped(ROWS[7], **fields), *ROWS[8:]]


# Every fault of a row is in data/test_ratings
FAULTS = {
    "no length": faulty(pred_length="-3"),
    "unknown judge": faulty(judge="gpt-9"),
    "off its scale": [
        *ROWS[:7],
        swapped(ROWS[7], rating="94"),
        swapped(ROWS[8], gt="9"),
        *ROWS[9:],
    ],
    "found twice, without a rating": [*ROWS, swapped(ROWS[5], rating="")],
    "too few fields": [*ROWS[:7], "gpt-4o,gpt-4o", *ROWS[8:]],
    "no rows": [],
    "no complete row": [swapped(row, rating="") for row in ROWS],
}


@pytest.mark.parametrize("rows", FAULTS.values(), ids=FAULTS)
def test_faults_are_named_as_by_the_workflow(rows, fit, expected):
    path = write("ratings.csv", rows)
    want = expected(RatingsFile(path))
    assert want.startswith(f"error: {path}")
    assert fit(path) == (1, None, want)


def test_faults_of_several_files(fit, expected):
    one, other = write("a.csv", ROWS[:70]), write("b.csv", ROWS[69:])
    want = expected(RatingsFile(one), RatingsFile(other))
    assert "are already in" in want
    assert fit(one, other) == (1, None, want)
    renamed = HEADER.replace("gt", "human")
    for other in (write("b.csv", []), write("c.csv", ROWS[70:], renamed), "none.csv"):
        assert fit(one, other) == (1, None, expected(RatingsFile(one), RatingsFile(other)))


SMOKE = ROOT / "tests" / "smoke"
RATINGS = str(SMOKE / "ratings.csv")
MINE = (RATINGS, "--study", "mine", "--config", str(SMOKE / "config.yaml"))


def command(script, *arguments):
    """Run `recuse fit` with these arguments as "$@" of a script; status and standard error."""
    fit = [sys.executable, "-m", "recuse", "fit", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    done = subprocess.run(
        ["sh", "-c", script, "sh", *fit], env=environment, stderr=subprocess.PIPE, timeout=60
    )
    return done.returncode, done.stderr.decode()


def test_threads_are_set_before_numpy_is_imported():
    command = [sys.executable, "-c", "import sys, recuse.cli; sys.exit('numpy' in sys.modules)"]
    subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "lib")}, check=True
    )


def test_file_is_replaced_as_a_whole(run_command, tmp_path):
    status, table, error = run_command("fit", *MINE)
    assert status == 0
    assert "main: not estimable: family_bias of " in error
    output = Path("main.csv")
    output.write_text("of before", "utf-8")
    assert run_command("fit", *MINE, "--output", "main.csv")[:2] == (0, "")
    assert output.read_text("utf-8") == table
    assert os.listdir(tmp_path) == ["main.csv"]
    # A pipe cannot be replaced
    read, written = os.pipe()
    assert run_command("fit", *MINE, "--output", f"/dev/fd/{written}")[:2] == (0, "")
    os.close(written)
    with open(read, "rb") as pipe:
        assert pipe.read() == table.encode()


def test_output_is_checked_before_any_row_is_read(run_command):
    status, written, error = run_command("fit", "none.csv", "--output", ".")
    assert (status, written) == (1, "")
    (line,) = error.splitlines()
    assert line.startswith("error: --output: .: a folder; name a file in it")


def test_file_is_unchanged_if_the_write_fails(tmp_path):
    def half_of_the_rows():
        yield {"study": "mine"}
        raise OSError(errno.ENOSPC, "No space left on device")

    output = Path("main.csv")
    output.write_text("of before", "utf-8")
    with pytest.raises(
        ConfigError,
        match=r"--output: .*main\.csv: No space left on device; name a file that can be written",
    ):
        write_output(str(output), ("study",), half_of_the_rows())
    assert output.read_text("utf-8") == "of before"
    assert os.listdir(tmp_path) == ["main.csv"]


def test_a_full_standard_output_is_an_error(run_command, monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        status, _, error = run_command("fit", *MINE)
    assert (status, error) == (
        1,
        "error: the standard output: No space left on device; name a file that can be written by"
        " --output\n",
    )


def test_a_reader_that_has_gone_is_no_error(run_command, monkeypatch):
    """As with `| true`."""
    read, written = os.pipe()
    os.close(read)
    with open(written, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        status, _, error = run_command("fit", *MINE)
    assert status == 0
    assert error.startswith("main: not estimable: ")


def test_standard_output_and_error_may_be_closed():
    assert command('exec "$@" >&- 2>&-', *MINE) == (0, "")


def test_invalid_files_are_named(run_command):
    os.mkfifo("pipe")
    name = os.fsdecode(b"\xff.csv")
    Path(name).write_text("judge\n", "utf-8")
    for path, message in (
        (
            "pipe",
            "pipe: found a folder or a pipe; write a CSV or parquet file, which can be read more"
            " than once",
        ),
        (name, r"'\udcff.csv': the name is not UTF-8; rename the file"),
    ):
        assert run_command("fit", path, *MINE[1:]) == (1, "", f"error: {message}\n")


def test_no_temporary_folder():
    """As under `ulimit -f 0`, which forbids every file."""
    path = write("ratings.csv")
    status, error = command('ulimit -f 0; exec "$@"', path, "--study", "twin")
    assert status == 1
    words = "the folder of temporary files: No usable temporary directory; set TMPDIR to a folder"
    assert error.startswith(f"error: {words}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    cases("""
none.csv --study twin --spec mian
    config: --spec: 'mian' is not one of specs; did you mean 'main'?
none.csv --config mine.yaml
    mine.yaml, line 1: specs: mine: slise: unknown key; did you mean 'slice'?
"""),
)
def test_settings_are_checked_before_any_row_is_read(run_command, arguments, message):
    Path("mine.yaml").write_text("specs: {mine: {slise: dimension}}\n", "utf-8")
    status, written, error = run_command("fit", *arguments.split())
    assert (status, written) == (1, "")
    assert error.startswith(f"error: {message}")


STUDY = "{title: t, scales: {Tone: [1, 5], Usefulness: [1, 5]}, files: "
STUDIES = f"""
studies:
  one: {STUDY}one.csv}}
  parts: {STUDY}parts/}}
  two: {STUDY}{{Tone: tone.csv, Usefulness: usefulness.csv}}}}
  both: {STUDY}{{Tone: tones, Usefulness: usefulness.csv}}}}
  none: {STUDY}empty}}
"""


@pytest.fixture
def config():
    Path("studies.yaml").write_text(STUDIES, "utf-8")
    files = "parts/1.parquet parts/2.parquet parts/.hidden.parquet tones/1.parquet tones/notes.txt"
    for path in map(Path, files.split()):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    Path("empty").mkdir()
    return load("studies.yaml")


def named(text):
    """The files of a text, each with its dimension, if it is named before it."""
    files = [word.rpartition("=") for word in text.split()]
    return [(path, dimension if equals else None) for dimension, equals, path in files]


def found(config, name, files):
    """The name of the study, and its files."""
    inputs = inputs_from_files(studies_in(config), files, name)
    return inputs.study.name, [(file.path, file.dimension) for file in inputs.files]


# Files on the command line, and below them the study and its files
FOUND = """
one.csv
    one one.csv
./one.csv
    one ./one.csv
parts
    parts parts/1.parquet parts/2.parquet
parts/1.parquet parts/2.parquet
    parts parts/1.parquet parts/2.parquet
parts/2.parquet parts/1.parquet
    parts parts/2.parquet parts/1.parquet
tone.csv usefulness.csv
    two Tone=tone.csv Usefulness=usefulness.csv
usefulness.csv tone.csv
    two Usefulness=usefulness.csv Tone=tone.csv
Tone=tone.csv usefulness.csv
    two Tone=tone.csv Usefulness=usefulness.csv
tones usefulness.csv
    both Tone=tones/1.parquet Usefulness=usefulness.csv
Tone=tones usefulness.csv
    both Tone=tones/1.parquet Usefulness=usefulness.csv
"""


@pytest.mark.parametrize(("given", "expected"), cases(FOUND))
def test_study_is_the_one_with_the_files_and_gives_their_dimensions(config, given, expected):
    study, _, files = expected.partition(" ")
    assert found(config, None, named(given)) == (study, named(files))
    assert found(config, study, named(given)) == (study, named(files))


def test_other_files_belong_to_the_study_that_is_named(config):
    files = named("other.csv Tone=tone.csv")
    assert found(config, "two", named("other.csv tone.csv")) == ("two", files)
    files = named("Usefulness=tones/1.parquet")
    assert found(config, "one", named("Usefulness=tones")) == ("one", files)


# The study, `-` if none is named, and files; below them the error
UNFIT = """
- parts/1.parquet
    studies: none has the files parts/1.parquet; name by --study
- parts/1.parquet parts/2.parquet one.csv
    studies: none has the files parts/1.parquet, parts/2.parquet, one.csv
ones one.csv
    --study: 'ones' is not one of studies; did you mean 'one'?
- empty
    'empty': the folder holds no *.parquet; put the parts into it
one empty
    'empty': the folder holds no *.parquet; put the parts into it
one Tne=one.csv
    studies: one: Tne=one.csv: 'Tne' is not one of its scales; did you mean 'Tone'?
one =one.csv
    studies: one: =one.csv: '' is not one of its scales; known: Tone, Usefulness
- Usefulness=tone.csv Usefulness=usefulness.csv
    two: files: tone.csv is of Tone; found Usefulness=tone.csv, write Tone=
"""


@pytest.mark.parametrize(("given", "message"), cases(UNFIT))
def test_files_and_dimensions_that_do_not_fit_are_named(config, given, message):
    study, _, files = given.partition(" ")
    with pytest.raises(ConfigError, match=re.escape(message)):
        found(config, None if study == "-" else study, named(files))


def test_a_path_from_the_root_is_that_of_config(config):
    """Relative on the command line and from the root in config, or the reverse, also of a folder or
    of what is declared.
    """
    Path("a.csv").write_text("judge\n1\n", "utf-8")
    ways = ("a.csv", os.path.abspath("a.csv"))
    for written, other in (ways, ways[::-1]):
        arena = {"title": "t", "import": {"files": written}}
        study = arena | {"scales": {"Tone": [1, 5]}}
        for kind, described in (("studies", study), ("comparisons", arena)):
            both = with_study(config.as_written(), **{kind: {"own": described}})
            compared = kind == "comparisons"
            inputs = inputs_from_files(studies_in(both), [(other, None)], compared=compared)
            assert inputs.study.name == "own"
        words = re.escape(f"{other}: it holds 1 row, but config declares 2")
        with pytest.raises(DataError, match=words):
            check_declared([other], {written: {"rows": 2}})
    parts, tone = map(os.path.abspath, ("parts", "tone.csv"))
    assert found(config, None, [(parts, None)])[0] == "parts"
    files = named("tone.csv Usefulness=usefulness.csv")
    files[0] = (tone, None)
    assert found(config, None, files)[1][0] == (tone, "Tone")


def test_settings_are_guessed_written_once_and_checked(run_command):
    """The example's, from its two tables alone; an existing file stays as it is."""
    tables = ("judged.csv", "human.csv")
    for name in tables:
        shutil.copy(ROOT / "docs" / "example" / name, name)
    guess = ("import", "--guess", *tables, "--output", "ours.yaml")
    status, page, _ = run_command(*guess)
    assert status == 0
    assert page.startswith("Written: ours.yaml. Check each line of it that says `guessed`.")
    assert "judge: grader  # guessed: by its name, 5 names" in page
    assert "supports: self-bias of 5 of 5 judges (A, B, C)" in page
    written = Path("ours.yaml").read_text("utf-8")
    status, _, error = run_command(*guess)
    assert status == 1
    assert "error: --output: ours.yaml: there already; name another file, or delete it" in error
    assert Path("ours.yaml").read_text("utf-8") == written
    status, _, error = run_command("import", *tables, "--output", "all.csv")
    assert status == 1
    assert "name one YAML file, or write one for these files by --guess" in error
    for name, problem in (
        ("ours.yaml", "found settings; name the files of judgments"),
        ("absent.csv", "no such file; name an"),
    ):
        status, _, error = run_command("import", "--guess", name, "--output", "new.yaml")
        assert status == 1
        assert error.startswith(f"error: {name}: {problem}")
        assert not Path("new.yaml").exists()


def test_what_a_guess_asks_is_printed_and_nothing_is_checked(run_command):
    rows = "".join(f"gpt-4o,{n},gpt-4o,claude-3,{n % 2}\n" for n in range(40))
    Path("pairs.csv").write_text("judge,item,model_a,model_b,winner\n" + rows, "utf-8")
    status, page, error = run_command("import", "--guess", "pairs.csv")
    assert status == 1
    assert "write what is asked in it, then run `recuse check mine.yaml`" in error
    assert "values:  # asked: which answer won where the file says 0 or 1?" in error
    assert "what these comparisons support" not in page
    status, _, error = run_command("check", "mine.yaml")
    assert status == 1
    assert "import: values: is empty; it should be a mapping" in error


def test_a_guess_does_not_advise_to_guess(run_command):
    rows = "".join(f"gpt-4o,claude-3,{n},word {n % 70}\n" for n in range(140))
    Path("words.csv").write_text("judge,model,prompt,remark\n" + rows, "utf-8")
    status, _, error = run_command("import", "--guess", "words.csv")
    assert status == 1
    assert "words.csv, line 1, column rating: missing" in error
    assert "--guess" not in error


def test_what_a_guess_prints_is_printed_once(run_command):
    shutil.copy(ROOT / "tests" / "formats" / "inspect.json", ".")
    _, out, err = run_command("import", "--guess", "inspect.json")
    assert "Written: mine.yaml" in out
    assert (out + err).count("left out, as no judge's: ") == 1


@pytest.fixture
def alone(run_command):
    """Run a command on a YAML file of two studies, `a` and `b`, and comparisons; status, standard
    output and error.
    """
    write("a.csv"), write("b.csv", ROWS[:72])
    shutil.copy(SMOKE / "verdicts.csv", "v.csv")
    studies = {
        name: {"title": "t", "files": f"{name}.csv", "scales": SCALES} for name in ("a", "b")
    }

    def alone(*arguments, studies=studies, **added):
        Path("mine.yaml").write_text(yaml.safe_dump({"studies": studies, **added}), "utf-8")
        return run_command(*arguments)

    return alone


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_imported_rows_are_in_the_units_of_the_files(alone, suffix):
    """Also where steps are fractions, and scores between two of them."""
    rows = ["j,m,1,1.5,2.5,half", "j,m,2,3.5,2.75,half", "j,m,1,2,1,whole", "j,m,2,0.3,0.1,tenth"]
    Path("h.csv").write_text(
        "\n".join(["judge,model,prompt,rating,human,dimension", *rows]), "utf-8"
    )
    scales = {"half": [1, 5], "whole": [1, 5], "tenth": [0, 1]}
    study = {"title": "t", "import": {"files": "h.csv"}, "scales": scales}
    assert alone("import", "mine.yaml", "--output", f"all.{suffix}", studies={"h": study})[0] == 0
    values = duckdb.sql(f"select rating, gt from 'all.{suffix}' order by source_record").fetchall()
    assert values == [(1.5, 2.5), (3.5, 2.75), (2, 1), (0.3, 0.1)]


ARENA = {"comparisons": {"v": {"title": "t", "files": "v.csv"}}}


def test_a_configuration_alone_names_its_studies(alone):
    """`check` writes a page for each, `fit` takes one; both as with the files named once more."""
    named = alone("check", "b.csv", "--config", "mine.yaml", **ARENA)
    chosen = alone("check", os.path.abspath("mine.yaml"), "--study", "v", **ARENA)
    status, page, error = alone("check", "mine.yaml", "--output", "check.csv", **ARENA)
    assert status == max(named[0], chosen[0]) == 1  # eight verdicts support nothing
    for text, study in ((named[1], "b"), (chosen[1], "v"), (page, "a")):
        assert text.startswith(f"{study}: ")
    assert page.endswith(f"\n{named[1]}\n{chosen[1]}")
    assert error.endswith(named[2] + chosen[2])
    assert {row["study"] for row in read_table("check.csv")} == {"a", "b", "v"}
    fitted = alone("fit", "b.csv", "--config", "mine.yaml", **ARENA)
    assert fitted[0] == 0
    assert alone("fit", "mine.yaml", "--study", "b", **ARENA) == fitted


@pytest.mark.parametrize(
    ("arguments", "message"),
    cases("""
fit mine.yaml --study v
    config: comparisons: v: these are verdicts on pairs of answers, and `fit` is
check mine.yaml --study c
    config: --study: 'c' is not one of studies and comparisons
check mine.yaml --study twin
    config: studies: twin: has no files of its own; name the files
check mine.yaml a.csv
    mine.yaml: a configuration; name it alone, or name files of a study and pass it by
check mine.yaml --config mine.yaml
    mine.yaml: a configuration; name it alone, or name
check none.yaml
    none.yaml: no such file; name an existing YAML file
"""),
)
def test_a_configuration_alone_that_does_not_say_enough(alone, arguments, message):
    status, page, error = alone(*arguments.split(), **ARENA)
    assert (status, page) == (1, "")
    assert error.startswith(f"error: {message}")


def test_which_studies_of_a_configuration_there_are_is_said(alone):
    """Comparisons cannot be fitted."""
    words = "name one by --study: a, b\n"
    assert alone("fit", "mine.yaml", **ARENA)[2].endswith(f"has several studies; {words}")
    error = alone("fit", "mine.yaml", studies={}, **ARENA)[2]
    assert "`fit` is for ratings; build the report" in error
    error = alone("check", "mine.yaml", studies={})[2]
    assert error.startswith("error: config: no study with files; describe one under ")


@pytest.mark.parametrize(
    ("setting", "message"),
    cases("""
judge: grader -> judge: gradr
    mine.yaml, line 8: judged.csv, line 1, column gradr: missing; found
files: judged.csv -> files: jugded.csv
    mine.yaml, line 7: jugded.csv: no such file; name an
second] -> secnd]
    mine.yaml, line 12: human.csv, line 1, column secnd: missing;
simulated: true -> figures: [verdict]
    mine.yaml, line 5: studies: ours
"""),
)
def test_a_run_stops_before_it_starts_with_the_line_of_check(
    setting, message, tmp_path, run_command
):
    copy_example(str(tmp_path))
    mine = Path("mine.yaml").read_text("utf-8")
    Path("mine.yaml").write_text(mine.replace(*setting.split(" -> ")), "utf-8")
    status, output, errors = run_command("run", "mine.yaml")
    assert (status, output) == (1, "")
    (line,) = errors.splitlines()
    assert line.startswith(f"error: {message}")
    assert not Path("results").exists()


def test_a_study_with_large_files_is_left_to_the_run(tmp_path, monkeypatch):
    copy_example(str(tmp_path))
    mine = Path("mine.yaml").read_text("utf-8").replace("second]", "secnd]")
    Path("mine.yaml").write_text(mine, "utf-8")
    check_limit(monkeypatch, "ours", sum(map(os.path.getsize, ("judged.csv", "human.csv"))))
    Path("parts").mkdir()
    Path("parts", "1.parquet").write_bytes(b"x" * 9_999)
    study = {"title": "mine", "files": "parts", "scales": {"Tone": [1, 5]}}
    Path("mine.yaml").write_text(yaml.safe_dump({"studies": {"mine": study}}), "utf-8")
    check_limit(monkeypatch, "mine", 9_999)


def check_limit(monkeypatch, study, size):
    """Check that a study of this size, in bytes, has a fault, which a lower limit leaves alone."""
    monkeypatch.setattr(commands, "CHECKED_FIRST", size - 1)
    commands.check_first("mine.yaml", [study])
    monkeypatch.setattr(commands, "CHECKED_FIRST", size)
    with pytest.raises(DataError):
        commands.check_first("mine.yaml", [study])


def test_a_mistyped_command_has_the_nearest(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["recuse", "chekc"])
    with pytest.raises(SystemExit):
        main()
    assert "'chekc' is not a command; did you mean 'check'?" in capsys.readouterr().err
