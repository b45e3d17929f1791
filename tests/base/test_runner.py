"""A rule's script as a plain function: its arguments, and where its messages go."""

from types import SimpleNamespace

import duckdb
import numpy as np
import pytest
from snakemake.iocontainers import InputFiles, OutputFiles, Params, ResourceList, Wildcards

from recuse.base.database import connect, files, write_parquet, write_rows
from recuse.base.errors import DataError
from recuse.base.outputs import empty_folder, work_folder_of
from recuse.base.runner import arguments, run

REFUSED = (
    "from '{folder}/other.parquet'",
    "from read_text('/etc/passwd')",
    "from glob('{folder}/*')",
    "copy (select 1) to '{folder}/new.csv'",
    "copy (select 1) to '{folder}/remarks.csv.unsorted/../new.csv'",
    "attach '{folder}/new.db'",
    "from 'https://example.org/x.parquet'",
    "install httpfs",
    "load httpfs",
    "set threads = 4",
    "set enable_external_access = true",
    "set allowed_directories = ['/']",
)


@pytest.fixture
def job(tmp_path):
    """What Snakemake passes to a script."""
    return SimpleNamespace(
        input=InputFiles(fromdict={"cells": "cells.parquet", "ratings": ["1.parquet"], "raters": [], "code": ["fit.py"]}),
        output=OutputFiles(fromdict={"remarks": str(tmp_path / "remarks.csv"), "estimates": ["main.csv", "gam.csv"]}),
        params=Params(fromdict={"seed": None, "specs": {"main": {}}}),
        wildcards=Wildcards(fromdict={"study": "twin"}),
        resources=ResourceList(fromdict={"mem_mb": 1000}),
        log=[str(tmp_path / "fit.log")],
        config={"memory_limit": "1GB", "line_limit": "2MB"},
    )


def test_arguments_by_name_keep_lists_of_files(job):
    def fit(*, study, cells, ratings, raters, specs, seed, estimates, few=3):
        pass

    assert arguments(fit, job) == {
        "study": "twin",
        "cells": "cells.parquet",
        "ratings": ["1.parquet"],
        "raters": [],
        "specs": {"main": {}},
        "seed": None,
        "estimates": ["main.csv", "gam.csv"],
    }


def test_all_inputs_outputs_and_params_without_the_code(job):
    def fit(*, inputs, outputs, params, config):
        pass

    assert arguments(fit, job) == {
        "inputs": {"cells": "cells.parquet", "ratings": ["1.parquet"], "raters": []},
        "outputs": {"remarks": job.output.remarks, "estimates": ["main.csv", "gam.csv"]},
        "params": {"seed": None, "specs": {"main": {}}},
        "config": job.config,
    }


def test_name_that_the_rule_lacks_or_has_twice(job):
    def fit(*, study, spec):
        pass

    with pytest.raises(TypeError, match="fit: spec: none of the rule's names"):
        arguments(fit, job)
    job.params = Params(fromdict={"study": "another"})
    with pytest.raises(TypeError, match="fit: study: several of the rule's names"):
        arguments(fit, job)


def test_script_runs_within_its_log_and_memory(job, tmp_path, capsys):
    def fit(*, remarks):
        print("2 specs")
        (limit, folder), *_ = (
            connect().sql("select current_setting('memory_limit'), current_setting('temp_directory')").fetchall()
        )
        (tmp_path / remarks).write_text(f"{limit} {folder}")

    run(fit, job)
    assert (tmp_path / "fit.log").read_text() == "2 specs\n"
    assert (tmp_path / "remarks.csv").read_text() == f"572.2 MiB {tmp_path}/fit.log.spill"  # 0.6 of 1000 MB
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "fit.log.spill").exists()


def test_database_opens_no_file_but_the_rules(job, tmp_path):
    def fit(*, cells, remarks):
        write_rows(connect(), "select 2 as a", remarks)
        with empty_folder(work_folder_of(remarks)) as folder:
            write_rows(connect(), f"from {files([cells])}", f"{folder}/rows.parquet")
        for statement in REFUSED:
            with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
                connect().execute(statement.format(folder=tmp_path))

    job.input = InputFiles(fromdict={"cells": str(tmp_path / "cells.parquet")})
    for name in ("cells.parquet", "other.parquet"):
        write_parquet({"a": np.arange(2)}, str(tmp_path / name))
    run(fit, job)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cells.parquet", "fit.log", "other.parquet", "remarks.csv"]


def test_error_of_the_project_is_one_sentence_in_the_log_and_on_the_terminal(job, tmp_path, capsys):
    def fit():
        raise DataError("a.csv, line 2: found 'x'")

    with pytest.raises(SystemExit):
        run(fit, job)
    assert (tmp_path / "fit.log").read_text() == "error: a.csv, line 2: found 'x'\n"
    assert capsys.readouterr().err == "error: a.csv, line 2: found 'x'\n"


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b"x"])
def test_result_that_was_cut_off_is_named(job, tmp_path, monkeypatch, capsys, content):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results" / "cells.parquet"
    path.parent.mkdir()
    path.write_bytes(content)
    job.input = InputFiles(fromdict={"cells": "results/cells.parquet", "code": []})
    with pytest.raises(SystemExit):
        run(lambda *, cells: connect().execute(f"from '{cells}'"), job)
    message = capsys.readouterr().err
    assert message.startswith("error: results/cells.parquet: ")
    assert message.endswith("; delete it and run again, which makes it anew\n")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "a.csv"), "error: a.csv: Permission denied; allow access, or name another"),
        (OSError(27, "File too large", "a.csv"), "error: a.csv: File too large; the system limits the size of files: raise"),
        (KeyError("x" * 5000), "error: KeyError in runner.py, line "),
    ],
)
def test_any_other_error_is_one_sentence_too(job, tmp_path, capsys, error, message):
    def fit():
        raise error

    with pytest.raises(SystemExit):
        run(fit, job)
    text = capsys.readouterr().err
    assert text.startswith(message)
    assert text.count("\n") == 1
    assert len(text) < 600
    assert ("Traceback" in (tmp_path / "fit.log").read_text()) == isinstance(error, KeyError)
