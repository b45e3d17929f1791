# A study compared with the paper, and all of it on one page.
from recuse.workflow.figures import caption_files, captions
from recuse.workflow.page_params import further_pages, report_params

templates = of_study(with_figures(caption_files))
# What pages read beside the results.
CLAIMS = f"{DATA}/play_favorites_claims.csv"
SCORECARD = f"{WORKFLOW}/report/scorecard.html.j2"
RELEASED = [f"{DATA}/multivac_family_bias.csv", f"{DATA}/multivac_rankings.csv"]
COMPARED = f"{DATA}/comparisons_published.csv"
REPORT = f"{WORKFLOW}/report/report.html.j2"
PARTS = expand(
    f"{WORKFLOW}/report/{{part}}",
    part=(
        "report.css",
        "report.js",
        "report_glossary.html.j2",
        "report_methods.html.j2",
        "report_tables.html.j2",
        "sentences.j2",
        "tables.yaml",
    ),
)

# Estimates and mean scores of a user's ratings of HELM-Instruct; the placeholder is no evidence, as
# config declares its biases.
HELM = [f"results/helm_instruct/{path}.csv" for path in ("estimates/main", "tables/mean_scores")]


rule compare_with_paper:
    input:
        estimates=of_study(Study.estimates),
        mean_scores=rules.describe.output.mean_scores,
        correlations=rules.describe.output.correlations,
        agreement=where(Study.has_raters, rules.agreement.output.agreement),
        helm=HELM if answer(Study.kind, "helm_instruct") == "user" else [],
        published=PUBLISHED,
        sentences=CLAIMS,
        template=SCORECARD,
    output:
        **tables("claims", "scorecard"),
        page=page("scorecard"),
    log:
        "results/{study}/logs/compare_with_paper.log",
    benchmark:
        "results/{study}/benchmarks/compare_with_paper.tsv"
    wildcard_constraints:
        study=rated(Study.replicates_play_favorites),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=contents("compare_with_paper.py", PUBLISHED, [CLAIMS, SCORECARD]),
        label=setting("title"),
        kind=of_study(Study.kind),
    message:
        "Compare {wildcards.study} with the values and claims of Play Favorites."
    script:
        "../scripts/compare_with_paper.py"


rule compare_released:
    input:
        estimates=estimates(["within_response", "within_response_by_judge"]),
        ratings=STUDY["ratings"],
        published=RELEASED,
    output:
        **tables("rankings", "scorecard"),
    log:
        "results/{study}/logs/compare_released.log",
    benchmark:
        "results/{study}/benchmarks/compare_released.tsv"
    wildcard_constraints:
        study=rated(Study.is_released),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=contents("compare_released.py", RELEASED),
    message:
        "Compare {wildcards.study} with its published numbers."
    script:
        "../scripts/compare_released.py"


rule compare_comparisons:
    input:
        unpack(of_study(partial(table_paths, read_by="scorecard"))),
        published=COMPARED,
        attacks=where(from_source("judgement_bias"), ATTACKS),
    output:
        **tables("scorecard"),
    log:
        "results/{study}/logs/compare_comparisons.log",
    wildcard_constraints:
        study=compared(Study.source),
    group:
        "tables_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=contents(
            "compare_comparisons.py", [COMPARED], where(from_source("judgement_bias"), ATTACKS)
        ),
        source=of_study(Study.source),
        kind=of_study(Study.kind),
    message:
        "Compare {wildcards.study} with the values in its paper."
    script:
        "../scripts/compare_comparisons.py"


rule page:
    input:
        figures=of_study(with_figures(pictures)),
        tables=of_study(lambda study: [*table_paths(study).values()]),
        estimates=of_study(Study.estimates),
        pages=of_study(further_pages),
        made=of_study(Study.data_records),
        template=REPORT,
        parts=PARTS,
        captions=templates,
    output:
        page=page("report"),
        summary="results/{study}/summary.json",
    log:
        "results/{study}/logs/page.log",
    benchmark:
        "results/{study}/benchmarks/page.tsv"
    wildcard_constraints:
        study=only(STUDIES),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=contents("page.py", [REPORT, *PARTS], templates),
        about=of_study(report_params),
        about_figures=of_study(with_figures(captions)),
        formats=SETTINGS.formats,
    message:
        "Write the report of {wildcards.study}."
    script:
        "../scripts/page.py"
