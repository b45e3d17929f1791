"""Single judge x model cells beside what the placebo cells let one expect of them: what estimand C compares."""

from collections.abc import Iterator

from judgebias.fits.estimands import C
from judgebias.fits.present_terms import NO_SLICE
from judgebias.fits.spec import Spec
from judgebias.fits.wald import quantile
from judgebias.inference.cell_means import cell_means
from judgebias.inference.placebo import PlaceboDesign
from judgebias.ratings.study import Study


def taste_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the table of tastes of a least-squares spec: a cell each, of its slices and covariates.

    residual: the cell's mean less a_j + c_m of the additive fit to the placebo cells, points of the unit scale; for a placebo
    cell, of the fit to the others. std_error: that of such a prediction, s sqrt(1 + x'(X'X)^-1 x), with the X of that fit and
    the s of the fit to all. The residual of a cell without bias is between -band and band with probability `confidence`, by t
    with df.
    """
    for label, moments in study.slices(spec):
        where = {"study": study.name, "spec": spec.name, "slice": label, "estimand": C}
        if not len(moments.n):
            yield {**where, "reason": NO_SLICE}
            continue
        cells = cell_means(moments, reference=study.has_human_scores)
        design = PlaceboDesign(cells, seed=0, draws=0)
        spread = design.spread(cells.mean)
        names = zip(cells.judge, cells.model, cells.relation, cells.n, strict=True)
        for place, (judge, model, relation, n) in enumerate(names):
            row = {**where, "judge": judge, "model": model, "relation": relation, "n": round(n)}
            target = design.of_cell(place)
            if target.reason:
                yield {**row, "reason": target.reason}
                continue
            error = spread * float((target.contrast @ target.contrast) ** 0.5)
            numbers = {"residual": float(target.contrast @ cells.mean), "std_error": error, "df": design.df}
            yield {**row, **numbers, "band": quantile(confidence, design.df) * error}
        for judge, reason in cells.without_slope.items():
            yield {**where, "judge": judge, "reason": reason}
