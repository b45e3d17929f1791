"""JSON Lines with blank or broken lines, and Inspect logs: what they cost, and what is said of them."""

import json
import time
from pathlib import Path

import duckdb
import pytest

from recuse.base.database import bounded_memory
from recuse.base.errors import DataError
from recuse.data.imports.ratings import import_ratings

FORMATS = Path(__file__).parents[2] / "formats"
LINE = '{"judge": "a", "model": "b", "prompt": "PLACE", "rating": 7, "human": 8}'
UNIT = {"quality": [0, 1]}


def imported(folder, path, settings=None, *, scales=None, human=None):
    """Import a file, and human scores if there are any, into the folder."""
    outputs = {"ratings": f"{folder}/ratings.parquet", "imported": f"{folder}/imported.csv"}
    settings = dict(settings or {})
    if human is not None:
        (folder / "human.csv").write_text(human, "utf-8")
        settings["references"] = {"columns": {}}
    references = [] if human is None else [f"{folder}/human.csv"]
    import_ratings(
        "mine", [str(path)], references, settings=settings, scales=scales or {"quality": [1, 10]}, models={}, outputs=outputs
    )


def places(folder):
    return [place for (place,) in duckdb.sql(f"select source_record from '{folder}/ratings.parquet'").fetchall()]


def complaint(folder, text, **options):
    (folder / "own.jsonl").write_bytes(text)
    with pytest.raises(DataError) as caught:
        imported(folder, folder / "own.jsonl", **options)
    return str(caught.value).replace(f"{folder}/", "")


def lines_of(*lines):
    return "\n".join(LINE.replace("PLACE", str(place)) if line is True else line for place, line in enumerate(lines)).encode()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((True, True, '{"judge": "a",,}', True), "line 3: malformed JSON (Expecting property name"),
        ((True, "", '{"judge": "a",,}', True), "line 3: malformed JSON"),
        (("", "", True, "", "", True, '{"judge": 1} {}'), "line 7: malformed JSON (Extra data)"),
        (('{"judge":', '"a"}'), "line 1: malformed JSON (Expecting value)"),
        ((True, True, "[1]"), "line 3, column json: found '[1]', which is no JSON object"),
        ((True, "", "", "  ", "[1]"), "line 5, column json: found '[1]'"),
        ((True, True, LINE.replace("7", '"x"')), "line 3, column rating: found 'x'"),
        ((True, "", "", LINE.replace("7", '"x"')), "line 4, column rating: found 'x'"),
        (("\ufeff" + LINE, True, "{"), "line 3: malformed JSON"),
        ((True, "[" * 100000), "line 2: lists within lists"),
    ],
)
def test_what_is_wrong_is_in_the_line_that_is_named(tmp_path, lines, said):
    assert complaint(tmp_path, lines_of(*lines)).startswith(f"own.jsonl, {said}")


def test_line_that_is_not_utf_8_is_named(tmp_path):
    said = complaint(tmp_path, lines_of(True, "", LINE) + b'\n{"judge": "\xff"}')
    assert said.startswith("own.jsonl, line 4: not UTF-8 (invalid start byte); save it as UTF-8")
    (tmp_path / "own.json").write_bytes(b'[{"judge":\n\n"\xff"}]')
    with pytest.raises(DataError, match=r"own\.json, line 3: not UTF-8"):
        imported(tmp_path, tmp_path / "own.json", {"columns": {"judge": "judge"}})


def test_blank_lines_cost_no_more_than_rows(tmp_path):
    """Each row is named by its line; in a second, where looking all blank lines up for each row took half a minute."""
    rows = 50_000
    begun = time.perf_counter()
    text = "".join(LINE.replace("PLACE", str(place)) + "\n" * (1 + place % 3) for place in range(rows))
    (tmp_path / "own.jsonl").write_text(text, "utf-8")
    with bounded_memory("300MB", tmp_path / "spill"):
        imported(tmp_path, tmp_path / "own.jsonl")
    assert time.perf_counter() - begun < 10
    expected, line = [], 1
    for place in range(rows):
        expected.append(line)
        line += 1 + place % 3
    assert places(tmp_path) == expected


def log_of(samples, *, model="m"):
    """An Inspect log of (id, epoch, {scorer: value})."""
    of = [
        {"id": id_of, "epoch": epoch, "scores": {scorer: {"value": value} for scorer, value in scores.items()}}
        for id_of, epoch, scores in samples
    ]
    return {"version": 2, "status": "success", "eval": {"model": model, "task": "t"}, "samples": of}


def test_conversations_of_a_log_take_no_memory(tmp_path):
    """Twelve megabytes of them, three scorers: more than ten times that were not enough."""
    log = log_of([(place, 1, dict.fromkeys("abc", "C")) for place in range(120)])
    for sample in log["samples"]:
        sample["messages"] = [{"role": "user", "content": "x y " * 25_000}]
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    with bounded_memory("120MB", tmp_path / "spill"):
        imported(
            tmp_path, tmp_path / "log.json", {"judge": {"a": "A", "b": "B", "c": "C"}}, scales=UNIT,
            human="model,prompt,rating\nm,1,1\n",
        )  # fmt: skip
    assert places(tmp_path) == [place for place in range(1, 121) for _ in range(3)]


def of_scorers(folder, judge, scales=UNIT):
    (folder / "log.json").write_text(json.dumps(log_of([(1, 1, {"match": 1, "graded": 0, "strict": 1})])), "utf-8")
    human = "model,prompt,dimension,rating\n" + "".join(f"m,1,{dimension},1\n" for dimension in scales)
    imported(folder, folder / "log.json", {"judge": judge}, scales=scales, human=human)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("J", "its scorers graded, match, strict would all be the judge 'J' of 'quality'; say which of them is a judge"),
        ({"graded": "J", "strict": "J"}, "its scorers graded, strict would all be the judge 'J' of 'quality'"),
    ],
)
def test_several_scorers_of_one_judge_are_named(tmp_path, judge, said):
    with pytest.raises(DataError, match=r"log\.json: ") as caught:
        of_scorers(tmp_path, judge)
    assert said in str(caught.value)
    assert str(caught.value).endswith("under `import` in config: `judge: {graded: J}`")


def test_scorers_that_are_dimensions_may_have_one_judge(tmp_path):
    of_scorers(tmp_path, "J", dict.fromkeys(("match", "graded", "strict"), (0, 1)))
    assert len(places(tmp_path)) == 3
    of_scorers(tmp_path, {"graded": "J"})
    assert len(places(tmp_path)) == 1


def test_epochs_without_human_scores_are_told_from_those_with(tmp_path, capsys):
    """Another epoch is another answer: a score of the first one is not of it."""
    samples = [(name, epoch, {"a": 1}) for name in ("q1", "q2") for epoch in (1, 2, 3)]
    (tmp_path / "log.json").write_text(json.dumps(log_of(samples)), "utf-8")
    human = "model,prompt,rating\nm,q1,1\nm,q2,0\n"
    imported(tmp_path, tmp_path / "log.json", {"judge": "J"}, scales=UNIT, human=human)
    said = capsys.readouterr().out
    assert "without a human score: 4 of 6 rated completions, the first is model 'm', dimension 'quality' and prompt" in said
    assert "another epoch is another answer, so a score of 'q1' is not one of 'q1, epoch 2': score it by that name" in said
    of_epochs = human + "".join(f'm,"{name}, epoch {epoch}",1\n' for name in ("q1", "q2") for epoch in (2, 3))
    imported(tmp_path, tmp_path / "log.json", {"judge": "J"}, scales=UNIT, human=of_epochs)
    assert "epoch" not in capsys.readouterr().out
    assert duckdb.sql(f"select count(gt) from '{tmp_path}/ratings.parquet'").fetchall() == [(6,)]
