"""Origin, files, shards and models of a study in the configuration, and messages about missing
files.
"""

from pathlib import Path

import pytest
import yaml

from conftest import CONFIG, DATA
from recuse.base.errors import ConfigError
from recuse.config import studies
from recuse.config.load import with_study
from recuse.config.studies import (
    STAGES,
    Study,
    studies_in,
)
from recuse.workflow.fits import fit_rules, stage_by_spec, tables_of_checks
from recuse.workflow.rules import check_study_names

OURS = """
studies:
  whole: {files: a.csv, raters: raters.csv}
  by_dimension: {files: {Tone: a.csv, Usefulness: b.csv}}
  scattered: {files: parts, shards: 12}
  few_files: {files: {Tone: a.csv, Usefulness: b.csv}, shards: 3}
  imported:
    import: {files: [logs, a.csv], references: {files: raters.csv, columns: {rater: who}}}
  imported_scores: {import: {files: a.csv, references: {files: raters.csv}, step: 0.5}}
  lost: {files: none.csv, raters: none.csv}
comparisons:
  verdicts: {files: [a.csv]}
  annotations: {import: {files: a.csv}}
"""
SCALES = {"Tone": [1, 5], "Usefulness": [1, 5]}
ADDED = yaml.safe_load(OURS)
for section, entries in ADDED.items():
    for entry in entries.values():
        entry["title"] = "ours"
        if section == "studies":
            entry["scales"] = SCALES
CONFIGURED = with_study(CONFIG, **ADDED)
VOTES = {"simulate": {"votes": "published"}, "analyses": ["attacks"]}
STUDIES = studies_in(CONFIGURED)


def described(settings, section="studies"):
    """The study `mine` of the project's configuration."""
    needed = {"title": "mine"} | ({"scales": SCALES} if section == "studies" else {})
    return Study("mine", with_study(CONFIG, **{section: {"mine": needed | settings}}))


# Megabytes
SIZES = {"a.csv": 3, "b.csv": 2, "raters.csv": 1, "logs/1.jsonl": 0.5, "logs/sub/2.json": 0.25}
SIZES |= {"logs/note.txt": 1, **dict.fromkeys([f"parts/{part}.parquet" for part in "abcde"], 0.5)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The files that the studies name, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(studies, "DATA", str(DATA))
    for path, megabytes in SIZES.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b" " * int(1e6 * megabytes))
    return tmp_path


def test_raw_files_by_origin():
    parts = [f"parts/{part}.parquet" for part in "abcde"]
    dimensions = ["Faithfulness", "Logical correctness"]
    published = [f"results/play_favorites_2d/raw/{dimension}.csv" for dimension in dimensions]
    raw = {
        "whole": (["a.csv"], [None]),
        "by_dimension": (["a.csv", "b.csv"], ["Tone", "Usefulness"]),
        "scattered": (parts, [None] * 5),
        "imported": (["results/imported/raw/ratings.parquet"], [None]),
        "twin": (["results/twin/raw/ratings.parquet"], [None]),
        "play_favorites_2d": (published, dimensions),
    }
    for name, expected in raw.items():
        assert (STUDIES[name].raw_paths(), STUDIES[name].raw_dimensions()) == expected


def test_raters_are_a_users_file_or_simulated_or_imported():
    files = {
        "whole": ["raters.csv"],
        "twin": ["results/twin/raw/raters.parquet"],
        "imported": ["results/imported/raw/raters.parquet"],
        "by_dimension": [],
        "imported_scores": [],
    }
    assert {name: STUDIES[name].rater_files() for name in files} == files
    rated = [study for study in STUDIES.values() if study.has_ratings()]
    assert [study.name for study in rated if study.has_raters()] == [
        *("twin", "helm_instruct", "whole", "imported", "lost")
    ]
    assert [study.name for study in rated if study.has_alphas()] == [
        "play_favorites",
        "play_favorites_2d",
    ]


def test_records_of_the_jobs_that_read_a_users_files():
    jobs = {
        "whole": ["ratings", "agreement"],
        "by_dimension": ["ratings"],
        "scattered": [f"check_part_{part}" for part in range(1, 6)],
        "imported": ["import"],
        "verdicts": ["comparisons"],
        "annotations": ["import"],
        "twin": [],
        "prd_vicuna80": [],
    }
    for name, expected in jobs.items():
        records = [f"results/{name}/made/{job}.json" for job in expected]
        assert STUDIES[name].data_records() == records


def test_studies_of_the_paper_and_kinds_that_follow_from_the_origin():
    of_the_paper = [name for name in STUDIES if STUDIES[name].replicates_play_favorites()]
    assert of_the_paper == ["twin", "play_favorites", "play_favorites_2d"]
    names = {
        "simulated": ("twin", "helm_instruct", "comparisons_twin"),
        "published": (*of_the_paper[1:], "multivac", "prd_vicuna80", "cobbler"),
        "user": ("whole", "imported", "verdicts"),
    }
    for kind, studies_of_kind in names.items():
        assert {STUDIES[name].kind() for name in studies_of_kind} == {kind}


def test_models_are_those_that_a_study_may_have():
    paper = [
        name
        for name in CONFIG["models"]
        if not name.endswith(("(0314)", "(0613)", "v1.3", "XLarge"))
    ]
    twin, helm = STUDIES["twin"], STUDIES["helm_instruct"]
    assert list(twin.models()) == paper
    assert list(STUDIES["whole"].models()) == list(CONFIG["models"])
    assert helm.models().keys() == helm.settings.simulate.quality.keys()
    assert twin.families()["GPT-4o"] == "GPT"
    assert twin.order() == {
        "self_bias": paper,
        "family_bias": ["Claude", "GPT", "Llama 3", "Mistral"],
    }
    models = described(
        ADDED["studies"]["imported"] | {"families": {"Mine": ["GPT-4o", "mine"]}}
    ).models()
    assert (models["GPT-4o"]["family"], models["mine"]["family"]) == ("Mine", "Mine")


def test_published_files_and_their_origin():
    source, paper = CONFIG["sources"]["play_favorites"], STUDIES["play_favorites"]
    assert paper.repository() == {key: source[key] for key in ("repository", "commit")}
    file = source["files"]["Helpfulness"]
    assert paper.published_files("Helpfulness") == [(file["path"], file["blob"])]
    assert len(paper.published_files()) == 6
    assert len(STUDIES["play_favorites_2d"].published_files()) == 2
    llmbar = STUDIES["llmbar"]
    files = llmbar.published_files()
    assert {len(blob) for _, blob in files} == {40}
    paths = [f"results/llmbar/raw/{path}" for path, _ in files]
    assert llmbar.released_files() == llmbar.verdict_files() == paths
    assert llmbar.origin() == {"source": {**llmbar.repository(), "files": files}}
    assert STUDIES["twin"].origin() == {"simulate": {"prompts": 596}}
    assert STUDIES["whole"].origin() == {}
    assert {*STUDIES["judgement_bias"].origin()} == {"simulate", "source"}


def test_verdicts_by_origin():
    files = {
        "verdicts": ["a.csv"],
        "annotations": ["results/annotations/raw/verdicts.parquet"],
        "comparisons_twin": ["results/comparisons_twin/raw/comparisons.parquet"],
    }
    for name, paths in files.items():
        assert (STUDIES[name].verdict_files(), STUDIES[name].verdict_reader()) == (paths, "")
    assert STUDIES["prd_vicuna80"].verdict_reader() == "recuse.papers.sources:select_prd_texts"
    simulators = {
        "twin": "recuse.papers.twin:world_in_tables",
        "judgement_bias": "recuse.papers.votes:votes_in_tables",
        "comparisons_twin": "",
        "gold_twin": "",
    }
    assert {name: STUDIES[name].simulator() for name in simulators} == simulators
    assert STUDIES["judgement_bias"].plants_published_attacks()
    assert not STUDIES["comparisons_twin"].plants_published_attacks()


def test_shards_are_named_with_their_number():
    scattered, few, whole = (STUDIES[name] for name in ("scattered", "few_files", "whole"))
    names = scattered.shards()
    assert (names[0], names[-1], len(names)) == ("01-of-12", "12-of-12", 12)
    folders = [f"results/few_files/shards/{n}-of-3" for n in (1, 2, 3)]
    assert few.ratings() == [f"{folder}/ratings.parquet" for folder in folders]
    assert few.shard_files("counts.parquet")[2] == f"{folders[2]}/counts.parquet"
    assert (whole.shards(), whole.ratings()) == ([], ["results/whole/ratings.parquet"])
    assert scattered.raw_paths_of_shard("03", "12") == scattered.raw_paths()
    for shard, shards in (("3", "12"), ("13", "12"), ("00", "12"), ("1", "3")):
        with pytest.raises(
            ConfigError,
            match=f"shards/{shard}-of-{shards}: .*shards: 12; ask for 01-of-12 to 12-of-12",
        ):
            scattered.raw_paths_of_shard(shard, shards)


def test_raw_files_are_dealt_to_checks_in_turn():
    """By as many jobs as there are shards, or files; a further file concerns one of them."""
    two_jobs = described(ADDED["studies"]["scattered"] | {"shards": 2})
    dealt = two_jobs.parts()
    assert [[path for path, _ in part] for part in dealt] == [
        ["parts/a.parquet", "parts/c.parquet", "parts/e.parquet"],
        ["parts/b.parquet", "parts/d.parquet"],
    ]
    Path("parts/f.parquet").touch()
    assert [part == before for part, before in zip(two_jobs.parts(), dealt, strict=True)] == [
        True,
        False,
    ]
    few = STUDIES["few_files"]
    assert (few.raw_paths("2"), few.raw_dimensions("2")) == (["b.csv"], ["Usefulness"])
    assert few.part_files("rows") == [
        f"results/few_files/checked/{part}.rows.parquet" for part in (1, 2)
    ]
    with pytest.raises(
        ConfigError,
        match="checked/3: the raw files of few_files are checked by 2 jobs; ask for 1 to 2",
    ):
        few.raw_paths("3")


def test_megabytes_are_those_of_existing_files():
    megabytes = {"whole": 3, "by_dimension": 5, "scattered": 20, "verdicts": 3, "twin": 0}
    megabytes["imported"] = 0.5 * 8 + 0.25 * 8 + 3
    assert {name: STUDIES[name].raw_megabytes() for name in megabytes} == megabytes
    few = STUDIES["few_files"]
    assert few.raw_megabytes("2") == 2
    assert few.shard_megabytes() == pytest.approx(5 / 3)


def error_from(function, study, *, config=CONFIGURED):
    with pytest.raises(ConfigError) as caught:
        function(Study(study, config))
    return str(caught.value)


def test_file_among_the_results_is_refused(folder):
    """There only times would tell that it was replaced."""
    path = "results/whole/mine.csv"
    (folder / "results" / "whole").mkdir(parents=True)
    (folder / path).write_text("", "utf-8")
    own = {"title": "mine", "scales": SCALES, "files": path, "raters": f"./{path}"}
    config = with_study(CONFIGURED.as_written(), studies={"mine": own})
    expected = "config: studies: mine: {}: '{}' lies among the results; move it to another folder"
    assert error_from(Study.raw_paths, "mine", config=config) == expected.format("files", path)
    assert error_from(Study.rater_files, "mine", config=config) == expected.format(
        "raters", f"./{path}"
    )


def test_missing_files_are_named(folder):
    def check_missing(function, study, entry, name):
        words = f"config: {entry}: '{name}': no such file in {folder}"
        assert error_from(function, study) == words

    check_missing(Study.raw_paths, "lost", "studies: lost: files", "none.csv")
    check_missing(Study.rater_files, "lost", "studies: lost: raters", "none.csv")
    Path("a.csv").unlink()
    check_missing(Study.verdict_files, "verdicts", "comparisons: verdicts: files", "a.csv")
    entry = "comparisons: annotations: import: files"
    check_missing(Study.imported_files, "annotations", entry, "a.csv")
    Path("raters.csv").unlink()
    entry = "studies: imported_scores: import: references: files"
    check_missing(Study.reference_files, "imported_scores", entry, "raters.csv")
    for part in Path("parts").iterdir():
        part.unlink()
    empty = "config: studies: scattered: files: 'parts': the folder holds no"
    assert error_from(Study.raw_paths, "scattered").startswith(empty)
    Path("parts/{a}.parquet").touch()
    braces = "{a}.parquet': braces mean a wildcard to Snakemake; rename the file"
    assert error_from(Study.raw_paths, "scattered").endswith(braces)
    gone = with_study(CONFIG, sources={"prd": {"manifest": "none.csv"}})
    message = "config: sources: prd: manifest: 'none.csv': no such file in"
    assert error_from(Study.released_files, "prd_vicuna80", config=gone).startswith(message)


def test_a_study_may_not_have_the_name_of_a_rule():
    check_study_names(STUDIES, frozenset({"fit", "page"}))
    with pytest.raises(
        ConfigError,
        match="config: studies: whole: the name of a rule of this workflow; choose another",
    ):
        check_study_names(STUDIES, frozenset({"fit", "whole"}))


@pytest.mark.parametrize("files", ["a.csv", {"Tone": "a.csv", "Style": "b.csv"}])
def test_placeholder_replaces_missing_files(files):
    study = {
        "title": "my ratings",
        "files": files,
        "raters": "r.csv",
        "simulate": {"prompts": 12},
        "scales": {"Tone": [1, 5], "Style": [1, 5]},
    }
    paths = {"a.csv", "b.csv"} if isinstance(files, dict) else {"a.csv"}
    without = {key: value for key, value in study.items() if key != "simulate"}
    settings = described(study).settings
    assert settings.with_one_origin(paths.__contains__) == without
    twin = STUDIES["twin"].settings.with_one_origin(paths.__contains__)
    assert twin == CONFIG["studies"]["twin"]
    if isinstance(files, dict):  # if one exists, the other is missed when the study is built
        assert described(settings.with_one_origin({"b.csv"}.__contains__)).kind() == "user"
    placeholder = settings.with_one_origin(set().__contains__)
    assert placeholder["title"] == "simulated placeholder for my ratings"
    assert placeholder.keys() == {"title", "simulate", "scales"}
    mine = described(placeholder)
    assert mine.kind() == "simulated"
    assert mine.rater_files() == ["results/mine/raw/raters.parquet"]  # its own, not r.csv


@pytest.mark.parametrize(
    ("study", "origin", "of_kind"),
    [
        ({"files": "v.csv"}, "files", "user"),
        ({"source": "judgement_bias", "files": "v.csv"}, "files", "user"),
        ({"source": "judgement_bias", **VOTES}, "simulate", "simulated"),
        ({"source": "prd"}, "source", "published"),
        ({"source": "cobbler"}, None, "published"),
    ],
)
def test_origin_and_kind_of_verdicts(study, origin, of_kind):
    study = described(study, "comparisons")
    assert (study.settings.origin(), study.kind()) == (origin, of_kind)


@pytest.mark.parametrize("there", ["a.csv", "b.csv", None])
def test_any_file_of_the_users_replaces_the_placeholder(there):
    study = {
        "title": "votes",
        "source": "judgement_bias",
        "files": ["a.csv", "b.csv"],
        **VOTES,
    }
    settings = described(study, "comparisons").settings
    settled = settings.with_one_origin(lambda path: path == there)
    assert ("simulate" in settled, "files" in settled) == (there is None, there is not None)
    assert settled["title"] == ("simulated placeholder for votes" if there is None else "votes")


def test_specs_of_tables_come_with_their_substitutes():
    params = STUDIES["twin"].inference_params(["idiosyncrasy", "sensitivity"], "raters")
    assert params["settings"] == {
        key: CONFIG["inference"][key] for key in ("idiosyncrasy", "sensitivity", "raters")
    }
    assert set(params["specs"]) == {
        "main",
        "by_dimension",
        "by_dataset",
        "by_task_type",
        "length_control",
    }
    assert params["specs"]["length_control"] == CONFIG["specs"]["length_control"]
    params = STUDIES["twin"].inference_params(["sensitivity"], "without_human_scores", also=["gam"])
    assert set(params["specs"]) == {
        "gam",
        *CONFIG["inference"]["sensitivity"],
        "model_effects",
        "model_effects_by_dimension",
    }


def test_tables_and_specs_that_the_robustness_checks_read():
    assert tables_of_checks(STUDIES.values()) == [
        "idiosyncrasy",
        "measurement_error",
        "multiplicity",
        "sensitivity",
    ]
    specs = [Path(path).stem for path in STUDIES["twin"].estimates_of_checks()]
    assert specs[:4] == ["main", "by_dimension", "clustered", "clustered_by_dimension"]
    assert len(specs) == len(set(specs))
    params = STUDIES["twin"].conclusions_params()
    assert list(params["checks"]) == list(CONFIG["inference"]["robustness_checks"])
    assert set(specs) <= set(params["specs"])
    assert (params["confidence"], params["power"]) == (0.9, 0.8)


def test_a_study_may_have_specs_and_settings_of_inference_of_its_own():
    study = STUDIES["multivac"]
    assert list(study.specs)[:3] == ["main", "by_dimension", "by_response"]
    assert study.inference.sensitivity == []
    assert study.inference.raters == CONFIGURED.inference.raters
    dropped = study.specs["within_response"]["subset"]["models_dropped"]
    assert dropped[:2] == ["GLM 4.7", "Granite 4.0 Micro"]  # names in place of ids
    twin = STUDIES["twin"]
    assert (twin.specs, twin.inference) == (CONFIGURED.specs_by_name, CONFIGURED.inference)
    rules = fit_rules(STUDIES.values())
    assert [fit.rule for fit in rules] == [
        f"{stage}{study}" for study in ("", "_multivac") for stage in STAGES
    ]
    assert [fit.studies for fit in rules[3:]] == [["multivac"]] * 3
    assert "multivac" not in rules[0].studies


def test_main_fit_slices_and_ablations_with_the_bootstraps_of_their_models():
    stages = stage_by_spec(CONFIG["specs"] | {"by_dataset_wild": {"slice": "dataset", "wild": 99}})
    slices = [name for name, stage in stages.items() if stage == "slices"]
    bootstraps = ["clustered_by_dimension", "clustered_by_task_type", "by_dataset_wild"]
    simple = ["by_dimension", "by_dataset", "by_task_type", "one_model_dropped"]
    assert slices == [*simple, *bootstraps]
    fit, _, ablations = fit_rules(STUDIES.values())[:3]
    assert fit.order == ["main", "clustered"]
    assert {"length_control", "ordinal", "gam", "llm_reference"} <= {*ablations.specs}
    # Each stage has its own specs, after those before
    assert ablations.order == list(CONFIG["specs"])
    assert sorted([*fit.specs, *slices[:-1], *ablations.specs]) == sorted(CONFIG["specs"])
