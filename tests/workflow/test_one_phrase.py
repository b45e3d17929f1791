"""What a study finds is said alike on the page, in figures and in summary.json; captions say what
figures show, never what a study finds.
"""

import json
import re
from itertools import product

import pytest

from recuse.base.places import WORKFLOW
from recuse.base.tables import read_table
from recuse.base.templates import said
from recuse.inference.verdict import Verdict
from recuse.model.spec import BIASES
from recuse.report.verdict import KINDS, bias_sentences
from report_pages import Elements
from workflow_runs import BOTH

CAPTIONS = sorted((WORKFLOW / "report").glob("*.rst"))
FOUND = [
    said("does", quantity=quantity, favours=favours, several=several)
    for quantity, favours, several in product(KINDS, (True, False), (True, False))
]
FOUND += [said("none_established").rstrip("."), said("untested_self", why="").rstrip(".")]


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: path.stem)
def test_a_caption_states_no_finding(path):
    words = " ".join(path.read_text("utf-8").split())
    assert not [phrase for phrase in FOUND if phrase in words]
    verdicts = "|".join(Verdict)
    assert not re.search(rf"\b(is|are) ({verdicts})\b", words)


@pytest.mark.workflow
@pytest.mark.parametrize("study", BOTH)
def test_a_finished_study_says_one_thing_everywhere(project, study):
    folder = project / "results" / study
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    page = Elements((folder / "report.html").read_text("utf-8")).text
    rows = read_table(folder / "tables" / "verdicts.csv")
    assert [each["verdict"] for each in summary["verdicts"]] == [row["verdict"] for row in rows]
    for words in (summary["headline"], *summary["next_steps"], *summary["untested"]):
        assert " ".join(words.split()) in page
    for row in summary["table"]["rows"]:
        assert " ".join(row[0].split()) in page
    svg = (folder / "figures" / "verdicts.svg").read_text("utf-8")
    words = " ".join(" ".join(re.findall("<text[^>]*>(.*?)</text>", svg)).split())
    rows = [row for row in rows if row["quantity"] in BIASES]  # The figure shows only these.
    if any(row["verdict"] != Verdict.INCONCLUSIVE for row in rows):
        assert " ".join(bias_sentences(rows)) in words
