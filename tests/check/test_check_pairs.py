"""What `check` says of verdicts before any table: labels in the wrong rows, one name in two
spellings, invisible characters.
"""

import csv
from pathlib import Path

import pytest

from rated_tables import by_subject, expect, subjects
from recuse.base.reasons import SENTENCES, Reason, in_words
from recuse.base.words import entries
from recuse.config.load import load_studies
from recuse.config.read import read
from recuse.inputs import inputs_in
from recuse.pipeline import in_folder, pipeline

MODELS = ("gpt-4.1", "claude-sonnet-4", "llama-3.1-70b")
PAIRS = [(a, b) for place, a in enumerate(MODELS) for b in MODELS[place + 1 :]]
STUDY = """
comparisons:
  mine:
    title: mine
    import: {files: verdicts.csv, columns: {outcome: winner, human: human}}
"""
IDS = "models:\n  GPT-4.1: {family: GPT, ids: [gpt-4.1, openai/gpt-4.1]}\n"


def verdicts(judges=MODELS[:2], items=40):
    """Each judge agrees with the humans on three questions of four; the human label is a model's
    name.
    """
    for judge in judges:
        for item in range(items):
            for a, b in PAIRS:
                human, other = (a, b) if (item + len(a)) % 2 else (b, a)
                for order in ("ab", "ba"):
                    winner = other if item % 4 == 0 else human
                    yield {"judge": judge, "item": f"q{item}", "model_a": a, "model_b": b, "order": order, "winner": winner,
                           "human": human}  # fmt: skip


@pytest.fixture
def check(tmp_path, monkeypatch):
    def findings(rows, study=STUDY):
        monkeypatch.chdir(tmp_path)
        rows = list(rows)
        with open("verdicts.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        Path("mine.yaml").write_text(study, "utf-8")
        (inputs,) = inputs_in(load_studies("mine.yaml"), read(Path("mine.yaml")), compared=True)
        with in_folder(inputs) as folder:
            return by_subject(list(pipeline(inputs, folder).findings()))

    return findings


@pytest.mark.parametrize(("share", "level"), [(0.75, "fine"), (0.25, "warning")])
def test_answers_of_one_model_with_a_key(check, share, level):
    """As in JudgeBench: nobody is asked for comparisons of own answers, or for human labels."""
    rows = [
        {"judge": judge, "item": f"q{item}", "model_a": "gpt-4.1 (first answer)", "model_b": "gpt-4.1 (second answer)",
         "order": order, "winner": "a" if (item % 4 > 0) == (share > 0.5) else "b", "right_a": "1", "right_b": "0"}
        for judge in MODELS[:2] for item in range(40) for order in ("ab", "ba")
    ]  # fmt: skip
    found = check(rows, STUDY.replace(", human: human", ""))
    lacking = f"self-bias of {MODELS[1]} and gpt-4.1 ({in_words(Reason.ONE_MODEL_COMPARED)})"
    expect(
        found,
        f"""
        agreement | key | {level} | {share}
        human scores | | fine | | 80 of 80 comparisons have a right answer by a key
        human scores | * | fine
        own answers | * | fine
        verdict | does not support | | | *{lacking}*
        """,
    )
    assert not subjects(found, "spelling")


def other_answer(row):
    return row["model_b" if row["human"] == row["model_a"] else "model_a"]


def test_labels_of_the_wrong_answers_are_told(check):
    expect(check(verdicts()), "agreement | | fine | 0.75")
    swapped = check(row | {"human": other_answer(row)} for row in verdicts())
    assert swapped["agreement", ""].is_first
    expect(
        swapped,
        """
        agreement | | warning | 0.25
            | *less often than by chance: are `model_a` and `model_b`, or the labels, swapped*
        """,
    )


def test_a_name_in_two_spellings(check):
    """A judge and a model that is spelt otherwise in some questions; two models that are compared
    are two.
    """
    other = {"claude-sonnet-4": "Llama 3.1 70B"}
    prefixed = other | {"gpt-4.1": "openai/gpt-4.1"}
    rows = [
        {
            key: (prefixed if row["item"] in ("q1", "q2") else other).get(value, value)
            for key, value in row.items()
        }
        for row in verdicts()
    ]
    findings = check(rows)
    expect(
        findings,
        """
        spelling | judge openai/gpt-4.1 | warning | | *the judges 'openai/gpt-4.1'*
        spelling | model openai/gpt-4.1 | warning | | *the models 'openai/gpt-4.1'*
        spelling | * openai/gpt-4.1 | | |
            | *families: {"<its family>": {"gpt-4.1": [[]"openai/gpt-4.1"]}}*
        """,
    )
    assert not [subject for subject in subjects(findings, "spelling") if "lama" in subject]
    expect(
        check(rows, STUDY + "models:\n  gpt-4.1: {family: GPT}\n"),
        """
        spelling | judge openai/gpt-4.1 | | |
            | *families: {"GPT": {"gpt-4.1": [[]"openai/gpt-4.1"]}}*
        """,
    )
    one = check(rows, STUDY + IDS)
    assert not subjects(one, "spelling")
    expect(one, "contents | | | | 240 comparisons by 2 judges of 3 models*")


def test_ids_join_human_labels_in_another_file(check, tmp_path):
    """The labels name models as config does, the verdicts by ids; a winner in either spelling is
    the answer's.
    """
    labels = {(row["item"], row["model_a"], row["model_b"]): row["human"] for row in verdicts()}
    lines = [",".join(("item", "model_a", "model_b", "human"))]
    lines += [
        ",".join((*key, human)).replace("gpt-4.1", "GPT-4.1") for key, human in labels.items()
    ]
    (tmp_path / "human.csv").write_text("\n".join(lines) + "\n", "utf-8")
    study = STUDY.replace("human: human}", "judge: judge}, references: {files: human.csv}")
    rows = ({key: value for key, value in row.items() if key != "human"} for row in verdicts())
    rows = [row | {"winner": row["winner"].replace("gpt", "openai/gpt")} for row in rows]
    expect(
        check(rows, study + IDS),
        """
        human scores | | | | 240 of 240 comparisons have a human label
        agreement | | | 0.75
        """,
    )


def test_what_verdicts_support_goes_by_codes(check, monkeypatch):
    """A third judge compares no answers of its own; no sentence decides on the level or the
    advice.
    """
    rows = [*verdicts(), *({**row, "judge": "other"} for row in verdicts(MODELS[:1]))]
    study = STUDY + "    analyses: [verbosity]\n"
    before = check(rows, study)
    expect(
        before,
        """
        verdict | supports | | | *self-bias of 2 of 3 judges*
        verdict | does not support | |
            | *self-bias of other (it compares no answers of its own)*
        own answers | other | | | *other compares no answer of its own*
        """,
    )
    for reason in Reason:
        monkeypatch.setitem(entries(SENTENCES)[reason], "words", "cannot be told")
    shown = [
        (each.level, each.advice, each.words)
        for each in (findings["verdict", "supports"] for findings in (before, check(rows, study)))
    ]
    assert shown[0] == shown[1]
    expect(
        check(verdicts(items=4), study),
        "verdict | supports | stop | | these comparisons support no verdict | judge more questions",
    )
