"""The released files of CoBBLEr: quoted and human shares, and rates of valid verdicts."""

import json

import numpy as np
import pytest
from cobbler import tabulate
from numpy.random import default_rng

from picked_rows import fields, keyed, where
from recuse.base.tables import read_table
from recuse.papers.cobbler import BATCHES, RBO, VALID
from recuse.papers.cognitive import CLOSED_FORM, COGNITIVE_BIASES
from verdict_files import released

pytestmark = pytest.mark.mirror
TABLES = {"cognitive_biases": COGNITIVE_BIASES, "rbo": RBO, "valid_rates": VALID}
SETTINGS = {"confidence": 0.9, "seed": 7}
HUMAN = {  # mean of 75 shares
    "order_first": 0.20265333333333334,
    "order_last": 0.1796,
    "salience": 0.5203866666666666,
    "bandwagon": 0.47196,
    "attentional": 0.35024,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, paths = released("cobbler")
    outputs = {name: str(tmp_path_factory.mktemp("cobbler") / f"{name}.csv") for name in TABLES}
    raw = [f"{folder}/{path}" for path in paths]
    tabulate(study="cobbler", raw=raw, folder=str(folder), outputs=outputs, **SETTINGS)
    return {name: read_table(path) for name, path in outputs.items()}


def test_every_table_has_its_columns(tables):
    for name, columns in TABLES.items():
        assert tuple(tables[name][0]) == columns
        assert {row["study"] for row in tables[name]} == {"cobbler"}
    assert [len(tables[name]) for name in TABLES] == [15 * 9 + 5, 296, 105]


def test_shares_of_the_judges_are_those_of_the_released_table(tables):
    quoted = where(tables["cognitive_biases"], origin="quoted")
    assert len(quoted) == 135
    assert [row["bias"] for row in quoted[:9]] == list(CLOSED_FORM)
    by = keyed(quoted, "judge bias")
    expected = ("0.006857142857", "0.9977142857", ">100B", "no")
    assert fields(by["GPT-4", "attentional"], "share valid size above_random") == expected
    assert fields(by["Baize", "order_last"], "share above_random") == ("0.9224761905", "yes")
    assert by["Koala", "salience"]["valid"] == ""
    assert {fields(row, "ci_low ci_high biased n") for row in quoted} == {("", "", "", "")}
    assert len({row["judge"] for row in quoted}) == 15


def test_human_shares_are_means_with_intervals_over_instructions(tables):
    human = keyed(where(tables["cognitive_biases"], judge="Human"), "bias")
    assert set(human) == set(HUMAN)
    folder, _ = released("cobbler")
    shares = json.loads(
        (folder / BATCHES / "human_bias/bandwagon/all_bias_bandwagon.json").read_text("utf-8")
    )
    means = np.array([np.mean(entry["bandwagon"]) for entry in shares])
    draw = default_rng(1)
    resampled = means[draw.integers(25, size=(20_000, 25))].mean(axis=1)
    for bias, expected in HUMAN.items():
        row = human[bias]
        share, low, high = map(float, fields(row, "share ci_low ci_high"))
        assert share == pytest.approx(expected, abs=1e-12)
        assert low < share < high
        assert row["origin"] == "released shares"
        is_above = bias in ("salience", "bandwagon", "attentional")
        assert row["above_random"] == ("yes" if is_above else "no")
    ends = [*map(float, fields(human["bandwagon"], "ci_low ci_high"))]
    assert ends == pytest.approx(np.quantile(resampled, [0.05, 0.95]), abs=0.004)


def test_valid_rates_and_where_they_differ_from_the_quoted_ones(tables):
    rows = keyed(tables["valid_rates"], "judge prompt")
    names = "comparisons valid"
    assert fields(rows["GPT-4", "order"], names) == ("5250", "5192")
    assert float(rows["GPT-4", "order"]["rate"]) == 5192 / 5250
    assert fields(rows["LLaMAv2", "model_annotations"], names) == ("6000", "1920")
    assert fields(rows["DollyV2", "compassion"], f"{names} quoted") == ("3045", "1", "")
    differ = {key for key, row in rows.items() if row["agrees"] == "no"}
    assert differ == {("InstructGPT", "compassion"), ("Vicuna", "model_annotations")}
    assert sum(row["agrees"] == "yes" for row in rows.values()) == 80
    assert {prompt for (_, prompt), row in rows.items() if row["agrees"]} == {
        "bandwagon",
        "compassion",
        "distraction",
        "order",
        "model_annotations",
        "model_annotations/new",
    }
    assert "random" not in {judge for judge, _ in rows}
