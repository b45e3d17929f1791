"""A study in which no row has a human score: judges are compared with the other judges alone."""

import pandas as pd
import pytest

from conftest import CONFIG
from designs_on_rows import largest_difference
from picked_rows import column, fields, only, where
from rated_tables import FIVE, by_subject, findings_from, study_of_rows, unscored
from recuse.base.database import connect
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because, in_words
from recuse.base.tables import read_table
from recuse.check.facts import FINE, WARNING
from recuse.config.declared.settings import check_settings
from recuse.data.describe import correlations, mean_scores
from recuse.inference.leaderboard import DEBIASED, RAW, Removed, leaderboards
from recuse.inference.sensitivity import sensitivity_rows
from recuse.model.estimable import LEFT_OUT, estimable_specs, not_estimable
from recuse.model.estimates import estimate
from recuse.model.spec import Spec, estimand_name

SPECS = Spec.from_config(CONFIG["specs"])
AGAINST_JUDGES = [
    "model_effects",
    "model_dimension_effects",
    "completion_effects",
    "model_effects_by_dimension",
]
OF_JUDGES = ["llm_reference", "llm_reference_as_coded"]  # which take the humans' place
INSTEAD = CONFIG["inference"]["without_human_scores"]
GPT = "GPT-4o"

NO_SCORE = because(Reason.NO_HUMAN_SCORE)
WORDS = in_words(NO_SCORE)


@pytest.fixture(scope="module")
def rows():
    return unscored()


@pytest.fixture(scope="module")
def study(rows, tmp_path_factory):
    return study_of_rows(tmp_path_factory.mktemp("unscored"), rows)


@pytest.fixture(scope="module")
def frame(rows):
    """The rows that are rated."""
    table = pd.DataFrame([row for row in rows if row["rating"] != ""])
    return table.assign(unit=(table["rating"].astype(float) - 1) / 4)


def biases(result):
    """(estimate, standard error) by slice, quantity and term of self- and family-biases that are
    estimable.
    """
    kept = [
        row
        for row in result
        if row["quantity"] in ("self_bias", "family_bias") and "estimate" in row
    ]
    return {fields(row, "slice quantity term"): fields(row, "estimate std_error") for row in kept}


@pytest.mark.parametrize("spec", ["model_effects", "model_dimension_effects"])
def test_gaps_to_the_other_judges_are_those_of_statsmodels_on_the_rows(study, spec):
    assert largest_difference([SPECS[spec]], study) < 1e-9
    result = estimate(SPECS[spec], study, confidence=0.9)
    ours = biases(result.estimates)
    assert [*ours] == [*(("", "self_bias", name) for name in FIVE), ("", "family_bias", "GPT")]
    assert ours["", "self_bias", GPT][0] > 0.2
    assert {row["estimand"][:1] for row in result.estimates} == {"B"}
    assert column(result.remarks, "remark") == [LEFT_OUT.format("no row")]
    assert not any(row["quantity"] == "slope" for row in result.estimates + result.not_estimable)


def test_every_other_spec_says_why_it_is_not_fitted(study):
    for name, spec in SPECS.items():
        reason = not_estimable(spec, study)
        if name in (*AGAINST_JUDGES, *OF_JUDGES, "length_alone"):
            assert reason is None
            assert not any(
                row["estimand"].startswith("A against humans")
                for row in estimate(spec, study, confidence=0.9)[0]
            )
        elif spec.selection.slice == "task_type":
            assert reason is not None
        else:
            assert reason == NO_SCORE
            result = estimate(spec, study, confidence=0.9)
            assert result.estimates == result.remarks == result.smooths == result.multiplicity == []
            assert column(result.not_estimable, "reason") == [NO_SCORE]
    # Without effects of models it is no gap to the other judges
    own = Spec.of("own", terms=("judge", "self"))
    assert not_estimable(own, study) == NO_SCORE
    assert not_estimable(own.changed(terms=("judge", "dimension")), study) is None


def test_a_row_is_complete_when_it_is_judged_and_nothing_replaces_the_humans(
    study, frame, tmp_path_factory
):
    assert study.cells().n.sum() == len(frame)
    assert not study.has_human_scores
    (ratings,) = study.ratings
    assert connect().execute(
        f"select count(*), count(gt), count(gt_unit) from '{ratings}'"
    ).fetchall() == [(len(frame), 0, 0)]
    assert connect().execute(f"select count(gt) from '{study.cells_from}'").fetchall() == [(0,)]
    scores = {
        fields(row, "dimension judge model"): row["mean"] for row in mean_scores(study.cells())
    }
    assert {judge for _, judge, _ in scores} == set(FIVE)
    assert scores["", GPT, GPT] == pytest.approx(
        frame.query("judge == model == @GPT")["unit"].mean(), abs=1e-12
    )
    assert list(correlations(study.cells(), confidence=0.9)) == []


def test_one_human_score_counts_for_nothing_and_leaves_the_ratings(tmp_path):
    rows = unscored(prompts=4)
    rows[0] |= {"gt": 3, "rating": 3}
    study = study_of_rows(tmp_path, rows)
    assert study.scored is study
    used = sum(row["rating"] != "" for row in rows)
    assert (study.has_human_scores, study.cells().n.sum()) == (False, used)
    assert not_estimable(Spec.of("main"), study) == because(
        Reason.FEW_SCORED_PROMPTS, prompts=1, least=10
    )
    counted = read_table(tmp_path / "completeness.csv")
    assert sum(int(row["missing_gt"]) for row in counted) == len(rows) - 1
    assert sum(int(row["used"]) for row in counted) == used


def test_models_are_ranked_without_the_gaps_to_the_other_judges(study):
    """Of the five judges of a model, one is itself and one of its family."""
    spec = SPECS["model_effects"]
    numbers = biases(estimate(spec, study, confidence=0.9).estimates)
    own = numbers["", "self_bias", GPT][0]
    family = numbers["", "family_bias", "GPT"][0]
    removed = Removed(estimand_name(spec), {"": {key[1:]: each for key, each in numbers.items()}})
    board = list(leaderboards(spec, study, removed, replicates=100, confidence=0.9, seed=1))
    scores = {kind: only(board, scores=kind, model=GPT)["score"] for kind in (RAW, DEBIASED)}
    assert scores[RAW] - scores[DEBIASED] == pytest.approx((own + family) / 5, abs=1e-9)
    assert {row["estimand"][:1] for row in where(board, scores=DEBIASED)} == {"B"}


def test_substitutes_replace_specs_that_need_human_scores(study):
    fitted = estimable_specs(
        CONFIG["specs"], ["main", "by_dimension", "length_control"], study, instead=INSTEAD
    )
    assert [spec.name for spec in fitted] == ["model_effects", "model_effects_by_dimension"]
    assert not any("reference" in term for spec in fitted for term in spec.model.terms)
    ours = biases(
        {**row, "slice": ""} for row in sensitivity_rows(fitted[0], study, confidence=0.9)
    )
    theirs = biases(estimate(SPECS["model_effects"], study, confidence=0.9).estimates)
    assert all(ours[key] == pytest.approx(theirs[key], abs=1e-9) for key in theirs)


@pytest.mark.parametrize(
    ("substitute", "message"),
    [
        ("clustered", "needs human scores"),
        ("model_effects_by_dimension", "other slices"),
        ("nothing", "nothing"),
    ],
)
def test_a_useless_substitute_is_refused(substitute, message):
    config = {
        **CONFIG,
        "inference": {**CONFIG["inference"], "without_human_scores": {"main": substitute}},
    }
    with pytest.raises(ConfigError, match=message):
        check_settings(config)
    check_settings(CONFIG)


def test_the_check_says_what_is_left(rows, tmp_path):
    findings, facts = findings_from(tmp_path, rows)
    result = by_subject(findings)
    assert result["human scores", ""].level == WARNING
    assert result["human scores", ""].words.startswith(WORDS)
    assert (
        result["estimable", f"B: self-bias of {GPT}"].value
        == result["estimable", f"C: self-bias of {GPT}"].value
        == 1
    )
    own = result["estimable", f"A: self-bias of {GPT}"]
    assert (own.value, own.level) == (0, FINE)
    assert own.words.endswith(f"cannot be estimated: {WORDS}")
    assert {topic for topic, _ in result}.isdisjoint({"reliability", "ordinary preference"})
    assert facts.rows == sum(row["rating"] != "" for row in rows)
