"""Agreement with the human labels: of random comparisons, and of the released verdicts of PRD and
LLMBar.
"""

import pytest

from picked_rows import fields, keyed
from random_comparisons import (
    POOLS,
    SETTINGS,
    few_replicates,
    random_rows,
    resampled,
    resampled_ends,
    verdicts,
    write,
)
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import PAIRWISE_AGREEMENT as AGREEMENT
from recuse.pairwise.verbosity import human_agreement

REPLICATES = 300


def table(path, pools=POOLS):
    rows = list(human_agreement(open_pairs(path, pools), **SETTINGS))
    assert all(tuple(row) == AGREEMENT[1:] for row in rows)
    return keyed(rows, "experiment condition judge order")


def test_every_number_is_that_of_the_comparisons(tmp_path, monkeypatch):
    few_replicates(monkeypatch, REPLICATES)
    rows = random_rows(5)
    results = table(write(rows, tmp_path / "c.parquet"))
    names = ["experiment", "condition", "judge", "order"]
    expected = verdicts(rows).dropna(subset="human")
    assert set(results) == {*expected.groupby(names).groups}
    for key, group in expected.groupby(names[:3]):
        items = sorted({*group["item"]})
        times = resampled(items, seed=7, replicates=REPLICATES)
        for order, found in group.groupby("order"):
            row, valid = results[*key, order], found.query("verdict != 'error'")
            agrees = valid["verdict"] == valid["human"]
            errors = len(found) - len(valid)
            assert fields(row, "agree n errors") == (agrees.sum(), len(valid), errors)
            assert row["value"] == (pytest.approx(agrees.mean(), abs=1e-14) if len(valid) else None)
            assert row["value_errors_wrong"] == pytest.approx(agrees.sum() / len(found), abs=1e-14)
            assert row["questions"] == valid["item"].nunique()
            by_item = agrees.groupby(valid["item"]).agg(["sum", "count"])
            by_item = by_item.reindex(items, fill_value=0)
            totals = times @ by_item
            single = by_item["sum"] / by_item["count"]
            ends = resampled_ends(totals["sum"] / totals["count"], single)
            assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=1e-12, nan_ok=True)
    assert any(row["n"] == 0 and row["errors"] for row in results.values())


@pytest.mark.mirror
def test_verdicts_of_prd(prd):
    comparisons, _ = prd
    results = table(comparisons, pools={})
    agree = {
        judge: fields(row, "agree n")
        for (*_, judge, order), row in results.items()
        if order == "pooled"
    }
    expected = {"GPT-4": 1028, "GPT-3.5": 993, "Claude": 971, "Bard": 885, "Vicuna-13B": 814}
    assert agree == {judge: (count, 1600) for judge, count in expected.items()}
    values = [results["", "", judge, "pooled"]["value"] for judge in ("GPT-4", "GPT-3.5", "Claude")]
    assert values == [0.6425, 0.620625, 0.606875]
    assert all(row["questions"] == 80 and row["errors"] == 0 for row in results.values())


@pytest.mark.mirror
def test_verdicts_of_llmbar(llmbar):
    comparisons, _ = llmbar
    results = table(comparisons, pools={})
    expected = {
        "Natural": 0.935,
        "Neighbor": 0.6418,
        "GPTInst": 0.7663,
        "GPTOut": 0.766,
        "Manual": 0.75,
    }
    for subset, value in expected.items():
        assert results["", subset, "GPT-4", "pooled"]["value"] == pytest.approx(value, abs=5e-5)
    errors = {}
    for (*_, judge, order), row in results.items():
        errors[judge] = errors.get(judge, 0) + row["errors"] * (order == "pooled")
    assert errors == {
        "GPT-4": 0,
        "ChatGPT": 0,
        "ChatGPT-0301": 0,
        "LLaMA2": 1,
        "PaLM2": 16,
        "Falcon": 0,
    }
