"""Files of judgments that are nearly in their format: each is taken, or refused by an error that
names it, and leaves nothing.
"""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import document, paths_to, text_from
from test_import_ratings import HUMAN, SCALE, TABLE
from test_import_verdicts import IMPORTED as VERDICTS

from conftest import CONFIG, ROOT
from mutations import as_csv, bytes_like, documents_like, done_or_refused, examples, tables_like
from recuse.data.ratings import StudyFiles, normalise_ratings
from recuse.imports.ratings import import_ratings
from recuse.imports.verdicts import import_verdicts
from recuse.pairwise.table import normalise as normalise_verdicts

pytestmark = pytest.mark.usefixtures("own_folder")

FORMATS = ROOT / "tests" / "formats"
# Logs of tools are in test_spoilt_logs. Of ratings: config's `import`, scales, and human scores (a
# fixture, or text).
RATED = {
    "judged.csv": (TABLE | {"references": HUMAN}, SCALE, FORMATS / "human.csv"),
    "mt_bench_single.jsonl": (
        {"step": 0.5, "references": {"columns": {}}},
        {"turn 1": [1, 10], "turn 2": [1, 10]},
        "model,prompt,dimension,rating\nvicuna-13b,81,turn 1,6\n",
    ),
}
# Spoilt in the long run alone, as another file is read by the same lines
ALIKE = ("mt_bench_pair.jsonl", "arena_hard_v0.1.jsonl")
SPOILT = [
    pytest.param(name, marks=pytest.mark.long) if name in ALIKE else name
    for name in (*RATED, *VERDICTS)
]
# -> what they belong to
REFERENCES = {"human.csv": "judged.csv", "human_verdicts.csv": "verdicts.csv"}


def table_from(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def like(name):
    """Files that are nearly the fixture of that name."""
    content = (FORMATS / name).read_bytes()
    if name.endswith(".csv"):
        return st.one_of(bytes_like(content), tables_like(table_from(FORMATS / name)).map(as_csv))
    changed = documents_like(document(name, content.decode()))
    changed = changed.map(lambda value: text_from(name, value).encode())
    return st.one_of(bytes_like(content), changed)


MADE = "raw.parquet raters.parquet imported.csv canonical.parquet completeness.csv"


def take(name, path, references=None):
    """Import a file in the format of the fixture `name`, and normalise what comes of it; the tables
    that are made.
    """
    made = [*map(Path, MADE.split())]
    for each in made:
        each.unlink(missing_ok=True)
    raw, raters, imported, canonical, completeness = map(str, made)
    if name in RATED:
        settings, *scales, human = RATED[name]
        of_humans = paths_to(references or human, "human.csv")
    else:
        (settings, labels), scales = VERDICTS[name], []
        settings = settings | {"references": {"columns": {}}}
        of_humans = [str(references or FORMATS / label) for label in labels]
    given = {"models": CONFIG["models"]} | ({"scales": scales[0]} if scales else {})
    outputs = {"imported": imported, ("ratings" if scales else "verdicts"): raw}
    outputs |= {"raters": raters} if name == "judged.csv" else {}
    names = [str(path), *([str(references)] if references else [])]
    with done_or_refused(*names, *of_humans, made=made[:3]):
        read = import_ratings if scales else import_verdicts
        read("mine", [str(path)], of_humans, settings=settings, outputs=outputs, **given)
    if made[0].exists():
        with done_or_refused(*names, made=made[3:]):
            if scales:
                source = StudyFiles.from_files([raw], [None], task_types={}, imported=True, **given)
                normalise_ratings("mine", source, ratings=canonical, completeness=completeness)
            else:
                written = {"comparisons": canonical, "completeness": completeness}
                normalise_verdicts("mine", [raw], both_orders=False, **written)
    return [path for path in made if path.exists()]


@pytest.mark.parametrize("name", SPOILT)
def test_fixtures_as_they_are(name):
    assert Path("canonical.parquet") in take(name, FORMATS / name)


@pytest.mark.parametrize("name", [*SPOILT, *REFERENCES])
def test_spoilt_files_are_taken_or_refused(name):
    """Judgments, or human scores and labels of whole judgments."""
    path = Path(f"given{Path(name).suffix}")
    judged = REFERENCES.get(name)

    @examples(25)
    @given(like(name))
    def taken_or_refused(content):
        path.write_bytes(content)
        if judged is None:
            take(name, path)
        else:
            take(judged, FORMATS / judged, path)

    taken_or_refused()
