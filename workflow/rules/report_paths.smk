# What the report of a study shows and is told: by the paths of all that a reader wants of it.
from recuse.report.page import differences

DRAWINGS = FIGURES | FIGURES_OF_THE_PAPER | FIGURES_OF_COMPARISONS


def made(folder, suffix):
    """Input function: the files of a study in one of its folders."""
    return lambda wildcards: [
        path
        for path in files_of(wildcards.study)
        if path.startswith(f"results/{wildcards.study}/{folder}/") and path.endswith(suffix)
    ]


def told_of_figures(wildcards):
    """What the report tells of each figure: the template of its caption, the tables it draws, and what its rule tells it."""
    told = {}
    for path in made("figures", ".svg")(wildcards):
        drawing = DRAWINGS[Path(path).stem]
        # Of tables, not of what some studies' figures have beside them, which a function names.
        read = [paths for paths in drawing.get("tables", {}).values() if not callable(paths)]
        told[Path(path).stem] = {
            "caption": f"{WORKFLOW}/report/{drawing.get('caption', Path(path).stem)}.rst",
            "tables": [path for paths in read for path in expand(paths, study=wildcards.study)],
            "params": {"subject": subject_for(drawing)(wildcards), **drawing.get("told", {})},
        }
    return told


def origin_of(study):
    """Where the data of a study come from: a repository, commit and git blob ids, or what is simulated, or both."""
    settings = COMPARISONS.get(study) or config["studies"][study]
    told = {"simulate": settings["simulate"]} if "simulate" in settings else {}
    if "source" in settings:
        source = config["sources"][settings["source"]]
        named = {name: file for name, file in source.get("files", {}).items() if name in settings.get("scales", {})}
        files = [(file["path"], file["blob"]) for file in named.values()] or manifest_of(settings["source"])
        told["source"] = {"repository": source["repository"], "commit": source["commit"], "files": files}
    return told


def files_of_user(wildcards):
    """The files of a user that a study reads."""
    settings = COMPARISONS.get(wildcards.study) or config["studies"][wildcards.study]
    if is_imported(wildcards.study):
        return imported_files(wildcards.study) + reference_files(wildcards.study)
    if "files" not in settings:
        return []
    if wildcards.study in COMPARISONS:
        return verdict_files(wildcards.study)
    return [path for path, _ in raw_of(wildcards.study)] + raters_of(wildcards.study)


def pages_of(wildcards):
    """Pages that say more of a table: a study of comparisons has none."""
    tables = {Path(path).stem for path in made("tables", ".csv")(wildcards)} if wildcards.study in config["studies"] else {}
    return [f"results/{wildcards.study}/{name}.html" for name in ("conclusions", "scorecard") if name in tables]


def reports_of(jobs):
    """Study and path of each report among the outputs of these jobs, in the order of the studies."""
    found = {job.wildcards.study: job.output.page for job in jobs if job.rule.name == "page"}
    return [(study, found[study]) for study in (*config["studies"], *COMPARISONS) if study in found]


def told_of_study(wildcards):
    """What the report is told of a study, beside its files."""
    study, shared = wildcards.study, ["confidence", "seed"]
    if study in COMPARISONS:
        told = {"specs": {}, "analyses": analyses_of(COMPARISONS[study]), "scales": {}}
        kind = "comparisons"
    else:
        told = {
            "specs": config["specs"],
            "analyses": [],
            "scales": config["studies"][study]["scales"],
            "stand_in": config["inference"]["without_human_scores"]["main"],
        }
        kind, shared = "studies", [*shared, "families", "models", "specs", "inference"]
    own = {key: config[key] for key in shared} | {kind: {study: config[kind][study]}}
    project = {key: PROJECT[key] for key in shared} | {kind: with_stand_ins(PROJECT[kind], os.path.exists)}
    project[kind] = {name: settings for name, settings in project[kind].items() if name == study}
    conclusions = config["inference"].get("conclusions", {})
    return {
        **told,
        "subject": {key: value for key, value in subject_of(study).items() if key in ("label", "kind")},
        "views": {name: view["title"] for name, view in conclusions.items()},
        "origin": origin_of(study),
        "settings": list(differences(own, project)),
        **{key: config[key] for key in ("confidence", "seed")},
    }
