"""Scores in the files of other tools: what each fixture becomes, row by row, what is missing, and
what humans or a key say.
"""

import json
from pathlib import Path

import duckdb
import pytest
from importing import GOLDEN, beside_golden, document, import_files, text_from

from recuse.arguments import argument_named
from recuse.base.database import bounded
from recuse.base.errors import DataError
from recuse.base.settings import named_as_arguments
from recuse.base.tables import read_table
from recuse.imports.inspect_logs import zipfile
from recuse.imports.registry import FORMATS
from text_tables import fields

pytestmark = pytest.mark.usefixtures("own_folder")

FIXTURES = Path(__file__).parents[1] / "formats"
SCORES = "imported_scores.csv"
NAMED = {"columns": {"model": "metadata.model", "prompt": "metadata.prompt"}, "judge": "gpt-4o"}
IMPORTED = {  # fixture -> `import`, scales, references
    "promptfoo.json": ({"step": 0.25}, {"tone": [0, 1]}, {"human score": 2}),
    "helm.json": ({"step": 0.25}, {"safety": [0, 1]}, {}),
    "helm_jury.json": (
        {"judge": {"gpt": "openai/gpt-4o", "claude": "anthropic/claude"}},
        {"accuracy": [1, 5], "clarity": [1, 5]},
        {},
    ),
    "mlflow.json": ({}, {"correctness": [0, 1]}, {"human score": 3}),
    "phoenix.json": (NAMED, {"helpfulness": [1, 5]}, {"human score": 3}),
    "phoenix_experiment.json": (
        {"judge": "gpt-4o", "columns": {"model": {"value": "small"}}},
        {"helpfulness": [1, 5]},
        {"human score": 1},
    ),
    "langfuse.json": ({"judge": "gpt-4o", "step": 0.2}, {"quality": [0, 1]}, {"human score": 3}),
    "langfuse_scores.json": (NAMED, {"quality": [0, 1]}, {"human score": 1}),
    "deepeval.json": (
        {"step": 0.1},
        {"Answer Relevancy": [0, 1], "Correctness [GEval]": [0, 1]},
        {},
    ),
}


KINDS = ("human score", "gold label")


def log_in(name):
    """What a fixture holds."""
    return document(name, (FIXTURES / name).read_text("utf-8"))


def imported(log, settings, scales=None, *, references=(), human=None):
    """Import a log, or the file at a path; its ratings, and how many references there are."""
    files = log if isinstance(log, Path) else {"log.json": json.dumps(log)}
    scales = scales or {"quality": [0, 1]}
    import_files(files, [*references] or None, human, settings=settings, scales=scales)
    columns = "judge, model, prompt_id, dimension, rating, gt, failure, source_record"
    counts = {
        row["kind"]: int(row["n"]) for row in read_table("imported.csv") if row["kind"] in KINDS
    }
    return duckdb.sql(f"select {columns} from 'ratings.parquet'").fetchall(), counts


INSPECT = {
    "judge": {"model_graded_qa": "gpt-4o", "model_graded_qa1": "mine", "includes": "Human"},
    "step": 0.5,
}
OTHERS = {
    "inspect.json": (INSPECT, {"quality": [0, 1]}, {"human score": 5}),
    "mt_bench_single.jsonl": ({"step": 0.5}, {"turn 1": [1, 10], "turn 2": [1, 10]}, {}),
}


@pytest.mark.parametrize("name", [*IMPORTED, *OTHERS])
def test_scores_of_a_tool(name):
    settings, scales, counts = (IMPORTED | OTHERS)[name]
    assert imported(FIXTURES / name, settings, scales)[1] == counts
    found, golden = beside_golden(Path("ratings.parquet"), SCORES, name)
    assert found == golden


@pytest.mark.parametrize(
    ("asked", "known"), [(0.25, {0.25}), ("metadata.drawn", {0.25, 0.5}), (None, {None})]
)
def test_human_scores_in_a_log_take_the_probability_of_a_score(asked, known):
    """As a number, or as a value in each record."""
    log = log_in("langfuse.json")
    for trace, drawn in zip(log, (0.25, 0.5, 0.25, 0.25), strict=True):
        trace["metadata"] = {"drawn": drawn}
    settings, scales, _ = IMPORTED["langfuse.json"]
    settings = settings | {"columns": {"labelling_probability": asked} if asked else {}}
    imported(log, settings, scales)
    scored = "from 'ratings.parquet' where gt is not null"
    found = duckdb.sql(f"select distinct labelling_probability {scored}").fetchall()
    assert {value for (value,) in found} == known


def test_a_record_without_the_probability_of_its_human_score_is_named():
    settings, scales, _ = IMPORTED["langfuse.json"]
    settings = settings | {"columns": {"labelling_probability": "metadata.drawn"}}
    place = r"entry 1, column metadata\.drawn: found nothing, so that the probability of"
    with pytest.raises(DataError, match=place):
        imported(FIXTURES / "langfuse.json", settings, scales)


def promptfoo_lines(log):
    return log["results"]["results"]


def promptfoo_of_version_2(log):
    return log["results"] | {"table": {}}


def rows_of_traces(log):
    """As mlflow.search_traces gives them."""
    return [{"trace_id": trace["info"]["trace_id"], **trace["info"]} for trace in log]


def page_of_traces(log):
    return {"data": log, "meta": {"page": 1, "totalPages": 1}}


SHAPES = {
    promptfoo_lines: ("promptfoo.json", "log.jsonl", {"judge": "openai:gpt-4o"}),
    promptfoo_of_version_2: ("promptfoo.json", "log.json", {"judge": "openai:gpt-4o"}),
    rows_of_traces: ("mlflow.json", "log.jsonl", {}),
    page_of_traces: ("langfuse.json", "log.json", {}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_other_shapes_of_a_format_are_the_same(shape):
    fixture, name, more = SHAPES[shape]
    settings, scales, counts = IMPORTED[fixture]
    log = shape(log_in(fixture))
    Path(name).write_text(text_from(name, log), "utf-8")
    assert imported(Path(name), settings | more, scales)[1] == counts
    found, golden = beside_golden(Path("ratings.parquet"), SCORES, fixture)
    assert found == golden


def test_every_format_has_a_fixture():
    """Those that are read here and in the other tests of imports."""
    names = {path.name for path in FIXTURES.iterdir()}
    assert {format for format in FORMATS if not any(name.startswith(format) for name in names)} == {
        "table"
    }


JUDGED = "judge,model,prompt,rating\nj,org/small,s1,1\nj,org/small,s2,1\nj,org/large,s1,0\nj,org/large,s2,1\n"


def labelled(gold, human, judged=JUDGED):
    """The gold labels of ratings by a file of them, and how many."""
    Path("judged.csv").write_text(judged, "utf-8")
    given = {"references": [gold], "human": human}
    rows, counts = imported(Path("judged.csv"), {}, {"q": [0, 1]}, **given)
    return [row[5] for row in rows], counts


def test_samples_of_every_eval_ever_are_a_table_of_gold_labels():
    """As own-data.md says."""
    columns = {"model": "model_id", "prompt": "sample_id", "rating": "evaluation.is_correct"}
    human = {"columns": columns, "values": {True: 1, False: 0}}
    assert labelled(FIXTURES / "every_eval_ever.jsonl", human)[0] == [1.0, 0.0, 1.0, 0.0]


def test_a_log_of_gold_labels_alone_is_no_ratings():
    path = Path("deepeval.json")
    path.write_bytes((FIXTURES / "deepeval.json").read_bytes())
    settings = {"step": 0.1, "judge": {"Exact Match": "Gold"}}
    words = (
        r"deepeval\.json: found human scores or gold labels only .*; if .*, else name the file"
        r" under `references:`"
    )
    with pytest.raises(DataError, match=words):
        imported(path, settings, {"Correctness [GEval]": [0, 1]})


def test_samples_of_lm_eval_are_gold_labels():
    """With two filters, config names the metric; the folder is the model."""
    judged = "judge,model,prompt,rating\nj,my/model,0,1\nj,my/model,1,1\nj,my/model,2,1\n"
    gold = Path("my__model/samples_sums_2026-01-01T00-00-00.000.jsonl")
    gold.parent.mkdir()
    gold.write_bytes((FIXTURES / "lm_eval.jsonl").read_bytes())
    human = {"columns": {"rating": "exact_match,flexible-extract"}}
    assert labelled(gold, human, judged) == ([1.0, 1.0, 0.0], {"gold label": 3})
    metrics = "its metrics are exact_match,strict-match, exact_match,flexible-extract; name one"
    with pytest.raises(DataError, match=metrics):
        labelled(gold, {}, judged)
    with (
        named_as_arguments(argument_named),
        pytest.raises(DataError, match=r"as in rating='exact_"),
    ):
        labelled(gold, {}, judged)


def test_scorers_that_compare_with_a_key_are_gold_by_config():
    settings = {"step": 0.1, "judge": {"Correctness [GEval]": "gpt-4o", "Exact Match": "Gold"}}
    rows, counts = imported(FIXTURES / "deepeval.json", settings, {"Correctness [GEval]": [0, 1]})
    assert [row[4:6] for row in rows] == [(7, 10.0), (None, 0.0)]
    assert counts == {"gold label": 2}
    settings["judge"]["Answer Relevancy"] = "Human"
    with pytest.raises(
        DataError,
        match=r"deepeval\.json: found gold labels, and human scores in .*; leave one of them out",
    ):
        imported(FIXTURES / "deepeval.json", settings, {"Correctness [GEval]": [0, 1]})


def test_assertions_of_promptfoo_without_a_metric_are_items_of_their_own():
    log = log_in("promptfoo.json")
    parts = log["results"]["results"][0]["gradingResult"]["componentResults"]
    del parts[1]["assertion"]["metric"]
    parts.append(parts[1])
    rows, _ = imported(log, {"step": 0.25}, {"tone": [0, 1], "llm-rubric": [0, 1]})
    assert {row[2] for row in rows if row[3] == "llm-rubric"} == {"0", "0, assertion 2"}


def test_records_without_a_score_that_is_read_are_told(capsys):
    log = log_in("promptfoo.json")
    scales = {"tone": [0, 1], "llm-rubric": [0, 1]}
    said = "log.json: without a score that is read: 1 of 7 records, the first is log.json, entry 2"
    imported(log, {"step": 0.25}, scales)
    assert said not in capsys.readouterr().out
    log["results"]["results"][1]["gradingResult"]["componentResults"] = []
    imported(log, {"step": 0.25}, scales)
    assert said in capsys.readouterr().out.splitlines()


PROMPTS = ["1", "1, epoch 2", "two", "3", "4"]


def packed(path, log, compression=zipfile.ZIP_DEFLATED):
    """Write a log as Inspect packs it."""
    samples = log["samples"]
    head = {key: value for key, value in log.items() if key != "samples"}
    entries = {"_journal/start.json": {key: log[key] for key in ("version", "eval")}}
    entries |= {
        f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples
    }
    entries |= {"summaries.json": [{"id": sample["id"]} for sample in samples], "header.json": head}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, value in entries.items():
            archive.writestr(name, json.dumps(value, indent=2))
    return path


def test_packed_inspect_log_is_the_log():
    """Also one compressed by Zstandard, as today's are, on any Python. DuckDB may open the job's
    files only, which those of an archive's entries are not.
    """
    scales = {"quality": [0, 1]}
    whole = imported(FIXTURES / "inspect.json", INSPECT, scales)
    path, outputs = Path("log.eval"), ["ratings.parquet", "imported.csv"]
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD):
        packed(path, log_in("inspect.json"), compression)
        with bounded("1GB", Path("spilled"), files=[str(path)], outputs=outputs):
            assert imported(path, INSPECT, scales) == whole
    assert whole[1] == {"human score": 5}
    assert {row[2]: row[5] for row in whole[0]} == dict(
        zip(PROMPTS, (0.0, 2.0, 2.0, 2.0, None), strict=True)
    )


def test_score_that_a_person_edited_is_the_judges_first_and_a_human_one():
    log = log_in("inspect.json")
    score = log["samples"][0]["scores"]["model_graded_qa"]
    edit = {
        "value": "I",
        "answer": "UNCHANGED",
        "provenance": {"author": "ann", "timestamp": "2026-01-01T00:00:00Z"},
    }
    score |= {"history": [{"value": "C", "provenance": None}, edit], "value": "I"}
    settings = {"judge": {"model_graded_qa": "gpt-4o"}, "step": 0.5}
    rows, counts = imported(log, settings)
    assert rows[0] == ("gpt-4o", "openai/gpt-4o-mini", "1", "quality", 2, 0.0, None, 1)
    assert counts == {"human score": 1}
    first = json.dumps(log)
    log["eval"]["dataset"]["name"] = "another"  # so its samples are other prompts
    logs = {"first.json": first, "log.json": json.dumps(log)}
    import_files(logs, settings=settings, scales={"quality": [0, 1]})
    assert duckdb.sql("from 'ratings.parquet' where gt is not null").fetchall()[1:]


def test_judges_that_an_inspect_log_names_need_no_config():
    log = log_in("inspect.json")
    models = {
        "model_graded_qa": {"model": "openai/gpt-4o"},
        "model_graded_qa1": {"model": {"model": "google/gemini"}},
    }
    log["eval"]["scorers"] = [
        {"name": name, "options": models.get(name, {})} for name in (*models, "includes")
    ]
    rows, _ = imported(log, {"step": 0.5})
    assert {row[0] for row in rows} == {"openai/gpt-4o", "google/gemini"}
    named = {
        "judge": "mine",
        "step": 0.5,
    }  # a name in config takes no ratings from the judges of the log, nor from a comparison
    assert imported(log, named)[0] == rows
    log["eval"] |= {
        "scorers": [{"name": "model_graded_qa"}],
        "model_roles": {"grader": {"model": "openai/gpt-4.1"}},
    }
    assert {row[0] for row in imported(log, {"step": 0.5})[0]} == {"openai/gpt-4.1"}
    del log["eval"]["model_roles"]
    with pytest.raises(
        DataError,
        match=(
            r"log\.json: its scorers are includes, model_graded_qa, model_graded_qa1, and none is"
            " known to be a judge; write `judge: <its name>`"
        ),
    ):
        imported(log, {"step": 0.5})


def flip(path):
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("samples/1_epoch_1.json")
    content[entry.header_offset + 80] ^= 4
    path.write_bytes(bytes(content))


DAMAGED = {
    "no zip": (lambda path: path.write_text("{}"), "not a whole log .File is not a zip file"),
    "cut off": (
        lambda path: path.write_bytes(path.read_bytes()[:-300]),
        "not a whole log",
    ),
    "a bit": (flip, "not a whole log"),
    "no header": (
        lambda path: packed_without(path, "header.json", "_journal/start.json"),
        "found no header.json",
    ),
    "a sample less": (
        lambda path: packed_without(path, "samples/two_epoch_1.json"),
        "found 4 samples, but summaries of 5",
    ),
}


def packed_without(path, *names):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if name not in names}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD])
def test_damaged_packed_log_is_refused(what, compression):
    change, words = DAMAGED[what]
    log = log_in("inspect.json")
    log["status"] = "started"  # so that only the summaries tell of a sample that is gone
    path = packed(Path("log.eval"), log, compression)
    change(path)
    with pytest.raises(DataError, match=words):
        imported(path, INSPECT)


def test_gold_labels_are_to_be_declared(capsys):
    """Pages that speak of humans would be wrong; config says what they are, as the files are read
    later.
    """
    judges = {"Correctness [GEval]": "gpt-4o", "Exact Match": "Gold"}
    for gold, told in (({}, True), ({"gold": True}, False)):
        settings = {"step": 0.1, "judge": judges} | gold
        imported(FIXTURES / "deepeval.json", settings, {"Correctness [GEval]": [0, 1]})
        assert (
            "its references are gold labels; write `gold: true`" in capsys.readouterr().out
        ) == told


def test_a_category_of_langfuse_without_its_label_is_missing():
    """Its number may be 0 whatever the label is."""
    log = log_in("langfuse_scores.json")
    log["data"] = [score for score in log["data"] if score["source"] == "EVAL"]
    for score in log["data"]:
        score |= {"dataType": "CATEGORICAL", "value": 0}
        score.pop("stringValue", None)
    rows, _ = imported(log, NAMED)
    assert {(row[4], row[6]) for row in rows} == {(None, "a category without its label")}


def small_inspect_log(judges):
    """A log of two samples that the first of these scorers rated; a scorer names its judge, or
    None.
    """
    options = {name: {"model": model} if model else {} for name, model in judges.items()}
    scorers = [{"name": name, "options": each} for name, each in options.items()]
    scored = {"model_graded_qa": {"value": "C", "answer": "a"}}
    samples = [{"id": n, "epoch": 1, "target": "t", "scores": scored} for n in range(2)]
    described = {
        "task": "t",
        "dataset": {"name": "d"},
        "model": "openai/gpt-4o",
        "scorers": scorers,
    }
    return {"version": 2, "status": "success", "eval": described, "samples": samples}


def test_invalidated_samples_of_inspect_are_left_out_and_counted(capsys):
    log = small_inspect_log({"model_graded_qa": "judge"})
    log["samples"][1]["invalidation"] = {"author": "me", "reason": "leaked"}
    rows, _ = imported(log, {})
    assert [row[2] for row in rows] == ["0"]
    assert "log.json: left out, as invalidated: 1 sample" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("in_scorer", "of_role"),
    [(["a/x", "b/y"], None), (None, [{"model": "a/x"}, {"model": "b/y"}])],
)
def test_several_graders_of_inspect_are_one_judge(in_scorer, of_role):
    log = small_inspect_log({"model_graded_qa": in_scorer})
    log["eval"]["model_roles"] = {"grader": of_role}
    rows, _ = imported(log, {})
    assert {row[0] for row in rows} == {"a/x, b/y"}


def test_a_scorer_of_inspect_that_is_used_again_rates_the_same():
    """With another judge; each is a judge of the first one's dimension."""
    log = small_inspect_log({"model_graded_qa": "a/x", "model_graded_qa1": "b/y"})
    for sample in log["samples"]:
        sample["scores"]["model_graded_qa1"] = {"value": "I", "answer": "a"}
    rows, _ = imported(log, {}, {"default": [0, 1]})
    assert {(row[0], row[3], row[4]) for row in rows} == {
        ("a/x", "model_graded_qa", 1),
        ("b/y", "model_graded_qa", 0),
    }


@pytest.mark.parametrize("format", [{}, {"format": "inspect"}])
def test_keys_that_a_format_does_not_take_are_refused(format):
    """Also if the format is recognised, and of references."""
    path, scales = FIXTURES / "inspect.json", {"quality": [0, 1]}
    letters = {"C": 1, "P": 0.5, "I": 0, "N": 0}
    imported(path, INSPECT | format | {"values": letters}, scales)
    words = (
        r"inspect\.json: found an Inspect log, and decimal: only for format table; leave"
        r" `decimal` out"
    )
    with pytest.raises(DataError, match=words):
        imported(path, INSPECT | format | {"decimal": ","}, scales)
    if not format:
        words = r"eval\.jsonl: found lm-evaluation-harness samples, and decimal: only for format"
        with pytest.raises(DataError, match=words):
            labelled(FIXTURES / "lm_eval.jsonl", {"decimal": ","})


def scored_by_code_in_mlflow(log):
    return [assessment["source"] for trace in log for assessment in trace["info"]["assessments"]], {
        "source_type": "CODE"
    }


def by_api_in_langfuse(log):
    return [score for trace in log for score in trace["scores"]], {"source": "API"}


def without_a_model_in_deepeval(log):
    cases = log.get("testCases") or log["test_results"]
    return [metric for case in cases for metric in case["metricsData"]], {"evaluationModel": None}


@pytest.mark.parametrize(
    ("parts", "key", "words"),
    [
        (scored_by_code_in_mlflow, "source_type", "LLM_JUDGE, HUMAN or CODE"),
        (by_api_in_langfuse, "source", "EVAL, ANNOTATION or API"),
    ],
)
def test_who_gave_a_score_is_a_word_of_the_tool(parts, key, words):
    fixture = f"{parts.__name__.rpartition('_')[2]}.json"
    log = log_in(fixture)
    parts(log)[0][0][key] = "OTHER"
    with pytest.raises(DataError, match=f"found 'OTHER', .*; write {words}$"):
        imported(log, *IMPORTED[fixture][:2])


@pytest.mark.parametrize(
    "parts", [scored_by_code_in_mlflow, by_api_in_langfuse, without_a_model_in_deepeval]
)
def test_scores_by_no_judge_need_their_own_name_in_config(parts):
    """One judge for all is that of the scores that a model gave."""
    fixture = f"{parts.__name__.rpartition('_')[2]}.json"
    settings, scales = IMPORTED[fixture][:2]
    log = log_in(fixture)
    places, change = parts(log)
    for place in places:
        place |= change
    with pytest.raises(
        DataError, match=r"log\.json: its scorers are .*; write `judge: {<scorer>: <its judge>}`"
    ):
        imported(log, settings | {"judge": "gpt"}, scales)
    listed = settings | {"step": 0.05, "judge": dict.fromkeys(scales, "gpt")}
    found, _ = imported(log, listed | {"repeats": "first"}, scales)
    assert {row[0] for row in found} == {"gpt"}


def test_scorer_without_a_score_has_no_answer_of_another():
    log = log_in("inspect.json")
    del log["samples"][0]["scores"]["model_graded_qa1"]
    rows, _ = imported(log, INSPECT)
    assert ("mine", None, "no score") in [(row[0], row[4], row[6]) for row in rows]
    kept = (
        "select answer, explanation from 'ratings.parquet' where judge = 'mine' and prompt_id = '1'"
    )
    assert duckdb.sql(kept).fetchall() == [(None, None)]


def documented():
    """The rows of the table of counts in docs/checked.md, by format."""
    page = (FIXTURES.parents[1] / "docs" / "checked.md").read_text("utf-8")
    table = page.split("| tried on |\n")[1].partition("\n\n")[0]
    _, *rows = fields(table.replace("`", ""))
    return {format: cells for _, format, *cells in rows}


def test_documented_counts_are_those_of_the_fixtures():
    table = documented()
    assert table.keys() == FORMATS.keys() - {"table"}
    for name, (_, _, counts) in IMPORTED.items():
        rows = [row for row in read_table(GOLDEN / SCORES) if row["fixture"] == name]
        format = name.partition(".")[0]
        if format in table:
            failed = sum(row["failure"] != "" for row in rows)
            found = ", ".join(f"{n} {kind}s" for kind, n in counts.items())
            assert [str(len(rows)), str(failed), found] == [
                table[format][place] for place in (0, 1, 3)
            ], name
