"""Two datasets that number their prompts alike: in each, an id is that of another prompt."""

from dataclasses import replace

import duckdb
import pytest
from numpy.testing import assert_equal

from conftest import CONFIG, built
from designs_on_rows import largest_difference
from rated_tables import NINE
from recuse.base.database import connect
from recuse.base.errors import DataError
from recuse.base.tables import read_table
from recuse.check.contents import contents
from recuse.check.facts import read_facts
from recuse.data.cells import Cells
from recuse.data.files import RatingsFile
from recuse.data.raters import check_raters, rater_agreement
from recuse.data.ratings import (
    StudyFiles,
    check_files,
    check_ratings,
    normalise_ratings,
    plan_study,
    write_shard,
)
from recuse.data.registry import Registry
from recuse.inference.leaderboard import SHRUNK, Removed, write_debiased
from recuse.inference.measurement_error import split_rater_rows
from recuse.inference.reliability import reliability_of_raters
from recuse.model.estimates import estimate
from recuse.model.spec import Spec

REGISTRY = Registry.from_config(CONFIG["models"])
NAMES = ("main", "clustered", "length_control", "one_model_dropped", "completion_effects")
SPECS = [spec for name, spec in Spec.from_config(CONFIG["specs"]).items() if name in NAMES]
SPECS = [spec.changed(wild=None, bootstrap=spec.errors.bootstrap and 99) for spec in SPECS]
# Every third judge rates both datasets, the others one of them.
ROWS = """
    select {names}[1 + j] as judge, {names}[1 + m] as model, hash(d, p, m, s) % 13 / 3 as gt, ['cnn', 'xsum'][1 + s] as dataset,
           'p' || lpad(p::varchar, 2, '0'){suffix} as prompt_id, (hash(s, p, m, j, d) % 5)::integer as rating,
           20 + hash(p, m, s) % 300 as pred_length, ['A', 'B'][1 + d] as dimension
    from range(12) as prompts(p), range(2) as sets(s), range(2) as dimensions(d), range(9) as models(m), range(9) as judges(j)
    where j % 3 in (s, 2)"""
RATERS = """
    select distinct on (model, dimension, dataset, prompt_id, rater) model, dimension, dataset, prompt_id, rater,
           hash(model, dimension, dataset, prompt_id[:3]) % 4 + hash(model, dataset, prompt_id[:3], rater) % 2 as rating
    from '{raw}', range(3) as raters(rater) order by all"""
TYPES = {"cnn": "news", "xsum": "other"}
# After the number of a prompt; the order of the rows is the same
ALIKE = ""
APART = " || ' of ' || dataset"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """The same rows with ids that the datasets share, and with ids of their own; each with its
    folder and files.
    """
    made = []
    for suffix in (ALIKE, APART):
        folder = tmp_path_factory.mktemp("ids")
        duckdb.sql(
            f"copy ({ROWS.format(names=NINE, suffix=suffix)}) to '{folder}/raw.parquet' (format"
            " parquet)"
        )
        source = StudyFiles(
            [RatingsFile(f"{folder}/raw.parquet")], {"A": [0, 4], "B": [0, 4]}, TYPES, REGISTRY
        )
        made.append((built(folder, "ids", source), folder, source))
    return made


def same_for_both(studies, function):
    """The values of a function of study, folder and files, which must be equal."""
    one, other = (function(*each) for each in studies)
    assert one == other
    return one


def test_ratings_and_completeness_are_those_of_ids_apart(studies):
    rows = same_for_both(
        studies,
        lambda study, *_: duckdb.sql(
            f"select * exclude (prompt_id) from '{study.ratings[0]}'"
        ).fetchall(),
    )
    assert len(rows) == 24 * 2 * 9 * 6
    table = same_for_both(studies, lambda study, folder, _: read_table(folder / "completeness.csv"))
    assert {row["prompts"] for row in table} == {"24"}
    facts = [read_facts(study, f"{folder}/completeness.csv") for study, folder, _ in studies]
    assert [(each.prompts, each.shared) for each in facts] == [(24, 12), (24, 0)]
    words = next(finding.words for finding in contents(facts[0]) if finding.subject == "prompts")
    assert words == "24 prompts; 12 ids are in several datasets, in each of another prompt"
    assert same_for_both(studies, lambda study, *_: study.prompts) == 24


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_fit_is_that_of_ids_apart_and_of_statsmodels(studies, spec):
    rows = same_for_both(
        studies, lambda study, *_: repr(estimate(spec, study, confidence=0.9, seed=5))
    )
    assert "std_error" in rows
    (alike, *_), _ = studies
    assert largest_difference([spec], alike) < 1e-9


def test_shards_are_those_of_ids_apart(studies, tmp_path):
    def sharded(study, folder, source):
        (tmp_path / folder.name).mkdir()
        paths = {
            name: f"{tmp_path}/{folder.name}/{name}"
            for name in ("checked", "summary", "plan", "completeness")
        }
        check_files(source, checked=paths["checked"], summary=paths["summary"])
        tables = {name: paths[name] for name in ("plan", "completeness")}
        plan_study(
            "ids", replace(source, files=[]), summaries=[paths["summary"]], shards=3, **tables
        )
        shards = [f"{tmp_path}/{folder.name}/{shard}.parquet" for shard in range(3)]
        for shard, path in enumerate(shards):
            write_shard(
                source, checked=[paths["checked"]], plan=paths["plan"], shard=shard, ratings=path
            )
        assert (
            duckdb.sql(f"from read_parquet({shards})").fetchall()
            == duckdb.sql(f"from '{study.ratings[0]}'").fetchall()
        )
        codes = [
            duckdb.sql(f"select min(prompt), max(prompt) from '{path}'").fetchall()[0]
            for path in shards
        ]
        assert [first for first, _ in codes[1:]] == [last + 1 for _, last in codes[:-1]]
        return read_table(paths["completeness"])

    same_for_both(studies, sharded)


def test_cells_at_once_are_those_of_the_ratings(studies, tmp_path):
    for study, _, source in studies:
        _, _, cells = check_ratings(
            "ids", source, ratings=f"{tmp_path}/r.parquet", completeness=f"{tmp_path}/c.csv"
        )
        for name in Cells.__dataclass_fields__:
            assert_equal(getattr(cells, name), getattr(study.cells(), name))


def test_raters_are_those_of_ids_apart(studies):
    def rater_rows(study, folder, source):
        duckdb.sql(f"copy ({RATERS.format(raw=f'{folder}/raw.parquet')}) to '{folder}/humans.csv'")
        raters = f"{folder}/raters.parquet"
        check_raters(f"{folder}/humans.csv", REGISTRY, ratings=study.ratings, output=raters)
        rows = list(split_rater_rows(Spec.of("main"), study, raters, confidence=0.9))
        assert sum("estimate" in row for row in rows) > 20
        return repr([list(rater_agreement(raters)), reliability_of_raters(raters), rows])

    same_for_both(studies, rater_rows)


def test_debiased_ratings_name_the_dataset(studies):
    (study, folder, _), _ = studies
    write_debiased(Spec.of("main"), study, Removed(SHRUNK, {}), f"{folder}/debiased.parquet")
    key = "dimension, dataset, prompt_id, judge, model"
    assert duckdb.sql(
        f"select count(*) = count(distinct ({key})) from '{folder}/debiased.parquet'"
    ).fetchall() == [(True,)]


def test_a_row_that_occurs_twice_in_one_dataset_is_named(tmp_path):
    header = "judge,model,gt,dataset,prompt_id,rating,dimension\n"
    path = tmp_path / "f.csv"
    path.write_text(f"{header}gpt-4o,gpt-4o,2,x,1,3,A\ngpt-4o,gpt-4o,2,y,1,3,A\n", "utf-8")
    source = StudyFiles([RatingsFile(str(path))], {"A": [0, 4]}, {}, REGISTRY)
    tables = {
        "ratings": f"{tmp_path}/ratings.parquet",
        "completeness": f"{tmp_path}/completeness.csv",
    }
    normalise_ratings("mine", source, **tables)
    assert connect().execute(f"select prompt, dataset from '{tables['ratings']}'").fetchall() == [
        (0, "x"),
        (1, "y"),
    ]
    path.write_text(path.read_text("utf-8") + "gpt-4o,gpt-4o,2,y,1,4,A\n", "utf-8")
    same = (
        "judge 'GPT-4o', model 'GPT-4o', dimension 'A', dataset 'y' and prompt '1' are already in"
        " .*f.csv, line 3; keep"
    )
    for check in (
        lambda: normalise_ratings("mine", source, **tables),
        lambda: check_ratings("mine", source, **tables),
    ):
        with pytest.raises(DataError, match=f"f.csv, line 4, column prompt_id: {same}"):
            check()
