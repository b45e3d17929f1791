"""Planted against recovered: do the tables of simulated comparisons give back the biases that they were drawn with?"""

from collections.abc import Iterator, Mapping, Sequence

from judgebias.comparisons.random_thresholds import CLOSED_FORM

VERBOSITY_BIAS = "verbosity_bias"  # first word of these quantities; the order rule and the treatment of draws follow
ROUNDING = 1e-9  # of a planted value at an end of its interval, as 0 and 1 are
Rows = Sequence[Mapping[str, str]]
Key = tuple[str, ...]


def recovery_of_biases(
    planted: Rows, *, verbosity: Rows = (), position: Rows = (), cognitive_biases: Rows = (), asr: Rows = ()
) -> Iterator[dict]:
    """Yield the rows of schemas.RECOVERY: each planted value beside what the table of its name found, texts as in the files.

    estimate with its interval; n: the comparisons, verdicts or samples that it is a share of; inside: `yes` where the interval
    holds the planted value, `no` where it does not, empty where the table has no such value or no interval. A value whose table
    is not given has no row.
    """
    found = {}
    for row in verbosity:
        n = int(row["n_shorter"]) + int(row["n_longer"])
        quantity = f"{VERBOSITY_BIAS} {row['order']} {row['draws']}"
        found["verbosity", row["experiment"], row["condition"], row["judge"], quantity] = _found(row, "verbosity_bias", n)
    for row in position:
        key = "position", row["experiment"], row["condition"], row["judge"], row["statistic"]
        found[key] = _found(row, "value", row["n"])
    for row in cognitive_biases:
        found["cognitive_biases", row["experiment"], row["judge"], row["bias"]] = _found(row, "share", row["n"])
    for row in asr:
        names = [row[name] for name in ("experiment", "condition", "judge", "model_b")]
        found["asr", *names] = _found(row, "asr", row["n"])
    given = {key[0] for key in found}
    for row in planted:
        key = _key(row)
        if key[0] in given:
            yield {**row, "planted": float(row["planted"]), **_compared(float(row["planted"]), found.get(key))}


def _key(row: Mapping[str, str]) -> Key:
    """The table that a planted value is in, and its row there."""
    quantity = row["quantity"]
    if quantity == "asr":
        return ("asr", *(row[name] for name in ("experiment", "condition", "judge", "model_b")))
    if quantity in CLOSED_FORM:
        return "cognitive_biases", row["experiment"], row["judge"], quantity
    table = "verbosity" if quantity.startswith(VERBOSITY_BIAS) else "position"
    return table, row["experiment"], row["condition"], row["judge"], quantity


def _found(row: Mapping[str, str], column: str, n: str | int) -> dict:
    numbers = {"estimate": row[column], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
    return {name: float(value) if value else None for name, value in numbers.items()} | {"n": int(n)}


def _compared(planted: float, found: Mapping | None) -> dict:
    if found is None or found["ci_low"] is None:
        return dict(found or {})
    inside = found["ci_low"] - ROUNDING <= planted <= found["ci_high"] + ROUNDING
    return {**found, "inside": "yes" if inside else "no"}
