"""Judges in the humans' place: the reference of a row is what the judges of another family gave its completion."""

REFERENCE_FAMILY = "reference_family"  # the factor that tells the references apart


def with_family_references(ratings: str) -> str:
    """SQL for the rows of `ratings` (SQL), each once for every family of judges but its own, the column `reference_family`.

    gt and gt_unit are then the mean rating of that family's judges in `ratings` for the completion (dimension, dataset, prompt,
    model), raw and on the unit scale; a completion that none of them rated is left out. Source: Play Favorites
    (arXiv 2508.06709), section 6.2.
    """
    return f"""
        with rated as ({ratings}),
             judged as (select dimension, dataset, prompt, model, judge_family as {REFERENCE_FAMILY}, avg(rating) as mean
                        from rated group by all)
        select rated.* exclude (gt, gt_unit), {REFERENCE_FAMILY},
               mean as gt, (mean - scale_low) / (scale_high - scale_low) as gt_unit
        from rated join judged using (dimension, dataset, prompt, model) where judge_family <> {REFERENCE_FAMILY}"""
