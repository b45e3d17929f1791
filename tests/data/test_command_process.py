"""The command `fit` as a process: what it reads, where it writes, and what it says in one line instead of failing halfway."""

import errno
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from recuse.base.errors import ConfigError
from recuse.cli import write_output

SMOKE = ROOT / "tests" / "smoke"
RATINGS = str(SMOKE / "ratings.csv")
MINE = (RATINGS, "--study", "mine", "--config", str(SMOKE / "config.yaml"))


def command(*arguments, folder=ROOT, redirected=""):
    """Run it by a shell, which redirects; status, standard output and standard error."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "recuse", "fit", *arguments],
        cwd=folder, env=environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode()


def test_threads_are_set_before_numpy_is_imported():
    command = [sys.executable, "-c", "import sys, recuse.cli; sys.exit('numpy' in sys.modules)"]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "lib")}, check=True)


@pytest.fixture(scope="module")
def table():
    """What it writes to the standard output."""
    status, written, said = command("tests/smoke/ratings.csv", "--config", "tests/smoke/config.yaml")  # the study of this file
    assert status == 0
    assert "main: not estimable: family_bias of " in said
    return written


def test_file_is_written_whole(table, tmp_path):
    output = tmp_path / "main.csv"
    output.write_text("of before", "utf-8")
    assert command(*MINE, "--output", str(output))[:2] == (0, b"")
    assert output.read_bytes() == table
    assert command(*MINE, "--output", "/dev/stdout")[:2] == (0, table)
    assert os.listdir(tmp_path) == ["main.csv"]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no/main.csv", "--output: no/main.csv: there is no folder no; make it"),
        (".", "--output: .: a folder; name a file in it"),
    ],
)
def test_output_is_checked_before_any_row_is_read(output, said, tmp_path):
    status, written, found = command("none.csv", "--output", output, folder=tmp_path)
    assert (status, written) == (1, b"")
    assert found.startswith(f"error: {said}")
    assert found.count("\n") == 1


def test_file_stays_as_it_was_where_the_write_fails(monkeypatch, tmp_path):
    def write_half(path, columns, rows):
        path.write_text("half", "utf-8")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("recuse.cli.write_table", write_half)
    output = tmp_path / "main.csv"
    output.write_text("of before", "utf-8")
    with pytest.raises(ConfigError, match=r"--output: .*main\.csv: No space left on device; name a file that can be written"):
        write_output(str(output), ("study",), ())
    assert output.read_text("utf-8") == "of before"
    assert os.listdir(tmp_path) == ["main.csv"]


@pytest.mark.parametrize(
    ("redirected", "status", "said"),
    [
        (">/dev/full", 1, "error: the standard output: No space left on device; name a file that can be written by --output\n"),
        (">&-", 0, "main: not estimable: "),
        (">&- 2>&-", 0, ""),
        ("| true", 0, "main: not estimable: "),
    ],
)
def test_standard_output_that_takes_no_table(redirected, status, said):
    found, written, errors = command(*MINE, redirected=redirected)
    assert (found, written) == (status, b"")
    assert errors.startswith(said)
    assert "Traceback" not in errors


def test_what_is_no_file_is_named(tmp_path):
    config = ("--config", str(SMOKE / "config.yaml"), "--study", "mine")
    os.mkfifo(tmp_path / "pipe")
    name = b"\xff.csv"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
        file.write(b"judge\n")
    for path, said in (
        ("pipe", "error: pipe: a folder or a pipe, and files are read more than once; save it as a CSV or parquet file\n"),
        (os.fsdecode(name), r"error: '\udcff.csv': the name is not UTF-8; rename the file" + "\n"),
        ("none.csv", "error: none.csv: no such file; name an existing CSV or parquet file in config\n"),
    ):
        assert command(path, *config, folder=tmp_path) == (1, b"", said)


def test_settings_are_checked_before_any_row_is_read(tmp_path):
    (tmp_path / "mine.yaml").write_text("specs: {mine: {slise: dimension}}\n", "utf-8")
    for arguments, said in (
        (("none.csv",), "config: studies: none has the files none.csv; describe their study under `studies:` of a file"),
        (("none.csv", "--study", "twim"), "config: --study: 'twim' is not one of studies; did you mean 'twin'?"),
        (("none.csv", "--study", "twin", "--spec", "mian"), "config: --spec: 'mian' is not one of specs; did you mean 'main'?"),
        (("none.csv", "--config", "mine.yaml"), "config: specs: mine: unknown key 'slise'; did you mean 'slice'?"),
        (("none.csv", "--config", "none.yaml"), "none.yaml: no such file"),
    ):
        status, written, found = command(*arguments, folder=tmp_path)
        assert (status, written) == (1, b"")
        assert found.startswith(f"error: {said}")
