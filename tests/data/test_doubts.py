"""Judges whose ratings are not what they seem get no verdict, and `check` says so first."""

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, code

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),  # what an import reads by itself
    pytest.mark.usefixtures("few_sweeps"),
]
MODELS, PROMPTS, SCALE = ("m0", "m1", "m2", "m3", "m4"), 40, (0, 10)


def ratings(seed=1, judges=4):
    """Judge -> its ratings, (models, prompts): quality and noise alone, on 0 to 10."""
    rng = np.random.default_rng(seed)
    answers = rng.uniform(5, 8, (len(MODELS), 1)) + rng.normal(0, 1.2, (len(MODELS), PROMPTS))
    return {
        judge: np.clip(np.round(answers + rng.normal(0, 1, answers.shape)), 1, 10)
        for judge in MODELS[:judges]
    }


def read(by_judge, scale=SCALE, **settings):
    tables = {judge: pd.DataFrame(table, MODELS) for judge, table in by_judge.items()}
    rows = pd.concat(tables, names=["judge", "model"]).melt(
        var_name="prompt", value_name="rating", ignore_index=False
    )
    if "scales" not in settings:
        settings["scale"] = scale
    return recuse.ratings(rows.dropna().reset_index(), **settings)


def doubted(data):
    """Judge -> the code of the doubt."""
    with data.results() as results:
        return {doubt.judge: code(doubt.reason) for doubt in results.tables.doubts}


def undecided(data):
    """Judge -> the code of the reason for which it has no verdict, if it has none."""
    rows = recuse.verdict(data).frame
    rows = rows[rows["quantity"] == "self_bias"]
    return {
        row.term: code(row.reason)
        for row in rows.itertuples()
        if row.verdict == "inconclusive" and isinstance(row.reason, str) and row.reason
    }


def with_zeros(by_judge):
    """Every fifth rating that m0 gave to others is a failed judgment, written as 0."""
    by_judge["m0"][1:, ::5] = 0
    return by_judge


def test_ordinary_judges_are_not_doubted():
    data = read(ratings())
    assert doubted(data) == undecided(data) == {}


def test_check_says_doubts_first_and_verdicts_give_them_as_reasons():
    """Failures coded as 0, another scale, and a copy of another judge."""
    by_judge = with_zeros(ratings())
    by_judge["m1"] = np.round(by_judge["m1"] / 2)
    by_judge["m4"] = by_judge["m2"].copy()
    data = read(by_judge)
    reasons = {
        "m0": Reason.LONE_LEVEL,
        "m1": Reason.OTHER_SCALE,
        "m4": Reason.COPIED_RATINGS,
    }
    assert doubted(data) == undecided(data) == reasons
    trusted = read(by_judge, trusted=["m0", "m1"])
    assert doubted(trusted) == {"m4": Reason.COPIED_RATINGS}
    first = recuse.check(data).frame.head(3)
    assert set(first["topic"]) == {"doubt"}
    assert sorted(first["subject"]) == [*reasons]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [({}, {"m0": Reason.LONE_LEVEL}), ({"trusted": "m0"}, {}), ({"missing": 0}, {})],
)
def test_failures_coded_as_0_have_to_be_explained(answer, expected):
    assert doubted(read(with_zeros(ratings()), **answer)) == expected


def test_a_level_that_other_judges_use_too_is_not_doubted():
    by_judge = with_zeros(ratings())
    by_judge["m1"][2:, ::7] = 0
    assert doubted(read(by_judge)) == {}


def test_a_level_that_own_answers_get_as_often_is_not_doubted():
    by_judge = with_zeros(ratings())
    by_judge["m0"][0, ::5] = 0
    assert doubted(read(by_judge)) == {}


@pytest.mark.parametrize("own", [(0, 1), (0, 5)])
def test_another_scale_has_to_be_explained(own):
    by_judge = ratings()
    by_judge["m0"] = np.round(by_judge["m0"] * own[1] / 10, 1 if own[1] == 1 else 0)
    assert doubted(read(by_judge, step=0.1)) == {"m0": Reason.OTHER_SCALE}
    by_judge["m0"] = np.round(by_judge["m0"])
    scales = {"default": {"default": SCALE, "m0": own}}
    assert doubted(read(by_judge, scales=scales)) == {}


def test_the_odd_judge_may_be_the_one_that_uses_the_whole_scale():
    by_judge = {judge: np.round(table / 2) for judge, table in ratings().items()}
    by_judge["m2"] = ratings()["m2"]
    assert doubted(read(by_judge)) == {"m2": Reason.OTHER_SCALE}


def test_judges_that_are_divided_about_the_scale_are_not_doubted():
    by_judge = ratings()
    for judge in ("m0", "m1"):
        by_judge[judge] = np.round(by_judge[judge] / 2)
    assert doubted(read(by_judge)) == {}


def biases(data):
    """Those that B and C find for two judges that copy nobody."""
    rows = recuse.verdict(data).frame
    rows = rows[(rows["quantity"] == "self_bias") & rows["term"].isin(["m1", "m2"])]
    return rows[["B", "estimate"]].to_numpy()


def test_a_copy_of_other_judges_is_left_out_of_b_and_c_unless_it_is_trusted():
    """Of their mean, or of one of them; answers that the copy alone rates do not count."""
    by_judge = ratings()
    for table in by_judge.values():
        table[:, 0] = np.nan
    alone = biases(read(by_judge))
    mean = np.nan_to_num(np.round(np.mean([*by_judge.values()], axis=0)), nan=7)
    for copied in (mean, by_judge["m1"].copy()):
        copied[0, 1] += 2  # 98 % of the rows are enough
        with_copy = {**by_judge, "m4": copied}
        found = read(with_copy)
        assert doubted(found) == {"m4": Reason.COPIED_RATINGS}
        assert biases(found) == pytest.approx(alone, abs=1e-12)
    trusted = read(with_copy, trusted=["m4"])
    assert doubted(trusted) == {}
    moved = abs(biases(trusted) - alone).max(axis=0)
    assert (moved > 1e-6).all()


@pytest.mark.parametrize("top", [1, 2])
def test_judges_that_agree_on_two_or_three_levels_are_not_copies(top):
    shape = len(MODELS), PROMPTS
    right = np.random.default_rng(3).integers(0, top, shape, endpoint=True)
    by_judge = {judge: right.astype(float) for judge in MODELS[:2]}
    other = np.random.default_rng(4).integers(0, top, shape, endpoint=True)
    by_judge["m2"] = other.astype(float)
    assert doubted(read(by_judge, scale=(0, top))) == {}


def test_each_bias_of_a_family_of_copies_is_listed_once_with_the_reason():
    by_judge = ratings(judges=3)
    copies = {name: by_judge[of].copy() for name, of in (("m3", "m0"), ("m4", "m1"))}
    data = read({**by_judge, **copies}, families={"F": ["m3", "m4"]})
    expected = [("self_bias", "m3"), ("self_bias", "m4"), ("family_bias", "F")]
    for table in (recuse.fit(data, "model_effects").not_estimable, recuse.verdict(data).frame):
        rows = table[table["reason"].astype(str).str.startswith(str(Reason.COPIED_RATINGS))]
        found = [*zip(rows["quantity"], rows["term"], strict=True)]
        assert sorted(found) == sorted(expected)


def test_check_counts_a_doubted_judge_only_where_it_is_estimated():
    by_judge = ratings()
    copied = {**by_judge, "m4": by_judge["m1"].copy()}
    for data, supported, lacking in (
        (read(copied), "self-bias of 4 of 5 judges (B, C)", "self-bias of m4 (B, C)"),
        (
            read(with_zeros(by_judge)),
            "self-bias of 4 of 4 judges (B), 3 (C)",
            "self-bias of m0 (C)",
        ),
    ):
        findings = recuse.check(data).frame.set_index("subject")
        assert supported in findings["words"]["supports"]
        parts = findings["words"]["does not support"].removeprefix("does not support: ").split("; ")
        assert lacking in parts
        assert not any(part.startswith("a verdict on") for part in parts)
        of_c = findings.loc[f"C: {lacking.partition(' (')[0]}"]
        assert (of_c["level"], of_c["advice"] or "") == ("note", "")


def test_a_trusted_judge_is_one_of_the_study():
    message = "trusted: 'm44' is not one of the judges; did you mean 'm4'"
    with pytest.raises(ConfigError, match=message):
        read(ratings(judges=5), trusted=["m44"])
