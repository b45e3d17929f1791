"""Completion lengths made comparable: the covariate of length control, in each way that paper and code normalise it."""

# A spec's `length` -> the columns that mark the set over which mean and standard deviation (n - 1) are taken, and whether a
# completion counts once in it or once per row. Then x = tanh((length - mean) / sd).
NORMALISATIONS = {
    "prompt": (["dimension", "prompt"], True),  # the completions of the prompt (Play Favorites, section 6.2)
    "prompt_rows": (["prompt"], False),  # every row of the prompt, all judges and dimensions (its published code)
    "global": ([], True),  # all completions of the study (the alternative that section 6.2 mentions)
}


def with_normalised_length(ratings: str, normalisation: str, *, sets: str | None = None) -> str:
    """SQL for the rows of `ratings` (SQL) that have a length, with a column `x` = tanh((length - mean) / sd), in (-1, 1).

    A set with one length only, or with equal lengths, gives x = 0: in it, no completion is longer than another. sets: SQL for
    mean and sd, in the form of `length_sets`, where `ratings` is not all that they are taken over.
    """
    keys, _ = NORMALISATIONS[normalisation]
    match = f"using ({', '.join(keys)})" if keys else "on true"
    return f"""
        with known as (select * from ({ratings}) where length is not null),
             sets as ({sets or length_sets("select * from known", normalisation)})
        select known.*, case when sd > 1e-9 then tanh((length - mean) / sd) else 0 end as x from known join sets {match}"""


def length_sets(ratings: str, normalisation: str) -> str:
    """SQL for mean and sd of the lengths of each set of completions, beside the columns that mark it."""
    keys, once = NORMALISATIONS[normalisation]
    sample = f"select {'distinct dimension, prompt, model,' if once else 'dimension, prompt,'} length from ({ratings})"
    return f"""
        select {"".join(f"{key}, " for key in keys)} avg(length) as mean, stddev_samp(length) as sd
        from ({sample}) where length is not null {f"group by {', '.join(keys)}" if keys else ""}"""
