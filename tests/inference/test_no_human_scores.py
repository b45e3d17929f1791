"""A study in which no row has a human score: judges are compared with the other judges alone."""

import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
import yaml
from numpy.testing import assert_array_equal

from conftest import CONFIG
from picked_rows import column, fields
from rated_tables import FIVE, by_subject, findings_of, study_of_rows, unscored, write_rows
from recuse.base.database import connect
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because, in_words
from recuse.base.tables import read_table
from recuse.check.facts import FINE, WARNING
from recuse.check.page import page_of
from recuse.cli import main
from recuse.config.declared.settings import check_settings
from recuse.data.describe import correlations, mean_scores
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles, cells_of_files
from recuse.data.registry import Registry
from recuse.inference.idiosyncrasy import listed_biases
from recuse.inference.judge_model import tables_of_slices
from recuse.inference.leaderboard import Removed, leaderboards
from recuse.inference.sensitivity import sensitivity_rows
from recuse.model.estimable import LEFT_OUT, estimable_specs, not_estimable
from recuse.model.estimates import estimate
from recuse.model.spec import Spec, estimand_name
from recuse.validation.compare import compared

SPECS = {spec.name: spec for spec in Spec.from_config(CONFIG["specs"])}
AGAINST_JUDGES = [
    "model_effects",
    "model_dimension_effects",
    "completion_effects",
    "model_effects_by_dimension",
]
OF_JUDGES = ["llm_reference", "llm_reference_as_coded"]  # which take the humans' place
INSTEAD = CONFIG["inference"]["without_human_scores"]
GPT, MINI = "GPT-4o", "GPT-3.5 Turbo"

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
    """The rows that are rated, with the columns of a formula."""
    table = pd.DataFrame([row for row in rows if row["rating"] != ""])
    family = table["judge"].map(lambda name: CONFIG["models"][name]["family"])
    sibling = (family == table["model"].map(lambda name: CONFIG["models"][name]["family"])) & (
        table["judge"] != table["model"]
    )
    return table.assign(
        unit=(table["rating"].astype(float) - 1) / 4,
        own=table["judge"].where(table["judge"] == table["model"], "none"),
        kin=family.where(sibling, "none"),
    )


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


def by_formula(frame, effects):
    """The same of the whole study by statsmodels, on the rows, with errors CR1."""
    levels = "C(own, Treatment('none')) + C(kin, Treatment('none'))"
    groups = np.unique(frame["prompt_id"], return_inverse=True)[1]
    fitted = smf.ols(f"unit ~ 0 + judge + {levels} + {effects}", frame).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    named = {"own": "self_bias", "kin": "family_bias"}
    return {
        ("", named[name[2:5]], name.partition("[T.")[2][:-1]): (
            fitted.params[name],
            fitted.bse[name],
        )
        for name in fitted.params.index
        if name[2:5] in named
    }


@pytest.mark.parametrize(
    ("spec", "effects"),
    [("model_effects", "dimension + model"), ("model_dimension_effects", "dimension * model")],
)
def test_gaps_to_the_other_judges_are_those_of_statsmodels_on_the_rows(study, frame, spec, effects):
    result = estimate(SPECS[spec], study, confidence=0.9)
    ours, theirs = biases(result.estimates), by_formula(frame, effects)
    assert (
        ours.keys()
        == theirs.keys()
        == {*(("", "self_bias", name) for name in FIVE), ("", "family_bias", "GPT")}
    )
    for key, numbers in theirs.items():
        assert ours[key] == pytest.approx(numbers, abs=1e-9)
    assert ours["", "self_bias", GPT][0] > 0.2
    assert {row["estimand"][:1] for row in result.estimates} == {"B"}
    assert column(result.remarks, "remark") == [LEFT_OUT.format("no row")]
    assert not any(row["quantity"] == "slope" for row in result.estimates + result.not_estimable)


def test_both_engines_agree_on_all_that_can_be_fitted(study):
    rows = list(
        compared(
            (SPECS[name] for name in (*AGAINST_JUDGES, "ordinal", "gam", "main")),
            study,
            confidence=0.9,
        )
    )
    assert {row["spec"] for row in rows} == set(AGAINST_JUDGES)
    assert max(row["largest_difference"] for row in rows) < 1e-9


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
    assert not_estimable(Spec.of("own", terms=("judge", "dimension")), study) is None
    assert (
        not_estimable(
            Spec.of("own", terms=("judge", "self", "model"), estimator="ordinal_logit"), study
        )
        == NO_SCORE
    )


def test_beyond_ordinary_preference_uses_means_less_dimensions(study, frame):
    """C by hand: means of judge and model without effects of dimensions, against a_j + c_m of cells
    that are neither.
    """
    dummies = pd.get_dummies(frame["judge"] + "|" + frame["model"]).astype(float)
    effect = np.linalg.lstsq(
        dummies.assign(use=frame["dimension"] == "Use").to_numpy(float), frame["unit"], rcond=None
    )[0][-1]
    level = frame["unit"] - effect * (
        (frame["dimension"] == "Use") - (frame["dimension"] == "Use").mean()
    )
    means = level.groupby([frame["judge"], frame["model"]]).mean()
    other = [
        judge != model and CONFIG["models"][judge]["family"] != CONFIG["models"][model]["family"]
        for judge, model in means.index
    ]
    design = np.array(
        [
            [name == judge for name in FIVE] + [name == model for name in FIVE]
            for judge, model in means.index
        ],
        float,
    )
    fitted = np.linalg.lstsq(design[other], means[other], rcond=None)[0]
    gaps = dict(zip(means.index, means - design @ fitted, strict=True))
    ((_, cells),) = tables_of_slices(SPECS["main"], study)
    found = (
        cells.mean - cells.additive.rows @ cells.additive.inverse @ cells.mean[cells.is_unrelated]
    )
    result = {
        bias.term: found[bias.among].mean() for bias in listed_biases(cells) if not bias.reason
    }
    for judge in FIVE:
        assert result[judge] == pytest.approx(gaps[judge, judge], abs=1e-9)
    assert result["GPT"] == pytest.approx((gaps[GPT, MINI] + gaps[MINI, GPT]) / 2, abs=1e-9)


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
    spec = SPECS["model_effects"]
    numbers = biases(estimate(spec, study, confidence=0.9).estimates)
    own, family = numbers["", "self_bias", GPT][0], numbers["", "family_bias", "GPT"][0]
    removed = {key[1:]: (number, 0.01) for key, (number, *_) in numbers.items()}
    board = list(
        leaderboards(
            spec,
            study,
            Removed(estimand_name(spec), {"": removed}),
            replicates=100,
            confidence=0.9,
            seed=1,
        )
    )
    assert {row["scores"] for row in board} == {
        "raw",
        "debiased",
        "leave_self_out",
        "leave_family_out",
    }
    scores = {fields(row, "scores model"): row["score"] for row in board}
    assert scores["raw", GPT] - scores["debiased", GPT] == pytest.approx(
        (own + family) / 5, abs=1e-9
    )
    assert {row["estimand"][:1] for row in board if row["scores"] == "debiased"} == {"B"}


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
    findings, facts = findings_of(tmp_path, rows)
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
    assert result["verdict", "supports"].words.startswith(
        "supports: self-bias of 5 of 5 judges (B, C); family-bias of 1 of 4"
    )
    assert (
        f"any gap to the human scale, which is A ({WORDS})"
        in result["verdict", "does not support"].words
    )
    text = " ".join(page_of("mine", findings).split())
    assert "one that alone is right looks biased" in text
    assert "human score is" not in text
    assert {topic for topic, _ in result}.isdisjoint({"reliability", "ordinary preference"})
    assert facts.rows == sum(row["rating"] != "" for row in rows)


@pytest.fixture
def command(tmp_path, monkeypatch, capfd, rows):
    """Run a command on the rows; returns status, the table and what was said."""
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "a.csv", rows)
    study = {"title": "mine", "files": "a.csv", "scales": {"Tone": [1, 5], "Use": [1, 5]}}
    specs = {
        "plain": {
            "terms": ["judge", "judge:reference", "self", "same_family", "dimension", "model"]
        }
    }
    (tmp_path / "mine.yaml").write_text(
        yaml.safe_dump({"studies": {"mine": study}, "specs": specs}), "utf-8"
    )

    def run(*arguments):
        monkeypatch.setattr(
            sys, "argv", ["recuse", *arguments, "--config", "mine.yaml", "--output", "out.csv"]
        )
        status = main()
        return status, read_table("out.csv"), capfd.readouterr().err

    return run


def test_the_command_fits_what_can_be_fitted(command, frame, study):
    assert command("fit", "a.csv") == (0, [], f"main: not estimable: the fit: {WORDS}\n")
    for spec in ("plain", "model_effects"):
        status, table, text = command("fit", "a.csv", "--spec", spec)
        result = {fields(row, "quantity term"): float(row["estimate"]) for row in table}
        assert (status, text.splitlines()[-1]) == (0, f"{spec}: {LEFT_OUT.format('no row')}")
        for (_, *key), (value, _) in by_formula(frame, "dimension + model").items():
            assert result[tuple(key)] == pytest.approx(value, abs=1e-9)
    status, table, _ = command("check", "a.csv")
    assert (status, table[0]["level"]) == (0, "fine")


def test_cells_of_raw_files_are_those_of_the_tables(command, study, tmp_path):
    source = StudyFiles(
        [RatingsFile("a.csv")],
        {"Tone": [1, 5], "Use": [1, 5]},
        {},
        Registry.from_config(CONFIG["models"]),
    )
    cells = cells_of_files("mine", source, str(tmp_path))
    assert_array_equal(cells.counts, study.cells().counts)
    assert np.isnan(cells.reference).all()
