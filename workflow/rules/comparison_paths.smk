# Where the files of a study of comparisons are, and what it may hold.
from recuse.config.origins import analyses_of, kind_of_verdicts, origin_of_verdicts
from recuse.pairwise.attacks import WORSENING

COMPARISONS = config["comparisons"]


def source_of(study):
    """The key of the published repository of a study of comparisons, None if it has none."""
    return COMPARISONS[study].get("source")


def comparisons_from(*sources):
    return one_of(study for study in COMPARISONS if source_of(study) in sources)


def comparisons_with(analysis):
    return one_of(study for study, settings in COMPARISONS.items() if analysis in analyses_of(settings))


@cache
def manifest_of(source):
    """(path, blob) of every file of a source of comparisons; WorkflowError if there is no such list."""
    manifest = Path(DATA, "sources", config["sources"][source]["manifest"])
    if not manifest.is_file():
        raise WorkflowError(f"config: sources: {source}: manifest: '{manifest.name}': no such file in {manifest.parent}")
    with manifest.open(newline="", encoding="utf-8") as table:
        return [(row["path"], row["blob"]) for row in csv.DictReader(table)]


def released_files(study):
    return [f"results/{study}/raw/{path}" for path, _ in manifest_of(source_of(study))]


def verdict_files(study):
    """The files that the verdicts of a study are read from."""
    origin = origin_of_verdicts(COMPARISONS[study])
    if origin == "source":
        return released_files(study)
    if origin == "import":
        return [f"results/{study}/raw/verdicts.parquet"]
    if origin == "simulate":
        return [f"results/{study}/raw/comparisons.parquet"]
    return [there(study, "files", path, of="comparisons") for path, _ in named_files(COMPARISONS[study]["files"])]


def published_attacks(wildcards, *, needed=None):
    """The tables of Chen et al., where they are `needed`: by default for votes on their texts."""
    needed = source_of(wildcards.study) == "judgement_bias" if needed is None else needed
    return [f"{DATA}/judgement_bias_published.csv"] if needed else []


def recovered_tables(wildcards):
    """The tables of a simulated study that estimate what was planted, by name."""
    tables = {"verbosity": ["verbosity", "position"], "cognitive_biases": ["cognitive_biases"], "attacks": ["asr"]}
    names = [name for analysis in analyses_of(COMPARISONS[wildcards.study]) for name in tables[analysis]]
    return {name: f"results/{wildcards.study}/tables/{name}.csv" for name in names}


def compared_tables(wildcards):
    """The tables of a study of comparisons that hold what its paper prints, by name."""
    analyses, source = analyses_of(COMPARISONS[wildcards.study]), source_of(wildcards.study)
    names = ["verbosity", "agreement"] if "verbosity" in analyses else []
    names += ["asr", "ranks", "votes_by_position", "vote_shares"] if "attacks" in analyses else []
    names += ["rbo"] if source == "cobbler" else []
    return {name: f"results/{wildcards.study}/tables/{name}.csv" for name in names}
