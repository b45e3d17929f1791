"""The catalogue of tables: which of them each study has, where they are, and what they hold."""

import pytest

from conftest import CONFIG
from recuse.catalogue.tables import TABLES, TABLES_OF_COMPARISONS, estimates_of, pages_of, tables_of

SCALES = {"scales": {"Tone": [1, 5]}}
OURS = {"ours": {"title": "t", "files": "a.csv", **SCALES}, "imported": {"title": "t", "import": {"files": "a.csv"}, **SCALES}}
CONFIGURED = {
    **CONFIG,
    "studies": {**CONFIG["studies"], **OURS},
    "comparisons": {**CONFIG["comparisons"], "annotations": {"title": "t", "import": {"files": "a.json"}}},
}
SOME = {"recovery", "agreement", "imported", "claims", "scorecard"}  # of ratings: what not every study has


@pytest.mark.parametrize(
    ("study", "some"),
    [
        ("twin", {"recovery", "agreement", "claims", "scorecard"}),
        ("play_favorites_2d", {"claims", "scorecard"}),
        ("ours", set()),
        ("imported", {"imported"}),
    ],
)
def test_tables_of_ratings(study, some):
    found = tables_of(CONFIGURED, study)
    assert set(found) == set(TABLES) - SOME | some
    assert found["placebo"] == f"results/{study}/tables/placebo.csv"


VERBOSITY = {"completeness", "verbosity", "position", "agreement", "score_curves", "alignment_curves"}
BIASES = {"cognitive_biases", "random_thresholds"}
ATTACKS = {"asr", "ranks", "votes_by_position", "length_curve", "vote_shares"}


@pytest.mark.parametrize(
    ("study", "tables", "compared", "recovered"),
    [
        ("annotations", VERBOSITY | {"imported"}, set(), set()),
        ("llmbar", VERBOSITY | {"scorecard"}, {"verbosity", "agreement"}, set()),
        ("cobbler", BIASES | {"rbo", "valid_rates", "scorecard"}, {"rbo"}, set()),
        (
            "comparisons_twin",
            VERBOSITY | BIASES | ATTACKS | {"recovery"},
            set(),
            {"verbosity", "position", "cognitive_biases", "asr"},
        ),
        (
            "judgement_bias",
            ATTACKS | {"completeness", "length_confound", "published_ranks", "scorecard", "recovery"},
            {"asr", "ranks", "votes_by_position", "vote_shares"},
            {"asr"},
        ),
    ],
)
def test_tables_of_comparisons(study, tables, compared, recovered):
    found = tables_of(CONFIGURED, study)
    assert set(found) == tables
    assert list(found) == [name for name in TABLES_OF_COMPARISONS if name in found]
    if "scorecard" in tables:
        assert set(tables_of(CONFIGURED, study, read_by="scorecard")) == compared
    if "recovery" in tables:
        assert set(tables_of(CONFIGURED, study, read_by="recovery")) == recovered


def test_a_table_of_a_study_says_of_which():
    """All columns but of published_ranks, whose values are a paper's alone."""
    columns = [table.columns for table in (*TABLES.values(), *TABLES_OF_COMPARISONS.values())]
    assert {each[0] for each in columns} == {"study", "table"}
    assert all(len(set(each)) == len(each) for each in columns)


def test_estimates_and_pages_are_of_ratings():
    assert estimates_of(CONFIGURED, "ours") == [f"results/ours/estimates/{spec}.csv" for spec in CONFIG["specs"]]
    assert pages_of(CONFIGURED, "ours") == ["results/ours/conclusions.html"]
    assert pages_of(CONFIGURED, "twin") == ["results/twin/conclusions.html", "results/twin/scorecard.html"]
    assert estimates_of(CONFIGURED, "llmbar") == pages_of(CONFIGURED, "llmbar") == []
