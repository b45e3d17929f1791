# From tables to figures: a rule for each figure of the catalogue; `{study}` is the only wildcard.
from recuse.catalogue.figures import captions_of, figure_params, figures, pictures_of
from recuse.catalogue.figures import files_of as files_with

FIGURES = figures(config, PROJECT)
STUDIES = (*config["studies"], *config["comparisons"])
files_of = partial(files_with, figures=FIGURES)  # every file of a study for a reader


def param(figure, name):
    """A param of a figure, which its caption also reads."""
    params = partial(figure_params, figure=figure)
    return lambda wildcards: answer(params, wildcards.study)[name]


for figure_name, figure in FIGURES.items():
    name = f"{figure_name}_figure" if figure_name in STUDIES or rules.has(figure_name) else figure_name

    rule:
        name:
            name
        input:
            **figure.inputs,
            **({"published": where(figure.beside, figure.published)} if figure.published else {}),
            code=code_of("figure.py", figure.module),
        output:
            **drawn(figure_name, figure.caption or figure_name, figure.title),
        log:
            f"results/{{study}}/logs/{name}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{name}.tsv"
        wildcard_constraints:
            study=studies_that(figure.applies),
        group:
            "figures_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks(mem_mb=600, runtime=5),
        params:
            draw=param(figure, "draw"),
            title=param(figure, "title"),
            subject=param(figure, "subject"),
            settings=figure.settings,
            ablation=figure.ablation,
        message:
            f"Draw {figure_name} of {{wildcards.study}}."
        script:
            "../scripts/figure.py"
