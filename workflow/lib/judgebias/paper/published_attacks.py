"""The tables of Chen et al., Humans or LLMs as the Judge?, as rows with the names that votes on their samples have."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from judgebias.tables import read_table

AUTHOR = "GPT-4"  # of the answers where the tables do not say (section 4.2)
MAIN = "perturbations"  # the experiment of Tables 1 and 6
Rows = Sequence[Mapping[str, str]]


def read_attacks(path: str) -> list[dict[str, str]]:
    """Read the published values: texts of table, experiment, condition, model_a, model_b, judge, column, quantity and value.

    Two answers of one model are told apart as `second_answer` says; answers of Table 1 are GPT-4's. model_b is empty in
    Table 7, which averages over three models.
    """
    rows = read_table(path)
    for row in rows:
        if row["quantity"] == "asr":
            row["model_a"] = row["model_a"] or AUTHOR
            row["model_b"] = second_answer(row["model_a"], row["model_b"] or AUTHOR)
    return rows


def key_of_attack(*tables: Rows) -> Callable[[Mapping[str, str]], tuple[str, ...]]:
    """Return what a row of any of `tables` of attack success rates is matched by with one of another.

    It is experiment, condition, judge, model_a and model_b. Where each table has one pair of models for an experiment and
    condition, the models are left out: there the answers may be called otherwise.
    """
    single = set.intersection(*map(_of_one_pair, tables))

    def key(row: Mapping[str, str]) -> tuple[str, ...]:
        attack = row["experiment"], row["condition"]
        return (*attack, row["judge"], *(() if attack in single else (row["model_a"], row["model_b"])))

    return key


def _of_one_pair(rows: Iterable[Mapping[str, str]]) -> set[tuple[str, str]]:
    """Experiments and conditions with one pair of models."""
    pairs: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in rows:
        pairs.setdefault((row["experiment"], row["condition"]), set()).add((row["model_a"], row["model_b"]))
    return {attack for attack, found in pairs.items() if len(found) == 1}


def second_answer(model_a: str, model_b: str) -> str:
    """Return the name of the second answer: that of its model, with `(2)` where the first is by the same one."""
    return f"{model_b} (2)" if model_a == model_b else model_b
