"""The example of docs/example: made by its script, and what README and the tutorial say of it is
what one reads.
"""

import importlib.util
import re
import shutil

import pandas as pd
import pytest
import yaml

from conftest import ROOT
from recuse.base.tables import read_table
from recuse.config.load import load
from recuse.config.studies import Study
from recuse.data.files import RatingsFile
from recuse.inference.idiosyncrasy import idiosyncrasies, idiosyncrasy_rows
from recuse.inputs import Inputs
from recuse.model.spec import Spec
from recuse.pipeline import pipeline

EXAMPLE = ROOT / "docs" / "example"
README, TUTORIAL = ((ROOT / page).read_text("utf-8") for page in ("README.md", "docs/tutorial.md"))
FILES = ("judged.csv", "human.csv", "mine.yaml")
NAMES = {"the Claude family": "Claude", "the GPT family": "GPT"}
BIASES = ("self_bias", "family_bias")


@pytest.fixture
def run(run_command):
    """Run a command on copies of the example's files."""
    for name in FILES:
        shutil.copy(EXAMPLE / name, name)
    return lambda command, *options: run_command(
        command, "judged.csv", "--config", "mine.yaml", *options
    )


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make", EXAMPLE / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def block(text, beginning):
    """The one fenced block that begins so."""
    (found,) = [
        each
        for each in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if each.startswith(beginning)
    ]
    return found


def numbers_of_tutorial():
    """What was planted and what A and C find, by the first column of the tutorial's last table but
    one.
    """
    rows = [
        line.strip("| ").split(" | ")
        for line in TUTORIAL.splitlines()
        if re.match(r"\|.*\|.*\(.* to .*\).*\|", line)
    ]
    return {NAMES.get(name, name): columns for name, *columns in rows}


def with_interval(row):
    return "{:.3f} ({:.3f} to {:.3f})".format(*row)


def test_the_script_makes_the_files(make, tmp_path):
    make.main(tmp_path)
    for name in ("judged.csv", "human.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes()
        assert (
            (EXAMPLE / name)
            .read_text("utf-8")
            .startswith(block(TUTORIAL, "item," + ("g" if name[0] == "j" else "c")))
        )


def test_the_configuration_is_that_of_the_pages():
    mine = (EXAMPLE / "mine.yaml").read_text("utf-8")
    assert block(TUTORIAL, "# The names of your columns") == mine
    shown, there = (
        yaml.safe_load(text)["studies"]["ours"]
        for text in (block(README, "studies:\n  ours"), mine)
    )
    assert shown | {"title": there["title"], "simulated": True} == there


def test_check_says_what_the_pages_say(run):
    status, text, _ = run("check")
    assert status == 0
    assert (
        "Also: judge claude-haiku-4 (4.9 %), all ratings (3.0 %), model command-a (3.0 %),"
        in " ".join(text.split())
    )
    for page in (README, TUTORIAL):
        place = 0
        for piece in block(page, "ours: what these ratings support").split("...\n"):
            place = text.index(piece, place) + len(piece)


def test_a_score_off_the_scale_is_named_as_in_the_tutorial(run, tmp_path):
    rows = (tmp_path / "judged.csv").read_text("utf-8")
    (tmp_path / "judged.csv").write_text(rows.replace("quality,8\n", "quality,94\n", 1), "utf-8")
    status, text, error = run("check")
    assert (status, text) == (1, "")
    assert error.splitlines()[-1] == " ".join(block(TUTORIAL, "error:").split())


def test_biases_are_those_of_the_tutorial(run, tmp_path, make):
    """A by the command, C by the library, beside what the script plants."""
    assert run("fit", "--output", "main.csv")[0] == 0
    points = make.SELF | {family: make.FAMILY[family.lower()] for family in NAMES.values()}
    planted = {term: of_nine / 9 for term, of_nine in points.items()}
    shown = pd.DataFrame(numbers_of_tutorial(), index=["planted", "A", "C"]).T
    assert shown["planted"].astype(float).to_dict() == pytest.approx(planted, abs=0.0006)
    found = {"A": read_table(tmp_path / "main.csv"), "C": idiosyncrasy_from("judged.csv", tmp_path)}
    # "two of the seven planted values, C's long ones all seven"
    for column, held in (("A", 2), ("C", 7)):
        rows = pd.DataFrame(found[column]).set_index("term")
        rows = rows[rows["quantity"].isin(BIASES) & rows.index.isin(planted)]
        numbers = rows[["estimate", "ci_low", "ci_high"]].astype(float)
        assert numbers.apply(with_interval, axis=1).to_dict() == shown[column].to_dict()
        within = pd.Series(planted)[rows.index].between(numbers["ci_low"], numbers["ci_high"])
        assert within.sum() == held


def idiosyncrasy_from(file, folder):
    config = load("mine.yaml")
    results = pipeline(Inputs(Study("ours", config), [RatingsFile(file)]), str(folder))
    spec = Spec.from_config(config.specs_by_name)["main"]
    slices = idiosyncrasies(spec, results.tables)
    rows = idiosyncrasy_rows(slices, confidence=config.confidence)
    return [row for row in rows if row["term"] != "all judges" and not row["reason"]]
