"""AlpacaEval annotations: one verdict on each pair of answers, in an order that the tool draws from the instruction."""

import random
from collections.abc import Mapping

import duckdb
import numpy as np

from recuse.data.faults import Check
from recuse.data.imports.rows import VERDICT_COLUMNS, Rows, create_objects, kept_fields, selected, there

WORDS = "AlpacaEval annotations"
FIELDS = ("instruction", "output_1", "output_2", "generator_1", "generator_2", "annotator", "preference")
SEED = "0"  # of alpaca_eval's annotators, if they are not started with another
LONGEST_ITEM = 80  # characters of an instruction that is its own name
MISSING = "coalesce(lower(preference), 'nan') in ('nan', '-1', '-1.0')"  # -1 stands in its own store of annotations
NUMBER = "try_cast(preference as double)"
CHECKS = (
    *(there(field, WORDS) for field in FIELDS),
    Check(
        "preference",
        f"not {MISSING} and coalesce(not ({NUMBER} = 0 or {NUMBER} between 1 and 2), true)",
        "which is no preference",
        "'write 1 for output_1, 2 for output_2, a number between if the judge is unsure, 1.5 or 0 for a tie, null for none'",
    ),
)
WORD_COUNT = "len(list_filter(string_split_regex({0}, '\\s+'), lambda word: word <> ''))"


def verdicts_of_alpaca_eval(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping) -> Rows:
    """Read annotations.json, or alpaca_eval's store of annotations; lengths are the words of the answers.

    `preference` is 1 for output_1, 2 for output_2, 1.5 or 0 for a tie, NaN or -1 for none. A number between, which annotators
    that read token probabilities give, is 1 + the probability of output_2: it counts for the likelier answer, as in
    alpaca_eval's discrete win rate, and is kept as it stands. Each pair is judged in one order, which the file does not say:
    it is what `referenced_models` tells, else as alpaca_eval draws it, from the instruction and the seed of its annotators.
    """
    keys = create_objects(connection, path, {field: f"/{field}" for field in FIELDS}, CHECKS, table="objects")
    connection.register("drawn", _orders(connection))
    shown = "coalesce(json_extract_string(json, '/referenced_models/m'), shown_first)"  # m is the answer that is shown first
    short = f"length(instruction) <= {LONGEST_ITEM}"
    columns = {
        "judge": "annotator", "model_a": "generator_1", "model_b": "generator_2",
        "failure": f"case when {MISSING} then 'no preference' end",
        "item": f"case when {short} then instruction else left(instruction, 60) || '... #' || left(md5(instruction), 8) end",
        "order": f"case {shown} when 'output_1' then 'ab' else 'ba' end",
        "outcome": f"""case when {MISSING} then 'error' when {NUMBER} in (0, 1.5) then 'tie'
                            when {NUMBER} < 1.5 then 'a' else 'b' end""",
        "length_a": WORD_COUNT.format("output_1"), "length_b": WORD_COUNT.format("output_2"),
    }  # fmt: skip
    used = {"annotator", "generator_1", "generator_2"}
    kept = kept_fields((key for key in keys if key not in used), VERDICT_COLUMNS)
    source = "(select * from objects join drawn using (instruction))"
    named = {"judge": "annotator", "model_a": "generator_1", "model_b": "generator_2", "outcome": "preference"}
    return Rows(selected(columns, VERDICT_COLUMNS, kept, source), named, tuple(kept))


def _orders(connection: duckdb.DuckDBPyConnection) -> dict[str, np.ndarray]:
    """For each instruction, which output its judge was shown first.

    Source: alpaca_eval, processors.RandomSwitchTwoColumnsProcessor: random.Random(column + instruction + seed) chooses whether
    the two are switched.
    """
    found = connection.execute("select distinct instruction from objects order by instruction").fetchall()
    switched = [random.Random(f"is_switched_outputs{text}{SEED}").choices([False, True], k=1)[0] for (text,) in found]
    first = ["output_2" if turned else "output_1" for turned in switched]
    return {"instruction": np.array([text for (text,) in found], dtype=object), "shown_first": np.array(first, dtype=object)}
