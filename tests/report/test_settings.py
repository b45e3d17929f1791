"""What the report is told of a study, and the settings in which it differs from the project's own."""

from conftest import CONFIG
from recuse.report.settings import differences, report_params


def test_settings_that_differ_are_named_by_their_keys():
    own = {**CONFIG["inference"], "raters": 5, "placebo": ["main"], "more": {"a": "/home/me/file.csv", "b": True}}
    project = {**CONFIG["inference"], "planner": {**CONFIG["inference"]["planner"]}, "gone": 1}
    found = dict(differences({"inference": own}, {"inference": project}))
    assert found == {
        "inference.raters": "5",
        "inference.placebo": "[main]",
        "inference.more": "{a: file.csv, b: true}",
        "inference.gone": "left out",
    }
    assert list(differences(CONFIG, CONFIG)) == []


def test_a_study_of_ratings():
    about = report_params(CONFIG, "twin", project=CONFIG)
    assert about["subject"] == {"label": "simulated twin of the Play Favorites ratings", "kind": "simulated"}
    assert about["origin"] == {"simulate": {"prompts": 596}}
    assert (about["stand_in"], about["settings"], about["analyses"]) == ("model_effects", [], [])
    assert about["specs"] == CONFIG["specs"]
    assert about["views"]["placebo"] == CONFIG["inference"]["conclusions"]["placebo"]["title"]
    renamed = {**CONFIG["studies"]["twin"], "title": "mine"}
    own = {**CONFIG, "seed": 7, "mirror": "elsewhere", "studies": {**CONFIG["studies"], "twin": renamed, "other": {}}}
    assert report_params(own, "twin", project=CONFIG)["settings"] == [("seed", "7"), ("studies.twin.title", "mine")]


def test_a_study_of_comparisons():
    about = report_params(CONFIG, "comparisons_twin", project=CONFIG)
    assert (about["specs"], about["scales"]) == ({}, {})
    assert about["analyses"] == ["verbosity", "cognitive_biases", "attacks"]
    assert "stand_in" not in about
    own = {**CONFIG, "specs": {}, "comparisons": {"ours": {"title": "t", "files": "a.csv"}}}
    assert report_params(own, "ours", project=CONFIG)["settings"] == [("comparisons.ours", "{title: t, files: a.csv}")]
