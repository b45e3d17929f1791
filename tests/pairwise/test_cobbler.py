"""The released files of CoBBLEr: quoted and human shares, rates of valid verdicts, and the errors about spoilt files."""

import json

import numpy as np
import pytest
from cobbler import tabulate

from recuse.base.errors import DataError
from recuse.base.tables import COGNITIVE_BIASES, RANDOM, RBO, VALID, read_table
from recuse.pairwise.cobbler import BATCHES, QUOTED, released_biases, released_overlap, valid_rates
from recuse.pairwise.cognitive import CLOSED_FORM
from verdict_files import copied, edit, released

pytestmark = pytest.mark.mirror
TABLES = {"cognitive_biases": COGNITIVE_BIASES, "random_thresholds": RANDOM, "rbo": RBO, "valid_rates": VALID}
SETTINGS = {"confidence": 0.9, "seed": 7}
HUMAN = {  # mean of 75 shares
    "order_first": 0.20265333333333334,
    "order_last": 0.1796,
    "salience": 0.5203866666666666,
    "bandwagon": 0.47196,
    "attentional": 0.35024,
}
GPT4 = "model_annotations/nC2_preferences_gpt4.json"
ANNOTATOR = "human_annotations/annot_2.json"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, paths = released("cobbler")
    outputs = {name: str(tmp_path_factory.mktemp("cobbler") / f"{name}.csv") for name in TABLES}
    raw = [f"{folder}/{path}" for path in paths]
    tabulate(study="cobbler", raw=raw, folder=str(folder), outputs=outputs, **SETTINGS)
    return {name: read_table(path) for name, path in outputs.items()}


@pytest.fixture
def spoilt(tmp_path):
    """Folder and paths of copied files."""
    return tmp_path, [str(path) for path in copied("cobbler", tmp_path)]


def rewrite(folder, path, change):
    """Read a released JSON file, let `change` alter it, and write it again."""
    file = folder / BATCHES / path
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), "utf-8")


def complaint(call, *arguments, **settings):
    with pytest.raises(DataError) as caught:
        call(*arguments, **settings)
    return str(caught.value)


def test_every_table_has_its_columns(tables):
    for name, columns in TABLES.items():
        assert tuple(tables[name][0]) == columns
        assert {row["study"] for row in tables[name]} == {"cobbler"}
    assert [len(tables[name]) for name in TABLES] == [15 * 9 + 5, 9, 296, 105]


def test_shares_of_the_judges_are_those_of_the_released_table(tables):
    quoted = [row for row in tables["cognitive_biases"] if row["origin"] == "quoted"]
    assert len(quoted) == 135
    assert [row["bias"] for row in quoted[:9]] == list(CLOSED_FORM)
    by = {(row["judge"], row["bias"]): row for row in quoted}
    gpt4 = by["GPT-4", "attentional"]
    assert gpt4 | {"share": "0.006857142857", "valid": "0.9977142857", "size": ">100B", "above_random": "no"} == gpt4
    assert by["Baize", "order_last"]["share"] == "0.9224761905"
    assert by["Baize", "order_last"]["above_random"] == "yes"
    assert by["Koala", "salience"]["valid"] == ""
    assert all(row[column] == "" for row in quoted for column in ("ci_low", "ci_high", "biased", "n"))
    assert len({row["judge"] for row in quoted}) == 15


def test_human_shares_are_means_with_intervals_over_instructions(tables):
    human = {row["bias"]: row for row in tables["cognitive_biases"] if row["judge"] == "Human"}
    assert set(human) == set(HUMAN)
    folder, _ = released("cobbler")
    shares = json.loads((folder / BATCHES / "human_bias/bandwagon/all_bias_bandwagon.json").read_text("utf-8"))
    means = np.array([np.mean(entry["bandwagon"]) for entry in shares])
    draw = np.random.default_rng(1)
    resampled = means[draw.integers(25, size=(20_000, 25))].mean(axis=1)
    for bias, expected in HUMAN.items():
        share, low, high = (float(human[bias][column]) for column in ("share", "ci_low", "ci_high"))
        assert share == pytest.approx(expected, abs=1e-12)
        assert low < share < high
        assert human[bias]["origin"] == "released shares"
    ends = [float(human["bandwagon"][column]) for column in ("ci_low", "ci_high")]
    assert ends == pytest.approx(np.quantile(resampled, [0.05, 0.95]), abs=0.004)
    assert {bias for bias in HUMAN if human[bias]["above_random"] == "yes"} == {"salience", "bandwagon", "attentional"}


def test_valid_rates_and_where_they_differ_from_the_quoted_ones(tables):
    rows = {(row["judge"], row["prompt"]): row for row in tables["valid_rates"]}
    assert rows["GPT-4", "order"] | {"comparisons": "5250", "valid": "5192", "agrees": "yes"} == rows["GPT-4", "order"]
    assert float(rows["GPT-4", "order"]["rate"]) == 5192 / 5250
    assert (
        rows["LLaMAv2", "model_annotations"] | {"comparisons": "6000", "valid": "1920", "agrees": "yes"}
        == (rows["LLaMAv2", "model_annotations"])
    )
    assert rows["DollyV2", "compassion"] | {"comparisons": "3045", "valid": "1", "quoted": ""} == rows["DollyV2", "compassion"]
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


def test_a_missing_model(spoilt):
    folder, _ = spoilt
    rewrite(folder, GPT4, lambda content: content[2].pop("llama"))
    message = complaint(released_overlap, str(folder), **SETTINGS)
    assert message.startswith(
        f"{folder}/{BATCHES}/{GPT4}: instruction 3: found no wins of 'llama'; needed the wins of vicuna, "
    )


def test_a_model_too_many(spoilt):
    folder, _ = spoilt
    rewrite(folder, GPT4, lambda content: content[0].update(llamav2=3))
    assert "instruction 1: found wins of 'llamav2', which is not among them" in complaint(
        released_overlap, str(folder), **SETTINGS
    )


def test_an_instruction_too_few(spoilt):
    folder, _ = spoilt
    rewrite(folder, ANNOTATOR, lambda content: content.pop())
    message = complaint(released_overlap, str(folder), **SETTINGS)
    assert message == f"{folder}/{BATCHES}/{ANNOTATOR}: found 49 instructions where 50 were released; fetch the file again"


@pytest.mark.parametrize(("wins", "results"), [(-1, "-1"), (1.5, "1.5"), ("3", "'3'"), (True, "True"), (None, "None")])
def test_wins_that_are_no_count(spoilt, wins, results):
    folder, _ = spoilt
    rewrite(folder, ANNOTATOR, lambda content: content[4].update(koala=wins))
    assert f"instruction 5: found {results} wins of 'koala'; needed a whole number from 0" in complaint(
        released_overlap, str(folder), **SETTINGS
    )


def test_more_wins_than_comparisons(spoilt):
    folder, raw = spoilt
    rewrite(folder, "model_bias/order/nC2_preferences_gpt4.json", lambda content: content[1].update(koala=11))
    message = complaint(valid_rates, raw, str(folder))
    assert "model_bias/order/nC2_preferences_gpt4.json: instruction 2: found 106 wins; needed 105 at most" in message


@pytest.mark.parametrize("content", ["[{", "{}", "", "[3]"])
def test_a_file_of_another_form(spoilt, content):
    folder, _ = spoilt
    (folder / BATCHES / ANNOTATOR).write_text(content, "utf-8")
    assert str(folder / BATCHES / ANNOTATOR) in complaint(released_overlap, str(folder), **SETTINGS)


def test_a_file_that_is_not_there(spoilt):
    folder, _ = spoilt
    (folder / BATCHES / GPT4).unlink()
    assert f"{folder}/{BATCHES}/{GPT4}: no such file" in complaint(released_overlap, str(folder), **SETTINGS)
    (folder / QUOTED).unlink()
    assert f"{folder}/{QUOTED}: no such file" in complaint(released_biases, str(folder), **SETTINGS)


def test_a_judge_that_is_not_known(spoilt):
    folder, raw = spoilt
    more = f"{folder}/{BATCHES}/model_bias/order/nC2_preferences_gpt5.json"
    assert "model_bias/order: found 'gpt5', no judge of the study" in complaint(valid_rates, [*raw, more], str(folder))


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"^(baize,<10B,bandwagon),[\d.]+", r"\1,1.2", "line 3, column score: found '1.2'; needed a share from 0 to 1"),
        (r"^(baize,<10B,bandwagon),[\d.]+", r"\1,much", "line 3, column score: found 'much'; needed a share from 0 to 1"),
        (r"^(baize,<10B,bandwagon,[\d.]+),[\d.]+", r"\1,-0.1", "line 3, column valid: found '-0.1'; needed a share"),
        (r"^baize,", "baise,", "line 3, column model: found 'baise'; needed one of gpt4, "),
        (r"^baize,<10B,bandwagon", "baize,<10B,herd", "line 3, column bias: found 'herd'; needed one of order_first, "),
        (r"^baize,<10B,bandwagon.*\n", "", ": found no row of baize and bandwagon; every judge has every bias once"),
        (r"^(baize,<10B,bandwagon.*\n)", r"\1\1", ": found baize and bandwagon twice; keep one row"),
        (r"^model,size", "judge,size", "line 1: found judge, size, bias, score, valid; needed the columns model, size"),
    ],
)
def test_a_faulty_table_of_shares(spoilt, pattern, replacement, message):
    folder, _ = spoilt
    edit(folder / QUOTED, pattern, replacement)
    results = complaint(released_biases, str(folder), **SETTINGS)
    assert results.startswith(f"{folder}/{QUOTED}")
    assert message in results


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([0.1, 0.2], "found [0.1, 0.2] under 'bandwagon'; needed the shares of 3 annotators"),
        ([0.1, 0.2, 1.01], "found 1.01 under 'bandwagon'; needed a share from 0 to 1"),
        ([0.1, 0.2, float("nan")], "found nan under 'bandwagon'; needed a share from 0 to 1"),
        (None, "found None under 'bandwagon'; needed the shares of 3 annotators"),
    ],
)
def test_a_faulty_human_share(spoilt, shares, message):
    folder, _ = spoilt
    path = "human_bias/bandwagon/all_bias_bandwagon.json"
    rewrite(folder, path, lambda content: content[6].update(bandwagon=shares))
    assert complaint(released_biases, str(folder), **SETTINGS) == f"{folder}/{BATCHES}/{path}: instruction 7: {message}"
