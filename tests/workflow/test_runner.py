"""A rule's script as a plain function: its arguments, and where its messages go."""

import json
from hashlib import sha256
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest
from snakemake.iocontainers import InputFiles, OutputFiles, Params, ResourceList, Wildcards

from recuse.base.database import connect, files, write_parquet, write_rows
from recuse.base.digests import ABSENT
from recuse.base.errors import DataError
from recuse.base.outputs import empty_folder, work_folder
from recuse.data.study import StudyTables
from recuse.workflow.records import content_digests
from recuse.workflow.runner import arguments, run

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
CONTENTS = {"1.parquet": ABSENT, "cells.parquet": sha256(b"cells").hexdigest(), "fit.py": ABSENT}


def named_files(kind, named):
    """All paths in one list, some of them with a name, as Snakemake has them."""
    paths = kind()
    for name, value in named.items():
        start = len(paths)
        paths.extend([value] if isinstance(value, str) else value)
        paths._set_name(name, start, end=None if isinstance(value, str) else len(paths))
    return paths


@pytest.fixture
def job(tmp_path, monkeypatch):
    """What Snakemake passes to a script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "cells.parquet").write_bytes(b"cells")
    return SimpleNamespace(
        input=named_files(
            InputFiles, {"cells": "cells.parquet", "ratings": ["1.parquet"], "raters": []}
        ),
        output=named_files(
            OutputFiles,
            {"remarks": str(tmp_path / "remarks.csv"), "estimates": ["main.csv", "gam.csv"]},
        ),
        params=Params(fromdict={"seed": None, "specs": {"main": {}}, "contents": CONTENTS}),
        rule="fit",
        wildcards=Wildcards(fromdict={"study": "twin"}),
        resources=ResourceList(fromdict={"mem_mb": 1000}),
        log=[str(tmp_path / "logs" / "fit.log")],
        config={
            "memory_limit": "1GB",
            "line_limit": "2MB",
            "hash_always": False,
            "studies": {"twin": {}},
            "comparisons": {},
        },
    )


@pytest.fixture
def failed_log(job, tmp_path):
    """The log of a job that runs this function, which fails."""

    def failed_log(function):
        with pytest.raises(SystemExit):
            run(function, job)
        return (tmp_path / "logs" / "fit.log").read_text()

    return failed_log


def test_arguments_by_name_keep_lists_of_files_and_params_lack_contents(job):
    def fit(
        *, study, ratings, raters, specs, seed, estimates, inputs, outputs, params, config, few=3
    ):
        pass

    assert arguments(fit, job, {}) == {
        "study": "twin",
        "ratings": ["1.parquet"],
        "raters": [],
        "specs": {"main": {}},
        "seed": None,
        "estimates": ["main.csv", "gam.csv"],
        "inputs": {"cells": "cells.parquet", "ratings": ["1.parquet"], "raters": []},
        "outputs": {"remarks": job.output.remarks, "estimates": ["main.csv", "gam.csv"]},
        "params": {"seed": None, "specs": {"main": {}}},
        "config": job.config,
    }


def test_argument_of_a_class_that_is_made_from_files(job):
    def fit(*, tables: StudyTables, seed):
        pass

    tables = StudyTables("twin", "cells.parquet", ["1.parquet"])
    assert arguments(fit, job, {}) == {"tables": tables, "seed": None}


def test_name_that_the_rule_lacks_or_has_twice(job):
    def fit(*, study, spec):
        pass

    with pytest.raises(TypeError, match="fit: spec: none of the rule's names"):
        arguments(fit, job, {})
    job.params = Params(fromdict={"study": "another"})
    with pytest.raises(TypeError, match="fit: study: several of the rule's names"):
        arguments(fit, job, {})


def test_script_runs_within_its_log_and_memory(job, tmp_path, capsys):
    def fit(*, remarks):
        print("2 specs")
        (limit, folder), *_ = (
            connect()
            .sql("select current_setting('memory_limit'), current_setting('temp_directory')")
            .fetchall()
        )
        (tmp_path / remarks).write_text(f"{limit} {folder}")

    run(fit, job)
    assert (tmp_path / "logs" / "fit.log").read_text() == "2 specs\n"
    # 0.6 of 1000 MB
    assert (tmp_path / "remarks.csv").read_text() == f"572.2 MiB {tmp_path}/logs/fit.log.spill"
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "logs" / "fit.log.spill").exists()


def test_database_opens_no_file_but_the_rules(job, tmp_path):
    def fit(*, cells, remarks):
        write_rows(connect(), "select 2 as a", remarks)
        with empty_folder(work_folder(remarks)) as folder:
            write_rows(connect(), f"from {files([cells])}", f"{folder}/rows.parquet")
        for statement in REFUSED:
            with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
                connect().execute(statement.format(folder=tmp_path))

    job.input = InputFiles(fromdict={"cells": str(tmp_path / "cells.parquet")})
    for name in ("cells.parquet", "other.parquet"):
        write_parquet({"a": np.arange(2)}, str(tmp_path / name))
    job.params.contents = content_digests(job.input, ())
    run(fit, job)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "cells.parquet",
        "other.parquet",
        "remarks.csv",
    ]


def test_error_of_the_project_is_one_sentence_in_the_log(failed_log, capsys):
    def fit():
        raise DataError("a.csv, line 2: found 'x'")

    assert failed_log(fit) == "error: a.csv, line 2: found 'x'\n"
    assert capsys.readouterr().err == ""  # the terminal shows the end of the log, once


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            PermissionError(13, "Permission denied", "a.csv"),
            "error: a.csv: Permission denied; allow access, or name another",
        ),
        (
            OSError(27, "File too large", "a.csv"),
            "error: a.csv: File too large; the system limits the size of files: raise",
        ),
        (KeyError("x" * 5000), "error: KeyError in runner.py, line "),
    ],
)
def test_any_other_error_is_one_sentence_too(failed_log, error, message):
    def fit():
        raise error

    *rest, last = failed_log(fit).splitlines()
    assert last.startswith(message)
    assert len(last) < 600
    assert any("Traceback" in line for line in rest) == isinstance(error, KeyError)


def test_record_of_what_a_job_read_and_wrote(job, tmp_path):
    def fit(*, remarks):
        (tmp_path / remarks).write_text("none")

    run(fit, job)
    record = json.loads((tmp_path / "made" / "fit.json").read_text())
    assert record.pop("params").keys() == {"seed", "specs"}
    digest = sha256(b"none").hexdigest()
    outputs = {job.output.remarks: digest, "main.csv": ABSENT, "gam.csv": ABSENT}
    assert record == {"rule": "fit", "contents": CONTENTS, "inputs": {}, "outputs": outputs}
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["fit.json"]


def test_file_that_changes_during_a_run_is_an_error_without_a_record(failed_log, tmp_path):
    def fit(*, cells):
        (tmp_path / cells).write_bytes(b"other")

    words = "error: cells.parquet: changed during this run; run again\n"
    assert failed_log(fit).endswith(words)
    assert not (tmp_path / "made").exists()
