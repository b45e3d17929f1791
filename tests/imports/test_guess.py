"""Settings guessed for files: those of the awkward tables and of every format, checked by import,
not by eye.
"""

import csv
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from test_awkward_tables import TABLES, a_scale_for_each_judge, checked, one_judge_in_each_file

import mutations
import recuse
from conftest import ROOT
from mutations import as_csv, examples, tables_like
from recuse.base.errors import DataError, RecuseError
from recuse.config.load import load
from recuse.data.registry import usual_scale
from recuse.imports.guess import family_of, guess, nearest
from recuse.imports.ratings import import_ratings

FORMATS = ROOT / "tests" / "formats"


def guessed(folder, files, monkeypatch):
    """The guessed settings of files, by their contents or copied into the folder, as mine.yaml
    there; its only study.
    """
    monkeypatch.chdir(folder)
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    Path("mine.yaml").write_text(guess([*files]), "utf-8")
    text = Path("mine.yaml").read_text("utf-8")
    (section,) = yaml.safe_load(text).values()
    load("mine.yaml")  # which is a valid one
    return section["mine"], text


@pytest.mark.parametrize(
    "table", [table for table in TABLES if table is not a_scale_for_each_judge]
)
def test_awkward_tables_are_understood_without_a_word(tmp_path, monkeypatch, table):
    """Every rating and human score is what it is with the settings of a user; but for a judge that
    no column names.
    """
    files, ratings, human, (low, high) = table()
    study, text = guessed(tmp_path, files, monkeypatch)
    named = [
        line
        for line in text.splitlines()
        if line.startswith(" " * 8) and not line.strip().startswith(("columns", "files"))
    ]
    assert all("# guessed: " in line for line in named)
    if table is one_judge_in_each_file:
        assert "judge: {value: judge}  # guessed: no column names the judge: write its name" in text
        Path("mine.yaml").write_text(text.replace("{value: judge}", "{value: gpt-4.1}"), "utf-8")
    _, rows, _ = checked(tmp_path, monkeypatch)
    assert {key[:3] for key in rows} == ratings.keys()
    for (judge, model, prompt, _), units in rows.items():
        expected = (
            (value - low) / (high - low)
            for value in (ratings[judge, model, prompt], human[model, prompt])
        )
        assert units == pytest.approx([*expected], abs=1e-12)
    families = study["families"]
    assert sorted(families["GPT"]) == ["gpt-4.1", "gpt-4.1-mini"]
    assert sorted(families["Claude"]) == ["claude-haiku-4", "claude-sonnet-4"]


def test_files_of_raters_and_words_for_failures(tmp_path, monkeypatch):
    """As in the example of the documentation."""
    files = {
        name: (ROOT / "docs" / "example" / name).read_bytes()
        for name in ("judged.csv", "human.csv")
    }
    study, _ = guessed(tmp_path, files, monkeypatch)
    settings = study["import"]
    assert settings["columns"] == {
        **{"judge": "grader", "model": "candidate", "prompt": "item"},
        **{"dimension": "metric", "rating": "score"},
    }
    assert settings["missing"] == ["error"]
    columns = {
        "model": "candidate",
        "prompt": "item",
        "dimension": "metric",
        "rating": ["first", "second"],
    }
    assert settings["references"] == {"files": "human.csv", "columns": columns}
    assert study["scales"] == {"default": [1, 10]}


def test_verdicts_in_words(tmp_path, monkeypatch):
    lines = ["grader,question,left,right,winner,human"]
    lines += [
        f"gpt-4o,{n},gpt-4o,claude-3,{('left', 'right', 'both')[n % 3]},{('left', 'right')[n % 2]}"
        for n in range(30)
    ]
    study, _ = guessed(tmp_path, {"pairs.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert study["both_orders"] is False
    assert study["import"]["values"] == {"left": "a", "right": "b", "both": "tie"}
    columns = {
        "judge": "grader",
        "model_a": "left",
        "model_b": "right",
        "item": "question",
        "outcome": "winner",
    }
    assert study["import"]["columns"] == columns | {"human": "human"}


def test_scales_of_dimensions_differ_and_digits_are_rounded(tmp_path, monkeypatch):
    lines = ["judge,model,prompt,metric,score"]
    lines += [
        f"gpt-4o,{m},{p},{d},{v}"
        for p in range(9)
        for m in "ab"
        for d, v in (("tone", 1 + p % 5), ("wit", 2 + p))
    ]
    study, _ = guessed(tmp_path, {"two.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert study["scales"] == {"tone": [1, 5], "wit": [1, 10]}
    lines = [
        "judge,model,prompt,score",
        *(f"gpt-4o,{m},{p},0.{p}127{p}" for p in range(1, 9) for m in "ab"),
    ]
    study, _ = guessed(tmp_path, {"digits.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert (study["import"]["step"], study["import"]["round"], study["scales"]) == (
        0.01,
        True,
        {"default": [0, 1]},
    )


def ratings_with(failure, scale=(1, 2, 3, 4, 5)):
    """Ratings, every eleventh of which is this value."""
    rows = [("gpt-4o", m, p) for p in range(40) for m in ("gpt-4o", "claude-3")]
    lines = [
        f"{j},{m},{p},{failure if n % 11 == 0 else scale[(n + p) % len(scale)]}"
        for n, (j, m, p) in enumerate(rows)
    ]
    return {"own.csv": "\n".join(["judge,model,prompt,rating", *lines]) + "\n"}


@pytest.mark.parametrize(
    ("failure", "scale"),
    [(-1, (1, 2, 3, 4, 5)), (99, (1, 2, 3, 4, 5)), (-99, (0, 0.5, 1)), (999, range(1, 11))],
)
def test_a_number_far_from_the_scores_marks_failures(tmp_path, monkeypatch, failure, scale):
    study, text = guessed(tmp_path, ratings_with(failure, scale), monkeypatch)
    assert [float(value) for value in study["import"]["missing"]] == [failure]
    assert "# guessed: far from the scores: failed judgments?" in text
    assert study["scales"] == {"default": [scale[0], scale[-1]]}


def test_a_number_that_may_be_a_score_is_asked_about_or_left(tmp_path, monkeypatch):
    study, text = guessed(tmp_path, ratings_with(0), monkeypatch)
    assert study["scales"] == {"default": [0, 5]}
    assert "does 0 mark a failure? then `missing: [0]`" in text
    for failure, scale in ((-1, (0, 1)), (99, range(90, 101)), (0, (0, 1))):
        study, text = guessed(tmp_path, ratings_with(failure, scale), monkeypatch)
        assert "missing" not in study["import"]
        assert "mark a failure" not in text


def test_a_value_of_one_row_alone_is_no_prompt(tmp_path, monkeypatch):
    """Unless no other column has enough values, as in a file of one model's answers."""
    rows = [
        (j, m, p, p % 5 + 1)
        for p in range(40)
        for m in ("gpt-4o", "claude-3")
        for j in ("gpt-4o", "claude-3")
    ]
    lines = [f"{n},{j},{m},{p},{v},text {n}" for n, (j, m, p, v) in enumerate(rows)]
    for header in ("id,judge,model,question_no,rating,note", "index,judge,model,thing,rating,note"):
        study, _ = guessed(tmp_path, {"own.csv": "\n".join([header, *lines]) + "\n"}, monkeypatch)
        assert study["import"]["columns"]["prompt"] == header.split(",")[3]
    nested = [
        {"id": n, "input": {"prompt_id": p}, "judge": j, "model": m, "rating": v}
        for n, (j, m, p, v) in enumerate(rows)
    ]
    study, _ = guessed(
        tmp_path, {"own.jsonl": "".join(f"{json.dumps(row)}\n" for row in nested)}, monkeypatch
    )
    assert study["import"]["columns"]["prompt"] == "input.prompt_id"
    lines = [
        "judge,model,id,subject,rating",
        *(f"gpt-4o,claude-3,{n},{n % 3},{n % 5 + 1}" for n in range(40)),
    ]
    study, _ = guessed(tmp_path, {"one.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert study["import"]["columns"]["prompt"] == "id"


@pytest.mark.parametrize("human", ["", ",human"])
def test_files_with_the_same_columns_are_of_one_kind(tmp_path, monkeypatch, human):
    """Without a column for the judge, each may be of one judge, and none is of human scores, but by
    its name.
    """
    rows = [
        f"{m},{p},{p % 5 + 1}" + human.replace("human", "3")
        for p in range(20)
        for m in ("gpt-4o", "claude-3")
    ]
    table = "\n".join([f"model,prompt,rating{human}", *rows]) + "\n"
    study, text = guessed(tmp_path, {"claude-3.5.csv": table, "gpt-4o.csv": table}, monkeypatch)
    assert study["import"]["files"] == ["claude-3.5.csv", "gpt-4o.csv"]
    assert "references" not in study["import"]
    assert (
        "if each file is of another judge (claude-3.5 and gpt-4o?), add a column `judge` to the"
        " files" in text
    )
    study, text = guessed(tmp_path, {"human.csv": table, "gpt-4o.csv": table}, monkeypatch)
    assert (study["import"]["files"], study["import"]["references"]["files"]) == (
        "gpt-4o.csv",
        "human.csv",
    )
    assert "human" not in study["import"]["columns"]
    assert ("human scores in the files above are left out" in text) == bool(human)


def test_each_scorer_of_a_log_has_a_line_if_it_names_no_judge(tmp_path, monkeypatch):
    """One that compares with a key is no judge; only such ones are no study."""
    names = ("includes", "model_graded_qa")
    scores = [{name: {"value": "CI"[n % 2], "answer": "a"} for name in names} for n in range(3)]
    samples = [
        {"id": n, "epoch": 1, "target": "t", "scores": of, "metadata": {}}
        for n, of in enumerate(scores)
    ]
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "dataset": {"name": "d"}, "model": "openai/gpt-4o"},
    }
    log["eval"]["scorers"] = [{"name": name, "options": {}} for name in names]
    study, text = guessed(
        tmp_path, {"log.json": json.dumps(log | {"samples": samples})}, monkeypatch
    )
    assert study["import"]["judge"] == {"includes": "Gold", "model_graded_qa": "judge"}
    assert study["import"]["gold"] is True
    assert study["scales"] == {"model_graded_qa": [0, 1]}
    text = text.replace("model_graded_qa: judge", "model_graded_qa: claude-3")
    (tmp_path / "mine.yaml").write_text(text, "utf-8")
    _, rows, _ = checked(tmp_path, monkeypatch)
    assert {(key[0], key[1], tuple(units)) for key, units in rows.items()} == {
        ("claude-3", "openai/gpt-4o", (x, x)) for x in (0, 1)
    }
    for sample in samples:
        del sample["scores"]["model_graded_qa"]
    (tmp_path / "log.json").write_text(json.dumps(log | {"samples": samples}), "utf-8")
    with pytest.raises(DataError, match=r"^log\.json: its scorers are "):
        guess(["log.json"])


def test_a_second_human_column_is_told(tmp_path, monkeypatch):
    lines = ["judge,model,prompt,rating,human_1,human_2,human_note"]
    lines += [
        f"gpt-4o,{m},{p},{p % 5 + 1},{p % 4 + 1},{p % 3 + 1},text"
        for p in range(20)
        for m in ("gpt-4o", "claude-3")
    ]
    study, text = guessed(tmp_path, {"own.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert study["import"]["columns"]["human"] == "human_1"
    assert (
        "guessed: by its name; left out: human_2; to use all, write them as a file with model and"
        " prompt" in text
    )
    assert "name it under `references:`, with `columns: {rating: [human_1, human_2]}`" in text


@pytest.mark.parametrize(
    "header", ["chosen,rejected", "model_a,model_b,score_a,score_b", "model_1,model_2,a_wins"]
)
def test_pairs_without_an_outcome_are_told(tmp_path, monkeypatch, header):
    monkeypatch.chdir(tmp_path)
    models = [("gpt-4o", "claude-3") if n % 3 else ("claude-3", "gpt-4o") for n in range(30)]
    scores = [str(n % 2) for n in range(2)][: header.count(",") - 1]
    lines = [
        f"judge,question,{header}",
        *(",".join(["gpt-4o", f"q{n}", *pair, *scores]) for n, pair in enumerate(models)),
    ]
    Path("pairs.csv").write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(
        DataError,
        match=(
            r"^pairs\.csv: .* look like verdicts on two answers; recuse needs `model_a`, `model_b`"
        ),
    ):
        guess(["pairs.csv"])


def test_rows_within_a_value_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"judge": "gpt-4o", "model": "gpt-4o", "prompt": n, "rating": n % 5} for n in range(30)]
    Path("log.json").write_text(json.dumps({"version": 1, "results": rows}), "utf-8")
    with pytest.raises(
        DataError,
        match=r"^log\.json: the rows are under `results`; write that list alone as a file$",
    ):
        guess(["log.json"])


def test_both_orders_of_a_pair_are_counted(tmp_path, monkeypatch):
    """Whether the models change their places or a column names the order; one comparison in one
    order is enough for `false`.
    """
    pairs = [
        f"gpt-4o,{n},{pair}" for n in range(20) for pair in ("gpt-4o,claude-3", "claude-3,gpt-4o")
    ]
    swapped = [f"{pair},{n % 3}" for n, pair in enumerate(pairs)]
    ordered = [
        f"gpt-4o,{n // 2},gpt-4o,claude-3,{'ab'[n % 2]},{('ab', 'ba')[n % 2]}" for n in range(40)
    ]
    header = "judge,question,model_1,model_2,winner"
    for head, lines in ((header, swapped), (f"{header},order", ordered)):
        study, _ = guessed(tmp_path, {"pairs.csv": "\n".join([head, *lines]) + "\n"}, monkeypatch)
        assert "both_orders" not in study
        study, _ = guessed(
            tmp_path, {"pairs.csv": "\n".join([head, *lines[:-1]]) + "\n"}, monkeypatch
        )
        assert study["both_orders"] is False


def test_a_verdict_of_0_beside_1_and_2_is_asked_about(tmp_path, monkeypatch):
    lines = [
        "judge,question,model_a,model_b,winner",
        *(f"gpt-4o,{n},gpt-4o,claude-3,{n % 3}" for n in range(30)),
    ]
    study, text = guessed(tmp_path, {"pairs.csv": "\n".join(lines) + "\n"}, monkeypatch)
    assert study["import"]["values"] == {"0": "tie", "1": "a", "2": "b"}
    assert "missing" not in study["import"]
    assert "is 0 a tie? if it marks a failure, write `missing: ['0']` instead" in text


RECOGNISED = [
    *(
        "alpaca_eval.json",
        "arena_hard_v0.1.jsonl",
        "arena_hard_v2.jsonl",
        "deepeval.json",
        "helm.json",
        "helm_jury.json",
    ),
    *(
        "inspect.json",
        "inspect_rubric.json",
        "mlflow.json",
        "mt_bench_pair.jsonl",
        "mt_bench_single.jsonl",
    ),
    *("openai_evals.jsonl", "promptfoo.json"),
]


@pytest.mark.parametrize("name", RECOGNISED)
def test_formats_are_recognised_and_read(tmp_path, monkeypatch, name):
    study, text = guessed(tmp_path, {name: (FORMATS / name).read_bytes()}, monkeypatch)
    assert name.startswith(study["import"]["format"].removesuffix("_single").removesuffix("_pair"))
    assert "by its keys" in text
    if "scales" in study:
        outputs = {"ratings": f"{tmp_path}/r.parquet", "imported": f"{tmp_path}/i.csv"}
        import_ratings(
            "mine",
            [name],
            [],
            settings=study["import"],
            scales=study["scales"],
            models={},
            outputs=outputs,
        )


@pytest.mark.parametrize(
    "name", ["every_eval_ever.jsonl", "langfuse.json", "lm_eval.jsonl", "phoenix.json"]
)
def test_what_is_lacking_is_told(tmp_path, monkeypatch, name):
    shutil.copy(FORMATS / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        RecuseError,
        match=rf"^{name}.*(gold labels only|holds no judgments|name it under `columns:`)",
    ):
        guess([name])


def test_spoilt_tables_are_guessed_or_refused(tmp_path, monkeypatch):
    """Whatever is in the cells, the settings are valid YAML, and name columns that the file has."""
    monkeypatch.chdir(tmp_path)
    with open(FORMATS / "judged.csv", newline="", encoding="utf-8") as file:
        whole = list(csv.reader(file))
    outcomes = {"drawn": 0, "guessed": 0, "refused": 0}

    @examples(60)
    @given(tables_like(whole))
    def guessed_or_refused(rows):
        outcomes["drawn"] += 1
        Path("own.csv").write_bytes(as_csv(rows))
        try:
            text = guess(["own.csv"])
        except RecuseError as error:
            outcomes["refused"] += str(error).startswith("own.csv")
            return
        outcomes["guessed"] += 1
        Path("mine.yaml").write_text(text, "utf-8")
        study = load("mine.yaml")["studies"]["mine"]
        named = [
            column
            for column in study["import"].get("columns", {}).values()
            if isinstance(column, str)
        ]
        assert set(named) <= set(rows[0])

    guessed_or_refused()
    assert outcomes["guessed"] + outcomes["refused"] == outcomes["drawn"]
    assert outcomes["guessed"] > 30 * mutations.share


@pytest.mark.parametrize("ends", [(1, 6), (10, 90), (0, 3), (2, 8)])
def test_scales_are_those_that_python_takes(tmp_path, ends):
    """One file gives the same scale in both."""
    rows = [
        (judge, model, item, end)
        for judge in "AB"
        for model in "AB"
        for item, end in enumerate(ends)
    ]
    table = pd.DataFrame(rows, columns=["judge", "model", "prompt_id", "rating"])
    table.to_csv(tmp_path / "scored.csv", index=False)
    (study,) = yaml.safe_load(guess([f"{tmp_path}/scored.csv"]))["studies"].values()
    with pytest.warns(UserWarning, match="no scale was passed"):
        made = recuse.ratings(tmp_path / "scored.csv").to_pandas()
    assert [*made[["scale_low", "scale_high"]].iloc[0]] == study["scales"]["default"]


def test_names_of_models_and_their_families():
    names = [
        "openai/gpt-4o",
        "anthropic.claude-3",
        "meta-llama/Llama-3-8b",
        "us.meta.llama3",
        "o3-mini",
        "mixtral-8x7b",
        "bob",
    ]
    assert [family_of(name) for name in names] == [
        "GPT",
        "Claude",
        "Llama",
        "Llama",
        "GPT",
        "Mistral",
        None,
    ]
    assert [
        usual_scale(*ends) for ends in ((0, 1), (1, 4), (2, 5), (0, 5), (1, 9.5), (0, 87), (-3, 3))
    ] == [
        *((0, 1), (1, 4), (1, 5), (0, 5), (1, 10), (0, 100), (-3, 3)),
    ]


def test_a_table_that_is_not_understood_is_answered_with_what_is_near(tmp_path):
    """The three nearest formats by keys, and a `columns:` block as far as it can be guessed."""
    lines = '{"question_id": 1, "model": "gpt-4o", "judger": "gpt-4o", "points": 4}\n' * 3
    (tmp_path / "log.jsonl").write_text(lines, "utf-8")
    outputs = {"ratings": f"{tmp_path}/r.parquet", "imported": f"{tmp_path}/i.csv"}
    with pytest.raises(DataError) as caught:
        import_ratings(
            "mine",
            [f"{tmp_path}/log.jsonl"],
            [],
            settings={},
            scales={"q": [1, 5]},
            models={},
            outputs=outputs,
        )
    first, near, columns, how = str(caught.value).splitlines()
    assert "log.jsonl, line 1, column" in first
    assert near.startswith(
        "nearest formats: `mt_bench_single` (MT-Bench single judgments), without judge and score; `"
    )
    assert near.count("`") == 6
    assert "`columns: {" in columns
    assert "model: model" in columns
    assert "rating: points" in columns
    assert "recuse import --guess" in how
    assert nearest({"x"}) == []
