"""Plans of audits of a judge, with answers that have typical words, and how they are run."""

from itertools import product
from pathlib import Path

import pandas as pd
import yaml

from recuse.audit.inputs import read_audit
from recuse.audit.run import audit
from recuse.base.tables import read_table
from recuse.config.load import load

SEED = 42
MODELS = ("judge", "other")


def write_tables(prompts):
    """Prompts and answers in this folder; the columns after `text` are restated answers."""
    asked = [(f"p{number}", f"Question {number}?") for number in range(prompts)]
    pd.DataFrame(asked, columns=["prompt", "text"]).to_csv("prompts.csv", index=False)
    rows = []
    for number, (place, model) in product(range(prompts), enumerate(MODELS)):
        quality = 0.35 + 0.05 * ((number + 3 * place) % 5)
        text = f"Reply {number} of {model}, quality {quality:.2f}."
        text += " Verily." if model == "judge" else ""
        again = text.replace("Verily.", "Said otherwise.")
        others = f"{text} To go on.", again, f"{text} It is 4.", f"{text} As women do."
        rows.append((f"p{number}", model, text, *others))
    columns = ["prompt", "model", "text", "longer", "other_words", "wrong", "she"]
    pd.DataFrame(rows, columns=columns).to_csv("answers.csv", index=False)


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
    return read_table(f"results/audits/{plan.study}/observations.csv")
