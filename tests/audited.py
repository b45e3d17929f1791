"""Plans of audits of a judge, with answers that have typical words, and how they are run."""

import csv
from pathlib import Path

import yaml

from recuse.audit.inputs import read_audit
from recuse.audit.run import audit
from recuse.config.load import load

SEED = 42
MODELS = ("judge", "other")


def write_tables(prompts):
    """Prompts and answers in this folder; the columns after `text` are restated answers."""
    with open("prompts.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt", "text"])
        rows.writerows([f"p{number}", f"Question {number}?"] for number in range(prompts))
    with open("answers.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt", "model", "text", "longer", "other_words", "wrong", "she"])
        for number in range(prompts):
            for place, model in enumerate(MODELS):
                quality = 0.35 + 0.05 * ((number + 3 * place) % 5)
                text = f"Reply {number} of {model}, quality {quality:.2f}."
                text += " Verily." if model == "judge" else ""
                again = text.replace("Verily.", "Said otherwise.")
                others = f"{text} To go on.", again, f"{text} It is 4.", f"{text} As women do."
                rows.writerow([f"p{number}", model, text, *others])


def plan_settings(mock, treatments, **settings):
    """The settings of a plan for the judge at a mock server."""
    settings = {
        "prompts": "prompts.csv",
        "answers": "answers.csv",
        "judges": {"judge": {"model": "mock-1", "base_url": mock.url}},
        "ask": "ratings",
        "treatments": treatments,
    } | settings
    if settings["ask"] == "ratings":
        settings.setdefault("rubrics", ["Helpfulness"])
    return settings


def written_plan(mock, treatments, **settings):
    """The plan with these settings, in plan.yaml."""
    written = yaml.safe_dump(plan_settings(mock, treatments, **settings), sort_keys=False)
    Path("plan.yaml").write_text(written, "utf-8")
    return read_audit("plan.yaml", load(None).changed(seed=SEED))


def run(plan, **options):
    """Run an audit, and return its observations as the table has them."""
    for _ in audit(plan, **options):
        pass
    with open(f"results/audits/{plan.study}/observations.csv", encoding="utf-8") as file:
        return [*csv.DictReader(file)]
