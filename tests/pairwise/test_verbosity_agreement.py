"""Agreement with the human labels against plain loops, and on the released verdicts of PRD and
LLMBar.
"""

import numpy as np
import pytest

from picked_rows import fields, keyed, where
from random_comparisons import (
    POOLS,
    SETTINGS,
    few_replicates,
    groups,
    random_rows,
    resampled,
    resampled_ends,
    verdicts,
    write,
)
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import PAIRWISE_AGREEMENT as AGREEMENT
from recuse.pairwise.verbosity import human_agreement

ORDERS = ("debiased", "ab", "ba", "pooled")
REPLICATES = 300


def naive(pairs, order, times=None):
    """Agreeing verdicts, verdicts and errors of the comparisons with a label; each question counts
    `times` times.
    """
    agree = n = errors = 0
    for pair in pairs:
        for verdict in verdicts(pair, order):
            weight = 1 if times is None else times[pair["item"]]
            errors += weight * (verdict == "error")
            n += weight * (verdict != "error")
            agree += weight * (verdict == pair["human"])
    return agree, n, errors


def table(path, pools=POOLS):
    rows = list(human_agreement(open_pairs(path, pools), **SETTINGS))
    assert all(tuple(row) == AGREEMENT[1:] for row in rows)
    return keyed(rows, "experiment condition judge order")


def test_every_number_is_that_of_a_loop_over_comparisons(tmp_path, monkeypatch):
    few_replicates(monkeypatch, REPLICATES)
    rows = random_rows(5)
    results = table(write(rows, tmp_path / "c.parquet"))
    expected = set()
    for key, pairs in groups(rows).items():
        labelled = [pair for pair in pairs if pair["human"] is not None]
        items = sorted({pair["item"] for pair in labelled})
        drawn = list(resampled(items, seed=7, replicates=REPLICATES)) if labelled else []
        for order in ORDERS:
            agree, n, errors = naive(labelled, order)
            if n + errors == 0:
                continue
            expected.add((*key, order))
            row = results[*key, order]
            assert fields(row, "agree n errors") == (agree, n, errors)
            assert row["value"] == (pytest.approx(agree / n, abs=1e-14) if n else None)
            assert row["value_errors_wrong"] == pytest.approx(agree / (n + errors), abs=1e-14)
            used = {
                pair["item"]
                for pair in labelled
                for verdict in verdicts(pair, order)
                if verdict != "error"
            }
            assert row["questions"] == len(used)
            values = [
                counts[0] / counts[1]
                for times in drawn
                for counts in [naive(labelled, order, times)]
                if counts[1]
            ]
            single = [naive(where(labelled, item=item), order) for item in items]
            ends = resampled_ends(values, [agree / n if n else np.nan for agree, n, _ in single])
            assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=1e-12, nan_ok=True)
    assert set(results) == expected
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
    values = {
        judge: results["", "", judge, "pooled"]["value"] for judge in ("GPT-4", "GPT-3.5", "Claude")
    }
    assert values == {"GPT-4": 0.6425, "GPT-3.5": 0.620625, "Claude": 0.606875}
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
