"""What a command reads of the configuration: which file goes before which, and which study has the files that are given."""

import pytest

from recuse.base.errors import ConfigError
from recuse.config.load import in_order_of, load, study_of

STUDY = "{title: t, scales: {Tone: [1, 5], Usefulness: [1, 5]}, files: "
STUDIES = f"""
studies:
  one: {STUDY}one.csv}}
  parts: {STUDY}parts/}}
  two: {STUDY}{{Tone: tone.csv, Usefulness: usefulness.csv}}}}
  both: {STUDY}{{Tone: tones, Usefulness: usefulness.csv}}}}
  none: {STUDY}empty}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def config(folder):
    (folder / "studies.yaml").write_text(STUDIES, "utf-8")
    for path in ("parts/1.parquet", "parts/2.parquet", "parts/.hidden.parquet", "tones/1.parquet", "tones/notes.txt"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).touch()
    (folder / "empty").mkdir()
    return load("studies.yaml")


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


PARTS = [("parts/1.parquet", None), ("parts/2.parquet", None)]
TWO = [("tone.csv", "Tone"), ("usefulness.csv", "Usefulness")]
BOTH = [("tones/1.parquet", "Tone"), ("usefulness.csv", "Usefulness")]


@pytest.mark.parametrize(
    ("given", "study", "files"),
    [
        ([("one.csv", None)], "one", [("one.csv", None)]),
        ([("./one.csv", None)], "one", [("./one.csv", None)]),
        ([("parts", None)], "parts", PARTS),
        (PARTS, "parts", PARTS),
        (PARTS[::-1], "parts", PARTS[::-1]),
        ([(path, None) for path, _ in TWO], "two", TWO),
        ([(path, None) for path, _ in TWO[::-1]], "two", TWO[::-1]),
        ([TWO[0], ("usefulness.csv", None)], "two", TWO),
        ([("tones", None), ("usefulness.csv", None)], "both", BOTH),
        ([("tones", "Tone"), ("usefulness.csv", None)], "both", BOTH),
    ],
)
def test_study_is_the_one_with_the_files_and_their_dimensions_are_its_own(config, given, study, files):
    assert study_of(config, None, given) == (study, files)
    assert study_of(config, study, given) == (study, files)


def test_other_files_are_of_the_study_that_is_named(config):
    assert study_of(config, "two", [("other.csv", None), ("tone.csv", None)]) == ("two", [("other.csv", None), TWO[0]])
    assert study_of(config, "one", [("tones", "Usefulness")]) == ("one", [("tones/1.parquet", "Usefulness")])


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        (None, PARTS[:1], "studies: none has the files parts/1.parquet; name by --study"),
        (None, [*PARTS, ("one.csv", None)], "studies: none has the files parts/1.parquet, parts/2.parquet, one.csv"),
        ("ones", [("one.csv", None)], "--study: 'ones' is not one of studies; did you mean 'one'?"),
        ("one", [("empty", None)], "'empty': the folder holds no *.parquet; put the parts into it"),
        ("one", [("one.csv", "Tne")], "studies: one: Tne=one.csv: 'Tne' is not one of its scales; did you mean 'Tone'?"),
        ("one", [("one.csv", "")], "studies: one: =one.csv: '' is not one of its scales; known: Tone, Usefulness"),
        (None, [("tone.csv", "Usefulness"), TWO[1]], "two: files: tone.csv is of Tone; found Usefulness=tone.csv, write Tone="),
    ],
)
def test_files_and_dimensions_that_do_not_fit_are_named(config, name, given, said):
    with pytest.raises(ConfigError) as found:
        study_of(config, name, given)
    assert said in str(found.value)


def test_overlay_keeps_the_order_of_models():
    base = {"models": {"b": {"family": "f"}, "a": {"family": "f"}}, "seed": 1}
    models = {"new": {"family": "g"}, "a": {"family": "f", "ids": ["x"]}, "b": {"family": "f"}}
    merged = {"models": models, "more": {}, "seed": 2}
    ordered = in_order_of(base, merged)
    assert ordered == merged
    assert list(ordered) == ["models", "seed", "more"]
    assert list(ordered["models"]) == ["b", "a", "new"]
