"""The cross-check: what it says where a fit and that on raw rows differ."""

import pytest

from recuse.base.errors import DesignError
from recuse.crosscheck.compare import compared, raise_disagreement
from recuse.model.estimates import estimates_of
from recuse.model.spec import Spec


def test_disagreement_is_an_error():
    row = {"spec": "main", "slice": "x", "compared": "estimates", "largest_difference": 2e-9, "tolerance": 1e-9}
    with pytest.raises(DesignError, match=r"spec main, slice 'x'.*2e-09"):
        raise_disagreement([row])
    with pytest.raises(DesignError):
        raise_disagreement([row | {"largest_difference": float("nan")}])


@pytest.mark.parametrize("key", ["std_error", "ci_low"])
@pytest.mark.parametrize("side", ["fits", "fits_by_formula"])
@pytest.mark.parametrize("lost", [float("nan"), None])
def test_number_that_one_side_lacks_is_a_disagreement(twin, monkeypatch, key, side, lost):
    sides = iter(["fits", "fits_by_formula"])  # in this order, of one slice each

    def estimates_without(spec, fitted, *, confidence):
        rows = list(estimates_of(spec, fitted, confidence=confidence))
        if next(sides) == side:
            rows[5] = {k: v for k, v in rows[5].items() if k != key} | ({} if lost is None else {key: lost})
        return rows

    monkeypatch.setattr("recuse.crosscheck.compare.estimates_of", estimates_without)
    rows = list(compared([Spec.of("main")], twin, confidence=0.9))
    with pytest.raises(DesignError, match="intervals by inf"):
        raise_disagreement(rows)
