# From tables to figures: one rule a figure, made from the table of drawings; `{study}` is the only wildcard.


for figure, drawing in (FIGURES | FIGURES_OF_THE_PAPER).items():

    rule:
        name:
            figure
        input:
            **drawing.get("tables", {}),
            code=code_of(drawing["script"]),
        output:
            **drawn(figure, drawing.get("caption", figure)),
        log:
            f"results/{{study}}/logs/{figure}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{figure}.tsv"
        conda:
            "../../envs/judge-bias.yaml"
        params:
            **{"subject": lambda wildcards: subject_of(wildcards.study), **drawing.get("told", {})},
            script=drawing["script"],
        message:
            f"Draw {figure} of {{wildcards.study}}."
        script:
            "../scripts/{params.script}"
