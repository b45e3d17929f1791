"""Small tables of ratings that tests make up, as the files and the studies that they are checked
as.
"""

import csv
import random
import re
from fnmatch import fnmatchcase
from functools import partial
from itertools import zip_longest

import duckdb
import pandas as pd
import pytest

from conftest import CONFIG, built
from recuse.check.check import check_study
from recuse.check.facts import read_facts
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles, normalise_ratings
from recuse.data.registry import Registry

COLUMNS = ("judge", "model", "gt", "dataset", "prompt_id", "rating", "pred_length", "dimension")
ASKED = {"self_bias": 0.02, "power": 0.8, "confidence": 0.9}
ONE = {"A": [0, 4]}
NINE = [*CONFIG["models"]][:9]
# Of four families
FIVE = ("Claude 3 Sonnet", "GPT-3.5 Turbo", "GPT-4o", "Llama 3 8B", "Mistral 7B")


def rated(
    judges=FIVE,
    models=FIVE,
    *,
    prompts=40,
    dimensions=("Tone",),
    lengths=True,
    seed=1,
    rating=None,
    score=None,
):
    """Rows of every judge, model, dimension and prompt; the human score is at random from 1 to 5,
    or score(model).

    A rating is the human score, or at random one more or less, within 1 to 5; or rating(judge,
    model, score, at random) if any.
    """
    drawn, rows = random.Random(seed), []
    for prompt in range(prompts):
        for dimension in dimensions:
            for model in models:
                gt = score(model) if score else drawn.randint(1, 5)
                for judge in judges:
                    noise = drawn.choice((-1, 0, 0, 1))
                    given = rating(judge, model, gt, noise) if rating else None
                    given = min(5, max(1, gt + noise)) if given is None else given
                    length = 20 + prompt if lengths else ""
                    rows.append(
                        dict(
                            zip(
                                COLUMNS,
                                (judge, model, gt, "d", f"p{prompt}", given, length, dimension),
                                strict=True,
                            )
                        )
                    )
    return rows


def meets(condition, rows):
    """Whether each row meets a condition on its columns, as pandas reads it; `p` is the number of
    its prompt, and `j` and `m` are the places of its judge and its model in FIVE.
    """
    table = pd.DataFrame(rows)
    judge, model = (pd.Index(FIVE).get_indexer(table[name]) for name in ("judge", "model"))
    prompt = table["prompt_id"].str[1:].astype(int)
    return table.assign(p=prompt, j=judge, m=model).eval(condition)


def rows_where(condition, rows):
    return [row for row, is_met in zip(rows, meets(condition, rows), strict=True) if is_met]


def changed(condition, rows, **values):
    """The rows, with these values in those that meet a condition."""
    return [
        row | values if is_met else row
        for row, is_met in zip(rows, meets(condition, rows), strict=True)
    ]


def unscored(**settings):
    """Rows of two dimensions without human scores; GPT-4o favours itself, and a tenth of the rows
    are not rated.
    """

    def rating(judge, model, score, noise):
        own = 2 if judge == model == "GPT-4o" else 0
        return min(5, max(1, score + noise + own + FIVE.index(judge) % 2))

    rows = rated(dimensions=("Tone", "Use"), rating=rating, **settings)
    drawn = random.Random(3)
    lost = [drawn.random() < 0.1 for _ in rows]
    return [
        {**row, "gt": "", "rating": "" if none else row["rating"]}
        for row, none in zip(rows, lost, strict=True)
    ]


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, dict.fromkeys((*COLUMNS, *rows[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def raw_study(*paths, scales=ONE, dimension=None, models=CONFIG["models"], **settings):
    """The raw data of a study in these files, each of one dimension or with a column of them."""
    files = [RatingsFile(str(path), dimension) for path in paths]
    return StudyFiles(files, scales, {}, Registry.from_config(models), **settings)


def normalised(source, folder="."):
    """The path of the canonical ratings of raw files; what is complete is written beside them."""
    ratings = f"{folder}/ratings.parquet"
    normalise_ratings("mine", source, ratings=ratings, completeness=f"{folder}/completeness.csv")
    return ratings


def study_of_query(folder, query):
    """A study of the rows of an SQL query, rated from 0 to 4."""
    duckdb.sql(f"copy ({query}) to '{folder}/raw.parquet' (format parquet)")
    dimensions = duckdb.sql(f"select distinct dimension, [0, 4] from ({query})")
    scales = dict(dimensions.fetchall())
    return built(folder, "mine", raw_study(f"{folder}/raw.parquet", scales=scales))


def study_by_hash(folder, prompts, *, datasets=1, length="hash(p, m) % 7", where="true"):
    """A study of ratings and human scores by hash, in which each prompt is of a dataset, two
    dimensions and all pairs of three judges; length: SQL of p and the number m of a model.
    """
    folder.mkdir(exist_ok=True)
    names = ["GPT-4o", "GPT-3.5 Turbo", "Claude v2"]
    return study_of_query(
        folder,
        f"""select {names}[1 + j] as judge, {names}[1 + m] as model, ['A', 'B'][1 + d] as dimension,
                   's' || p % {datasets} as dataset, 'p' || p as prompt_id,
                   hash(p, d, m) % 13 / 3 as gt, (hash(p, d, m, j) % 5)::integer as rating,
                   {length} as pred_length
            from range({prompts}) as prompts(p), range(2) as dimensions(d), range(3) as models(m),
                 range(3) as judges(j)
            where {where}""",
    )


def study_of_rows(folder, rows, *, scale=(1, 5), scales=(), **settings):
    """The study `made up` of these rows, built in `folder`; scales: those that are not `scale`."""
    scales = dict.fromkeys({row["dimension"] for row in rows}, scale) | dict(scales)
    path = write_rows(folder / "made up.csv", rows)
    return built(folder, "made up", raw_study(path, scales=scales, **settings))


def facts_from(folder, rows, *, of_config=None, **settings):
    """The facts that the check reads; of_config: `imports` and `named` of `read_facts`."""
    study = study_of_rows(folder, rows, **settings)
    return read_facts(study, str(folder / "completeness.csv"), **(of_config or {}))


def findings_from(folder, rows, **settings):
    """The findings of the check, in order, and the facts that it reads."""
    facts = facts_from(folder, rows, **settings)
    return check_study(facts, {}, **ASKED), facts


@pytest.fixture(scope="session")
def check(tmp_path_factory):
    """The findings by topic and subject; those on equal rows with equal settings are made once.

    find: a part of the check, a function of its facts, which takes a third of the time.
    """
    made = {}

    def check(rows, *, reliability=None, find=None, **settings):
        find = find or partial(check_study, reliability=reliability or {}, **ASKED)
        asked = repr((rows, find, settings))
        if asked not in made:
            made[asked] = [*find(facts_from(tmp_path_factory.mktemp("checked"), rows, **settings))]
        return by_subject(made[asked])

    return check


def by_subject(findings):
    """The findings by topic and subject, of which each pair must be unique."""
    table = {(finding.topic, finding.subject): finding for finding in findings}
    assert len(table) == len(findings)
    return table


def subjects(findings, topic):
    """What the findings of a topic are about."""
    return [subject for each, subject in findings if each == topic]


def expect(findings, table):
    """Check that findings have what each line of a table says: topic, subject, level, value, words
    and advice, the last five as patterns of fnmatch. A blank subject is the whole study; any other
    blank matches any text. A line that begins with a bar continues the one before.
    """
    for line in re.split(r"\n\s*(?!\s|\|)", table.strip()):
        topic, about, *wanted = map(str.strip, line.split("|"))
        found = [
            findings[topic, each] for each in subjects(findings, topic) if fnmatchcase(each, about)
        ]
        assert found, line
        for each in found:
            value = "none" if each.value is None else f"{each.value:.9g}"
            shown = (each.level, value, each.words, each.advice)
            for text, pattern in zip_longest(shown, wanted, fillvalue=""):
                assert fnmatchcase(text, pattern or "*"), (line, text)
