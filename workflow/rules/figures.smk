# From tables to figures: one rule a figure, made from the table of drawings; `{study}` is the only wildcard.
OF_TABLES = {rule.name for rule in workflow.rules}


for figure, drawing in (FIGURES | FIGURES_OF_THE_PAPER | FIGURES_OF_COMPARISONS).items():
    name = f"{figure}_figure" if figure in OF_TABLES else figure

    rule:
        name:
            name
        input:
            **drawing.get("tables", {}),
            code=code_of(drawing["script"]),
        output:
            **drawn(figure, drawing.get("caption", figure)),
        log:
            f"results/{{study}}/logs/{name}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{name}.tsv"
        wildcard_constraints:
            study=drawing.get("studies", one_of(config["studies"])),
        group:
            "figures_{study}"
        conda:
            "../../envs/recuse.yaml"
        resources:
            **asks(mem_mb=600, runtime=5),
        params:
            **{"subject": subject_for(drawing), **drawing.get("told", {})},
            script=drawing["script"],
        message:
            f"Draw {figure} of {{wildcards.study}}."
        script:
            "../scripts/{params.script}"
