# Experiments on judges: `snakemake results/audits/plan/card.html` for those of plan.yaml.
from recuse.audit.inputs import RESULTS, files_named


# The ledger, to which this adds, is no output: Snakemake removes those of a job that fails.
rule audit:
    input:
        plan="{audit}.yaml",
        tables=lambda wildcards: attempt(files_named, f"{wildcards.audit}.yaml"),
    output:
        observations=f"{RESULTS}/{{audit}}/observations.csv",
        effects=f"{RESULTS}/{{audit}}/effects.csv",
        summary=f"{RESULTS}/{{audit}}/summary.json",
        card=f"{RESULTS}/{{audit}}/card.html",
        figure=f"{RESULTS}/{{audit}}/card.svg",
        made=f"{RESULTS}/{{audit}}/made/audit.json",
    log:
        f"{RESULTS}/{{audit}}/logs/audit.log",
    wildcard_constraints:
        audit="[^/]+",
    retries: 0
    localrule: True
    conda:
        "../../envs/recuse.yaml"
    params:
        contents=contents(
            "audit.py",
            lambda wildcards: [f"{wildcards.audit}.yaml"],
            lambda wildcards: attempt(files_named, f"{wildcards.audit}.yaml"),
        ),
        seed=SETTINGS.seed,
        confidence=SETTINGS.confidence,
    message:
        "Ask the judges of {wildcards.audit}.yaml what its ledger has no answer to."
    script:
        "../scripts/audit.py"
