"""What the jobs ask of a cluster: more at each attempt, more for larger raw files."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import ROOT


@pytest.fixture
def rules(tmp_path):
    """The functions of resources.smk, for studies with raw files in `tmp_path`."""
    raw = {"mine": [("mine.csv", None), ("more.csv", None)], "packed": [("parts", None)], "simulated": [("none.parquet", None)]}
    globals_ = {
        "Path": lambda path: tmp_path / path,
        "COMPARISONS": {"verdicts": {}},
        "raw_of": raw.get,
        "verdict_files": lambda study: [f"{study}.csv"],
        "is_imported": "logs".__eq__,
        "imported_files": lambda study: [f"{study}.jsonl", "more.csv"],
    }
    (tmp_path / "mine.csv").write_bytes(b" " * 3_000_000)
    (tmp_path / "more.csv").write_bytes(b" " * 2_000_000)
    (tmp_path / "verdicts.csv").write_bytes(b" " * 1_000_000)
    (tmp_path / "logs.jsonl").write_bytes(b" " * 250_000)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "0.parquet").write_bytes(b" " * 500_000)
    (tmp_path / "parts" / "1.parquet").write_bytes(b" " * 500_000)
    exec(Path(ROOT, "workflow", "rules", "resources.smk").read_text("utf-8"), globals_)
    return SimpleNamespace(**globals_)


def test_each_attempt_asks_for_as_much_again(rules):
    asked = rules.asks(mem_mb=600, runtime=5)
    assert [asked["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [600, 1200, 1800]
    assert [asked["runtime"](None, attempt) for attempt in (1, 2, 3)] == [5, 10, 15]


@pytest.mark.parametrize(("study", "megabytes"), [("mine", 5), ("verdicts", 1), ("logs", 4), ("packed", 8), ("simulated", 0)])
def test_raw_files_count_as_csv(rules, study, megabytes):
    assert rules.raw_megabytes(study) == megabytes


def test_larger_raw_files_ask_for_more_up_to_a_limit(rules):
    def memory(study, attempt=1):
        return rules.asks_by_size(mem_mb=1000, runtime=20)["mem_mb"](SimpleNamespace(study=study), attempt)

    assert memory("simulated") == 1000
    assert memory("mine") == 1000 + 8 * 5
    assert memory("mine", attempt=3) == 3 * (1000 + 8 * 5)
    one_of_four = rules.asks_by_size(mem_mb=1000, runtime=20, megabytes=lambda wildcards: rules.raw_megabytes("mine") / 4)
    assert one_of_four["mem_mb"](SimpleNamespace(study="mine"), 1) == 1000 + 8 * 5 // 4
    rules.GROWTH["mem_mb"] = 1e6
    assert memory("mine") == rules.MOST["mem_mb"]
