"""A file of single raters' scores: what is read from it, and what is said of a bad one."""

import gzip
import re

import duckdb
import numpy as np
import pytest
from agreement import tabulate

from conftest import CONFIG
from recuse.base.database import write_parquet
from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.data.raters import check_raters
from recuse.data.registry import Registry

HEADER = "model,dimension,dataset,prompt_id,rater,rating"
GOOD = ["gpt-4o,Tone,tickets,t0,ann,5", "GPT-4o,Tone,tickets,t0,bob,4", "Claude v2,Style,mails,m1,1,0"]


@pytest.fixture
def ratings(tmp_path):
    """Canonical ratings of a study of two dimensions and two datasets, in two shards, as far as they are read."""
    paths = [str(tmp_path / f"ratings {shard}.parquet") for shard in range(2)]
    columns = {"dimension": ["Tone", "Style"], "dataset": ["tickets", "mails"], "prompt_id": ["t0", "m1"]}
    columns |= {"scale_low": [1, 0], "scale_high": [5, 4]}
    for row, path in enumerate(paths):
        shard = {name: np.array([values[row]], dtype=None if "scale" in name else object) for name, values in columns.items()}
        write_parquet(shard, path)
    return paths


def check(tmp_path, ratings, lines, header=HEADER):
    path, output = tmp_path / "raters.csv", tmp_path / "out.parquet"
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    check_raters(str(path), Registry.from_config(CONFIG["models"]), ratings=ratings, output=str(output))
    return duckdb.sql(f"select * from '{output}'").fetchall()


def test_canonical_rows(tmp_path, ratings):
    rows = check(tmp_path, ratings, GOOD)
    assert rows == [
        ("Claude v2", "Style", "mails", "m1", "raters", "1", 0),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "ann", 5),
        ("GPT-4o", "Tone", "tickets", "t0", "raters", "bob", 4),
    ]
    names = duckdb.sql(f"select * from '{tmp_path / 'out.parquet'}' limit 0").columns
    assert names == ["model", "dimension", "dataset", "prompt_id", "team", "rater", "rating"]


def test_teams_missing_ratings_and_other_columns(tmp_path, ratings):
    lines = ["gold,gpt-4o,Tone,tickets,t0,ann,5,x", ",gpt-4o,Tone,tickets,t0,ann,4,", "raters,gpt-4o,Tone,tickets,t0,bob,NA,"]
    rows = check(tmp_path, ratings, lines, header=f"team,{HEADER},Team")
    assert [(row[4], row[5], row[6]) for row in rows] == [("gold", "ann", 5), ("raters", "ann", 4)]


def test_gzip_and_parquet_say_the_same(tmp_path, ratings):
    rows = check(tmp_path, ratings, GOOD)
    packed, parquet = str(tmp_path / "r.csv.gz"), str(tmp_path / "r.parquet")
    with gzip.open(packed, "wt", encoding="utf-8") as file:
        file.write("\n".join([HEADER, *GOOD]) + "\n")
    duckdb.sql(f"copy (select * from read_csv('{tmp_path / 'raters.csv'}')) to '{parquet}' (format parquet)")
    for path in (packed, parquet):
        check_raters(path, Registry.from_config(CONFIG["models"]), ratings=ratings, output=str(tmp_path / "again.parquet"))
        assert duckdb.sql(f"select * from '{tmp_path / 'again.parquet'}'").fetchall() == rows


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (",Tone,tickets,t0,ann,5", "line 3, column model: found nothing, which names no model"),
        ("gpt-5,Tone,tickets,t0,ann,5", "line 3, column model: found 'gpt-5', an id that the registry does not know"),
        ("gpt-4o,Wit,tickets,t0,ann,5", "column dimension: found 'Wit', a dimension that the ratings of the study do not have"),
        ("gpt-4o,Wit,tickets,t0,ann,5", "; write one of Style, Tone"),
        ("gpt-4o,Tone,chats,t0,ann,5", "column dataset: found 'chats', a dataset that the ratings of the study do not"),
        ("gpt-4o,Tone,,t0,ann,5", "column dataset: found nothing"),
        ("gpt-4o,Tone,tickets,,ann,5", "column prompt_id: found nothing, which names no prompt"),
        ("gpt-4o,Tone,tickets,t0,,5", "column rater: found nothing, which names no rater"),
        ("gpt-4o,Tone,tickets,t0,ann,0", "column rating: found '0', which is off the scale of the dimension"),
        ("gpt-4o,Tone,tickets,t0,ann,0", "write an integer from 1 to 5"),
        ("gpt-4o,Tone,tickets,t0,ann,4.5", "column rating: found '4.5'"),
        (
            "gpt-4o,Tone,tickets,t0,ann,good",
            "column rating: found 'good', which is not a number; write an integer from 1 to 5, or leave",
        ),
    ],
)
def test_fault_is_named_with_its_place(tmp_path, ratings, line, said):
    with pytest.raises(DataError, match=re.escape(said)):
        check(tmp_path, ratings, [GOOD[1], line])
    assert not (tmp_path / "out.parquet").exists()


def test_rater_who_rates_twice(tmp_path, ratings):
    again = "gpt-4o,Tone,tickets,t0,bob,3"
    said = (
        r"line 5, column rater: rater 'bob' of the team 'raters' rates model 'GPT-4o', dimension 'Tone' and prompt 't0' "
        r"already in .*raters\.csv, line 3; keep one"
    )
    with pytest.raises(DataError, match=said):
        check(tmp_path, ratings, [*GOOD, again])
    assert not (tmp_path / "out.parquet").exists()
    both_teams = [*(f"{line}," for line in GOOD), f"{again},gold"]
    assert len(check(tmp_path, ratings, both_teams, header=f"{HEADER},team")) == 4


def test_prompts_that_are_all_others(tmp_path, ratings):
    others = [line.replace(",t0,", ",p0,").replace(",m1,", ",p1,") for line in GOOD]
    said = (
        r"raters\.csv, column prompt_id: none of its prompts, such as 'p0', is one of the study's ratings, such as 'm1'; write"
    )
    with pytest.raises(DataError, match=said):
        check(tmp_path, ratings, others)
    assert not (tmp_path / "out.parquet").exists()
    assert len(check(tmp_path, ratings, [*others, GOOD[0]])) == 4


def test_unknown_team_and_columns(tmp_path, ratings):
    with pytest.raises(DataError, match=r"column team: found 'expert', which is no team; write raters or gold; empty means"):
        check(tmp_path, ratings, [f"{GOOD[0]},expert"], header=f"{HEADER},team")
    with pytest.raises(DataError, match=r"line 1, column rater: not there; found model, .* needed model, .*team is optional"):
        check(tmp_path, ratings, GOOD, header=HEADER.replace("rater,", "annotator,"))
    with pytest.raises(DataError, match=r"line 1, column team: stands twice; keep one"):
        check(tmp_path, ratings, GOOD, header=f"{HEADER},team,team")
    with pytest.raises(DataError, match=r"the file holds no rows"):
        check(tmp_path, ratings, [])


def test_one_job_writes_raters_and_agreement(tmp_path, ratings):
    check(tmp_path, ratings, [*GOOD, "gpt-4o,Tone,tickets,t1,ann,2", "gpt-4o,Tone,tickets,t1,bob,2"])
    raters, output = str(tmp_path / "raters.parquet"), str(tmp_path / "agreement.csv")
    outputs = {"raters": raters, "agreement": output}
    raw = [str(tmp_path / "raters.csv")]
    tabulate(study="mine", raw=raw, ratings=ratings, models=CONFIG["models"], outputs=outputs)
    rows = {(row["dimension"], row["statistic"]): row for row in read_table(output)}
    tone = {"study": "mine", "dimension": "Tone", "statistic": "observed_agreement", "value": "0.5", "n": "2"}
    assert rows["Tone", "observed_agreement"] == tone
    assert rows["Style", "full_agreement"]["value"] == ""
    assert duckdb.sql(f"select count(*) from '{raters}'").fetchall() == [(5,)]
