"""The command `check`: its page and table, its status, and its messages about invalid files."""

import os
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from conftest import CONFIG
from rated_tables import COLUMNS, FIVE, rated, write_rows
from recuse.base.errors import ConfigError
from recuse.base.tables import read_table
from recuse.check.facts import CHECK
from recuse.commands import write_page

FILE = "made up.csv"
STUDY = {"title": "mine", "files": FILE, "scales": {"Tone": [1, 5]}}


@pytest.fixture
def run(run_command):
    """Run the command on rows in a folder of its own; returns status, standard output and standard
    error.
    """

    def run(rows, *arguments, added=None, **settings):
        write_rows(Path(FILE), rows)
        config = {"studies": {"mine": STUDY | settings}, **(added or {})}
        Path("mine.yaml").write_text(yaml.safe_dump(config), "utf-8")
        return run_command("check", FILE, "--config", "mine.yaml", *arguments)

    return run


def test_page_and_table(run, tmp_path):
    status, page, error = run(rated(), "--output", "check.csv")
    assert (status, error) == (0, "")
    assert page.startswith(
        "mine: what these ratings support\n\n  supports: self-bias of 5 of 5 judges (A, B, C); "
    )
    rows = read_table("check.csv")
    assert list(rows[0]) == list(CHECK)
    assert [row["topic"] for row in rows[:2]] == ["verdict", "verdict"]
    assert {row["study"] for row in rows} == {"mine"}
    assert run(rated()) == (status, page, error)  # the table does not replace the page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["check.csv", FILE, "mine.yaml"]


def test_settings_are_those_of_config_and_of_the_study_itself(run):
    power = CONFIG["inference"]["power"]
    shared, of_study = {**power, "self_bias": 0.02}, {**power, "self_bias": 0.3, "power": 0.9}
    for_all = run(rated(), added={"inference": {"power": of_study}})
    assert "would be found with 90 % power" in " ".join(for_all[1].split())
    added = {"inference": {"power": shared}}
    of_config = run(rated(), added=added)
    assert of_config != for_all
    assert of_config != run(rated(), added={**added, "confidence": 0.5})
    assert run(rated(), added=added, inference={"power": of_study}) == for_all


def test_if_nothing_can_be_estimated_the_status_is_1_and_all_is_written(run):
    status, page, error = run(rated(FIVE[3:], FIVE[:2]), "--output", "check.csv")
    assert status == 1
    assert error.startswith(
        f"error: {FILE}: no self-bias or family-bias can be estimated from these ratings; let the"
        " judge rate its own answers; if it is there by another name, write one for both"
    )
    assert "By judge" in page
    assert read_table("check.csv")[0]["level"] == "stop"


def test_a_refused_file_writes_nothing(run):
    rows = rated()
    rows[3]["rating"] = 94
    status, page, error = run(rows, "--output", "check.csv")
    assert (status, page) == (1, "")
    assert (
        error == f"error: {FILE}, line 5, column rating: found '94', which is off the scale of the"
        " dimension; write an integer from 1 to 5\n"
    )
    assert not Path("check.csv").exists()
    status, _, error = run([*rated(), rated()[0]])
    assert status == 1
    assert "are already in" in error


def test_unknown_names_come_with_the_lines_that_add_them(run):
    """The message has a configuration with which the file is accepted."""
    names = {FIVE[2]: "openai/gpt-4o-2024-08-06", FIVE[0]: "claude-3-opus", FIVE[4]: "qwen2-72b"}
    rows = [
        row | {who: names.get(row[who], row[who]) for who in ("judge", "model")} for row in rated()
    ]
    status, page, error = run(rows)
    assert (status, page) == (1, "")
    first, header, *lines = error.splitlines()
    assert first.startswith(
        f"error: {FILE}, line 2, column judge: found 'claude-3-opus', an id that config does not"
        " list; "
    )
    assert header == "names in these files that are not in config; write in a file for --config:"
    written = "\n".join(lines)
    assert written.count("<its family>") == 1
    added = yaml.safe_load(written.replace("<its family>", "Cohere"))
    assert added == {
        "models": {
            "GPT-4o": {"ids": ["gpt-4o", "openai/gpt-4o-2024-08-06"]},
            "claude-3-opus": {"family": "Claude"},
            "qwen2-72b": {"family": "Cohere"},
        }
    }
    assert run(rows, added=added)[0] == 0


@pytest.mark.parametrize(
    "name", ["GPT\u200b-4o", "\x1b[31mGPT-4o\x07", "GPT-4o\nerror: x", "gp\u2066t-4o 😀"]
)
def test_an_unknown_name_is_no_command_to_the_terminal_and_its_line_is_read_back(run, name):
    rows = [row | {"judge": name if row["judge"] == "GPT-4o" else row["judge"]} for row in rated()]
    status, page, error = run(rows)
    assert (status, page) == (1, "")
    assert [letter for letter in error if not letter.isprintable() and letter != "\n"] == []
    assert len(error.splitlines()) == 4
    added = yaml.safe_load("\n".join(error.splitlines()[2:]))
    assert name in {
        spelling
        for model, entry in added["models"].items()
        for spelling in (model, *entry.get("ids", ()))
    }
    if not {"\x1b", "\n"} & set(name):  # which config and files refuse
        assert run(rows, added=added)[0] == 0


def test_verdicts_for_fit_and_files_of_no_study_are_refused_with_advice(run, run_command):
    """Files of comparisons are not ratings, not in a folder either; without a configuration, the
    message asks for one.
    """
    Path("verdicts").mkdir()
    Path("verdicts/gpt-4_pair.jsonl").write_text("{}\n", "utf-8")
    added = {"comparisons": {"arena": {"title": "t", "import": {"files": "verdicts"}}}}
    assert run(rated(), added=added)[0] == 0
    for file in ("verdicts", "verdicts/gpt-4_pair.jsonl"):
        status, _, error = run_command("fit", file, "--config", "mine.yaml")
        assert status == 1
        assert error.startswith(
            "error: config: comparisons: arena: these are verdicts on pairs of answers, and `fit`"
            " is for "
        )
        assert "(`recuse run <this file>`), see docs/comparisons.md" in error
    status, _, error = run_command("check", "other.csv", "--config", "mine.yaml")
    assert status == 1
    assert "name by --study the one whose scales and task types apply: mine\n" in error
    status, _, error = run_command("check", "other.csv")
    assert status == 1
    assert error.endswith(
        "; describe their study in a file and pass it by --config; `recuse import --guess` with"
        " these files writes one\n"
    )


def test_points_of_an_import_are_those_of_its_files(run, run_command):
    """The step and the families of config reach the check."""
    columns = ("judge", "model", "prompt_id", "rating", "gt")
    rows = pd.DataFrame(rated())[[*columns]].set_axis(
        [*columns[:2], "prompt", "rating", "human"], axis=1
    )
    rows[["rating", "human"]] /= 5
    rows.to_csv("log.csv", index=False)
    imports = {"files": "log.csv", "columns": {"human": "human"}, "step": 0.1}
    study = {"title": "t", "import": imports, "scales": {"Tone": [0, 1]}}
    study |= {"families": {"GPT": ["GPT-4O"]}}
    assert run(rated(), added={"studies": {"logs": study, "mine": STUDY}})[0] == 0
    status, page, _ = run_command("check", "log.csv", "--config", "mine.yaml")
    assert status == 0
    page = " ".join(page.split())
    scale = "Tone, a scale from 0 to 1 (0.1 of it is 0.1): ratings from 0.2 to 1 and human scores"
    unknown = "names 'GPT-4O', which is neither a judge nor a model in these ratings; did you mean"
    assert f"{scale} from 0.2 to 1" in page
    assert f"{unknown} 'GPT-4o'" in page
    numbers = re.search(r"a self-bias of [^(]+ of (0[.]\d+) \((0[.]\d+) points\)", page)
    size, points = map(float, numbers.groups())
    assert points == pytest.approx(size, rel=0.1)


def test_scores_of_raters_give_the_reliability(run):
    rows = pd.DataFrame(rated()).drop_duplicates(["model", "prompt_id"])
    rows = rows.assign(rating=rows["gt"], dataset="d", dimension="Tone").merge(
        pd.DataFrame({"rater": ["x", "y"]}), how="cross"
    )
    columns = ["model", "dimension", "dataset", "prompt_id", "rater", "rating"]
    rows[columns].to_csv("raters.csv", index=False)
    supported = run(rated(), raters="raters.csv")[1].partition("does not support")[0]
    assert "correction for measurement error" in supported


def test_a_file_without_dimensions_needs_one_named(run, run_command):
    run(rated())
    pd.DataFrame(rated())[[*COLUMNS[:-1]]].to_csv("one.csv", index=False)
    named = ("--config", "mine.yaml", "--study", "mine")
    assert run_command("check", "one.csv", *named)[0] == 1
    assert run_command("check", "Tone=one.csv", *named)[0] == 0


def test_an_unknown_study_and_a_table_in_no_folder(run):
    assert "did you mean 'mine'?" in run(rated(), "--study", "mines")[2]
    status, _, error = run(rated(), "--output", "no/check.csv")
    message = "there is no folder no; make it, or name a file in another"
    assert (status, error) == (1, f"error: --output: no/check.csv: {message}\n")


def test_a_standard_output_that_takes_no_page(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with (
        open(writer, "w", encoding="utf-8") as gone,
        open("/dev/full", "w", encoding="utf-8") as full,
    ):
        monkeypatch.setattr(sys, "stdout", gone)
        write_page("page\n" * 10_000)
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(ConfigError, match="the standard output: No space left on device"):
            write_page("page\n")


VERDICTS = "judge,item,model_a,model_b,order,outcome,human,length_a,length_b"


def verdict_lines(questions, *, human="b"):
    """The judge chooses its own answer, the longer one, in three of four questions; with both
    orders and labels.
    """
    outcomes = ["a" if number % 4 else "b" for number in range(questions)]
    return [
        f"gpt-4-0613,q{number},GPT-4,B,{order},{outcome},{human},20,10"
        for number, outcome in enumerate(outcomes)
        for order in ("ab", "ba")
    ]


@pytest.fixture
def compare(run_command):
    """Run the command on lines of verdicts; returns status, standard output and standard error."""

    def run(lines, *arguments, **settings):
        Path("v.csv").write_text("\n".join([VERDICTS, *lines]) + "\n", "utf-8")
        models = {"GPT-4": {"family": "GPT", "ids": ["gpt-4-0613"]}}
        study = {"title": "t", "files": "v.csv"} | settings
        config = {"models": models, "comparisons": {"arena": study}}
        Path("mine.yaml").write_text(yaml.safe_dump(config), "utf-8")
        return run_command("check", "v.csv", "--config", "mine.yaml", *arguments)

    return run


def test_check_of_verdicts(compare):
    status, page, error = compare(verdict_lines(20), "--output", "check.csv")
    assert (status, error) == (0, "")
    assert page.startswith(
        "arena: what these comparisons support\n\n  supports: whether longer answers sway 1 of 1"
        " judge more than people;"
    )
    words = " ".join(page.split())
    assert "judge more questions, 30 or more" in words
    assert "20 comparisons by 1 judge of 2 models on 20 questions; 0 with an error" in words
    assert "GPT-4 20 0%" in words  # by judge: under its name in config, with its answers and draws
    rows = read_table("check.csv")
    assert "self-bias of GPT-4 (with a single judge" in rows[1]["words"]
    sizes = {row["subject"]: row["finding"] for row in rows if row["topic"] == "detectable"}
    (line,) = (line for line in page.splitlines() if line.startswith("GPT-4 "))
    longer = f"{100 * float(sizes['longer answers: GPT-4']):.1f}"
    assert line.split() == ["GPT-4", "20", "0%", "-", longer, "-"]


def test_check_of_verdicts_in_one_order_without_people(compare):
    _, page, _ = compare(verdict_lines(20, human="")[::2], both_orders=False)
    page = " ".join(page.split())
    assert "no comparison has a human label" in page
    assert "20 of 20 comparisons of GPT-4 are in one order only" in page
