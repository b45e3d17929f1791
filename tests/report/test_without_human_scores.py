"""Tables, figures and pages of a study without human scores: gaps to the other judges, and reasons
for what is absent.
"""

import random

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
from recuse.check.facts import CHECK
from recuse.config.load import project
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
from report_pages import Elements

INFERENCE, LEVEL = CONFIG["inference"], {"confidence": 0.9, "seed": 1}
INSTEAD = INFERENCE["without_human_scores"]
SPECS = CONFIG["specs"]
CHECKS = {
    name: {"table": "estimates", **check} for name, check in INFERENCE["robustness_checks"].items()
}
ASKED = {"checks": CHECKS, "specs": SPECS, "confidence": 0.9, "power": 0.8}
SUBJECT = {
    "label": "ours",
    "kind": "user",
    "models": CONFIG["models"],
    "families": CONFIG["families"],
    "estimand": "",
}
TWIN = Study("twin", project())
FIGURES = figures_of_ratings(TWIN)
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All tables of a study, by the scripts of the workflow."""
    folder = tmp_path_factory.mktemp("unscored")
    made = study_of_rows(folder, with_astray(unscored(prompts=20)))
    study = {"tables": StudyTables("ours", made.cells_from, made.ratings)}
    outputs = {name: str(folder / f"tables/{name}.csv") for name in tables_of_study()}
    outputs["debiased"] = str(folder / "d.parquet")
    for name in ("tables", "estimates", "figures"):
        (folder / name).mkdir()
    for stage in STAGES.values():  # each of which has the tables of all
        (folder / stage).parent.mkdir(exist_ok=True)
        if not (folder / stage).exists():
            (folder / stage).symlink_to(folder / "tables")
    estimates = {spec: str(folder / f"estimates/{spec}.csv") for spec in SPECS}
    fit_specs(
        **study,
        before=[],
        specs=SPECS,
        order=list(SPECS),
        estimates=estimates.values(),
        outputs=outputs,
        **LEVEL,
    )
    describe(**study, confidence=0.9, outputs=outputs)
    asked = TWIN.conclusions_params()
    settings = {"specs": SPECS, "settings": INFERENCE}
    preference = {**settings, "asked": asked}
    estimands(**study, preference=preference, confidence=0.9, outputs=outputs)
    sensitivity(
        **study,
        raters=[],
        alphas=[],
        distortion=settings,
        confidence=0.9,
        outputs=outputs,
    )
    rank(
        **study,
        fitted=[estimates["main"], estimates["model_effects"]],
        idiosyncrasy=outputs["idiosyncrasy"],
        reliability=outputs["reliability"],
        ranking={"specs": SPECS, "settings": {**INFERENCE, "replicates": 100}},
        outputs=outputs,
        **LEVEL,
    )
    concluding = {
        "verdict": INFERENCE["verdict"],
        "order": {"self_bias": []},
        "instead": INSTEAD,
    }
    conclude(
        study="ours",
        settings={**ASKED, **concluding},
        inputs={
            **outputs,
            "estimates": estimates.values(),
            "scorecard": [],
            "completeness": outputs["mean_scores"],
        },
        outputs=outputs,
    )
    read = {name: outputs[name] for name in ("reliability", "verdicts")}
    recommend_panel(**study, **read, panels=INFERENCE["panel"], confidence=0.9, outputs=outputs)
    write_table(outputs["check"], CHECK, [])
    return folder


def tables_of_study():
    return (
        *(
            "not_estimable",
            "remarks",
            "smooths",
            "multiplicity",
            "mean_scores",
            "correlations",
            "idiosyncrasy",
            "residuals",
        ),
        *("pooled", "wordings"),
        *(
            "identifiability",
            "reliability",
            "measurement_error",
            "reliability_curve",
            "breakdowns",
            "sensitivity",
        ),
        *(
            "leaderboard",
            "calibration",
            "judgments",
            "panel",
            "round_robin",
            "power",
            "conclusions",
            "verdicts",
            "check",
        ),
    )


@pytest.fixture(scope="module")
def figures(folder):
    """Every figure that a study has, by the script of the workflow: name -> SVG."""
    drawn = {}
    for name, figure in FIGURES.items():
        inputs = {
            argument: (
                f"{folder}/{of}.csv"
                if isinstance(of, str)
                else [f"{folder}/{each}.csv" for each in of]
            )
            for argument, of in figure.tables.items()
        }
        output = folder / "figures" / f"{name}.svg"
        drawing = {
            "title": f"{figure.title}: ours",
            "subject": SUBJECT,
            "settings": figure.settings,
        }
        figures = {name: {"draw": figure.draw, "inputs": inputs, **drawing}}
        draw_figures(pictures=[str(output)], figures=figures)
        drawn[name] = output.read_text("utf-8")
    return drawn


def test_tables_that_need_human_scores_have_only_a_header(folder):
    empty = {
        name for name in tables_of_study() if not read_table(folder / f"tables/{name}.csv")
    } - {"check"}
    assert empty == {
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
    named = {row["spec"]: row["estimand"] for row in read_table(folder / "tables/sensitivity.csv")}
    assert named.keys() == {"model_effects", "model_effects_by_dimension"}
    assert {estimand[0] for estimand in named.values()} == {"B"}


def test_the_shrunk_bias_beyond_ordinary_preference_is_removed_from_debiased_ratings(folder):
    rows = where(read_table(folder / "tables/idiosyncrasy.csv"), spec="main", slice="")
    biases = {
        row["term"]: float(row["shrunk"])
        for row in rows
        if row["quantity"] == "self_bias" and row["shrunk"]
    }
    query = (
        f"select judge, bias, rating_unit - debiased_unit from '{folder}/d.parquet' where judge ="
        " model"
    )
    removed = connect().execute(query).fetchall()
    assert {judge for judge, bias, _ in removed if bias is not None} == biases.keys()
    for judge, *both in removed:
        assert both == (
            pytest.approx([biases[judge]] * 2, abs=1e-12) if judge in biases else [None, None]
        )


def test_the_first_check_is_the_gap_to_the_other_judges(folder):
    rows = read_table(folder / "tables/conclusions.csv")
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


def test_a_judge_that_hardly_agrees_with_the_others_is_named(folder, page):
    correlations = {row["judge"]: row for row in read_table(folder / "tables/correlations.csv")}
    assert {row["statistic"] for row in correlations.values()} == {WITH_OTHERS}
    assert {judge for judge, row in correlations.items() if float(row["ci_high"]) < 0.3} == {ASTRAY}
    verdicts = read_table(folder / "tables/verdicts.csv")
    hardly = Reason.HARDLY_AGREES_WITH_JUDGES
    assert [row["term"] for row in verdicts if code(row["disagreement"]) is hardly] == [ASTRAY]
    assert not any(row["agreement"] for row in verdicts)  # these are with people
    excluded = where(read_table(folder / "tables/panel.csv"), note=hardly)
    assert [row["panel"] for row in excluded] == [ASTRAY]
    answer = Elements(page).text
    assert f"{ASTRAY} hardly agrees with the other judges: do not use it as a judge." in answer
    assert f"{ASTRAY}: do not use (hardly any agreement with the other judges)." in answer


def test_figures_draw_what_is_estimable_and_say_why_the_rest_is_not(figures):
    assert {name for name, svg in figures.items() if f'id="{WORDS_ALONE}"' in svg} == SILENT
    for svg in figures.values():
        assert "nan" not in svg


@pytest.fixture(scope="module")
def page(folder, figures):
    about = {
        "subject": {"label": "ours", "kind": "user"},
        "specs": SPECS,
        "analyses": [],
        "confidence": 0.9,
        "seed": 1,
        "substitute": "model_effects",
        "scales": {"Tone": [1, 5], "Use": [1, 5]},
        "origin": {},
        "settings": [],
        "checks": {name: check["title"] for name, check in CHECKS.items()},
    }
    captions = {
        name: {
            "tables": [],
            "drawing": {"subject": SUBJECT, "settings": figure.settings},
            "caption": str(ROOT / "workflow" / "report" / f"{name}.rst"),
        }
        for name, figure in FIGURES.items()
    }
    inputs = {
        "figures": [str(folder / f"figures/{name}.svg") for name in figures],
        "pages": [],
        "tables": [str(folder / f"tables/{name}.csv") for name in tables_of_study()],
        "estimates": [str(folder / f"estimates/{spec}.csv") for spec in SPECS],
        "template": [str(ROOT / "workflow" / "report" / "report.html.j2")],
    }
    context = {"wildcards": {"study": "ours"}, "config": {}}
    page, _ = report(
        study="ours",
        files=[],
        about=about,
        figures=captions,
        formats=["svg"],
        inputs=inputs,
        context=context,
        page=str(folder / "report.html"),
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
