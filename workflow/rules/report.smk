# What a reader is told of the whole: this study beside the paper, and all of it on one page.

# Estimates and mean scores of a user's ratings of HELM-Instruct. The stand-in has the biases that config declares: no evidence.
HELM = [f"results/helm_instruct/{path}.csv" for path in ("estimates/main", "tables/mean_scores")]


rule compare_with_paper:
    input:
        estimates=rules.fit.output.estimates,
        mean_scores=rules.describe.output.mean_scores,
        correlations=rules.describe.output.correlations,
        agreement=lambda wildcards: rules.agreement.output.agreement if has_raters(wildcards.study) else [],
        helm=HELM if kind_of(config["studies"]["helm_instruct"]) == "user" else [],
        published=expand(f"{DATA}/{{table}}.csv", table=PUBLISHED),
        template=f"{WORKFLOW}/report/scorecard.html.j2",
        frame=f"{WORKFLOW}/report/page.html.j2",
        code=code_of("compare_with_paper.py"),
    output:
        claims="results/{study}/tables/claims.csv",
        scorecard="results/{study}/tables/scorecard.csv",
        page=report(
            "results/{study}/scorecard.html",
            caption="../report/scorecard_page.rst",
            category="{study}",
            labels={"figure": "scorecard, page"},
        ),
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
        kind=lambda wildcards: kind_of(config["studies"][wildcards.study]),
    message:
        "Compare {wildcards.study} with what Play Favorites prints and says."
    script:
        "../scripts/compare_with_paper.py"


rule compare_comparisons:
    input:
        unpack(compared_tables),
        published=f"{DATA}/comparisons_published.csv",
        attacks=published_attacks,
        code=code_of("compare_comparisons.py"),
    output:
        scorecard="results/{study}/tables/scorecard.csv",
    log:
        "results/{study}/logs/compare_comparisons.log",
    wildcard_constraints:
        study=one_of(study for study in COMPARISONS if source_of(study)),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        source=lambda wildcards: source_of(wildcards.study),
        kind=lambda wildcards: kind_of_verdicts(COMPARISONS[wildcards.study]),
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
        raw=files_of_user,
        template=f"{WORKFLOW}/report/report.html.j2",
        parts=expand(f"{WORKFLOW}/report/report{{part}}", part=(".css", ".js", "_methods.html.j2", "_tables.html.j2")),
        captions=lambda wildcards: [figure["caption"] for figure in told_of_figures(wildcards).values()],
        code=code_of("page.py"),
    output:
        page=report(
            "results/{study}/report.html",
            caption="../report/report_page.rst",
            category="{study}",
            labels={"figure": "report, page"},
        ),
    log:
        "results/{study}/logs/page.log",
    benchmark:
        "results/{study}/benchmarks/page.tsv"
    wildcard_constraints:
        study=one_of([*config["studies"], *COMPARISONS]),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        about=told_of_study,
        figures=told_of_figures,
    message:
        "Write the report of {wildcards.study}."
    script:
        "../scripts/page.py"
