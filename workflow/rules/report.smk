# What a reader is told of the whole: this study beside the paper, and all of it on one page.
from recuse.catalogue import captions_of
from recuse.config.studies import analyses, files_of_user, is_of_the_paper, origin_of
from recuse.figures import subject_of
from recuse.report.settings import differences

# What the report tells of each figure of a study.
about_figures = of_study(partial(captions_of, figures=FIGURES))

# Estimates and mean scores of a user's ratings of HELM-Instruct. The stand-in has the biases that config declares: no evidence.
HELM = [f"results/helm_instruct/{path}.csv" for path in ("estimates/main", "tables/mean_scores")]


def made(folder, suffix):
    """Input function: the files of a study in one of its folders."""
    return lambda wildcards: [
        path
        for path in answer(files_of, wildcards.study)
        if path.startswith(f"results/{wildcards.study}/{folder}/") and path.endswith(suffix)
    ]


def pages_of(wildcards):
    """Pages that say more of a table: a study of comparisons has none."""
    tables = {Path(path).stem for path in made("tables", ".csv")(wildcards)} if wildcards.study in config["studies"] else {}
    return [f"results/{wildcards.study}/{name}.html" for name in ("conclusions", "scorecard") if name in tables]


def told_of_study(wildcards):
    """What the report is told of a study, beside its files."""
    study, shared = wildcards.study, ["confidence", "seed"]
    if study in config["comparisons"]:
        told = {"specs": {}, "analyses": analyses(config, study), "scales": {}}
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
        "subject": {key: value for key, value in subject_of(config, study).items() if key in ("label", "kind")},
        "views": {name: view["title"] for name, view in conclusions.items()},
        "origin": origin_of(config, study),
        "settings": list(differences(own, project)),
        **{key: config[key] for key in ("confidence", "seed")},
    }


rule compare_with_paper:
    input:
        estimates=rules.fit.output.estimates,
        mean_scores=rules.describe.output.mean_scores,
        correlations=rules.describe.output.correlations,
        agreement=where(has_raters, rules.agreement.output.agreement),
        helm=HELM if kind(config, "helm_instruct") == "user" else [],
        published=PUBLISHED,
        template=f"{WORKFLOW}/report/scorecard.html.j2",
        frame=f"{WORKFLOW}/report/page.html.j2",
        code=code_of("compare_with_paper.py"),
    output:
        **tables("claims", "scorecard"),
        page=page("scorecard"),
    log:
        "results/{study}/logs/compare_with_paper.log",
    benchmark:
        "results/{study}/benchmarks/compare_with_paper.tsv"
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        label=lookup("studies/{study}/title", within=config),
        kind=of_study(kind),
    message:
        "Compare {wildcards.study} with what Play Favorites prints and says."
    script:
        "../scripts/compare_with_paper.py"


rule compare_comparisons:
    input:
        unpack(of_study(partial(tables_of, read_by="scorecard"))),
        published=f"{DATA}/comparisons_published.csv",
        attacks=where(from_source("judgement_bias"), ATTACKS),
        code=code_of("compare_comparisons.py"),
    output:
        **tables("scorecard"),
    log:
        "results/{study}/logs/compare_comparisons.log",
    wildcard_constraints:
        study=compared(source_of),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        source=of_study(source_of),
        kind=of_study(kind),
    message:
        "Compare {wildcards.study} with what its paper prints."
    script:
        "../scripts/compare_comparisons.py"


rule page:
    input:
        figures=made("figures", ".svg"),
        tables=made("tables", ".csv"),
        estimates=made("estimates", ".csv"),
        pages=pages_of,
        raw=of_study(files_of_user),
        template=f"{WORKFLOW}/report/report.html.j2",
        parts=expand(f"{WORKFLOW}/report/report{{part}}", part=(".css", ".js", "_methods.html.j2", "_tables.html.j2")),
        captions=lambda wildcards: [figure["caption"] for figure in about_figures(wildcards).values()],
        code=code_of("page.py"),
    output:
        page=page("report"),
    log:
        "results/{study}/logs/page.log",
    benchmark:
        "results/{study}/benchmarks/page.tsv"
    wildcard_constraints:
        study=one_of([*config["studies"], *config["comparisons"]]),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        about=told_of_study,
        about_figures=about_figures,
    message:
        "Write the report of {wildcards.study}."
    script:
        "../scripts/page.py"
