"""The configuration that a command reads: which file overrides which."""

import re

import pytest

from recuse.base.errors import ConfigError
from recuse.config.load import load, ordered_as


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_named_file_overrides_the_one_here_and_that_the_projects(folder):
    assert (load(None).seed, load(None).confidence) == (20250809, 0.9)
    (folder / "config.yaml").write_text(
        "seed: 1\nconfidence: 0.5\nmodels: {mine: {family: GPT}}\n", "utf-8"
    )
    (folder / "named.yaml").write_text("seed: 2\nmodels: {yours: {family: GPT}}\n", "utf-8")
    assert (load(None).seed, load(None).confidence) == (1, 0.5)
    config = load("named.yaml")
    assert (config.seed, config.confidence) == (2, 0.5)
    assert list(config.models)[-2:] == ["mine", "yours"]
    assert config.models["GPT-4o"].family == "GPT"


def test_models_are_dropped_by_name_or_id(folder):
    """What a study's own families call a model is its name there."""
    text = "models: {Claude v2: {family: Claude, ids: [claude-v2:1, claude-2]}}\n"
    text += (
        "studies: {ours: {title: t, import: {files: a.csv}, scales: {q: [1, 5]}, families: {Claude:"
        " [claude-2]}}}\n"
    )
    text += "specs: {mine: {subset: {models_dropped: ['claude-v2:1', claude-2, another]}}}\n"
    (folder / "named.yaml").write_text(text, "utf-8")
    assert load("named.yaml").specs_by_name["mine"] == {
        "subset": {"models_dropped": ["Claude v2", "claude-2", "another"]}
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "specs: {main: {length: prompt}}",
            "specs: main: length: found prompt; figures are named after this spec",
        ),
        ("2: 3", "named.yaml, line 1: 2: unknown key; known: "),
        ("seed: [", "named.yaml: not YAML"),
        ("- seed", "named.yaml: holds no settings"),
    ],
)
def test_invalid_settings_are_named(folder, text, message):
    (folder / "named.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)):
        load("named.yaml")


MINE = """\
confidence: 0.8
studies:
  mine:
    title: t
    files:
      A: a.csv
    scales:
      A: [0, 4]
specs:
  short:
    terms: [judge,
            self]
"""


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("0.8", "8", "named.yaml, line 1: confidence: should be below 1, found 8"),
        ("title", "titel", "named.yaml, line 4: studies: mine: titel: unknown key; did you mean"),
        ("    title: t\n", "", "named.yaml, line 3: studies: mine: 'title' is required"),
        ("a.csv", "'{a}.csv'", "named.yaml, line 6: studies: mine: files: A: '{a}.csv': braces"),
        ("[0, 4]", "[0, 4.5]", "named.yaml, line 8: studies: mine: scales: A: found [0, 4.5]"),
        ("self]", "selves]", "named.yaml, line 12: specs: short: terms: 1: should be 'intercept'"),
        ("self]", "self]\n    whole: true", "named.yaml, line 13: specs: short: whole: without"),
        ("confidence: 0.8", "seed: 1", "config.yaml, line 2: confidence: should be above 0"),
    ],
)
def test_errors_name_the_line_of_a_setting(folder, written, instead, message):
    """In the file that has the setting, the last of them."""
    (folder / "config.yaml").write_text("seed: 2\nconfidence: 0\n", "utf-8")
    (folder / "named.yaml").write_text(MINE.replace(written, instead), "utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)):
        load("named.yaml")


def test_overlay_keeps_the_order_of_models():
    base = {"models": {"b": {"family": "f"}, "a": {"family": "f"}}, "seed": 1}
    models = {"new": {"family": "g"}, "a": {"family": "f", "ids": ["x"]}, "b": {"family": "f"}}
    merged = {"models": models, "more": {}, "seed": 2}
    ordered = ordered_as(base, merged)
    assert ordered == merged
    assert list(ordered) == ["models", "seed", "more"]
    assert list(ordered["models"]) == ["b", "a", "new"]
