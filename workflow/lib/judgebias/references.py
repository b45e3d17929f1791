"""Judges in the humans' place: the reference of a row is what the judges of another family gave its completion."""

from judgebias.database import text


def with_family_reference(ratings: str, family: str) -> str:
    """SQL for the rows of `ratings` (SQL) by judges of other families, with the mean rating of the family's judges for gt.

    gt and gt_unit are then the mean over the family's judges in `ratings` for a completion (dimension, dataset, prompt, model),
    raw and on the unit scale; a completion that none of them rated is left out. Source: Play Favorites (arXiv 2508.06709),
    section 6.2.
    """
    return f"""
        with rated as ({ratings}),
             judged as (select dimension, dataset, prompt_id, model, avg(rating) as mean
                        from rated where judge_family = {text(family)} group by all)
        select rated.* exclude (gt, gt_unit), mean as gt, (mean - scale_low) / (scale_high - scale_low) as gt_unit
        from rated join judged using (dimension, dataset, prompt_id, model) where judge_family <> {text(family)}"""
