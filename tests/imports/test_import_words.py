"""What imports say: every code has its sentence, with its facts, and every sentence its code."""

import ast

import pytest
from jinja2 import meta

from conftest import ROOT
from recuse.base.templates import environment
from recuse.base.words import entries
from recuse.imports.words import SENTENCES, fault, guessed, note, noted, problem

# Function or .method -> the part of imports.yaml in which it finds its code
SPEAKERS = {
    **dict.fromkeys(("fault", ".fault", "._fault", "problem", "refused"), "errors"),
    **dict.fromkeys(("note", "noted"), "notes"),
    **dict.fromkeys(("guessed", ".set_column", ".set_other"), "guesses"),
}
# Keywords of a speaker that are not facts of the sentence
NO_FACTS = {name: {"column", "error"} for name in ("fault", "refused")}
# Facts that a speaker gives each of its sentences
ALWAYS = {"._fault": {"columns", "key", "setting"}}
# Names that every template of a part may use beside the facts it is given
BESIDE = {
    part: {*says.keywords}
    for part, says in (("errors", problem), ("notes", noted), ("guesses", guessed))
}


def spoken():
    """Module and line, speaker, part and code, and keywords of each call, whose last positional
    argument is the code if it is a text.
    """
    for path in sorted((ROOT / "workflow/lib/recuse/imports").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                method = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
                name = getattr(node.func, "id", method)
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                if name in SPEAKERS and texts:
                    facts = {keyword.arg for keyword in node.keywords}
                    yield f"{path.name}:{node.lineno}", name, (SPEAKERS[name], texts[-1]), facts


def test_every_code_has_a_sentence_and_every_sentence_a_code():
    used = {code for _, _, code, _ in spoken()}
    assert used == {(part, code) for part, codes in entries(SENTENCES).items() for code in codes}


def test_every_sentence_has_the_facts_that_it_names():
    sentences, templates, wrong = entries(SENTENCES), environment(SENTENCES.parent), []
    for place, name, (part, code), keywords in spoken():
        read = meta.find_undeclared_variables(templates.parse(sentences[part][code]))
        facts, always = keywords - NO_FACTS.get(name, set()), ALWAYS.get(name, set())
        lacking = read - facts - always - BESIDE[part]
        unread = facts - read - always
        if lacking or unread:
            wrong.append((place, code, lacking, unread))
    assert wrong == []


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


def test_a_code_without_a_sentence_is_an_error():
    with pytest.raises(KeyError, match="malfromed"):
        fault("a.csv", "malfromed")


def test_a_fact_may_have_any_name():
    """As `kind` of an error about files in the wrong section."""
    facts = {"format": "a table", "kind": "studies", "holds": "comparisons"}
    assert str(fault("a.csv", "other_section", **facts)).endswith(
        "found verdicts on two answers (a table); move the study from `studies:` to `comparisons:`"
    )
