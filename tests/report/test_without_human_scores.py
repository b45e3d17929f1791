"""Tables, figures and pages of a study without human scores: gaps to the other judges, and reasons
for what is absent.
"""

import random
from pathlib import Path

import pytest
from figure import draw as draw_figures

from conftest import CONFIG, ROOT
from picked_rows import fields, where
from rated_tables import FIVE, study_of_rows, unscored
from recuse.base.database import connect
from recuse.base.reasons import Reason, code, in_words
from recuse.base.tables import read_table, write_table
from recuse.base.words import WORDS_ALONE
from recuse.catalogue.figures import figures_of_ratings
from recuse.catalogue.tables import table_paths
from recuse.check.facts import CHECK
from recuse.config.load import with_study
from recuse.config.studies import STAGES, Study
from recuse.data.describe import WITH_OTHERS
from recuse.data.study import StudyTables
from recuse.papers.points import further_points
from recuse.report.answers import NO_TRUTH
from recuse.report.page import report
from recuse.steps.conclusions import conclude, rank, recommend_panel
from recuse.steps.describe import describe
from recuse.steps.fit import fit_specs
from recuse.steps.robustness import estimands, sensitivity
from recuse.workflow.figures import captions, drawings, pictures
from recuse.workflow.page_params import report_params
from report_pages import Elements

RATED = {"title": "ours", "files": "made up.csv", "scales": {"Tone": [1, 5], "Use": [1, 5]}}
OURS = Study("ours", with_study(CONFIG, studies={"ours": RATED}, inference={"replicates": 100}))
FIGURES = figures_of_ratings(OURS)
TABLES = {**table_paths(OURS), "debiased": OURS.path("debiased.parquet")}
LEVEL = {"confidence": 0.9, "seed": 1}
SILENT = {
    "fig03_self_family_bias",
    "fig04_slices",
    "fig05_correlations",
    "fig07_length_control",
    "fig08_ordinal",
    "fig10_weak_models_dropped",
    "by_dataset",
    "one_model_dropped",
    "gam",
    "gam_smooths",
    "reliability",
    "power",
}


ASTRAY = FIVE[-1]


def with_astray(rows):
    """The same with random ratings by ASTRAY."""
    drawn = random.Random(5)
    return [
        row | {"rating": drawn.randint(1, 5)} if row["judge"] == ASTRAY else row for row in rows
    ]


@pytest.fixture(scope="module", autouse=True)
def tables(tmp_path_factory):
    """All tables of the study in the working directory, by the steps of the workflow."""
    with pytest.MonkeyPatch.context() as context:
        context.chdir(tmp_path_factory.mktemp("unscored"))
        context.setattr("recuse.workflow.figures.CAPTIONS", ROOT / "workflow" / "report")
        made = study_of_rows(Path(), with_astray(unscored(prompts=20)))
        study = {"tables": StudyTables("ours", made.cells_from, made.ratings)}
        for path in (*OURS.estimates(), *TABLES.values(), *pictures(OURS, FIGURES)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        for stage in STAGES.values():  # each of which has the tables of all
            if stage != "tables":
                Path(OURS.path("stages")).mkdir(exist_ok=True)
                Path(OURS.path(stage)).symlink_to(Path(OURS.path("tables")).resolve())
        write_tables_of(study)
        yield


def write_tables_of(study):
    fitting = {"specs": OURS.specs, "order": list(OURS.specs), "estimates": OURS.estimates()}
    fit_specs(**study, before=[], **fitting, outputs=TABLES, **LEVEL)
    describe(**study, confidence=0.9, outputs=TABLES)
    preference, distortion = OURS.preference_settings(), OURS.distortion_settings()
    estimands(**study, preference=preference, confidence=0.9, outputs=TABLES)
    of_raters = {"raters": [], "alphas": []}
    sensitivity(**study, **of_raters, distortion=distortion, confidence=0.9, outputs=TABLES)
    read = {name: TABLES[name] for name in ("idiosyncrasy", "reliability")}
    fitted, ranking = OURS.estimates_of_leaderboard(), OURS.ranking_settings()
    rank(**study, **read, fitted=fitted, ranking=ranking, outputs=TABLES, **LEVEL)
    inputs = {**TABLES, "estimates": OURS.estimates(), "completeness": TABLES["mean_scores"]}
    conclude(study="ours", settings=OURS.conclusions_settings(), inputs=inputs, outputs=TABLES)
    read = {name: TABLES[name] for name in ("reliability", "verdicts")}
    panels = CONFIG["inference"]["panel"]
    recommend_panel(**study, **read, panels=panels, confidence=0.9, outputs=TABLES)
    write_table(TABLES["check"], CHECK, [])


def written_tables():
    return [path for path in table_paths(OURS).values() if Path(path).exists()]


@pytest.fixture(scope="module")
def figures(tables):
    """Every figure that a study has, by the script of the workflow: name -> SVG."""
    paths = pictures(OURS, FIGURES)
    draw_figures(pictures=paths, figures=drawings(OURS, FIGURES))
    return {Path(path).stem: Path(path).read_text("utf-8") for path in paths}


def test_tables_that_need_human_scores_have_only_a_header():
    assert {Path(path).stem for path in written_tables() if not read_table(path)} == {
        "check",
        "smooths",
        "multiplicity",
        "reliability",
        "measurement_error",
        "reliability_curve",
        "breakdowns",
        "calibration",
        "power",
        "wordings",
    }
    named = {row["spec"]: row["estimand"] for row in read_table(TABLES["sensitivity"])}
    assert named.keys() == {"model_effects", "model_effects_by_dimension"}
    assert {estimand[0] for estimand in named.values()} == {"B"}


def test_the_shrunk_bias_beyond_ordinary_preference_is_removed_from_debiased_ratings():
    rows = where(read_table(TABLES["idiosyncrasy"]), spec="main", slice="")
    biases = {
        row["term"]: float(row["shrunk"])
        for row in rows
        if row["quantity"] == "self_bias" and row["shrunk"]
    }
    removed = "select judge, bias, rating_unit - debiased_unit"
    query = f"{removed} from '{TABLES['debiased']}' where judge = model"
    removed = connect().execute(query).fetchall()
    assert {judge for judge, bias, _ in removed if bias is not None} == biases.keys()
    for judge, *both in removed:
        assert both == (
            pytest.approx([biases[judge]] * 2, abs=1e-12) if judge in biases else [None, None]
        )


def test_the_first_check_is_the_gap_to_the_other_judges():
    rows = read_table(TABLES["conclusions"])
    assert list(dict.fromkeys(row["check"] for row in rows)) == [
        "model_effects",
        "model_dimension_effects",
        "completion_effects",
        "idiosyncrasy",
    ]
    assert {row["estimand"][:1] for row in rows} == {"B", "C", ""}
    first = {
        fields(row, "slice term"): row["conclusion"]
        for row in rows
        if row["check"] == "model_effects"
    }
    assert first["", "GPT-4o"] == first["Tone", "GPT-4o"] == "favours"


def test_a_judge_that_hardly_agrees_with_the_others_is_named(page):
    correlations = {row["judge"]: row for row in read_table(TABLES["correlations"])}
    assert {row["statistic"] for row in correlations.values()} == {WITH_OTHERS}
    assert {judge for judge, row in correlations.items() if float(row["ci_high"]) < 0.3} == {ASTRAY}
    verdicts = read_table(TABLES["verdicts"])
    hardly = Reason.HARDLY_AGREES_WITH_JUDGES
    assert [row["term"] for row in verdicts if code(row["disagreement"]) is hardly] == [ASTRAY]
    assert not any(row["agreement"] for row in verdicts)  # these are with people
    excluded = where(read_table(TABLES["panel"]), note=hardly)
    assert [row["panel"] for row in excluded] == [ASTRAY]
    answer = Elements(page).text
    assert f"{ASTRAY} hardly agrees with the other judges: do not use it as a judge." in answer
    assert f"{ASTRAY}: do not use (hardly any agreement with the other judges)." in answer


def test_figures_draw_what_is_estimable_and_say_why_the_rest_is_not(figures):
    assert {name for name, svg in figures.items() if f'id="{WORDS_ALONE}"' in svg} == SILENT
    for svg in figures.values():
        assert "nan" not in svg


@pytest.fixture(scope="module")
def page(figures):
    inputs = {
        "figures": pictures(OURS, figures),
        "pages": [],
        "tables": written_tables(),
        "estimates": OURS.estimates(),
        "template": [str(ROOT / "workflow" / "report" / "report.html.j2")],
    }
    page, _ = report(
        study="ours",
        files=[],
        about=report_params(OURS),
        figures=captions(OURS, FIGURES),
        formats=["svg"],
        inputs=inputs,
        context={"wildcards": {"study": "ours"}, "config": {}},
        page=OURS.path("report.html"),
        further=further_points,
    )
    return page


def test_the_report_answers_against_the_other_judges_and_says_what_it_cannot_tell(page):
    text = Elements(page).text
    assert "B: gap to the other judges" in text
    assert "A: gap to people" not in text
    assert "against humans" not in text[: text.index("Does the ranking")]
    assert NO_TRUTH.format("no row has a human score") in text
    assert in_words(Reason.NO_HUMAN_SCORE) in text
    assert "with CR1 standard errors" in text
    assert "Does the ranking of models change?" in text
    assert "In this study no row has a human score." in text
    assert "noise of the human scores" not in text
    assert "A: Equation 1:" not in text  # a check that the caption of the conclusions would name
    assert text.index("Figures with nothing to show") > text.index("Answer")
    answer = page[: page.index('id="figures"')]
    assert 'id="verdicts"' in answer
    assert 'id="conclusions"' in answer
    assert 'id="fig03_self_family_bias"' not in page
