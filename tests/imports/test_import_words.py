"""What imports say: every code has its sentence, and every sentence its code."""

import ast

import pytest

from conftest import ROOT
from recuse.base.templates import entries
from recuse.imports.words import SENTENCES, fault, note, problem

# Function or method -> the part of imports.yaml in which it finds its code
SPEAKERS = {
    **dict.fromkeys(("fault", "_fault", "problem", "refused"), "errors"),
    **dict.fromkeys(("note", "noted"), "notes"),
    **dict.fromkeys(("guessed", "set", "set_column"), "guesses"),
}


def calls_of_speakers():
    """Module and line, part of imports.yaml, and the texts among the arguments, of each call."""
    for path in sorted((ROOT / "workflow/lib/recuse/imports").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                if name in SPEAKERS and texts:
                    yield f"{path.name}:{node.lineno}", SPEAKERS[name], texts


def test_every_code_has_a_sentence():
    sentences = entries(SENTENCES)
    calls = [*calls_of_speakers()]
    assert len(calls) > 90
    assert [place for place, part, texts in calls if not {*texts} & sentences[part].keys()] == []


def test_every_sentence_has_a_code():
    used = {"value", *(text for _, _, texts in calls_of_speakers() for text in texts)}
    named = [code for part in entries(SENTENCES).values() for code in part]
    assert [code for code in named if code not in used] == []


def test_an_error_names_its_place_and_column(capsys):
    error = fault("a.csv, line 1", "no_such_key", column="x.y", outer="x", keys=["z"])
    assert str(error) == (
        "a.csv, line 1, column x.y: missing; x holds z; write the path to one of these"
    )
    note("one_model", path="a\u202e.jsonl")
    assert capsys.readouterr().out == (
        "a⟨U+202E⟩.jsonl: both answers of a pair are by one model: preference for own answers"
        " cannot be tested\n"
    )


def test_a_fact_that_a_sentence_lacks_is_an_error():
    with pytest.raises(Exception, match="'why' is undefined"):
        problem("malformed")


def test_a_fact_may_have_any_name():
    """As `kind` of an error about files in the wrong section."""
    facts = {"format": "a table", "kind": "studies", "holds": "comparisons"}
    assert str(fault("a.csv", "other_section", **facts)).endswith(
        "found verdicts on two answers (a table); move the study from `studies:` to `comparisons:`"
    )
