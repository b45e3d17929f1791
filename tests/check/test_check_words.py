"""What `recuse check` says: every code has its sentences, and every sentence its code."""

import ast

from conftest import ROOT
from recuse.base.templates import MAY_LACK
from recuse.base.words import entries
from recuse.check.facts import LETTERS, SENTENCES
from recuse.check.pairs import QUANTITIES
from recuse.check.support import IN_SHORT, REMEDIED, TIED_TO

# Codes of sentences within others -> their parts that are chosen at run time
PARTS = {
    "tied": TIED_TO,
    "remedies": (*REMEDIED, *LETTERS),
    "inconclusive": IN_SHORT,
    "compares": QUANTITIES,
}


def nodes():
    library = ROOT / "workflow" / "lib" / "recuse"
    for path in [*sorted(library.glob("check/*.py")), library / "collect" / "prompts_needed.py"]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            yield f"{path.name}:{getattr(node, 'lineno', '')}", node


def calls(name):
    """Module and line of each call of a function, and its first arguments, two at most; None for
    what is chosen at run time.
    """
    for place, node in nodes():
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            first = node.args[:2]
            yield place, [each.value if isinstance(each, ast.Constant) else None for each in first]


def test_every_code_has_its_sentences():
    sentences = entries(SENTENCES)
    found = [(place, code) for place, (code, *_) in calls("Finding") if code]
    assert len(found) > 40
    assert [call for call in found if "words" not in sentences.get(call[1], ())] == []


def test_every_sentence_has_its_code():
    """Codes that are chosen at run time are texts in Python, too."""
    texts = {node.value for _, node in nodes() if isinstance(node, ast.Constant)}
    assert [code for code in entries(SENTENCES) if code not in texts] == []


def test_every_text_that_begins_with_a_topic_and_a_slash_is_a_code():
    codes = entries(SENTENCES)
    topics = {code.partition("/")[0] for code in codes}
    texts = [
        (place, node.value)
        for place, node in nodes()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.partition("/")[0] in topics
    ]
    assert [text for text in texts if "/" in text[1] and text[1] not in codes] == []


def test_every_part_of_a_sentence_within_others_is_said():
    said = {code: {*parts} for code, parts in PARTS.items()}
    for _, texts in calls("said"):
        code, part = (*texts, "words")[:2]
        if code and part:
            said.setdefault(code, set()).add(part)
    sentences = entries(SENTENCES)
    within = {code: {*parts} for code, parts in sentences.items() if code in said}
    assert said == within
    assert not {*MAY_LACK} & set().union(*within.values())
