"""The catalogue of tables: which a study has, their paths and columns, and what the report needs to
know.
"""

import pytest

from conftest import CONFIG
from declared_tables import columns_by_table
from recuse.catalogue.tables import (
    table_paths,
    tables_in,
)
from recuse.config.load import project, with_study
from recuse.config.studies import Study, studies_in
from recuse.workflow.page_params import changed_settings, further_pages, report_params

SCALES = {"scales": {"Tone": [1, 5]}}
OURS = {
    "ours": {"title": "t", "files": "a.csv", **SCALES},
    "imported": {"title": "t", "import": {"files": "a.csv"}, **SCALES},
}
ASKED = {"prompts": "p.csv", "answers": "a.csv", "judges": {"j": {"model": "m"}}}
OURS["asked"] = {**OURS["imported"], "collect": ASKED}
ANNOTATIONS = {"title": "t", "import": {"files": "a.json"}}
CONFIGURED = with_study(CONFIG, studies=OURS, comparisons={"annotations": ANNOTATIONS})
STUDIES = studies_in(CONFIGURED)
# Tables that not every study of ratings has
SOME = "gold recovery agreement collected imported claims rankings scorecard"


@pytest.mark.parametrize(
    ("study", "some"),
    [
        ("twin", {"recovery", "agreement", "claims", "scorecard"}),
        ("play_favorites_2d", {"claims", "scorecard"}),
        ("ours", set()),
        ("imported", {"imported"}),
        ("asked", {"collected", "imported"}),
    ],
)
def test_tables_of_ratings(study, some):
    paths = table_paths(STUDIES[study])
    assert set(paths) == set(tables_in("studies")) - {*SOME.split()} | some
    assert paths["idiosyncrasy"] == f"results/{study}/tables/idiosyncrasy.csv"


VERBOSITY = {
    "verdicts",
    "choices",
    "label_noise",
    "check",
    "completeness",
    "verbosity",
    "position",
    "agreement",
    "score_curves",
    "alignment_curves",
}
REGRESSION = {"regression", "strengths"}
BIASES = {"cognitive_biases"}
ATTACKS = {"asr", "ranks", "votes_by_position", "length_curve", "vote_shares"}


@pytest.mark.parametrize(
    ("study", "names", "compared", "recovered"),
    [
        ("annotations", VERBOSITY | REGRESSION | {"imported"}, set(), set()),
        ("llmbar", VERBOSITY | {"scorecard"}, {"verbosity", "agreement"}, set()),
        ("cobbler", BIASES | {"rbo", "valid_rates", "scorecard"}, {"rbo"}, set()),
        (
            "comparisons_twin",
            VERBOSITY | REGRESSION | BIASES | ATTACKS | {"recovery"},
            set(),
            {"choices", "verbosity", "position", "cognitive_biases", "asr"},
        ),
        (
            "judgement_bias",
            ATTACKS
            | {"completeness", "length_confound", "published_ranks", "scorecard", "recovery"},
            {"asr", "ranks", "votes_by_position", "vote_shares"},
            {"asr"},
        ),
    ],
)
def test_tables_of_comparisons(study, names, compared, recovered):
    paths = table_paths(STUDIES[study])
    assert set(paths) == names
    assert list(paths) == [name for name in tables_in("comparisons") if name in paths]
    if "scorecard" in names:
        assert set(table_paths(STUDIES[study], read_by="scorecard")) == compared
    if "recovery" in names:
        assert set(table_paths(STUDIES[study], read_by="recovery")) == recovered


# A paper's values, planted ones, the estimators', audits', and rows that are read as a user's
OF_NO_STUDY = """
    PUBLISHED_RANKS PLANTED PAIRWISE_PLANTED MONTECARLO WORLDS COMPARISONS COLLECTED_RATINGS
    COLLECTED_VERDICTS OBSERVATIONS UNIT EFFECTS CHANGES SHARES RATES
"""


def test_a_table_of_a_study_says_of_which():
    columns = columns_by_table()
    assert len(columns) > 60
    assert {name for name, each in columns.items() if each[0] != "study"} == {*OF_NO_STUDY.split()}
    assert all(len(set(each)) == len(each) for each in columns.values())


def test_estimates_and_pages_are_of_ratings():
    assert STUDIES["ours"].estimates() == [
        f"results/ours/estimates/{spec}.csv" for spec in CONFIG["specs"]
    ]
    assert further_pages(STUDIES["ours"]) == []
    assert further_pages(STUDIES["twin"]) == ["results/twin/scorecard.html"]
    assert STUDIES["llmbar"].estimates() == further_pages(STUDIES["llmbar"]) == []


def test_settings_that_differ_are_named_by_their_keys():
    changed = {
        **CONFIG["inference"],
        "raters": 5,
        "idiosyncrasy": ["main"],
        "more": {"a": "/home/me/file.csv", "b": True},
    }
    project = {**CONFIG["inference"], "power": {**CONFIG["inference"]["power"]}, "gone": 1}
    assert dict(changed_settings({"inference": changed}, {"inference": project})) == {
        "inference.raters": "5",
        "inference.idiosyncrasy": "[main]",
        "inference.more": "{a: file.csv, b: true}",
        "inference.gone": "left out",
    }
    assert list(changed_settings(CONFIG, CONFIG)) == []


def test_what_the_report_of_ratings_needs_to_know():
    about = report_params(Study("twin", project()))
    assert about["subject"] == {
        "label": "simulated twin of the Play Favorites ratings",
        "kind": "simulated",
    }
    assert about["origin"] == {"simulate": {"prompts": 596}}
    assert (about["substitute"], about["settings"], about["analyses"]) == ("model_effects", [], [])
    assert about["specs"] == CONFIG["specs"]
    assert (
        about["checks"]["idiosyncrasy"]
        == CONFIG["inference"]["robustness_checks"]["idiosyncrasy"]["title"]
    )
    studies = {"twin": {"title": "mine"}, "other": OURS["ours"]}
    own = with_study(CONFIG | {"seed": 7, "mirror": "elsewhere"}, studies=studies)
    assert report_params(Study("twin", own))["settings"] == [
        ("seed", "7"),
        ("studies.twin.title", "mine"),
    ]


def test_what_the_report_of_comparisons_needs_to_know():
    about = report_params(Study("comparisons_twin", project()))
    assert (about["specs"], about["scales"]) == ({}, {})
    assert about["analyses"] == ["verbosity", "regression", "cognitive_biases", "attacks"]
    assert "substitute" not in about
    ours = {"ours": {"title": "t", "files": "a.csv"}}
    own = with_study(CONFIG, specs={"more": {"terms": ["judge"]}}, comparisons=ours)
    assert report_params(Study("ours", own))["settings"] == [
        ("comparisons.ours", "{title: t, files: a.csv}")
    ]
