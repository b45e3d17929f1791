# Where the files of a study are, and what it may hold.
import csv

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
    tables = ["completeness", "mean_scores", "correlations", "smooths", "not_estimable", "remarks"]
    tables += ["recovery"] if "simulate" in config["studies"][study] else []
    tables += ["agreement"] if has_raters(study) else []
    tables += ["claims", "scorecard"] if is_of_the_paper(study) else []
    figures = [*FIGURES, *(FIGURES_OF_THE_PAPER if is_of_the_paper(study) else [])]
    return [
        *(f"results/{study}/estimates/{spec}.csv" for spec in config["specs"]),
        *(f"results/{study}/tables/{table}.csv" for table in tables),
        *(f"results/{study}/figures/{figure}{suffix}" for figure in figures for suffix in (".pdf", ".svg", ".png")),
    ]


def there(study, key, path, *, of="studies"):
    """The path of a user's file; WorkflowError if it is not there."""
    if not Path(path).is_file():
        raise WorkflowError(f"config: {of}: {study}: {key}: '{path}': no such file in {Path.cwd()}")
    return path


def raw_of(study):
    """(path, dimension) of each raw file of a study; the dimension is None where the file has a column of that name."""
    settings = config["studies"][study]
    if "simulate" in settings:
        return [(f"results/{study}/raw/ratings.parquet", None)]
    if "source" in settings:
        return [(f"results/{study}/raw/{dimension}.csv", dimension) for dimension in settings["scales"]]
    files = settings["files"]
    found = [(files, None)] if isinstance(files, str) else [(path, dimension) for dimension, path in files.items()]
    return [(part, dimension) for path, dimension in found for part in parts_of(study, path)]


def parts_of(study, path):
    """A user's file of ratings, or the parquet files of a folder in the order of their names; WorkflowError if there is none."""
    if not Path(path).is_dir():
        return [there(study, "files", path)]
    parts = sorted(os.path.join(path, part) for part in os.listdir(path) if re.fullmatch(r"[^.].*\.parquet", part))
    if not parts:
        raise WorkflowError(f"config: studies: {study}: files: '{path}': the folder holds no *.parquet; put the parts into it")
    for part in parts:
        if "{" in part or "}" in part:
            raise WorkflowError(
                f"config: studies: {study}: files: '{part}': braces mean a wildcard to Snakemake; rename the file"
            )
    return parts


def shards_of(study):
    """The numbers of a study's shards; none where its ratings are in one file."""
    return range(1, config["studies"][study].get("shards", 0) + 1)


def ratings_of(study):
    """The canonical ratings of a study: one file, or its shards in their order."""
    shards = [f"results/{study}/shards/{shard}/ratings.parquet" for shard in shards_of(study)]
    return shards or [f"results/{study}/ratings.parquet"]


@cache
def checks_of(study):
    """The raw files of a sharded study, (path, dimension) each, in a list for each job that checks some of them.

    A user's files are spread by size, the largest first. Others may be still to come, and count alike.
    """
    raw = raw_of(study)
    sizes = [megabytes_of([path]) if "files" in config["studies"][study] else 1 for path, _ in raw]
    jobs = [[] for _ in raw][: len(shards_of(study))]
    for place in sorted(range(len(raw)), key=lambda place: -sizes[place]):
        min(jobs, key=lambda job: sum(sizes[each] for each in job)).append(place)
    return [[raw[place] for place in sorted(job)] for job in jobs if job]


def of_check(wildcards):
    return checks_of(wildcards.study)[int(wildcards.part) - 1]


def checked_files(name):
    """Input function: this file of every check of a study."""
    return lambda wildcards: [
        f"results/{wildcards.study}/checked/{part}.{name}.parquet" for part in range(1, len(checks_of(wildcards.study)) + 1)
    ]


def has_raters(study):
    """True for a study with the scores of single raters."""
    return bool({"simulate", "raters"} & set(config["studies"][study]))


def raters_of(study):
    """The file of the single raters' scores of a study, in a list; none where there is none."""
    settings = config["studies"][study]
    simulated = [f"results/{study}/raw/raters.parquet"] if "simulate" in settings else []
    return simulated + ([there(study, "raters", settings["raters"])] if "raters" in settings else [])


def models_of(study):
    """The models of config that a study may hold: of a simulated one, those that it declares or the published tables hold."""
    settings = config["studies"][study]
    if "simulate" not in settings:
        return config["models"]
    if "quality" in settings["simulate"]:
        simulated = settings["simulate"]["quality"]
    else:
        with open(f"{DATA}/play_favorites_mean_scores.csv", newline="", encoding="utf-8") as table:
            simulated = {row["model"] for row in csv.DictReader(table)}
    return {name: model for name, model in config["models"].items() if name in simulated}


def published_file(wildcards):
    """Repository, commit, path and git blob id of the file that holds a dimension."""
    source = config["sources"][config["studies"][wildcards.study]["source"]]
    return {"repository": source["repository"], "commit": source["commit"], **source["files"][wildcards.dimension]}


def drawn(figure, caption):
    """The three formats of a figure; the SVG is the one that the report shows."""
    path = f"results/{{study}}/figures/{figure}"
    picture = report(f"{path}.svg", caption=f"../report/{caption}.rst", category="{study}", labels={"figure": figure})
    return {"pdf": f"{path}.pdf", "svg": picture, "png": f"{path}.png"}
