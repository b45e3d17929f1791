# From tables to figures: one job draws all figures of a study that wait for the same stage, in the
# formats of the configuration. A figure in another format, asked for by its path, is a job of its
# own.
from recuse.workflow.figures import figures_by_group, files_for_readers, pictures
from recuse.config.declared.settings import FORMATS

final_files = with_figures(files_for_readers)
GROUPS = [
    (study, group, figures)
    for study in STUDIES
    for group, figures in figures_by_group(answer(figures_for, study)).items()
]
FIGURES = {name for study, group, figures in GROUPS for name in figures}
for study, group, figures in GROUPS:

    rule:
        name:
            f"figures_{group}_of_{study}"
        input:
            tables=of_drawings(drawing_inputs, *figures),
        output:
            pictures=[
                picture
                for name, figure in figures.items()
                for picture in drawn(name, figure.caption or name, figure.title)
            ],
        log:
            f"results/{{study}}/logs/figures_{group}.log",
        benchmark:
            f"results/{{study}}/benchmarks/figures_{group}.tsv"
        wildcard_constraints:
            study=only([study]),
        group:
            "figures_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks(mem_mb=1000, runtime=10),
        params:
            contents=of_drawings(contents_of_drawings, *figures),
            figures=of_drawings(dict, *figures),
        message:
            f"Draw figures of {{wildcards.study}} ({group})."
        script:
            "../scripts/figure.py"


rule figure_in_another_format:
    input:
        tables=of_drawings(drawing_inputs),
    output:
        pictures=["results/{study}/figures/{figure}.{format}"],
    log:
        "results/{study}/logs/{figure}.{format}.log",
    benchmark:
        "results/{study}/benchmarks/{figure}.{format}.tsv"
    wildcard_constraints:
        study=only(STUDIES),
        figure=only(FIGURES),
        format=only(form for form in FORMATS if form not in SETTINGS.formats),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        contents=of_drawings(contents_of_drawings),
        figures=of_drawings(dict),
        # Once `formats` has this format, the job above draws it: by this param, Snakemake sees that
        # another job did.
        format="{format}",
    message:
        "Draw {wildcards.figure} of {wildcards.study} as {wildcards.format}."
    script:
        "../scripts/figure.py"
