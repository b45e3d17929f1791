# From tables to figures: two jobs draw all of a study; a figure asked for by its path is its own job.
from recuse.catalogue.figures import captions_of, figures_by_job, inputs_of, pictures_of
from recuse.catalogue.figures import files_of as files_with
from recuse.catalogue.tables import estimates_of
from recuse.config.declared.settings import FORMATS

STUDIES = (*config["studies"], *config["comparisons"])
files_of = with_figures(files_with)  # every file of a study for a reader
# Studies whose figures are drawn each by its own job.
SINGLE = STUDIES if IS_MODULE else studies_by_figure(sys.argv, STUDIES)
# Figures that show these alone are drawn while the rest is computed.
OF_FITS = {
    *expand([*rules.fit.output, *rules.describe.output], study=config["studies"]),
    *(path for study in config["studies"] for path in answer(estimates_of, study)),
}
by_job = partial(with_figures(figures_by_job), of_fits=OF_FITS)
FIGURES = {name: figure for study in STUDIES for name, figure in figures_for(study).items()}
# (rule, name of its log, studies, figures)
DRAWN = [
    *(
        (f"{job}_of_{study}", job, [study], names)
        for study in STUDIES
        if study not in SINGLE
        for job, names in answer(by_job, study).items()
    ),
    *((f"figure_{name}", name, SINGLE, [name]) for name in FIGURES if SINGLE),
]
for rule_name, log_name, drawn_studies, names in DRAWN:

    rule:
        name:
            rule_name
        input:
            tables=of_drawings(inputs_of, *names),
        output:
            pictures=[picture for name in names for picture in drawn(name, FIGURES[name].caption or name, FIGURES[name].title)],
        log:
            f"results/{{study}}/logs/{log_name}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{log_name}.tsv"
        wildcard_constraints:
            study=one_of(drawn_studies),
        group:
            "figures_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks(mem_mb=1000, runtime=10),
        params:
            code=of_drawings(code_of_figures, *names),
            figures=of_drawings(dict, *names),
        message:
            f"Draw {log_name} of {{wildcards.study}}."
        script:
            "../scripts/figure.py"


rule figure_in_another_format:
    input:
        tables=of_drawings(inputs_of),
    output:
        pictures=["results/{study}/figures/{figure}.{format}"],
    log:
        "results/{study}/logs/{figure}.{format}.log",
    benchmark:
        "results/{study}/benchmarks/{figure}.{format}.tsv"
    wildcard_constraints:
        study=one_of(STUDIES),
        figure=one_of(FIGURES),
        format=one_of(form for form in FORMATS if form not in config["formats"]),
    group:
        "figures_{study}"
    conda:
        "../../envs/recuse.yaml"
    resources:
        **asks(mem_mb=600, runtime=5),
    params:
        code=of_drawings(code_of_figures),
        figures=of_drawings(dict),
    message:
        "Draw {wildcards.figure} of {wildcards.study} as {wildcards.format}."
    script:
        "../scripts/figure.py"
