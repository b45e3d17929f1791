# Where the files of a study are, and what it may hold.
import csv

from recuse.data.registry import named_files, raw_files

WORKFLOW = os.path.relpath(f"{workflow.basedir}/workflow")
DATA = f"{WORKFLOW}/data"


def check_names_of_studies(rules):
    """A study has a rule of its name; WorkflowError if another rule has it."""
    for kind in ("studies", "comparisons"):
        for study in set(config[kind]) & rules:
            raise WorkflowError(f"config: {kind}: {study}: the name of a rule of this workflow; choose another")


def studies_with(*keys, without=None):
    return one_of(name for name, study in config["studies"].items() if {*keys} <= set(study) and without not in study)


def is_of_the_paper(study):
    """True for the ratings of Play Favorites, published or simulated: what is compared with the paper's numbers."""
    settings = config["studies"][study]
    return "source" in settings or "simulate" in settings and "quality" not in settings["simulate"]


def everything_of(study):
    """Every file of a study that a reader wants: estimates, tables, figures."""
    tables = ["check", "completeness", "mean_scores", "correlations", "smooths", "not_estimable", "remarks"]
    tables += ["recovery"] if "simulate" in config["studies"][study] else []
    tables += ["agreement"] if has_raters(study) else []
    tables += ["imported"] if is_imported(study) else []
    tables += ["claims", "scorecard"] if is_of_the_paper(study) else []
    tables += ["multiplicity", "placebo", "tastes", "identifiability"]
    tables += ["reliability", "noisy_reference", "reliability_curve", "breakdowns", "sensitivity", "missingness"]
    tables += ["leaderboard", "few_labels", "planner", "conclusions"]
    figures = [*FIGURES, *(FIGURES_OF_THE_PAPER if is_of_the_paper(study) else [])]
    return [
        f"results/{study}/debiased.parquet",
        *(f"results/{study}/estimates/{spec}.csv" for spec in config["specs"]),
        *(f"results/{study}/tables/{table}.csv" for table in tables),
        *(f"results/{study}/figures/{figure}{suffix}" for figure in figures for suffix in (".pdf", ".svg", ".png")),
    ]


def there(study, key, path, *, of="studies"):
    """The path of a user's file; WorkflowError if it is not there."""
    if not os.path.isfile(path):
        raise WorkflowError(f"config: {of}: {study}: {key}: '{path}': no such file in {Path.cwd()}")
    return path


@cache
def raw_of(study):
    """(path, dimension) of each raw file of a study; the dimension is None where the file has a column of that name."""
    settings = config["studies"][study]
    if "simulate" in settings or is_imported(study):
        return [(f"results/{study}/raw/ratings.parquet", None)]
    if "source" in settings:
        return [(f"results/{study}/raw/{dimension}.csv", dimension) for dimension in settings["scales"]]
    try:
        raw = raw_files(named_files(settings["files"]))
    except ConfigError as error:
        raise WorkflowError(f"config: studies: {study}: files: {error}") from None
    for path, _ in raw:
        if "{" in path or "}" in path:  # of a part: what config names is checked
            raise WorkflowError(
                f"config: studies: {study}: files: '{path}': braces mean a wildcard to Snakemake; rename the file"
            )
        there(study, "files", path)
    return raw


def shards_of(study):
    """The names of a study's shards, with their number in each: of another number are other files. None if it is in one piece."""
    shards = config["studies"][study].get("shards", 0)
    return [f"{shard:0{len(str(shards))}}-of-{shards}" for shard in range(1, shards + 1)]


def raw_of_shard(wildcards):
    """The raw files of a study; WorkflowError if it has no such shard."""
    known = shards_of(wildcards.study)
    if f"{wildcards.shard}-of-{wildcards.shards}" not in known:
        raise WorkflowError(
            f"results/{wildcards.study}/shards/{wildcards.shard}-of-{wildcards.shards}: config: studies: {wildcards.study}: "
            f"shards: {len(known)}; ask for {known[0]} to {known[-1]}"
        )
    return [path for path, _ in raw_of(wildcards.study)]


def of_every_shard(name):
    """This file of every shard of a study, in their order."""
    return lambda wildcards: [f"results/{wildcards.study}/shards/{shard}/{name}" for shard in shards_of(wildcards.study)]


def ratings_of(wildcards):
    """The canonical ratings of a study: one file, or its shards in their order."""
    return of_every_shard("ratings.parquet")(wildcards) or [f"results/{wildcards.study}/ratings.parquet"]


@cache
def checks_of(study):
    """The raw files of a sharded study, (path, dimension) each, in a list for each job that checks some of them.

    They are dealt in turn, by no size: one that grows, or comes after the others, is a matter of one job.
    """
    raw = raw_of(study)
    jobs = min(len(raw), len(shards_of(study)))
    return [raw[job::jobs] for job in range(jobs)]


def of_check(wildcards):
    """The files of one such job; WorkflowError if there is none of this number."""
    checks = checks_of(wildcards.study)
    if int(wildcards.part) > len(checks):
        raise WorkflowError(
            f"results/{wildcards.study}/checked/{wildcards.part}: the raw files of {wildcards.study} are checked by "
            f"{len(checks)} jobs; ask for 1 to {len(checks)}"
        )
    return checks[int(wildcards.part) - 1]


def checked_files(name):
    """Input function: this file of every check of a study."""
    return lambda wildcards: [
        f"results/{wildcards.study}/checked/{part}.{name}.parquet" for part in range(1, len(checks_of(wildcards.study)) + 1)
    ]


def has_raters(study):
    """True for a study with the scores of single raters."""
    return bool({"simulate", "raters"} & set(config["studies"][study])) or tells_raters(import_of(study))


def has_alphas(study):
    """True for a study whose human scores have a published agreement, and no single raters."""
    return is_of_the_paper(study) and not has_raters(study)


def raters_of(study):
    """The file of the single raters' scores of a study, in a list; none where there is none."""
    settings = config["studies"][study]
    made = [f"results/{study}/raw/raters.parquet"] if "simulate" in settings or tells_raters(import_of(study)) else []
    return made + ([there(study, "raters", settings["raters"])] if "raters" in settings else [])


def models_of(study):
    """The models of config that a study may hold: of a simulated one, those that it declares or the published tables hold."""
    settings = config["studies"][study]
    if "simulate" not in settings:
        return models_with(settings.get("families", {}), config["models"])
    if "quality" in settings["simulate"]:
        simulated = settings["simulate"]["quality"]
    else:
        with open(f"{DATA}/play_favorites_mean_scores.csv", newline="", encoding="utf-8") as table:
            simulated = {row["model"] for row in csv.DictReader(table)}
    return {name: model for name, model in config["models"].items() if name in simulated}


def order_of(study):
    """Judges and families of a study in config's order, by the biases that are theirs."""
    models = models_of(study)
    families = dict.fromkeys(model["family"] for model in models.values())
    return {"self_bias": list(models), "family_bias": list(families)}


def published_file(wildcards):
    """Repository, commit, path and git blob id of the file that holds a dimension."""
    source = config["sources"][config["studies"][wildcards.study]["source"]]
    return {"repository": source["repository"], "commit": source["commit"], **source["files"][wildcards.dimension]}


def drawn(figure, caption):
    """The three formats of a figure; the SVG is the one that the report shows."""
    path = f"results/{{study}}/figures/{figure}"
    picture = report(f"{path}.svg", caption=f"../report/{caption}.rst", category="{study}", labels={"figure": figure})
    return {"pdf": f"{path}.pdf", "svg": picture, "png": f"{path}.png"}
