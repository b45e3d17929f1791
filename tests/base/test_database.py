"""DuckDB within a bound of memory: its size, the message if it is too small, and what remains
afterwards.
"""

import os

import duckdb
import numpy as np
import pytest

from recuse.base.database import bounded, connect, files, write_parquet, write_rows
from recuse.base.errors import ConfigError


@pytest.mark.parametrize(
    ("limit", "of_job", "bound"),
    [
        ("4GB", 1000, 600e6),
        ("4GB", 20_000, 4e9),
        ("512 MiB", 2000, 512 * 2**20),
        ("1.5GB", None, 1.5e9),
    ],
)
def test_memory_is_the_smaller_of_the_limit_and_the_share_of_the_job(
    tmp_path, limit, of_job, bound
):
    with bounded(limit, tmp_path / "spill", of_job=of_job):
        ((text,),) = connect().execute("select current_setting('memory_limit')").fetchall()
    number, unit = text.split()
    assert float(number) * 1024 ** ("KiB", "MiB", "GiB").index(unit) * 1024 == pytest.approx(
        bound, rel=0.08
    )  # said to a tenth, rounded down


def test_too_small_a_job_is_named(tmp_path):
    query = "select list(hash(i) order by hash(i)) from range(10_000_000) t(i)"
    text = "resources: mem_mb: 20, of which the ratings may take 12MB: too little"
    with pytest.raises(ConfigError, match=text), bounded("4GB", tmp_path / "spill", of_job=20):
        connect().execute(query)


@pytest.mark.parametrize(
    "folder", ["plain", "a [1] *? 'b' \"c\" {d} é 数 $HOME %s;--", "~", "http:"]
)
def test_file_is_opened_whatever_its_name_is(tmp_path, monkeypatch, folder):
    (tmp_path / folder).mkdir()
    for place, name in ((tmp_path / folder, "*.parquet"), (tmp_path, f"{folder}/*.parquet")):
        monkeypatch.chdir(place)
        write_parquet({"a": np.arange(3)}, name)
        other = name.replace("*.", "other.")
        write_parquet({"a": np.arange(4)}, other)
        with bounded("1GB", "spill [*]", files=[name], outputs=["new?.parquet"]) as work:
            write_rows(connect(), f"from {files([name])}", f"{work}/rows.parquet")
            write_rows(connect(), f"from {files([f'{work}/rows.parquet'])}", "new?.parquet")
            assert connect().execute(
                f"select count(*) from {files(['new?.parquet'])}"
            ).fetchone() == (3,)
            with pytest.raises(duckdb.PermissionException):
                connect().execute(f"from {files([other])}")


def test_name_that_is_not_utf_8_is_left_to_the_reader(tmp_path):
    with bounded("1GB", tmp_path / "spill", files=[os.fsdecode(b"\xff.csv")]):
        assert connect().execute("select 1").fetchone() == (1,)


def test_settings_are_locked_without_a_bound_as_well():
    with pytest.raises(duckdb.InvalidInputException, match="locked"):
        connect().execute("set threads = 2")


def test_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "old").write_text("left")
    with bounded("1GB", tmp_path / "spill"):
        assert not list((tmp_path / "spill").iterdir())
    assert not list(tmp_path.iterdir())
