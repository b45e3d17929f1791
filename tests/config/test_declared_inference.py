"""What is said of specs and views of inference that have no such rows."""

import copy

import pytest

from conftest import CONFIG
from recuse.base.errors import ConfigError
from recuse.base.tables import ESTIMATES, MISSINGNESS, MULTIPLICITY, NOISY_REFERENCE, PLACEBO, SENSITIVITY
from recuse.config.declared.settings import check
from recuse.config.load import checked
from recuse.inference.bounds import ALL_ROWS, ANY, COMPLETE, OWN
from recuse.inference.measurement_error import BY_RATERS
from recuse.inference.robustness import TABLES, RobustnessCheck
from recuse.model.spec import BIASES

COLUMNS = {
    "estimates": ESTIMATES,
    "multiplicity": MULTIPLICITY,
    "placebo": PLACEBO,
    "noisy_reference": NOISY_REFERENCE,
    "sensitivity": SENSITIVITY,
    "missingness": MISSINGNESS,
}
NO_BIAS = "estimates no self- or family-bias; take one with the term self"


def config_with(key, value, specs=()):
    config = copy.deepcopy(CONFIG)
    config["inference"][key] = value
    config["specs"] |= specs
    return config


def view(**settings):
    return config_with("conclusions", CONFIG["inference"]["conclusions"] | {"mine": {"title": "T", "asks": "a", **settings}})


def test_the_projects_own_settings_are_right():
    check(CONFIG)
    assert checked(CONFIG, CONFIG) == CONFIG


@pytest.mark.parametrize(
    ("key", "specs", "message"),
    [
        ("placebo", ["mane"], "inference: placebo: 'mane' is not one of specs; did you mean 'main'"),
        ("sensitivity", ["completion_effects"], "inference: sensitivity: completion_effects: a spec with absorb, which has no"),
        ("leaderboard", ["gam"], "inference: leaderboard: gam: a spec with estimator"),
        ("missingness", ["llm_reference"], "inference: missingness: llm_reference: a spec with reference"),
        *((key, ["length_alone"], f"{key}: length_alone: a spec that {NO_BIAS}") for key in ("leaderboard", "placebo")),
        ("sensitivity", ["length_alone"], f"sensitivity: length_alone: a spec that {NO_BIAS}"),
    ],
)
def test_a_table_is_of_specs_that_have_one(key, specs, message):
    with pytest.raises(ConfigError, match=message):
        check(config_with(key, specs))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"specs": ["mane"]}, "config: inference: conclusions: mine: specs: 'mane' is not one of specs; did you mean 'main'"),
        ({"specs": ["ordinal"]}, "mine: specs: ordinal: found a slice not by dimension"),
        ({"specs": ["by_dataset"]}, "mine: specs: by_dataset: found a slice not by dimension"),
        ({"specs": ["length_alone"]}, f"mine: specs: length_alone: a spec that {NO_BIAS}"),
        ({"specs": ["main", "clustered"]}, "main and clustered have rows of the same ratings; write a view for each"),
        ({"specs": ["main", "gam"]}, "main and gam have rows of the same ratings"),  # gam has the whole, too
        ({"specs": ["clustered"], "table": "placebo"}, "'clustered' is not one of inference: placebo"),
        ({"specs": ["main"], "by": "wild_ci"}, "mine: specs: main: found no wild, without which there is no wild_ci"),
        (
            {"specs": ["main"], "by": "holm_p_value"},
            "by: found holm_p_value, which the table estimates does not have; write ci or",
        ),
        ({"specs": ["main"], "table": "placebo", "by": "wild_ci"}, "the table placebo does not have; write ci$"),
        (
            {"specs": ["clustered"], "table": "multiplicity"},
            "by: found ci, which the table multiplicity does not have; write simul",
        ),
        (
            {"specs": ["main"], "table": "multiplicity", "by": "bh_p_value"},
            "specs: main: found no bootstrap and no wild, without which there is no bh_p_value; write it in this spec",
        ),
        ({"specs": ["length_control"], "table": "sensitivity"}, "the table sensitivity does not have; write as_length_ci"),
        ({"specs": ["main"], "table": "sensitivity", "by": "as_length_ci"}, "main: found no length, without which"),
        ({"specs": ["main"], "methods": ["moments"]}, "mine: methods: the table estimates has none; leave this key out"),
        ({"specs": ["main"], "table": "placebo", "methods": ["x"]}, "methods: the table placebo has none"),
        (
            {"specs": ["main"], "table": "noisy_reference", "methods": ["momnts"]},
            "'momnts' is not one of .* did you mean 'moments'",
        ),
        ({"specs": ["main"], "table": "noisy_reference"}, "has several rows of a bias; write some of uncorrected, moments"),
        (
            {"specs": ["main"], "title": "A: Equation 1"},
            "mine: title: 'A: Equation 1' is also that of published; write another",
        ),
    ],
)
def test_a_view_is_of_rows_that_there_are(settings, message):
    with pytest.raises(ConfigError, match=message):
        check(view(**settings))


def test_right_views_are_taken():
    check(view(specs=["gam"]))
    check(view(specs=["main"], table="missingness", methods=[ALL_ROWS]))
    only_bootstrap = {"drawn": {"bootstrap": 200}}
    settings = {"title": "T", "asks": "a", "specs": ["drawn"], "table": "multiplicity", "by": "holm_p_value"}
    check(config_with("conclusions", {"mine": settings}, only_bootstrap))
    settings["by"] = "simultaneous_ci"
    with pytest.raises(ConfigError, match="specs: drawn: found no wild, without which there is no simultaneous_ci"):
        check(config_with("conclusions", {"mine": settings}, only_bootstrap))


def test_tables_have_the_columns_and_methods_that_views_ask_for():
    for name, table in TABLES.items():
        assert {column for by in table.by.values() for column in by[:3]} - {""} <= set(COLUMNS[name])
        assert bool(table.methods) == ("method" in COLUMNS[name])
    assert set(TABLES["missingness"].methods) == {ALL_ROWS, COMPLETE, *OWN, *ANY}
    assert {*TABLES["noisy_reference"].methods} == {"uncorrected", "moments", "simex", BY_RATERS}


def test_the_projects_views_say_what_they_ask_of_which_biases():
    views = RobustnessCheck.from_config(CONFIG["inference"]["conclusions"])
    specs = CONFIG["specs"]
    assert (views[0].spec_of("", specs), views[0].spec_of("Tone", specs)) == ("main", "by_dimension")
    assert all(view.lost for view in views[1:])
    for each in views[1:]:  # errors that are not those of the first are named
        errors = {each.errors(specs[name]) for name in each.specs}
        assert errors == {"HC0"} or "errors by " in each.asks or "other prompts" in each.asks
    own = RobustnessCheck("own", "T", ["main"], "a", table="missingness", methods=OWN)
    assert [own.is_of(name, {}) for name in BIASES] == [True, False]
    tested = RobustnessCheck("holm", "T", ["clustered"], "a", table="multiplicity", by="holm_p_value")
    assert [tested.is_of(name, {"tests": ["family_bias"]}) for name in BIASES] == [False, True]
