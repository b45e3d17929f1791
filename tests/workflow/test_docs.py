"""The pages of docs: made from the code as it is, and what they name is there. Links: test_site."""

import importlib.util
import json
import re
import tomllib
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import yaml

from recuse.cli import main
from recuse.config.declared.settings import Settings
from recuse.validation.settings import MonteCarlo

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/RESULTS.md",
    ROOT / "tests/README.md",
    ROOT / "workflow/data/README.md",
]
for_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_key_of_the_configuration_is_described():
    keys = [key for *_, found in sections() for key in found]
    undescribed = [
        path for path, _, words in keys if not words and not path.endswith(("<name>", "[]"))
    ]
    assert len(keys) > 100
    assert undescribed == []


def sections():
    return [*generate().list_sections(Settings), *generate().list_sections(MonteCarlo)]


# Of users, and of another tool
EXAMPLES = {"judged", "human", "without_small_models_on_news", "annotations", "test_run_sample"}


@for_each_page
def test_tables_of_a_page_exist(page):
    named = re.findall(r"`(?:[\w<>/*-]*/)?(\w+)\.(?:csv|parquet|json)`", page.read_text("utf-8"))
    in_repository = {
        path.stem
        for folder in ("workflow/data", "tests/golden")
        for path in (ROOT / folder).iterdir()
    }
    known = EXAMPLES | in_repository | words_of_the_project(("workflow",))
    assert {*named} - known == set()


# Of other packages and tools
OTHERS = {"combine_effects", "model_graded_qa1", "samples_masakhaner_luo_prompt_1", "search_traces"}
SYMBOL = r"[a-z]{1,3}_[a-z]{1,2}"  # of a formula


@for_each_page
def test_names_of_a_page_are_in_the_code(page):
    """Columns, settings, specs and functions: each name of several words between backticks."""
    named = re.findall(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`", without_blocks(page))
    unknown = {*named} - words_of_the_project() - OTHERS
    assert {name for name in unknown if not re.fullmatch(SYMBOL, name)} == set()


@for_each_page
def test_files_of_the_project_that_a_page_names_exist(page):
    named = re.findall(
        r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|yaml|smk|rst|sh|j2))`", without_blocks(page)
    )
    folders = [ROOT / name for name in (".", "workflow", "workflow/lib/recuse")]
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def without_blocks(page):
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def words_of_the_project(folders=("workflow", "tests", "benchmarks")):
    """Words in the code and the settings, and the names of their files."""
    paths = [ROOT / "config.yaml", ROOT / "montecarlo.yaml"]
    for folder, suffix in product(folders, ("py", "smk", "yaml")):
        paths += (ROOT / folder).rglob(f"*.{suffix}")
    texts = [f"{path.stem} {path.read_text('utf-8')}" for path in paths if path != Path(__file__)]
    return {*re.findall(r"\w+", "\n".join(texts))}


def test_commands_of_the_pages_exist(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["recuse", "--help"])
    with pytest.raises(SystemExit):
        main()
    known = {*re.findall(r"^ +([a-z]+)  ", capsys.readouterr().out, re.MULTILINE)}
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = {*re.findall(r"(?:`|bin/)recuse ([a-z]+)", text)}
    assert len(named) > 5
    assert named <= known


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/method.md", "tests/README.md"])
def test_every_function_of_a_page_is_where_it_says(name):
    page = ROOT / name
    named = re.findall(r"\[`(\w+)\.([\w.]+)`\]\(([^)]+)\)", page.read_text("utf-8"))
    wrong = [
        f"{module}.{function}"
        for module, function, path in named
        if Path(path).stem != module
        or not all(defines(page.parent / path, part) for part in function.split("."))
    ]
    assert len(named) > 35
    assert wrong == []


def defines(module, name):
    return re.search(
        rf"^ *((def|class) {name}\b|{name} = )", module.read_text("utf-8"), re.MULTILINE
    )


def test_the_page_on_python_shows_what_its_code_returns():
    """Lines of dots stand for lines left out."""
    names, shown = {}, ""
    for kind, block in generate().split_blocks((ROOT / "docs/python.md").read_text("utf-8")):
        if kind == "python":
            printed, value = generate().run(block, names)
            shown = printed or repr(value)
        if kind == "output":
            pattern = re.escape(block).replace(r"\.\.\.", "(?s:.*)")
            assert re.fullmatch(pattern, "\n".join(map(str.rstrip, shown.rstrip().split("\n")))), (
                shown
            )


def test_generated_pages_are_those_of_the_code_and_the_notebook_has_what_its_code_returns():
    pages = generate().pages()
    for name in ("configuration.md", "settings.md"):
        assert (ROOT / "docs" / name).read_text("utf-8") == pages[name], (
            "run python docs/generate.py"
        )
    kept, made = (
        json.loads(text)
        for text in ((ROOT / "docs/notebook.ipynb").read_text("utf-8"), pages["notebook.ipynb"])
    )
    pictures = [
        output["data"].pop("image/png", None)
        for cells in (kept, made)
        for output in outputs_in(cells)
    ]
    assert sum(picture is not None for picture in pictures) == 2
    assert kept == made, "run python docs/generate.py"


def outputs_in(notebook):
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output for output in outputs if "data" in output]


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]
    newest, *_ = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest == project == cited


def test_changes_stand_under_the_headings_of_a_changelog():
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    found = re.findall(r"^### (.+)$", newest, re.MULTILINE)
    assert found == ["Breaking", "Added", "Changed", "Fixed", "Known limits"]
