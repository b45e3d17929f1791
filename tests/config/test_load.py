"""The configuration that a command reads: which file overrides which."""

import pytest

from recuse.base.errors import ConfigError
from recuse.config.load import in_order_of, load


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_named_file_overrides_the_one_here_and_that_the_projects(folder):
    assert (load(None)["seed"], load(None)["confidence"]) == (20250809, 0.9)
    (folder / "config.yaml").write_text(
        "seed: 1\nconfidence: 0.5\nmodels: {mine: {family: GPT}}\n", "utf-8"
    )
    (folder / "named.yaml").write_text("seed: 2\nmodels: {yours: {family: GPT}}\n", "utf-8")
    assert (load(None)["seed"], load(None)["confidence"]) == (1, 0.5)
    config = load("named.yaml")
    assert (config["seed"], config["confidence"]) == (2, 0.5)
    assert list(config["models"])[-2:] == ["mine", "yours"]
    assert config["models"]["GPT-4o"]["family"] == "GPT"


def test_models_are_dropped_by_name_or_id(folder):
    """What a study's own families call a model is its name there."""
    text = "models: {Claude v2: {family: Claude, ids: [claude-v2:1, claude-2]}}\n"
    text += (
        "studies: {ours: {title: t, import: {files: a.csv}, scales: {q: [1, 5]}, families: {Claude:"
        " [claude-2]}}}\n"
    )
    text += "specs: {mine: {subset: {models_dropped: ['claude-v2:1', claude-2, another]}}}\n"
    (folder / "named.yaml").write_text(text, "utf-8")
    assert load("named.yaml")["specs"]["mine"] == {
        "subset": {"models_dropped": ["Claude v2", "claude-2", "another"]}
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "specs: {main: {length: prompt}}",
            "specs: main: length: found prompt; figures are named after this spec",
        ),
        (
            "comparisons: {twin: {title: t, files: a.csv}}",
            "comparisons: twin: a study of ratings has this name",
        ),
        (
            "comparisons: {mine: {title: t, files: [a.csv, '{b}.csv']}}",
            "comparisons: mine: files: 1: '{b}.csv': braces mean",
        ),
        ("2: 3", "config: unknown key '2'; known: "),
        ("seed: [", "named.yaml: not YAML"),
        ("- seed", "named.yaml: holds no settings"),
    ],
)
def test_invalid_settings_are_named(folder, text, message):
    (folder / "named.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as raised:
        load("named.yaml")
    assert message in str(raised.value)


def test_overlay_keeps_the_order_of_models():
    base = {"models": {"b": {"family": "f"}, "a": {"family": "f"}}, "seed": 1}
    models = {"new": {"family": "g"}, "a": {"family": "f", "ids": ["x"]}, "b": {"family": "f"}}
    merged = {"models": models, "more": {}, "seed": 2}
    ordered = in_order_of(base, merged)
    assert ordered == merged
    assert list(ordered) == ["models", "seed", "more"]
    assert list(ordered["models"]) == ["b", "a", "new"]
