"""Leaderboards: scores of models before and after the estimated self- and family-bias is taken off, and their ranks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judgebias.errors import ConfigError
from judgebias.fits.clusters import FEW
from judgebias.fits.estimands import estimand_of
from judgebias.fits.fit import Coefficient, fit_slice
from judgebias.fits.prompt_errors import prompt_errors
from judgebias.fits.spec import BIASES, Spec
from judgebias.inference.additive_scores import score_weights_of_pairs
from judgebias.inference.few_prompts import tail
from judgebias.inference.pair_means import Pairs, resampled_means
from judgebias.inference.rank_sets import SAME, rank_sets, ranks
from judgebias.inference.words import DEBIASED, HUMAN, RAW, WITHOUT_FAMILY, WITHOUT_SELF
from judgebias.ratings.moments import Moments
from judgebias.ratings.study import Study

NO_CHAIN = "not estimable: the judges that are left do not compare this model with the others"
NO_SPREAD = "no interval: all rows are of one prompt, or too few resamples determine every score"
FEW_PROMPTS = "{prompts} prompts, fewer than {few}: intervals and sets of ranks may be too small, also with the t distribution"


def leaderboards(spec: Spec, study: Study, *, replicates: int, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the leaderboard table: for each slice of the spec with a term, kind of score and model.

    The score of a model is the mean over judges of the mean over rows, on the unit scale, in the pairs of judge and model that
    the kind keeps (see additive_scores for pairs that are left out, and so is one whose bias the rows do not determine):
      raw               rating
      debiased          rating - self_bias_j 1[m == j] - family_bias_F 1[m of the judge's family F, not the judge], of the spec
      leave_self_out    rating, without judges' ratings of themselves
      leave_family_out  rating, without judges' ratings of their families
      human             human score, if the study has any
    Intervals are quantiles over a bootstrap by prompt that refits the spec and takes the means in the same resamples, so that
    they carry what is unsure of the biases; `few_prompts.tail` of the replicates is beyond each end. std_error is their
    standard deviation (n - 1) times sqrt(P / (P - 1)), of P prompts. Replicates that do not determine every score are left out
    and counted. `change` is score - raw score, empty for the raw ones. Ranks and their sets: see rank_sets; a model without
    score has none. What is taken off is all that the spec calls bias: under estimand A also what errors of the human scores put
    in (see noisy_reference).

    Raises ConfigError for a spec without terms of bias.
    """
    if spec.estimator != "least_squares" or not estimand_of(spec):
        raise ConfigError(
            f"config: specs: {spec.name}: it estimates no self- or family-bias by least squares that could be taken off the "
            "ratings; write a spec with the terms self and same_family"
        )
    drawing = replace(spec, bootstrap=replicates)
    errors = prompt_errors(drawing, study, seed=seed)
    resampled = resampled_means(spec, study, replicates=replicates, seed=seed)
    for (label, rows), of_prompts, means in zip(study.slices(spec), errors, resampled, strict=True):
        if of_prompts is None:
            continue
        pairs = Pairs.of(rows)
        drawn = means if of_prompts.replicates is not None else means[:0]
        values, human = np.concatenate([pairs.means(rows)[None], drawn]).swapaxes(0, 1)
        human = human if study.has_human_scores else None
        fitted = fit_slice(drawing, label, rows, of_prompts)
        bias = _biases(spec, rows, pairs, fitted.coefficients, len(drawn))
        about = {"human": human, "prompts": of_prompts.clusters.prompts, "confidence": confidence}
        for row in leaderboard(pairs, values, bias, _family(rows, pairs), **about):
            estimand = estimand_of(spec) if row["scores"] == DEBIASED else ""
            yield {"study": study.name, "spec": spec.name, "slice": label, "estimand": estimand, **row}


def leaderboard(
    pairs: Pairs,
    means: np.ndarray,
    bias: np.ndarray,
    family: np.ndarray,
    *,
    human: np.ndarray | None,
    prompts: int,
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of one slice.

    means: (1 + replicates, J, M) of the ratings, of all rows first; bias: the same shape, what is to be taken off; human: the
    same of the human scores, None without any; family: (J, M) of bool, the model is of the judge's family (or the judge);
    prompts: how many the slice has.
    """
    there = ~np.isnan(means[0])
    own = pairs.judges[:, None] == pairs.models
    kinds = {
        RAW: (means, there),
        DEBIASED: (means - bias, there & ~np.isnan(bias[0])),
        WITHOUT_SELF: (means, there & ~own),
        WITHOUT_FAMILY: (means, there & ~own & ~family),
    } | ({} if human is None else {HUMAN: (human, there)})
    raw = None
    for kind, (values, kept) in kinds.items():
        scores = _scores(values, kept)
        raw = scores if raw is None else raw
        judges = kept.sum(axis=0)
        for place, row in enumerate(_rows(kind, scores, raw, prompts, confidence)):
            yield {"scores": kind, "model": str(pairs.models[place]), "judges": int(judges[place]), **row}


def _biases(spec: Spec, rows: Moments, pairs: Pairs, coefficients: list[Coefficient], replicates: int) -> np.ndarray:
    """What the spec's fit takes off each pair, in all rows and in each replicate: (1 + replicates, J, M)."""
    found = np.zeros((1 + replicates, *pairs.shape))
    flat = found.reshape(1 + replicates, -1)
    fitted = {(each.quantity, each.term): each for each in coefficients}
    for term in spec.terms_of(rows.factors):
        if term.quantity in BIASES and term.carried.any():
            coefficient = fitted[term.quantity, term.term]
            drawn = coefficient.replicates if replicates else np.empty(0)
            flat[:, np.unique(pairs.pair[term.carried])] = np.append(coefficient.estimate, drawn)[:, None]
    return found


def _family(rows: Moments, pairs: Pairs) -> np.ndarray:
    """Pairs of one family, (J, M) of bool."""
    found = np.zeros(np.prod(pairs.shape), dtype=bool)
    found[pairs.pair[rows.factors["judge_family"] == rows.factors["model_family"]]] = True
    return found.reshape(pairs.shape)


def _scores(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Scores of the models, (1 + replicates, M); NaN where they are not determined."""
    if not kept.any():
        return np.full((len(values), kept.shape[1]), np.nan)
    weights = score_weights_of_pairs(kept)[:, kept]
    return values[:, kept] @ weights.T


def _rows(kind: str, scores: np.ndarray, raw: np.ndarray, prompts: int, confidence: float) -> Iterator[dict]:
    """Yield what is said of the scores of each model, (1 + replicates, models)."""
    known = ~np.isnan(scores[0])
    found = _rows_of_known(kind, scores[:, known], raw[:, known], prompts, confidence)
    yield from (next(found) if has else {"note": NO_CHAIN} for has in known)


def _rows_of_known(kind: str, scores: np.ndarray, raw: np.ndarray, prompts: int, confidence: float) -> Iterator[dict]:
    changes = scores - raw
    changes[np.abs(changes) < SAME] = 0.0
    determined = ~np.isnan(changes).any(axis=1)  # of a raw score, too, where the other lacks the pair that is lost
    drawn = np.flatnonzero(determined[1:]) + 1
    enough = len(drawn) > 1 and scores.shape[1] > 0
    sets = rank_sets(scores[0], scores[drawn], prompts=prompts, confidence=confidence) if enough else ()
    share = tail(confidence, prompts) if enough else 0.0
    for number, rank in enumerate(ranks(scores[0])):
        row = {"score": float(scores[0, number]), "rank": int(rank)}
        if kind != RAW:
            row["change"] = float(changes[0, number])
        if not enough:
            yield row | {"note": NO_SPREAD}
            continue
        error = scores[drawn, number].std(ddof=1) * np.sqrt(prompts / (prompts - 1))
        row |= {"std_error": float(error), "replicates": len(drawn)}
        row |= _ends("", scores[drawn, number], share)
        row |= {end: int(of_set[number]) for end, of_set in zip(("rank_low", "rank_high"), sets, strict=True)}
        row |= {} if kind == RAW else _ends("change_", changes[drawn, number], share)
        yield row | ({"note": FEW_PROMPTS.format(prompts=prompts, few=FEW)} if prompts < FEW else {})


def _ends(prefix: str, values: np.ndarray, share: float) -> dict:
    """The interval that leaves so much of the values out at either end."""
    low, high = np.quantile(values, [share, 1 - share])
    return {f"{prefix}ci_low": float(low), f"{prefix}ci_high": float(high)}
