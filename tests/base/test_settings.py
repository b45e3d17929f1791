"""Messages name a setting by its keys or, in Python, as an argument."""

import pytest

from recuse.arguments import argument_named
from recuse.base.errors import ConfigError
from recuse.base.settings import Setting, named_as_arguments

REPEATS = Setting("repeats")
COLUMN = Setting("columns", "judge")
NAMES = [
    (lambda: str(Setting("references", "missing")), "`references: missing:`", "missing="),
    (lambda: REPEATS.place, "under `repeats:` in config", "in repeats="),
    (lambda: REPEATS.given("mean"), "write `repeats: mean`", "pass repeats='mean'"),
    (
        lambda: REPEATS.given("mean", "first", "no"),
        "write `repeats: mean`, `first` or `'no'`",
        "pass repeats='mean', 'first' or 'no'",
    ),
    (lambda: COLUMN.line("<its name>"), "`columns: {judge: <its name>}`", "judge=<its name>"),
    (
        lambda: str(ConfigError.at(["studies", "mine", "scales", "default"], "found 1")),
        "config: studies: mine: scales: default: found 1",
        "scale: found 1",
    ),
    (
        lambda: str(ConfigError.at(["confidence"], "found 2", meaning="Level.")),
        "config: confidence: found 2 (Level.)",
        "confidence: found 2",
    ),
]


@pytest.mark.parametrize(("name", "key", "argument"), NAMES)
def test_a_setting_is_a_key_or_an_argument(name, key, argument):
    assert name() == key
    with named_as_arguments(argument_named):
        assert name() == argument
    assert name() == key
