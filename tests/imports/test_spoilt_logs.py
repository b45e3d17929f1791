"""Spoilt files of tools: each is refused, gives the same numbers, or says itself what changed;
nothing wrong is silent.

RECUSE_SPOILT sets how many files are spoilt in all. A row that is new must be missing with a
reason, or hold what the file says where it changed; for a row that is gone there must be another
one, a message, or a list that is shorter.
"""

import json
import math
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importing import document, text_from
from test_tools import IMPORTED, INSPECT, imported, log_in, packed

from mutations import SEEDED, bytes_like, documents_like
from recuse.base.errors import RecuseError
from recuse.imports.inspect_logs import LETTERS
from recuse.imports.logs import YES_NO

pytestmark = pytest.mark.usefixtures("own_folder")

SPOILT = int(os.environ.get("RECUSE_SPOILT", "24"))
# Gold labels of three answers, which this metric says
GOLD_FILE, GOLD = "lm_eval.jsonl", "exact_match,strict-match"
JUDGED = "judge,model,prompt,rating\nj,m,0,1\nj,m,1,1\nj,m,2,1\n"
FILES = [*IMPORTED, "inspect.json", "inspect.eval", GOLD_FILE]


def leaves(value, way=()):
    """Each leaf of a document by its way there."""
    parts = value.items() if isinstance(value, dict) else ()
    parts = enumerate(value) if isinstance(value, list) else parts
    inner = {key: leaf for name, part in parts for key, leaf in leaves(part, (*way, name)).items()}
    return inner or {way: value}


def spoilt(name, whole, text):
    """Files that are nearly this one: bytes, or a log that is to be packed."""
    changed = documents_like(whole)
    if name == "inspect.eval":
        content = packed(Path(name), whole).read_bytes()
        return st.one_of(bytes_like(content), changed.filter(packable))
    as_bytes = changed.map(lambda value: text_from(name, value).encode())
    return st.one_of(bytes_like(text.encode()), as_bytes)


def numbers(name, content):
    """The rows and counts of a file; what is left out is printed."""
    path = Path(name)
    if isinstance(content, dict):
        packed(path, content)
    else:
        path.write_bytes(content)
    if name == GOLD_FILE:
        Path("judged.csv").write_text(JUDGED, "utf-8")
        human = {"columns": {"rating": GOLD, "model": {"value": "m"}}}
        return imported(Path("judged.csv"), {}, {"q": [0, 1]}, references=[path], human=human)
    settings, scales = IMPORTED[name][:2] if name in IMPORTED else (INSPECT, {"quality": [0, 1]})
    return imported(path, {"step": 1} | settings, scales)


def said(value):
    """What a leaf may be as a name or, as a number, as a rating."""
    if isinstance(value, (dict, list)):
        return {json.dumps(value)}
    text = value.strip() if isinstance(value, str) else json.dumps(value)
    number = (YES_NO | LETTERS).get(text.lower(), text)
    try:
        return {text, float(number)}
    except ValueError:
        return {text}


def shorter(new, old):
    """Whether a list of a document has fewer entries than it had."""
    if isinstance(old, dict) and isinstance(new, dict):
        return any(shorter(new[key], old[key]) for key in new.keys() & old.keys())
    if isinstance(old, list) and isinstance(new, list):
        return len(new) < len(old) or any(shorter(*pair) for pair in zip(new, old, strict=False))
    return False


def unexplained(before, after, name, old, new):
    """What is wrong with the rows of a spoilt file: see above."""
    (rows, counts, told), (others, other_counts, other_told) = before, after
    leaves_of_old, leaves_of_new = leaves(old), leaves(new)
    says = {
        part
        for way, leaf in leaves_of_new.items()
        if repr(leaves_of_old.get(way, ...)) != repr(leaf)
        for part in said(leaf)
    }
    names = {name for row in rows for name in row[:4]} | {
        part for part in says if isinstance(part, str) and part
    }
    step = IMPORTED[name][0].get("step", 1) if name in IMPORTED else 0.5
    ratings = {
        round(part / step, 6) for part in says if isinstance(part, float) and math.isfinite(part)
    }
    ratings |= {row[4] for row in rows}
    if "graderError" in json.dumps(old) and "graderError" not in json.dumps(new):
        ratings.add(0)  # which stands beside it
    fresh, gone, wrong = Counter(others) - Counter(rows), Counter(rows) - Counter(others), []
    for row in fresh:
        *who, rating, _, failure, _ = row
        taken = [part for part in who if f"{part}: not in config" not in other_told]
        wrong += [f"{part} is nowhere" for part in taken if not any(name in part for name in names)]
        if not (rating is None and failure) and rating not in ratings:
            wrong.append(f"{rating} is nowhere")
    if (
        gone
        and not fresh
        and (told, counts) == (other_told, other_counts)
        and not shorter(new, old)
    ):
        wrong.append(f"gone without a word: {gone}")
    return wrong


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_silent(capsys, name):
    old = log_in("inspect.json" if name.startswith("inspect") else name)
    text, outcomes = text_from(name, old), Counter()
    whole = old if name == "inspect.eval" else text.encode()
    before = (*numbers(name, whole), capsys.readouterr().out)

    @settings(SEEDED, max_examples=math.ceil(SPOILT / len(FILES)))
    @given(spoilt(name, old, text))
    def refused_or_told(content):
        try:
            new = content if isinstance(content, dict) else document(name, content.decode())
        except ValueError:
            new = None
        try:
            after = (*numbers(name, content), capsys.readouterr().out)
        except RecuseError as error:
            words = str(error)
            outcomes[
                "refused" if words.startswith((name, "judged.csv", "config: ")) else words
            ] += 1
            capsys.readouterr()
            return
        wrong = [] if after == before else unexplained(before, after, name, old, new)
        assert not wrong, (content, after)
        outcomes["the same" if after == before else "told"] += 1

    refused_or_told()
    assert outcomes.keys() <= {"refused", "the same", "told"}
    print(name, dict(outcomes))


def packable(log):
    """Whether a changed log still has what the names of its entries are made of."""
    samples = log.get("samples") if isinstance(log, dict) else None
    whole = isinstance(samples, list) and {"version", "eval"} <= log.keys()
    return whole and all(
        isinstance(sample, dict) and {"id", "epoch"} <= sample.keys() for sample in samples
    )
