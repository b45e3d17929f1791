"""The card: the same numbers in table, summary, page and figure."""

import json
import re

import numpy as np
import pytest

from audit_worlds import World, treatment
from recuse.audit.card import write_card
from recuse.base.reasons import Reason, in_words, parse
from recuse.base.tables import read_table
from recuse.workflow.terminal import answer_lines

TREATMENTS = [
    treatment("label", biased=("favours its own name", "marks down its own name")),
    treatment("length", biased=("favours longer answers", "favours shorter answers")),
    treatment("majority", biased=("follows a majority", "goes against a majority")),
    treatment(
        "error",
        biased=("favours answers with an error", "marks down answers with an error"),
        remedy="check facts",
        worsens=True,
    ),
]
FILES = ("effects.csv", "summary.json", "card.html", "card.svg")


JUDGES = {
    "judge a": {"label": 0.0, "length": 0.1, "error": -0.2},
    "judge b": {"label": 0.0, "length": 0.3, "majority": 0.0, "error": 0.0},
}


def card(folder, judges, world=World(prompts=50), treatments=TREATMENTS):  # noqa: B008
    """Write the card of these judges; what it prints."""
    rng, rows = np.random.default_rng(9), []
    for judge, effects in judges.items():
        rows += world.observations(rng, effects, judge)
    settings = {"confidence": 0.9, "seed": 1, "simulated": True}
    return write_card(folder / "plan", rows, treatments, **settings)


def summary_in(folder):
    return json.loads((folder / "plan" / "summary.json").read_text("utf-8"))


def page_in(folder):
    return (folder / "plan" / "card.html").read_text("utf-8")


def effects_in(folder):
    return read_table(folder / "plan" / "effects.csv")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    return folder, card(folder, JUDGES)


def test_the_worst_is_first_everywhere(written):
    folder, text = written
    summary = summary_in(folder)
    worst = summary["verdicts"][0]
    assert (worst["term"], worst["treatment"], worst["favours"]) == ("judge b", "length", "yes")
    assert summary["headline"].startswith("judge b favours longer answers (+")
    page = page_in(folder)
    heat = page[page.index('<table class="heat"') : page.index("</table>")]
    names = re.findall(r'scope="(?:col|row)">([^<]+)', heat)
    assert names[:2] == ["judge", "length"]
    assert {*names[2:5]} == {"label", "majority", "error"}
    assert names[5:] == ["judge b", "judge a"]
    assert text.splitlines()[0] == summary["headline"]
    figure = (folder / "plan" / "card.svg").read_text("utf-8")
    size = f"{100 * worst['estimate']:+.1f}"
    for each in (text, heat, figure):
        assert size in each


def test_every_number_is_that_of_the_table_of_effects(written):
    folder, _ = written
    summary = summary_in(folder)
    rows = {(row["judge"], row["treatment"]): row for row in effects_in(folder)}
    assert len(summary["verdicts"]) == len(rows) == 7
    for row in summary["verdicts"]:
        for name in ("estimate", "ci_low", "ci_high", "df", "units", "p_value"):
            assert row[name] == float(rows[row["term"], row["treatment"]][name])


def test_marking_down_an_error_is_right_and_not_seeing_it_is_not(written):
    folder, _ = written
    verdicts = summary_in(folder)["verdicts"]
    errors = {row["term"]: row for row in verdicts if row["treatment"] == "error"}
    assert errors["judge a"]["verdict"] == "established"
    assert errors["judge a"]["detail"] == "marks down answers with an error, as it should"
    assert errors["judge a"]["advice"] == "no action"
    assert errors["judge b"]["detail"].startswith("does not clearly mark such answers down")
    assert errors["judge b"]["advice"] == "check facts"
    assert "Check facts (judge b)." in summary_in(folder)["next_steps"]


def test_the_headline_has_at_most_30_words(tmp_path):
    effects = {"label": 0.2, "length": 0.3, "majority": 0.4}
    card(tmp_path, {f"a judge with a long name, number {n}": effects for n in range(4)})
    headline = summary_in(tmp_path)["headline"]
    assert headline.startswith("12 biases are established in 4 of 4 judges. Worst: ")
    assert len(headline.split()) <= 30


def test_without_a_bias_the_headline_says_what_the_intervals_allow(tmp_path):
    text = card(tmp_path, {"judge": {"label": 0.0, "length": 0.0}})
    ends = [abs(float(row[end])) for row in effects_in(tmp_path) for end in ("ci_low", "ci_high")]
    most = f"{100 * max(ends):.1f}\N{NO-BREAK SPACE}%"
    assert text.startswith(
        f"No bias is established in 1 judge; the intervals allow at most {most}."
    )


def test_verdicts_are_in_points_with_those_that_turned_and_those_that_failed(tmp_path):
    world = World(prompts=100, steps=0, level=0.0, failing=(0.3, 0.02))
    card(tmp_path, {"judge": {"length": 0.3}}, world)
    assert summary_in(tmp_path)["unit"] == "percentage points"
    page = page_in(tmp_path)
    assert re.search(r'data-name="turned up">\d+ %', page)
    assert re.search(r"judge fails more often with length: \d+ unreadable replies, against", page)


def test_what_is_inconclusive_is_folded_with_its_reason(tmp_path):
    text = card(tmp_path, {"judge": {"label": 0.1, "length": 0.1}}, World(prompts=5))
    words = "judge, label and length: 5 questions, fewer than 10. Judge more questions."
    assert words in text
    page = page_in(tmp_path)
    assert words in page[page.index('id="inconclusive"') :]
    assert "No effect could be tested." in page


def test_several_wordings_show_what_another_changes(tmp_path):
    world = World(prompts=50, wordings=2, by_wording=0.2)
    card(tmp_path, {"judge": {"label": 0.0, "length": 0.1}}, world)
    change, _ = read_table(tmp_path / "plan" / "changes.csv")
    assert (change["before"], change["after"]) == ("wording 0", "wording 1")
    page = page_in(tmp_path)
    assert "wording 1, not wording 0" in page
    assert "for the 2 wordings asked" in page
    assert page.count("By wording") > 1
    label, *_ = effects_in(tmp_path)
    reason, facts = parse(label["note"])
    assert reason is Reason.WORDINGS_DIFFER
    assert (facts["first"], facts["second"]) == ("wording 0", "wording 1")
    for name, column in (("size_first", "estimate_before"), ("size_second", "estimate_after")):
        assert facts[name] == round(100 * float(change[column]), 1)
    assert in_words(label["note"]) in page
    card(tmp_path, {"judge": {"label": 0.1}})
    assert not (tmp_path / "plan" / "changes.csv").exists()


def test_wordings_that_are_alike_have_no_note(tmp_path):
    card(tmp_path, {"judge": {"label": 0.1}}, World(prompts=50, wordings=2))
    assert {row["note"] for row in effects_in(tmp_path)} == {""}


def test_two_runs_give_the_same_bytes_and_the_workflow_can_print_the_answer(written, tmp_path):
    folder, _ = written
    card(tmp_path, JUDGES)
    for name in FILES:
        assert (tmp_path / "plan" / name).read_bytes() == (folder / "plan" / name).read_bytes()
    lines = answer_lines(folder / "plan" / "summary.json")
    assert lines[0].startswith("plan (simulated): judge b favours longer answers")
    assert lines[-1].endswith("card.html")


def test_the_page_names_treatments_and_judges_and_says_what_treatments_measure(tmp_path):
    """Names that differ in `_` alone have cells of their own, and markup in a name is escaped."""
    treatments = [
        treatment("a b", measures="verbosity", source="Saito et al."),
        treatment("a_b", measures=""),
    ]
    card(tmp_path, {"<b>judge</b> $x$": {"a b": 0.0, "a_b": 0.2}}, treatments=treatments)
    page = page_in(tmp_path)
    assert page.count('data-name="a b"') == page.count('data-name="a_b"') == 1
    assert "<b>a b</b> measures verbosity (Saito et al.)." in page
    assert "<b>a_b</b>" not in page
    assert "<b>judge</b>" not in page
    assert "&lt;b&gt;judge&lt;/b&gt;" in page
