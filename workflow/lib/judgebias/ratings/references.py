"""Judges in the humans' place: the reference of a row is what the judges of another family gave its completion."""

from judgebias.database import text
from judgebias.ratings.codes import Levels

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
