"""The ratings of a study with the estimated self- and family-bias taken off, row by row."""

from collections.abc import Iterable, Mapping

from judgebias.database import connect, create_table, text
from judgebias.fits.spec import BIASES, Spec
from judgebias.ratings.study import Study

KEYS = ("dimension", "dataset", "prompt_id", "judge", "model")


def write_debiased(spec: Spec, study: Study, estimates: Iterable[Mapping[str, str]], path: str) -> None:
    """Write a parquet file of the rows of the spec: KEYS, rating_unit, bias and debiased_unit = rating_unit - bias.

    bias is the estimate of the judge's self_bias on its own completions, of the family's family_bias on those of the family's
    other models, 0 on the rest, on the unit scale; NULL, and so the debiased rating, where a term of the row is not determined.
    A debiased rating may leave the scale. Rows are in the order of the canonical ratings.

    estimates: rows of tables of estimates, of which those of the spec count, of the fit to all rows together (slice "").
    """
    own = [row for row in estimates if (row["spec"], row["slice"]) == (spec.name, "")]
    found = {
        quantity: [
            (row["term"], float(row["estimate"]) if row["estimate"] else None) for row in own if row["quantity"] == quantity
        ]
        for quantity in BIASES
    }
    connection = connect()
    for quantity, values in found.items():
        create_table(connection, quantity, "term varchar, bias double", values)
    bias = """case when model::varchar = judge::varchar then if(self_bias.term is null, 0, self_bias.bias)
                   when model_family::varchar = judge_family::varchar then if(family_bias.term is null, 0, family_bias.bias)
                   else 0 end"""
    rows = f"""select {", ".join(KEYS)}, rating_unit, {bias} as bias
               from ({spec.rows(study.ratings)}) left join self_bias on self_bias.term = judge::varchar
               left join family_bias on family_bias.term = judge_family::varchar"""
    connection.execute(
        f"copy (select *, rating_unit - bias as debiased_unit from ({rows})) to {text(path)} (format parquet, compression zstd)"
    )
