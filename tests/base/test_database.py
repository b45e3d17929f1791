"""DuckDB within a bound of memory: its size, the message if it is too small, and what remains afterwards."""

import pytest

from recuse.base.database import bounded_memory, connect
from recuse.base.errors import ConfigError


@pytest.mark.parametrize(
    ("limit", "of_job", "bound"),
    [("4GB", 1000, 600e6), ("4GB", 20_000, 4e9), ("512 MiB", 2000, 512 * 2**20), ("1.5GB", None, 1.5e9)],
)
def test_memory_is_the_smaller_of_the_limit_and_the_share_of_the_job(tmp_path, limit, of_job, bound):
    with bounded_memory(limit, tmp_path / "spill", of_job=of_job):
        ((text,),) = connect().execute("select current_setting('memory_limit')").fetchall()
    number, unit = text.split()
    assert float(number) * 1024 ** ("KiB", "MiB", "GiB").index(unit) * 1024 == pytest.approx(
        bound, rel=0.08
    )  # said to a tenth, rounded down


def test_too_small_a_job_is_named(tmp_path):
    query = "select list(hash(i) order by hash(i)) from range(10_000_000) t(i)"
    text = "resources: mem_mb: 20, of which the ratings may take 12MB: too little"
    with pytest.raises(ConfigError, match=text), bounded_memory("4GB", tmp_path / "spill", of_job=20):
        connect().execute(query)


def test_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "old").write_text("left")
    with bounded_memory("1GB", tmp_path / "spill"):
        assert not list((tmp_path / "spill").iterdir())
    assert not list(tmp_path.iterdir())
