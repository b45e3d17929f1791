"""The rows of a study that are fitted, their slices, and their covariates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recuse.base.database import files, text
from recuse.data.cells import Factors, Levels

# A spec's `length` -> the columns that identify the set over which mean and standard deviation (n -
# 1) are taken, and whether a completion counts once in it or once per row. Then x = tanh((length -
# mean) / sd).
NORMALISATIONS = {
    # The completions of the prompt (Play Favorites, section 6.2)
    "prompt": (["dimension", "prompt"], True),
    # Every row of the prompt, all judges and dimensions (its published code)
    "prompt_rows": (["prompt"], False),
    # All completions of the study (the alternative that section 6.2 mentions)
    "global": ([], True),
}
REFERENCE_FAMILY = "reference_family"  # the factor of references that are mean ratings of families
DROPPED = "models_dropped"  # the one key of a subset that is not a factor


@dataclass(frozen=True)
class Selection:
    """Rows of a study, in slices; all rows in one slice by default.

    slice: each dimension, dataset or task type alone, or each model left out in turn
    (model_dropped), as judge and as model, or each judge (judge_dropped), whose answers stay.
    whole: also all rows together.
    subset: keep only these values of a factor (dimension, dataset, task_type); `models_dropped` are
    left out as judge and as model. All else is computed from the rows that are kept.
    length: its normalisation (one of NORMALISATIONS), over all slices together.
    reference: the mean rating of each family's judges in turn, instead of the human score. The
    family's judges are left out, and under `family` its completions as well.
    absorb: `completion` splits completions (dimension, prompt, occasion and model) by the judges
    that rated them.
    asked: (column, value) of the one wording, or replicate, that is kept.
    """

    slice: str | None = None
    whole: bool = False
    subset: Mapping[str, Sequence[str]] = field(default_factory=dict)
    length: str | None = None
    reference: str | None = None
    absorb: str | None = None
    asked: tuple[str, str] | None = None

    def absent_from(self, factors: Factors) -> dict[str, list[str]]:
        """The values in the subset that a study does not have, by key of the subset."""
        columns = {key: factors["model" if key == DROPPED else key] for key in self.subset}
        missing = {
            key: [value for value in values if value not in columns[key]]
            for key, values in self.subset.items()
        }
        return {key: values for key, values in missing.items() if values}

    def rows(self, ratings: Sequence[str], *, prompts: tuple[int, int] | None = None) -> str:
        """SQL for the rows of the subset, of the canonical ratings (parquet files); prompts: the
        first and the last code.
        """
        conditions = [] if prompts is None else [f"prompt between {prompts[0]} and {prompts[1]}"]
        conditions += [] if self.asked is None else [f"{self.asked[0]} = {text(self.asked[1])}"]
        for key, values in self.subset.items():
            chosen = f"({', '.join(map(text, values))})"
            conditions.append(
                f"judge not in {chosen} and model not in {chosen}"
                if key == DROPPED
                else f"{key} in {chosen}"
            )
        return f"select * from {files(ratings)} where {' and '.join(conditions or ['true'])}"

    def slices(self, factors: Factors) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (label, mask over the entries of `factors`) of each slice: the whole first, with
        label "", then by alphabet.

        With a reference, the slices are the families in `factors` that are the reference of each
        entry.
        """
        kept = np.ones(len(factors["judge"]), dtype=bool)
        for key, values in self.subset.items():
            kept &= _without(factors, values) if key == DROPPED else np.isin(factors[key], values)
        if self.reference is not None:
            family = factors[REFERENCE_FAMILY]
            kept &= (self.reference != "family") | (factors["model_family"] != family)
            yield from ((str(level), kept & (family == level)) for level in np.unique(family))
            return
        if self.slice is None or self.whole:
            yield "", kept
        if self.slice == "model_dropped":
            for model in np.unique(factors["model"][kept]):
                yield str(model), kept & _without(factors, [model])
        elif self.slice == "judge_dropped":
            for judge in np.unique(factors["judge"][kept]):
                yield str(judge), kept & (factors["judge"] != judge)
        elif self.slice is not None:
            for level in np.unique(factors[self.slice][kept]):
                yield str(level), kept & (factors[self.slice] == level)


def _without(factors: Factors, models: Sequence[str]) -> np.ndarray:
    return ~np.isin(factors["judge"], models) & ~np.isin(factors["model"], models)


EVERY_ROW = Selection()


def with_normalised_length(ratings: str, normalisation: str, *, sets: str | None = None) -> str:
    """SQL for the rows of `ratings` (SQL) that have a length, with a column `x` = tanh((length -
    mean) / sd), in (-1, 1).

    A set of equal lengths gives x = 0. sets: SQL for mean and sd, as by `length_sets`, if they are
    taken over more than `ratings`.
    """
    keys, _ = NORMALISATIONS[normalisation]
    match = f"using ({', '.join(keys)})" if keys else "on true"
    return f"""
        with rows as (select * from ({ratings}) where length is not null),
             sets as ({sets or length_sets("select * from rows", normalisation)})
        select rows.*, case when sd > 1e-9 then tanh((length - mean) / sd) else 0 end as x from rows join sets {match}"""


def length_sets(ratings: str, normalisation: str) -> str:
    """SQL for mean and sd of the lengths of each set of completions, with the columns that identify
    it.
    """
    keys, once = NORMALISATIONS[normalisation]
    sample = (
        f"select {'distinct dimension, prompt, model,' if once else 'dimension, prompt,'} length"
        f" from ({ratings})"
    )
    return f"""
        select {"".join(f"{key}, " for key in keys)} avg(length) as mean, stddev_samp(length) as sd
        from ({sample}) where length is not null {f"group by {', '.join(keys)}" if keys else ""}"""


def with_family_references(ratings: str, levels: Levels) -> str:
    """SQL for the rows of `ratings` (SQL), each once for every family of judges but its own, the
    column `reference_family`.

    gt and gt_unit are then the mean rating of that family's judges in `ratings` for the completion
    (dimension, dataset, prompt, occasion, model), raw and on the unit scale; a completion that none
    of them rated is left out. levels: of the codes of `ratings`. Source: Play Favorites (arXiv
    2508.06709), section 6.2.
    """
    # Grouping codes and enumerated names is faster than grouping texts: a completion is the group
    # without its judge.
    judge = levels.sql_place("judge")
    families = ", ".join(map(text, levels.judge_family))
    kind = f"enum({', '.join(map(text, dict.fromkeys(levels.judge_family)))})"
    return f"""
        with rated as (select *, {levels.sql_without("judge")} as completion, ([{families}]::{kind}[])[1 + {judge}] as family
                       from ({ratings})),
             judged as (select prompt, occasion_code, completion, family as {REFERENCE_FAMILY}, avg(rating) as mean
                        from rated group by all)
        select rated.* exclude (gt, gt_unit, completion, family), {REFERENCE_FAMILY},
               mean as gt, (mean - scale_low) / (scale_high - scale_low) as gt_unit
        from rated join judged using (prompt, occasion_code, completion) where family <> {REFERENCE_FAMILY}"""


def with_panel_references(ratings: str, levels: Levels, *, only_scored: bool) -> str:
    """SQL for the rows of `ratings` (SQL) whose gt and gt_unit are the mean rating of the
    completion by all judges, raw and on the unit scale; only_scored: those that have a human score.
    """
    completion = f"prompt, occasion_code, {levels.sql_without('judge')}"
    return f"""
        select * exclude (panel) replace (
          scale_low + panel * (scale_high - scale_low) as gt, panel as gt_unit)
        from (select *, avg(rating_unit) over (partition by {completion}) as panel from ({ratings}))
        {"where gt is not null" if only_scored else ""}"""
