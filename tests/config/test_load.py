"""What a command reads of the configuration: which file goes before which."""

import pytest

from recuse.base.errors import ConfigError
from recuse.config.load import in_order_of, load


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_named_file_goes_before_the_one_here_and_that_before_the_projects(folder):
    assert (load(None)["seed"], load(None)["confidence"]) == (20250809, 0.9)
    (folder / "config.yaml").write_text("seed: 1\nconfidence: 0.5\nmodels: {mine: {family: GPT}}\n", "utf-8")
    (folder / "named.yaml").write_text("seed: 2\nmodels: {yours: {family: GPT}}\n", "utf-8")
    assert (load(None)["seed"], load(None)["confidence"]) == (1, 0.5)
    found = load("named.yaml")
    assert (found["seed"], found["confidence"]) == (2, 0.5)
    assert list(found["models"])[-2:] == ["mine", "yours"]
    assert found["models"]["GPT-4o"]["family"] == "GPT"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("specs: {main: {length: prompt}}", "specs: main: length: found prompt; this spec is what the figures call it"),
        ("comparisons: {twin: {title: t, files: a.csv}}", "comparisons: twin: a study of ratings has this name"),
        ("comparisons: {mine: {title: t, files: [a.csv, '{b}.csv']}}", "comparisons: mine: files: 1: '{b}.csv': braces mean"),
        ("2: 3", "config: unknown key '2'; known: "),
        ("seed: [", "named.yaml: not YAML"),
        ("- seed", "named.yaml: holds no settings"),
    ],
)
def test_what_does_not_fit_is_named(folder, text, said):
    (folder / "named.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as found:
        load("named.yaml")
    assert said in str(found.value)


def test_overlay_keeps_the_order_of_models():
    base = {"models": {"b": {"family": "f"}, "a": {"family": "f"}}, "seed": 1}
    models = {"new": {"family": "g"}, "a": {"family": "f", "ids": ["x"]}, "b": {"family": "f"}}
    merged = {"models": models, "more": {}, "seed": 2}
    ordered = in_order_of(base, merged)
    assert ordered == merged
    assert list(ordered) == ["models", "seed", "more"]
    assert list(ordered["models"]) == ["b", "a", "new"]
