# Where the files of a study are.
FIGURES = ("fig02_mean_scores", "fig03_self_family_bias", "fig05_correlations", "fig06_mean_scores_by_dimension")


def everything_of(study):
    """Every file of a study that a reader wants: estimates, tables, figures."""
    tables = ["completeness", "mean_scores", "correlations", "not_estimable"]
    tables += ["recovery"] if "simulate" in config["studies"][study] else []
    return [
        *(f"results/{study}/estimates/{spec}.csv" for spec in config["specs"]),
        *(f"results/{study}/tables/{table}.csv" for table in tables),
        *(f"results/{study}/figures/{figure}{suffix}" for figure in FIGURES for suffix in (".pdf", ".svg", ".png")),
    ]


def raw_of(study):
    """(path, dimension) of each raw file of a study; the dimension is None where the file has a column of that name."""
    settings = config["studies"][study]
    if "simulate" in settings:
        return [(f"results/{study}/raw/ratings.parquet", None)]
    if "source" in settings:
        return [(f"results/{study}/raw/{dimension}.csv", dimension) for dimension in settings["scales"]]
    files = settings["files"]
    return [(files, None)] if isinstance(files, str) else [(path, dimension) for dimension, path in files.items()]


def published_file(wildcards):
    """Repository, commit, path and git blob id of the file that holds a dimension."""
    source = config["sources"][config["studies"][wildcards.study]["source"]]
    return {"repository": source["repository"], "commit": source["commit"], **source["files"][wildcards.dimension]}


def drawn(figure):
    """The three formats of a figure; the SVG is the one that the report shows."""
    path = f"results/{{study}}/figures/{figure}"
    picture = report(f"{path}.svg", caption=f"../report/{figure}.rst", category="{study}", labels={"figure": figure})
    return {"pdf": f"{path}.pdf", "svg": picture, "png": f"{path}.png"}
