"""The command `fit`: the numbers and the messages are those of the workflow's steps."""

import gzip
import sys

import pytest
import yaml

from conftest import CONFIG, ROOT, built
from recuse.base.errors import RecuseError
from recuse.base.tables import ESTIMATES, write_table
from recuse.cli import main
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

HEADER = "judge,model,gt,dataset,prompt_id,rating,pred_length,dimension"
ROWS = (ROOT / "tests" / "smoke" / "ratings.csv").read_text("utf-8").splitlines()[1:]
SCALES = {"Tone": [1, 5], "Usefulness": [1, 5]}
STRAIGHT = [spec.name for spec in Spec.from_config(CONFIG["specs"]) if not spec.by_row]


@pytest.fixture
def fit(tmp_path, monkeypatch, capfd):
    """Run the command on a study `mine`; returns status, table (None if there is none) and what was said."""

    def run(*files, spec="main", scales=SCALES, added=(), **settings):
        config, output = tmp_path / "mine.yaml", tmp_path / "estimates.csv"
        output.unlink(missing_ok=True)
        study = {"title": "mine", "files": "ratings.csv", "scales": scales, **settings}
        config.write_text(yaml.safe_dump({"studies": {"mine": study}, **dict(added)}), "utf-8")
        command = ["recuse", "fit", *files, "--study", "mine", "--spec", spec, "--config", str(config)]
        monkeypatch.setattr(sys, "argv", [*command, "--output", str(output)])
        status = main()
        return status, output.read_bytes() if output.exists() else None, capfd.readouterr().err

    return run


@pytest.fixture
def expected(tmp_path):
    """The same by the workflow's steps: the table, or the message of the error."""

    def run(*files, spec="main", scales=SCALES, task_types=None, settings=CONFIG):
        types = {dataset: name for name, group in (task_types or {}).items() for dataset in group}
        source = StudyFiles(files, scales, types, Registry.from_config(CONFIG["models"]))
        try:
            study = built(tmp_path, "mine", source)
            of_spec = Spec.of(spec, **settings["specs"][spec])
            found = estimate(of_spec, study, confidence=settings["confidence"], seed=settings["seed"])
        except RecuseError as error:
            return f"error: {error}\n"
        write_table(tmp_path / "expected.csv", ESTIMATES, found.estimates)
        return (tmp_path / "expected.csv").read_bytes()

    return run


@pytest.fixture
def straight(monkeypatch):
    """Let the command fail from now on where it writes the table of all ratings."""
    return lambda: monkeypatch.setattr("recuse.data.ratings.normalise", None)


def write(path, rows=ROWS, header=HEADER):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt", encoding="utf-8") as file:
        file.write("\n".join([header, *rows]) + "\n")
    return str(path)


def swapped(row, **fields):
    """A row with other values in some columns."""
    return ",".join({**dict(zip(HEADER.split(","), row.split(","), strict=True)), **fields}.values())


@pytest.mark.parametrize("spec", STRAIGHT)
def test_every_spec_of_cells(spec, twin, fit, expected, straight):
    raw, settings = twin.cells_from.replace("cells", "raw"), CONFIG["studies"]["twin"]
    shared = {"spec": spec, "scales": settings["scales"], "task_types": settings["task_types"]}
    want = expected(RatingsFile(raw), **shared)
    straight()
    status, table, _ = fit(raw, **shared)
    assert (status, table) == (0, want)
    assert len(table.splitlines()) > 20


@pytest.mark.parametrize("spec", ["length_control", "llm_reference"])
def test_specs_that_read_rows_go_by_way_of_tables(spec, fit, expected, tmp_path):
    path = write(tmp_path / "ratings.csv")
    assert fit(path, spec=spec)[:2] == (0, expected(RatingsFile(path), spec=spec))


@pytest.mark.parametrize("spec", ["main", "drawn"])
def test_level_and_seed_are_those_of_config(spec, fit, expected, tmp_path):
    path = write(tmp_path / "ratings.csv")
    added = {"specs": {"main": {}, "drawn": {"covariance": "CR1", "bootstrap": 100}}, "confidence": 0.5, "seed": 3}
    want = expected(RatingsFile(path), spec=spec, settings=added)
    assert want != expected(RatingsFile(path), spec=spec, settings={**added, "confidence": 0.9})
    assert (want == expected(RatingsFile(path), spec=spec, settings={**added, "seed": 4})) == (spec == "main")
    assert fit(path, spec=spec, added=added)[:2] == (0, want)


def test_rows_that_memory_does_not_hold(fit, tmp_path):
    status, table, said = fit(write(tmp_path / "ratings.csv"), added={"memory_limit": "3MB"})
    assert (status, table) == (1, None)
    assert said.startswith("error: config: memory_limit: 3MB: too little for this study")


INCOMPLETE = [
    swapped(ROWS[0], rating=""), swapped(ROWS[1], gt="NA"), swapped(ROWS[2], pred_length="null"), *ROWS[3:],
]  # fmt: skip
FORMS = {
    "as published": ROWS,
    "rows that are not complete": INCOMPLETE,
    "no lengths": [swapped(row, pred_length="") for row in ROWS],
    "numbers written otherwise": [swapped(row, gt=f"{float(row.split(',')[2]):.2f}", pred_length="1e2") for row in ROWS],
    "two spellings of a model": [row.replace("gpt-4o", "GPT-4o") if place % 2 else row for place, row in enumerate(ROWS)],
    "a judge without a complete row": [swapped(row, rating="") if row.startswith("GPT-3.5 Turbo,") else row for row in ROWS],
}


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
def test_rows_in_every_form(rows, fit, expected, straight, tmp_path):
    path = write(tmp_path / "ratings.csv.gz", rows)
    want = expected(RatingsFile(path))
    straight()
    assert fit(path)[:2] == (0, want)


def test_a_file_for_each_dimension_in_any_order_of_rows(fit, expected, straight, tmp_path):
    header, files = HEADER.removesuffix(",dimension"), []
    for dimension in ("Usefulness", "Tone"):
        rows = sorted(row.removesuffix(f",{dimension}") for row in ROWS if row.endswith(dimension))
        files.append(RatingsFile(write(tmp_path / f"{dimension}.csv", rows[::-1], header), dimension))
    want = expected(*files)
    straight()
    assert fit(*(f"{file.dimension}={file.path}" for file in files))[:2] == (0, want)
    assert want == expected(RatingsFile(write(tmp_path / "ratings.csv")))


def test_observed_scale(fit, expected, straight, tmp_path):
    path, scales = write(tmp_path / "ratings.csv"), {"Tone": "observed", "Usefulness": [1, 5]}
    want = expected(RatingsFile(path), scales=scales)
    straight()
    assert fit(path, scales=scales)[:2] == (0, want)


FAULTS = {
    "off its scale": [*ROWS[:7], swapped(ROWS[7], rating="94"), swapped(ROWS[8], gt="9"), *ROWS[9:]],
    "text in a number": [*ROWS[:7], swapped(ROWS[7], gt="good"), *ROWS[8:]],
    "no length": [*ROWS[:7], swapped(ROWS[7], pred_length="-3"), *ROWS[8:]],
    "length is text": [*ROWS[:7], swapped(ROWS[7], pred_length="long"), *ROWS[8:]],
    "unknown judge": [*ROWS[:7], swapped(ROWS[7], judge="gpt-9"), *ROWS[8:]],
    "unknown dimension": [*ROWS[:7], swapped(ROWS[7], dimension="Wit"), *ROWS[8:]],
    "no prompt": [*ROWS[:7], swapped(ROWS[7], prompt_id=" "), *ROWS[8:]],
    "stands twice": [*ROWS, ROWS[5]],
    "stands twice, without a rating": [*ROWS, swapped(ROWS[5], rating="")],
    "stands twice, under two spellings": [*ROWS, ROWS[0].replace("gpt-4o", "GPT-4o")],
    "stands twice, in two datasets": [*ROWS, swapped(ROWS[5], dataset="other")],
    "too few fields": [*ROWS[:7], "gpt-4o,gpt-4o", *ROWS[8:]],
    "no rows": [],
}


@pytest.mark.parametrize("rows", FAULTS.values(), ids=FAULTS)
def test_faults_are_named_as_by_the_workflow(rows, fit, expected, tmp_path):
    path = write(tmp_path / "ratings.csv", rows)
    want = expected(RatingsFile(path))
    assert want.startswith(f"error: {path}")
    assert fit(path) == (1, None, want)


def test_faults_of_several_files(fit, expected, tmp_path):
    one, other = write(tmp_path / "a.csv", ROWS[:70]), write(tmp_path / "b.csv", ROWS[69:])
    want = expected(RatingsFile(one), RatingsFile(other))
    assert "stand already in" in want
    assert fit(one, other) == (1, None, want)
    empty = write(tmp_path / "b.csv", [])
    assert fit(one, empty) == (1, None, expected(RatingsFile(one), RatingsFile(empty)))
    other, missing = write(tmp_path / "b.csv", ROWS[70:], HEADER.replace("gt", "human")), str(tmp_path / "c.csv")
    assert fit(one, other) == (1, None, expected(RatingsFile(one), RatingsFile(other)))
    assert fit(one, missing) == (1, None, expected(RatingsFile(one), RatingsFile(missing)))


@pytest.mark.parametrize("spec", ["main", "length_control"])
def test_no_complete_row(spec, fit, tmp_path):
    path = write(tmp_path / "ratings.csv", [swapped(row, rating="") for row in ROWS])
    status, table, said = fit(path, spec=spec)
    assert (status, table) == (1, None)
    assert said.startswith(f"error: {path}: no complete row: ")


def test_reasons_are_told_once(fit, tmp_path):
    """Of a judge that rates only itself, its intercept is not told from its bias."""
    rows = [row for row in map(str.strip, ROWS) if not row.startswith("gpt-4o,") or row.startswith("gpt-4o,gpt-4o,")]
    assert len(rows) < len(ROWS)
    said = fit(write(tmp_path / "ratings.csv", rows))[2]
    assert "main: not estimable: self_bias of GPT-4o: other terms of the design account for it in every row\n" in said
