# What the estimates rest on, and what they would be otherwise: placebo cells, errors of the human scores, debiased scores.


rule estimands:
    input:
        **STUDY,
        code=code_of("estimands.py"),
    output:
        **{table: f"results/{{study}}/tables/{table}.csv" for table in ("placebo", "tastes", "identifiability")},
    log:
        "results/{study}/logs/estimands.log",
    benchmark:
        "results/{study}/benchmarks/estimands.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        **told_of_inference("assignments", specs=("placebo", "identifiability")),
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Hold the biases of {wildcards.study} against ordinary taste, and say which cells identify them."
    script:
        "../scripts/estimands.py"


# One job: each table takes a pass over the rows, and starting costs as much.
rule sensitivity:
    input:
        **STUDY,
        **KNOWN_OF_HUMANS,
        code=code_of("sensitivity.py"),
    output:
        **{
            table: f"results/{{study}}/tables/{table}.csv"
            for table in ("reliability", "noisy_reference", "reliability_curve", "breakdowns", "sensitivity", "missingness")
        },
    log:
        "results/{study}/logs/sensitivity.log",
    benchmark:
        "results/{study}/benchmarks/sensitivity.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        **told_of_inference("raters", "without_human_scores", specs=("noisy_reference", "sensitivity", "missingness")),
        confidence=lookup("confidence", within=config),
    message:
        "Tabulate what errors, omitted variables and missing ratings would make of the biases of {wildcards.study}."
    script:
        "../scripts/sensitivity.py"


rule leaderboard:
    input:
        **STUDY,
        estimates=[
            f"results/{{study}}/estimates/{spec}.csv"
            for spec in ("main", *in_place(["main"], config["inference"]["without_human_scores"]))
        ],
        reliability=rules.sensitivity.output.reliability,
        code=code_of("leaderboard.py"),
    output:
        **{table: f"results/{{study}}/tables/{table}.csv" for table in ("leaderboard", "few_labels", "planner")},
        debiased="results/{study}/debiased.parquet",
    log:
        "results/{study}/logs/leaderboard.log",
    benchmark:
        "results/{study}/benchmarks/leaderboard.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks_by_size(mem_mb=1000, runtime=20),
    params:
        **told_of_inference(
            *("replicates", "few_labels", "planner", "without_human_scores"), specs=("leaderboard",), also=["main"]
        ),
        confidence=lookup("confidence", within=config),
        seed=lookup("seed", within=config),
    message:
        "Rank the models of {wildcards.study} with the biases taken off, and plan studies like it."
    script:
        "../scripts/leaderboard.py"


# What the views of config's conclusions read: the tables, and of which specs the estimates.
VIEWS = {name: {"table": "estimates", **view} for name, view in config["inference"]["conclusions"].items()}
OF_VIEWS = {table: [f"results/{{study}}/tables/{table}.csv"] for table in sorted({view["table"] for view in VIEWS.values()})}
OF_VIEWS["estimates"] = [
    f"results/{{study}}/estimates/{spec}.csv"
    for spec in dict.fromkeys(spec for view in VIEWS.values() if view["table"] == "estimates" for spec in view["specs"])
]
ASKED = {
    "views": VIEWS,
    "specs": {
        spec: config["specs"][spec]
        for view in VIEWS.values()
        for spec in (*view["specs"], *in_place(view["specs"], config["inference"]["without_human_scores"]))
    },
    "confidence": config["confidence"],
    "power": config["inference"]["planner"]["power"],
}


rule conclusions:
    input:
        **OF_VIEWS,
        not_estimable=rules.fit.output.not_estimable,
        # The paper's own ratings are compared with what it prints.
        scorecard=lambda wildcards: (
            [f"results/{wildcards.study}/tables/scorecard.csv"] if "source" in config["studies"][wildcards.study] else []
        ),
        template=f"{WORKFLOW}/report/conclusions.html.j2",
        frame=f"{WORKFLOW}/report/page.html.j2",
        code=code_of("conclusions.py"),
    output:
        conclusions="results/{study}/tables/conclusions.csv",
        page=report(
            "results/{study}/conclusions.html",
            caption="../report/conclusions_page.rst",
            category="{study}",
            labels={"figure": "conclusions, page"},
        ),
    log:
        "results/{study}/logs/conclusions.log",
    benchmark:
        "results/{study}/benchmarks/conclusions.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        **ASKED,
        instead=config["inference"]["without_human_scores"],
        tables=list(OF_VIEWS),
        # As in the figures.
        order=lambda wildcards: order_of(wildcards.study),
        label=lookup("studies/{study}/title", within=config),
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
    message:
        "Say which conclusions of {wildcards.study} stand in other views."
    script:
        "../scripts/conclusions.py"
