"""Completion lengths made comparable: the covariate of length control, in each way that paper and code normalise it.

Judges in the humans' place: the reference of a row is what the judges of another family gave its completion.
"""

from recuse.base.database import text
from recuse.data.levels import Levels

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


REFERENCE_FAMILY = "reference_family"  # the factor that tells the references apart


def with_family_references(ratings: str, levels: Levels) -> str:
    """SQL for the rows of `ratings` (SQL), each once for every family of judges but its own, the column `reference_family`.

    gt and gt_unit are then the mean rating of that family's judges in `ratings` for the completion (dimension, dataset, prompt,
    model), raw and on the unit scale; a completion that none of them rated is left out. levels: what the codes of `ratings`
    stand for. Source: Play Favorites (arXiv 2508.06709), section 6.2.
    """
    # Codes and enumerated names, of which groups are made faster than of texts: a completion is the group without its judge.
    judge = levels.sql_place("judge")
    families = ", ".join(map(text, levels.judge_family))
    kind = f"enum({', '.join(map(text, dict.fromkeys(levels.judge_family)))})"
    return f"""
        with rated as (select *, {levels.sql_without("judge")} as completion, ([{families}]::{kind}[])[1 + {judge}] as family
                       from ({ratings})),
             judged as (select prompt, completion, family as {REFERENCE_FAMILY}, avg(rating) as mean from rated group by all)
        select rated.* exclude (gt, gt_unit, completion, family), {REFERENCE_FAMILY},
               mean as gt, (mean - scale_low) / (scale_high - scale_low) as gt_unit
        from rated join judged using (prompt, completion) where family <> {REFERENCE_FAMILY}"""
