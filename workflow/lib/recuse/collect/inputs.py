"""From a study that asks judges to its plan, and to what was collected as inputs of the later
steps.
"""

from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from recuse.check.prompts_needed import enough
from recuse.collect.plan import RATINGS, VERDICTS, Plan
from recuse.collect.study import Collected
from recuse.collect.texts import prices_in
from recuse.config.read import read
from recuse.config.studies import settings_of
from recuse.data.registry import COMPARED
from recuse.imports.inputs import imported
from recuse.inputs import Inputs, in_folder, inputs_in, tables_of


def read_plan(config: Mapping, study: str) -> Plan:
    """What a study asks of judges; ConfigError if it asks nothing, DataError about its tables."""
    settings = settings_of(config, study)
    prices = settings["collect"].get("prices")
    priced = {} if prices is None else prices_in(prices, read(Path(prices)))
    kind = VERDICTS if study in config[COMPARED] else RATINGS
    return Plan.of(study, kind, settings, seed=config["seed"], prices=priced)


def stopping_rule(config: Mapping, study: str) -> Callable[[Collected], bool] | None:
    """Whether what was collected gives intervals as narrow as the plan of a study wants; None if it
    says nothing of that.
    """
    width = settings_of(config, study)["collect"].get("design", {}).get("width")
    if width is None:
        return None

    def enough_collected(collected: Collected) -> bool:
        (inputs,) = inputs_in(config, {}, study, compared=True)
        # `check` says what it has to say of these ratings
        with redirect_stderr(StringIO()), in_folder(inputs) as folder:
            inputs = _with_answers(inputs, collected, folder)
            return enough(tables_of(inputs, folder), width, confidence=config["confidence"])

    return enough_collected


def collected(inputs: Inputs, folder: str) -> Inputs:
    """The inputs, with what the workflow would import from the answers in the ledger, now in
    `folder`.
    """
    return _with_answers(
        inputs, Collected.in_ledger(read_plan(inputs.config, inputs.study)), folder
    )


def _with_answers(inputs: Inputs, answers: Collected, folder: str) -> Inputs:
    path = f"{folder}/collected.csv"
    answers.write(path)
    return imported(inputs, folder, [path])
