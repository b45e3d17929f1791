"""The regression over wordings: intervals by hand, judges asked in one wording, and what the
verdict says of it.
"""

from dataclasses import replace

import numpy as np
import pytest

from pair_worlds import PairWorld, draw
from picked_rows import fields, keyed, only
from random_comparisons import write
from recuse.inference.wordings import Crossed, Part
from recuse.model.least_squares import quantile
from recuse.pairwise.davidson import SELF
from recuse.pairwise.regression import BIASES, Regression, read_compared, regression_rows
from recuse.pairwise.verdicts import verdicts
from recuse.pairwise.wordings import rows_over_wordings

KEY = "question quantity term"
WORLD = PairWorld(wordings=3, wording_sd=0.6, ties=0.2)


def over(compared):
    return list(rows_over_wordings(Regression(compared), confidence=0.9))


def judged(rows):
    """The verdicts on the judges' own answers."""
    found = verdicts([], list(rows), [], order=[], confidence=0.9, power=0.8)
    return {row["term"]: row for row in found if row["quantity"] == SELF}


def fitted(compared):
    return list(regression_rows(Regression(compared), confidence=0.9))


def part(row):
    return Part(*(row.get(name, np.inf) for name in ("estimate", "std_error", "df", "n")))


def test_intervals_over_wordings_are_those_of_fits_to_each():
    compared = draw(WORLD, 3)
    plain, rows = keyed(fitted(compared), KEY), keyed(over(compared), KEY)
    assert rows.keys() == plain.keys()
    parts = [keyed(fitted(compared.among(compared.wording == code)), KEY) for code in range(3)]
    wider = 0
    for key, row in rows.items():
        if key[1] not in BIASES:
            assert row == plain[key]
            continue
        crossed = Crossed(part(plain[key]), [part(each[key]) for each in parts])
        error, df = crossed.generalised()
        half = quantile(0.9, df) * error
        assert fields(row, "wordings estimate") == (3, plain[key]["estimate"])
        assert fields(row, "one_ci_low one_ci_high") == fields(plain[key], "ci_low ci_high")
        assert row["ci_low"] == pytest.approx(min(plain[key]["ci_low"], row["estimate"] - half))
        wider += row["ci_high"] > row["one_ci_high"]
    assert wider > 20


def test_a_judge_asked_in_one_wording_keeps_its_interval_and_says_so():
    compared = draw(replace(WORLD, wordings=2), 4)
    rows = over(compared.among((compared.judges.judge != 1) | (compared.wording == 0)))
    one = only(rows, question="B", quantity=SELF, term="model 1")
    assert fields(one, "wordings ci_low") == (1, one["one_ci_low"])
    found = judged(rows)
    assert (found["model 1"]["wordings"], found["model 0"]["wordings"]) == (1, 2)


def test_wordings_are_read_and_one_changes_nothing(tmp_path):
    row = {"judge": "j", "item": "q", "model_a": "m", "model_b": "n", "order": "ab", "outcome": "a"}
    rows = [
        row | {"wording": wording, "item": item}
        for item in "qr"
        for wording in ("it's plain", "terse")
    ]
    compared = read_compared(write(rows, tmp_path / "two.parquet"), {})
    assert compared.wordings == ["it's plain", "terse"]
    assert compared.wording.tolist() == [0, 1, 0, 1]
    alone = read_compared(write([row], tmp_path / "none.parquet"), {})
    assert (alone.wordings, alone.wording.tolist()) == ([], [-1])
    plain = draw(replace(WORLD, wordings=1), 5)
    assert over(plain) == fitted(plain)
