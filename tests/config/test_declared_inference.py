"""Messages about specs and robustness checks without the rows that they name."""

import copy

import pytest
import yaml

from conftest import CONFIG
from recuse.base.errors import ConfigError
from recuse.config.declared.settings import check_settings
from recuse.config.load import checked
from recuse.inference.idiosyncrasy import IDIOSYNCRASY
from recuse.inference.measurement_error import BY_RATERS, MEASUREMENT_ERROR
from recuse.inference.robustness import TABLES, RobustnessCheck
from recuse.inference.sensitivity import SENSITIVITY
from recuse.model.estimates import ESTIMATES, MULTIPLICITY
from recuse.model.spec import BIASES
from text_tables import cases

COLUMNS = {
    "estimates": ESTIMATES,
    "multiplicity": MULTIPLICITY,
    "idiosyncrasy": IDIOSYNCRASY,
    "measurement_error": MEASUREMENT_ERROR,
    "sensitivity": SENSITIVITY,
}


def config_with(key, value, specs=()):
    config = copy.deepcopy(CONFIG)
    config["inference"][key] = value
    if key == "robustness_checks":
        config["inference"]["verdict"] = dict.fromkeys("ABC", next(iter(value)))
    config["specs"] |= specs
    return config


def with_check(**settings):
    return config_with(
        "robustness_checks",
        CONFIG["inference"]["robustness_checks"]
        | {"mine": {"title": "T", "asks": "a", **settings}},
    )


def test_the_projects_own_settings_are_valid():
    check_settings(CONFIG)
    assert checked(CONFIG, CONFIG).as_written() == CONFIG


@pytest.mark.parametrize(
    ("changed", "message"),
    cases(
        """
idiosyncrasy: [mane]
    inference: idiosyncrasy: 'mane' is not one of specs; did you mean 'main'
sensitivity: [completion_effects]
    inference: sensitivity: completion_effects: this table takes no spec
leaderboard: [length_control]
    'length_control' is not one of inference: idiosyncrasy, whose biases are
leaderboard: [gam]
    inference: leaderboard: gam: this table takes no spec with estimator
measurement_error: [llm_reference]
    inference: measurement_error: llm_reference: this table takes no spec with reference
sensitivity: [gam]
    inference: sensitivity: gam: this table takes no spec with estimator
leaderboard: [length_alone]
    leaderboard: length_alone: this spec estimates no self- or family-bias; write one with the term self
idiosyncrasy: [length_alone]
    idiosyncrasy: length_alone: this spec estimates no self- or family-bias; write one with the term self
sensitivity: [length_alone]
    sensitivity: length_alone: this spec estimates no self- or family-bias; write one with the term self
"""
    ),
)
def test_specs_that_a_table_cannot_have(changed, message):
    with pytest.raises(ConfigError, match=message):
        check_settings(config_with(*yaml.safe_load(changed).popitem()))


@pytest.mark.parametrize(
    ("settings", "message"),
    cases(
        """
{specs: [mane]}
    config: inference: robustness_checks: mine: specs: 'mane' is not one of specs; did you mean 'main'
{specs: [ordinal]}
    mine: specs: ordinal: found slices other than dimensions
{specs: [by_dataset]}
    mine: specs: by_dataset: found slices other than dimensions
{specs: [length_alone]}
    mine: specs: length_alone: this spec estimates no self- or family-bias; write one with the term self
{specs: [main, clustered]}
    main and clustered have rows on the same ratings; write a check for each
{specs: [main, gam]}
    main and gam have rows on the same ratings
{specs: [clustered], table: idiosyncrasy}
    'clustered' is not one of inference: idiosyncrasy
{specs: [main], by: wild_ci}
    mine: specs: main: wild_ci needs wild; add it to this spec
{specs: [main], by: holm_p_value}
    by: found holm_p_value, which the table estimates does not have; write ci or
{specs: [main], table: idiosyncrasy, by: wild_ci}
    the table idiosyncrasy does not have; write ci$
{specs: [clustered], table: multiplicity}
    by: found ci, which the table multiplicity does not have; write holm_p_value
{specs: [main], table: multiplicity, by: bh_p_value}
    specs: main: bh_p_value needs bootstrap or wild; add it to this spec
{specs: [length_control], table: sensitivity}
    the table sensitivity does not have; write as_length_ci
{specs: [main], table: sensitivity, by: as_length_ci}
    main: as_length_ci needs length
{specs: [main], method: moments}
    mine: method: the table estimates has none; leave this key out
{specs: [main], table: idiosyncrasy, method: x}
    method: the table idiosyncrasy has none
{specs: [main], table: measurement_error, method: momnts}
    'momnts' is not one of the methods of the table measurement_error; did you mean 'moments'
{specs: [main], table: measurement_error}
    has several; write one of uncorrected, moments, split raters
{specs: [main], title: 'A: Equation 1'}
    mine: title: 'A: Equation 1' is also that of published; write another
"""
    ),
)
def test_checks_of_rows_that_do_not_exist(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_settings(with_check(**yaml.safe_load(settings)))


def test_valid_checks_are_accepted():
    check_settings(with_check(specs=["gam"]))
    check_settings(with_check(specs=["main"], table="measurement_error", method=BY_RATERS))
    only_bootstrap = {"drawn": {"bootstrap": 200}}
    settings = {
        "title": "T",
        "asks": "a",
        "specs": ["drawn"],
        "table": "multiplicity",
        "by": "holm_p_value",
    }
    check_settings(config_with("robustness_checks", {"mine": settings}, only_bootstrap))
    settings["by"] = "max_t_p_value"
    with pytest.raises(ConfigError, match="specs: drawn: max_t_p_value needs wild"):
        check_settings(config_with("robustness_checks", {"mine": settings}, only_bootstrap))


def test_tables_have_the_columns_and_methods_that_checks_ask_for():
    for name, table in TABLES.items():
        assert {column for by in table.by.values() for column in by[:3]} - {""} <= set(
            COLUMNS[name]
        )
        assert bool(table.methods) == ("method" in COLUMNS[name])
    assert {*TABLES["measurement_error"].methods} == {"uncorrected", "moments", BY_RATERS}


def test_the_projects_checks_and_their_biases():
    checks = RobustnessCheck.from_config(CONFIG["inference"]["robustness_checks"])
    specs = CONFIG["specs"]
    assert (checks[0].spec_with_slice("", specs), checks[0].spec_with_slice("Tone", specs)) == (
        "main",
        "by_dimension",
    )
    assert all(check.lost for check in checks[1:])
    for each in checks[1:]:  # errors that are not those of the first are named
        errors = {each.errors(specs[name]) for name in each.specs}
        assert errors == {"HC0"} or "errors " in each.asks or "other prompts" in each.asks
    tested = RobustnessCheck(
        "holm", "T", ["clustered"], "a", table="multiplicity", by="holm_p_value"
    )
    assert [tested.has(name, {"tests": ["family_bias"]}) for name in BIASES] == [False, True]
