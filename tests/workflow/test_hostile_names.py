"""Names that look like code, markup or paths elsewhere, in a folder of spaces and other scripts,
are nothing but names.
"""

import re
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml

from conftest import ROOT
from recuse.base.tables import read_table
from workflow_runs import build, copy_project

pytestmark = pytest.mark.workflow
MODELS = {
    "gpt-4o": 'Judge "A" {wildcards.study} {0} 100% %s ${HOME}',
    "GPT-3.5 Turbo": "O'Neil\u2028<script>alert(1)</script> & <b>",
    "Claude 3 Sonnet": r"$(touch owned) `touch owned`; {{ 7 * 7 }} \ |z| *b* ../../../x",
}
DIMENSIONS = {
    "Tone": "../../Tone {study} $x^2$ 50%",
    "Usefulness": "__import__('os').system('touch owned')",
}
TITLE = (
    '{wildcards.study} {study} {{ config }} "q" 100% <b>数据</b>\n$(touch owned)'
    ' __import__("os").system("touch owned")'
)
FAMILIES = {
    name: "F <b>{wildcards.study}</b>\n%" if name.startswith("G") or name == "gpt-4o" else "GPT"
    for name in MODELS
}
DATASET, TASK_TYPE = "/etc/{dataset} <i>", "../{study}/<t> 数据"
RATINGS, RATERS = "mes notes 'é' 数据 100%.csv", "évaluateurs $(touch owned) & #1.csv"
CONFIG = 'ma config "é" 数据.yaml'
TARGETS = (
    "estimates/main.csv",
    "tables/mean_scores.csv",
    "tables/agreement.csv",
    "tables/check.csv",
    "figures/fig03_self_family_bias.svg",
)


def files_of_names(folder):
    """The ratings of the smoke study `mine` under other names, scores of raters, and a
    configuration of them.
    """
    rows = pd.read_csv(ROOT / "tests" / "smoke" / "ratings.csv", dtype=str)
    ratings = rows.assign(
        judge=rows["judge"].map(MODELS),
        model=rows["model"].map(MODELS),
        dimension=rows["dimension"].map(DIMENSIONS),
        dataset=DATASET,
        prompt_id="p'" + rows["prompt_id"] + '"\n{x}',
    )
    ratings.to_csv(folder / RATINGS, index=False)
    about = ratings.loc[rows["judge"] == "gpt-4o", ["model", "dimension", "dataset", "prompt_id"]]
    score = rows["gt"].astype(float).round().astype(int)
    raters = [about.assign(rater=f"{rater} é", rating=score) for rater in (1, 2)]
    pd.concat(raters).to_csv(folder / RATERS, index=False)
    study = {
        "title": TITLE,
        "files": RATINGS,
        "raters": RATERS,
        "scales": {name: [1, 5] for name in DIMENSIONS.values()},
        "task_types": {TASK_TYPE: [DATASET]},
    }
    config = {
        "families": {family: {} for family in FAMILIES.values()},
        "models": {name: {"family": FAMILIES[known]} for known, name in MODELS.items()},
        "studies": {"mine": study},
    }
    (folder / CONFIG).write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")


def everything(folder):
    """All files below a folder, but Snakemake's own records, results and caches."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in files if not {".snakemake", "results", ".cache"} & set(path.parts)}


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The folder of a run with all these names, what was there before it and after it, home and
    temporary folder included.
    """
    place = tmp_path_factory.mktemp("names")
    for name in ("home", "tmp", "un dossier – données 数据 & %s"):
        (place / name).mkdir()
    folder = copy_project(place / name)
    (folder / "tests" / "smoke" / "config.yaml").write_text("build: [mine]\n", "utf-8")
    files_of_names(folder)
    before = everything(place)
    own = {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "XDG_CACHE_HOME": str(place / "home" / ".cache"),
    }
    targets = [f"results/mine/{target}" for target in TARGETS]
    build(folder, "--cores", "2", *targets, configs=[CONFIG], PYTHONDONTWRITEBYTECODE="1", **own)
    return folder, before, everything(place)


def test_nothing_is_written_elsewhere_and_nothing_executed(named):
    folder, before, after = named
    assert after == before
    assert sorted(path.name for path in (folder / "results").iterdir()) == ["mine"]
    assert list(folder.parent.rglob("owned")) == []


def test_estimates_are_those_of_other_names(named, project):
    def biases(path, name=lambda term: term):
        return {
            name(row["term"]): float(row["estimate"])
            for row in read_table(path)
            if row["quantity"] == "self_bias"
        }

    ours = biases(named[0] / "results/mine/estimates/main.csv")
    theirs = biases(
        project / "results/mine/estimates/main.csv",
        lambda term: MODELS[{"GPT-4o": "gpt-4o"}.get(term, term)],
    )
    assert len(ours) == 3
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_names_placeholder_tables_as_they_are(named):
    rows = read_table(named[0] / "results/mine/tables/mean_scores.csv")
    assert {row["judge"] for row in rows} == {*MODELS.values(), "Human"}
    assert {row["dimension"] for row in rows} >= {*DIMENSIONS.values()}


def test_a_figure_is_a_drawing_of_the_names(named):
    # Parsing fails if a name breaks the drawing.
    tree = ElementTree.parse(named[0] / "results/mine/figures/fig03_self_family_bias.svg")
    tags = {re.sub(r"\{.*\}", "", element.tag) for element in tree.iter()}
    assert "script" not in tags
    assert "path" in tags
