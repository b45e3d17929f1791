# From tables to figures: one job for all of a study, which share what is slow to start, or for one that is asked for by its path.
from recuse.catalogue.figures import captions_of, drawings, figures, figures_of, inputs_of, pictures_of
from recuse.catalogue.figures import files_of as files_with
from recuse.config.declared.settings import FORMATS

FIGURES = figures(config, PROJECT)
STUDIES = (*config["studies"], *config["comparisons"])
files_of = partial(files_with, figures=FIGURES)  # every file of a study for a reader
drawings_of = partial(drawings, figures=FIGURES)
# A study's figures are drawn by one job, or each by its own.
SINGLE = STUDIES if IS_MODULE else studies_by_figure(sys.argv, STUDIES)
WHOLE = [study for study in STUDIES if study not in SINGLE and answer(drawings_of, study)]


def code_of_figures(drawings):
    return code_of("figure.py", *{drawing["draw"].partition(":")[0] for drawing in drawings.values()})


rule figure:
    input:
        tables=lambda wildcards: inputs_of(answer(drawings_of, wildcards.study, wildcards.figure)),
    output:
        pictures=[report("results/{study}/figures/{figure}.{format}", category="{study}", labels={"figure": "{figure}"})],
    log:
        "results/{study}/logs/{figure}.{format}.log",
    benchmark:
        "results/{study}/benchmarks/{figure}.{format}.tsv"
    wildcard_constraints:
        study=one_of(SINGLE),
        figure=one_of(FIGURES),
        format=one_of(FORMATS),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        code=lambda wildcards: code_of_figures(answer(drawings_of, wildcards.study, wildcards.figure)),
        figures=of_study(drawings_of, "figure"),
    message:
        "Draw {wildcards.figure} of {wildcards.study} as {wildcards.format}."
    script:
        "../scripts/figure.py"


use rule figure as figure_in_another_format with:
    wildcard_constraints:
        study=one_of(WHOLE),
        figure=one_of(FIGURES),
        format=one_of(form for form in FORMATS if form not in config["formats"]),


for study in WHOLE:

    rule:
        name:
            f"figures_of_{study}"
        input:
            tables=inputs_of(answer(drawings_of, study)),
        output:
            pictures=[
                picture
                for name, figure in answer(partial(figures_of, figures=FIGURES), study).items()
                for picture in drawn(name, figure.caption or name, figure.title, study)
            ],
        log:
            f"results/{study}/logs/figures.log",
        benchmark:
            f"results/{study}/benchmarks/figures.tsv"
        group:
            f"figures_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks(mem_mb=1000, runtime=10),
        params:
            code=code_of_figures(answer(drawings_of, study)),
            figures=answer(drawings_of, study),
        message:
            f"Draw the figures of {study}."
        script:
            "../scripts/figure.py"
