"""The mixed model of the judge x model table against a dense twin, finite differences and
statsmodels.
"""

from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
import pytest
import yaml
from numpy.random import default_rng
from scipy.linalg import null_space

from recuse.inference import mixed
from recuse.inference.idiosyncrasy import (
    Idiosyncrasy,
    idiosyncrasy_rows,
    pooled_rows,
    residual_rows,
)
from recuse.inference.judge_model import CellMeans
from recuse.inference.mixed import CellTable, ContrastErrors, MixedFit, pooled


def cells_from(judges, models, families, *, variance=1e-4, prompts=100, kept=None):
    """The judge x model cells of some names, all means 0; families: name -> family. kept: (judges x
    models,) of bool.
    """
    judge, model = (names.ravel() for names in np.meshgrid(judges, models, indexing="ij"))
    kept = np.ones(len(judge), dtype=bool) if kept is None else kept
    judge = judge[kept]
    model = model[kept]
    family = np.vectorize(families.get)
    whole = np.ones(len(judge))
    return CellMeans(
        judge,
        model,
        family(judge),
        family(model),
        0 * whole,
        prompts * whole,
        variance=variance * whole,
        prompts=prompts * whole,
    )


def test_a_single_judge_links_models():
    """x rates m0 and m1, y m1 and m2, z m3 alone."""
    models = ["m0", "m1", "m2", "m3"]
    kept = np.array([1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1], dtype=bool)
    names = ["x", "y", "z", *models]
    cells = cells_from(["x", "y", "z"], models, dict(zip(names, names, strict=True)), kept=kept)
    linked = CellTable.of(cells).linked_models
    assert linked.astype(int).tolist() == [[1, 1, 1, 0]] * 3 + [[0, 0, 0, 1]]


@pytest.fixture(params=[mixed.DENSE, 0], ids=["dense", "sparse"])
def _matrices(request, monkeypatch):
    """Matrices of small tables dense, as they are, and sparse, as those of large ones."""
    monkeypatch.setattr(mixed, "DENSE", request.param)


def drawn(seed):
    """A random table and its means: families of one to three models, a judge that is no model,
    missing cells.
    """
    generator = default_rng(seed)
    sizes = generator.permutation([3, 2, 2, 1])
    models = [f"m{number}" for number in range(8)]
    families = dict(zip(models, np.repeat(["f0", "f1", "f2", "f3"], sizes), strict=True))
    families |= {"x": "f1", "y": "f9"}
    judges = [*generator.choice(models, 6, replace=False), "x", "y"]
    cells = cells_from(judges, models, families, kept=generator.random(64) > 0.12)
    cells = replace(cells, variance=0.02**2 * generator.uniform(0.1, 0.5, len(cells.n)))
    table = CellTable.of(cells)
    c = generator.normal(size=20) * 0.05
    own = 0.02 * np.exp(0.5 * generator.normal(size=20))[table.judge]
    level = (
        generator.normal(size=20)[table.judge]
        + (1 + 0.3 * generator.normal(size=20))[table.judge] * c[table.model]
    )
    shared = generator.normal(size=(20, 9))[table.judge, table.model_family]
    noise = np.sqrt(table.sampling) * generator.normal(size=len(level))
    return table, level + own * (generator.normal(size=len(level)) + 0.6 * shared) + noise


class Twin:
    """The model of a fit with one matrix for all cells, its likelihood by error contrasts."""

    def __init__(self, fit, mean):
        self.table, self.slope, self.mean = fit.table, fit.slope, mean
        self.fitted = ~self.table.is_self
        self.x = self.table.effects
        self.contrasts = null_space(self.x[self.fitted].T)  # (fitted, fitted - rank)
        self.judge = np.searchsorted(self.table.judges, self.table.judge)
        names = ("judge", "judge_family", "model", "model_family")
        codes = (getattr(self.table, name) for name in names)
        judge, judges, model, models = (each[:, None] == each for each in codes)
        parts = np.stack([judge & model, judge & models, judges & model, judges & models])
        is_shared = [part.sum() > len(mean) for part in parts[1:3]]
        used = np.flatnonzero([True, *is_shared, all(is_shared)])
        self.parts = parts[used]
        priors = [*np.array(mixed.SHARES)[used[1:] - 1], mixed.SLOPES]
        self.prior_mean, self.prior_sd = np.transpose(priors)

    def split(self, parameters):
        """Logs of the judges' variances, and all other parameters."""
        return np.split(parameters, [len(self.table.judges)])

    def covariance(self, parameters):
        logs, others = self.split(parameters)
        spread = np.exp(logs / 2)[self.judge]
        common = np.average(self.parts, axis=0, weights=np.exp([0.0, *others[:-1]]))
        same = self.judge[:, None] == self.judge
        return (
            np.outer(spread, spread) * common
            + np.exp(others[-1]) * same * np.outer(self.slope, self.slope)
            + np.diag(self.table.sampling)
        )

    def contrast_covariance(self, parameters):
        """Covariance of the error contrasts of the fitted cells."""
        among = np.ix_(self.fitted, self.fitted)
        return self.contrasts.T @ self.covariance(parameters)[among] @ self.contrasts

    def objective(self, parameters):
        inner = self.contrast_covariance(parameters)
        left = self.contrasts.T @ self.mean[self.fitted]
        logs, others = self.split(parameters)
        prior = ((logs - logs.mean()) ** 2).sum() / mixed.SPREAD**2
        prior += (((others - self.prior_mean) / self.prior_sd) ** 2).sum()
        return 0.5 * (np.linalg.slogdet(inner)[1] + left @ np.linalg.solve(inner, left) + prior)

    def projector(self, parameters):
        """P over all cells, 0 at own ones."""
        k = np.zeros((len(self.mean), self.contrasts.shape[1]))
        k[self.fitted] = self.contrasts
        return k @ np.linalg.solve(self.contrast_covariance(parameters), k.T)

    def prediction(self, parameters, row, cells, among):
        """Weights of the means of `among` in the best linear unbiased prediction of row @ effects +
        preferences of `cells`.

        row: (terms,). cells: (cells,) weights, of those not in `among`. By the equations of
        kriging.
        """
        v = self.covariance(parameters)
        places = np.flatnonzero(among)
        x = self.x[places]
        system = np.block([[v[np.ix_(places, places)], x], [x.T, np.zeros((len(row), len(row)))]])
        right = np.concatenate([v[places] @ cells, row])
        weights = np.zeros(len(self.mean))
        weights[places] = np.linalg.lstsq(system, right, rcond=1e-13)[0][: len(places)]
        return weights

    def against_others(self, parameters, cell):
        unit = np.eye(len(self.mean))[cell]
        return unit - self.prediction(parameters, self.x[cell], unit, self.fitted & (unit == 0))

    def without_family(self, parameters, cells):
        weights = cells / cells.sum()
        row = weights @ self.x
        row[len(row) - len(self.table.families) :] = 0.0
        return weights - self.prediction(parameters, row, 0 * weights, self.fitted)

    def information(self, parameters):
        """Average information by its definition, derivatives of V by finite differences."""
        p = self.projector(parameters)
        working = self.derivatives(parameters) @ p @ self.mean
        return self.with_priors(working @ p @ working.T)

    def expected_information(self, parameters):
        working = self.projector(parameters) @ self.derivatives(parameters)
        return self.with_priors(np.einsum("pij,qji->pq", working, working))

    def with_priors(self, products):
        judges = len(self.table.judges)
        information = 0.5 * products + 1e-6 * np.eye(len(products))
        information[:judges, :judges] += (np.eye(judges) - 1 / judges) / mixed.SPREAD**2
        information[judges:, judges:] += np.diag(self.prior_sd**-2)
        return information

    def derivatives(self, parameters):
        return approx_central(self.covariance, parameters, 1e-5)


def approx_central(function, at, step):
    units = step * np.eye(len(at))
    return np.array([(function(at + unit) - function(at - unit)) / (2 * step) for unit in units])


@pytest.fixture
def exact(monkeypatch):
    """Climb until nothing is gained."""
    monkeypatch.setattr(mixed, "ENOUGH", 1e-13)
    monkeypatch.setattr(mixed, "STEPS", 400)


SEEDS = [0, pytest.param(1, marks=pytest.mark.long)]


@pytest.fixture(params=SEEDS)
def fitted(request, _matrices):
    """A random table with its means, the fit to it and its twin."""
    return fitted_once(request.param, mixed.DENSE)


@cache
def fitted_once(seed, dense):
    """The same; dense: the most cells of dense matrices, now in force."""
    table, mean = drawn(seed)
    fit = MixedFit(table, mean)
    return table, mean, fit, Twin(fit, mean)


def test_parameters_maximise_the_likelihood_of_a_dense_twin(fitted, exact):
    table, mean, *_ = fitted
    fit = MixedFit(table, mean)
    twin = Twin(fit, mean)
    assert approx_central(twin.objective, fit.parameters, 1e-4) == pytest.approx(0, abs=1e-5)
    for step in 0.1 * default_rng(0).normal(size=(5, len(fit.parameters))):
        assert twin.objective(fit.parameters + step) > twin.objective(fit.parameters)


@pytest.mark.parametrize("seed", SEEDS)
def test_use_of_the_scale_acts_on_effects_of_models_less_their_noise(seed, monkeypatch):
    """c_m about its mean, times the share of its variance that is no error of estimation: least
    squares, then of each fit.
    """
    table, mean = drawn(seed)
    models = np.unique(table.model)
    is_fitted = ~table.is_self
    x = table.effects[is_fitted]
    y = mean[is_fitted]
    centre = np.eye(len(models)) - 1 / len(models)
    places = slice(len(table.judges), len(table.judges) + len(models))

    def shrunk(effects, covariance):
        centred = centre @ effects[places]
        noise = np.trace(centre @ covariance[places, places] @ centre)
        return (centred * max(0.0, 1 - noise / (centred @ centred)))[
            np.searchsorted(models, table.model)
        ]

    effects = np.linalg.pinv(x) @ y
    variance = (y - x @ effects) @ (y - x @ effects) / (len(y) - np.linalg.matrix_rank(x))
    expected = shrunk(effects, np.linalg.pinv(x.T @ x) * variance)
    steps = mixed.RENEWALS
    for renewals in range(4):
        monkeypatch.setattr(mixed, "RENEWALS", steps[:renewals])
        fit = MixedFit(table, mean)
        assert fit.slope == pytest.approx(expected, abs=1e-9)
        v = Twin(fit, mean).covariance(fit.parameters)[np.ix_(is_fitted, is_fitted)]
        inverse = np.linalg.pinv(x.T @ np.linalg.solve(v, x))
        renewed = shrunk(inverse @ x.T @ np.linalg.solve(v, y), inverse)
        expected = (expected + renewed) / 2 if renewals else renewed


def test_gradient_and_average_information_are_those_of_finite_differences(fitted):
    _, mean, fit, _ = fitted
    generator = default_rng(0)
    centred = mean - mean.mean()
    twin = Twin(fit, centred)
    for _ in range(3):
        at = fit.parameters + 0.5 * generator.normal(size=len(fit.parameters))
        state = fit._state(at, centred)
        gradient = fit._gradient(state)
        information = fit._information(state)
        assert gradient == pytest.approx(approx_central(twin.objective, at, 1e-5), abs=1e-5)
        assert information == pytest.approx(twin.information(at), rel=1e-6, abs=1e-8)
        other = fit._state(fit.parameters, centred).objective - twin.objective(fit.parameters)
        assert state.objective - twin.objective(at) == pytest.approx(other, abs=1e-7)


def test_the_information_of_a_plan_is_the_expected_one(fitted):
    table, mean, fit, _ = fitted
    fit = MixedFit(table, plan=fit.preferences)
    expected = Twin(fit, mean).expected_information(fit.parameters)
    assert fit.information == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_contrasts_and_their_errors_are_those_of_a_dense_twin_at_the_same_parameters(fitted):
    """Kackar and Harville's term by finite differences of the contrasts, Satterthwaite's df by
    those of V.
    """
    table, _, fit, twin = fitted
    own = np.flatnonzero(table.is_self)
    families = [table.is_family & (table.judge_family == family) for family in table.families]

    def contrasts(parameters):
        rows = [twin.against_others(parameters, cell) for cell in own]
        return np.array(rows + [twin.without_family(parameters, cells) for cells in families])

    rows = contrasts(fit.parameters)
    ours = np.array(
        [fit.against_others(cell) for cell in own]
        + [fit.without_family(cells) for cells in families]
    )
    assert ours == pytest.approx(rows, abs=1e-8)
    fixed = np.array(
        [0.0 * table.is_self for _ in own] + [cells / cells.sum() for cells in families]
    )
    errors = fit.errors(ours, fixed)
    v = twin.covariance(fit.parameters)
    derivatives = twin.derivatives(fit.parameters)
    spread = np.linalg.inv(twin.information(fit.parameters))
    assert errors.at_variances == pytest.approx(rows @ v @ rows.T, rel=1e-8, abs=1e-12)
    assert errors.derivatives == pytest.approx(rows @ derivatives @ rows.T, rel=1e-6, abs=1e-11)
    moved = approx_central(contrasts, fit.parameters, 1e-4)  # (parameters, contrasts, cells)
    added = np.einsum("pq,pac,cd,qbd->ab", spread, moved, v, moved, optimize=True)
    assert errors.covariance - errors.at_variances == pytest.approx(added, rel=1e-4, abs=1e-10)
    of_judges = fit.errors(ours[: len(own)]).covariance
    assert of_judges == pytest.approx(errors.covariance[: len(own), : len(own)], rel=1e-9)
    for place, row in enumerate(rows):
        gradient = row @ derivatives @ row
        variance_as_known = row @ v @ row
        df = np.clip(
            2 * variance_as_known**2 / (gradient @ spread @ gradient), 1.0, table.additive.df
        )
        variance, ours_df = errors.of(np.eye(len(rows))[place])
        assert variance == pytest.approx(variance_as_known + added[place, place], rel=1e-5)
        assert ours_df == pytest.approx(df, rel=1e-6)
        assert fit.single_errors(ours)[place] == pytest.approx((variance_as_known, df), rel=1e-6)


def test_the_residual_of_a_cell_is_that_of_a_refit_without_it(fitted):
    table, _, fit, twin = fitted
    for cell in np.flatnonzero(~table.is_self & ~table.is_family):
        theirs = twin.against_others(fit.parameters, cell)
        assert fit.left_out(np.array([cell]))[0] == pytest.approx(theirs, abs=1e-7)


def test_what_does_not_move_a_gap(fitted):
    table, mean, fit, _ = fitted
    own = np.flatnonzero(table.is_self)

    def gaps(values, fit):
        return np.array([fit.against_others(cell) @ values for cell in own])

    base = gaps(mean, fit)
    generator = default_rng(0)
    higher = mean.copy()
    higher[own] += 1
    assert gaps(higher, MixedFit(table, higher)) == pytest.approx(base + 1, abs=1e-12)
    levels = mean + generator.normal(size=20)[table.judge]
    assert gaps(levels, MixedFit(table, levels)) == pytest.approx(base, abs=1e-7)


def test_the_model_is_that_of_statsmodels_where_it_has_one(monkeypatch, exact):
    """One spread, preferences shared by models of a family, effects that add, no sampling error; by
    restricted likelihood.
    """
    from statsmodels.api import MixedLM

    monkeypatch.setattr(mixed, "SPREAD", 1e-3)
    monkeypatch.setattr(mixed, "SHARES", ((0.0, 1e3),) * 3)
    monkeypatch.setattr(mixed, "SLOPES", (-20.0, 1e-3))
    models = [f"m{number}" for number in range(12)]
    families = {name: f"f{number // 3}" for number, name in enumerate(models)}
    judges = models[::3]
    cells = cells_from(
        [*judges, "x", "y", "z"], models, families | {"x": "x", "y": "y", "z": "z"}, variance=0.0
    )
    table = CellTable.of(cells)
    generator = default_rng(3)
    shared = generator.normal(size=(20, 20))[table.judge, table.model_family]
    mean = generator.normal(size=20)[table.judge] + generator.normal(size=len(shared)) + shared
    fit = MixedFit(table, mean)
    kept = ~table.is_self
    groups = np.strings.add(cells.judge, cells.model_family)
    design = table.effects[:, 1:]  # without the effect of one judge
    theirs = MixedLM(mean[kept], design[kept], groups[kept]).fit(reml=True)
    total = float(np.exp(fit.parameters[0]))
    share = float(1 / (1 + np.exp(-fit.parameters[len(table.judges)])))
    assert total * (1 - share) == pytest.approx(theirs.scale, rel=1e-3)
    assert total * share == pytest.approx(theirs.cov_re[0, 0], rel=1e-3)
    for cell in np.flatnonzero(table.is_self):
        expected = design[cell] @ theirs.fe_params + theirs.random_effects[groups[cell]].iloc[0]
        assert fit.against_others(cell) @ mean == pytest.approx(mean[cell] - expected, abs=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])  # without variance between them in the last
def test_the_pooled_mean_of_correlated_biases_is_generalised_least_squares(seed):
    from statsmodels.api import GLS

    generator = default_rng(seed)
    root = generator.normal(size=(7, 7))
    covariance = root @ root.T / 7 + 0.3 * np.eye(7)
    estimates = generator.normal(size=7) + np.linalg.cholesky(covariance) @ generator.normal(size=7)
    errors = ContrastErrors(
        covariance,
        covariance,
        0.1 * np.stack([covariance, covariance]),
        np.eye(2),
    )
    ours = pooled(estimates, errors)

    def fit(variance):
        return GLS(estimates, np.ones(7), covariance + variance * np.eye(7)).fit()

    whole = fit(ours.tau**2)
    assert whole.ssr == pytest.approx(6, rel=1e-8) or (ours.tau == 0 and whole.ssr <= 6)
    assert ours.mean == pytest.approx(whole.params[0], rel=1e-9)
    weights = whole.model.pinv_wexog[0] @ whole.model.cholsigmainv
    assert ours.weights == pytest.approx(weights, rel=1e-9)
    assert ours.std_error**2 == pytest.approx(whole.normalized_cov_params[0, 0], rel=1e-9)
    error = ours.weights @ covariance @ ours.weights
    between = ours.tau**2 * (ours.weights**2).sum()
    # 2 error^2 over two parameters of variance 1, whose derivatives are 0.1 error
    df = error**2 / (error**2 * 0.01)
    expected_df = (error + between) ** 2 / (error**2 / df + between**2 / 6) if between else df
    assert ours.df == pytest.approx(min(expected_df, 6), rel=1e-9)


FOUR = {f"m{number}": f"f{number // 2}" for number in range(8)}
NAMES = list(FOUR)


def noise(cells, seed=1, sd=0.02):
    return sd * default_rng(seed).normal(size=len(cells.n))


DEGENERATE = """
all ratings equal: {variance: 0.0}
effects alone: {variance: 0.0}
no sampling variance: {variance: 0.0}
no variance but sampling: {}
one cell differs: {}
one judge: {judges: [m0]}
two judges: {judges: [m0, m2]}
two judges of one family: {judges: [m0, m1]}
one model: {models: [m0]}
one model of another family: {judges: [m0, m1, m2], models: [m0, m1, m2]}
one family: {judges: [m0, m1], models: [m0, m1]}
one cell: {judges: [m0], models: [m0]}
judges that are no models: {judges: [x, y]}
one prompt: {prompts: 1, variance: 0.0}
small: {variance: 1.0e-14}
large: {variance: 1.0e+4}
"""
OWN = np.eye(8, dtype=bool).ravel()
SETTINGS = yaml.safe_load(DEGENERATE) | {
    "families of one": {"families": dict(zip(NAMES, NAMES, strict=True))},
    "own cells alone": {"kept": OWN},
    "no own cells": {"kept": ~OWN},
}
# Means of cells that are no noise of the usual size
MEANS = {
    "all ratings equal": lambda cells: np.full(64, 0.5),
    "effects alone": lambda cells: np.arange(8.0)[CellTable.of(cells).judge],
    "no variance but sampling": lambda cells: noise(cells, sd=1e-7),
    "one cell differs": lambda cells: (np.arange(64) == 5) * 1.0,
    "small": lambda cells: noise(cells, sd=1e-6),
    "large": lambda cells: noise(cells, sd=1e3),
}


@pytest.mark.usefixtures("few_sweeps")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_degenerate_table_has_numbers_or_reasons(name):
    whole = {"judges": NAMES, "models": NAMES, "families": FOUR | {"x": "x", "y": "y"}}
    cells = cells_from(**whole | SETTINGS[name])
    cells = replace(cells, mean=MEANS.get(name, noise)(cells))
    each = [Idiosyncrasy({"spec": "main"}, cells)]
    tables = (idiosyncrasy_rows, pooled_rows, residual_rows)
    for row in chain.from_iterable(table(each, confidence=0.9) for table in tables):
        has_number = "std_error" in row
        assert has_number == (not row.get("reason"))
        if has_number:
            value = row.get("estimate", row.get("residual"))
            assert np.isfinite([value, row["std_error"], row["df"]]).all()
            assert row["std_error"] > 0


def test_effects_of_models_are_centred_among_those_that_cells_link():
    names = np.array([f"{part}{number}" for part in "pq" for number in range(5)])
    judge, model = np.meshgrid(names, names, indexing="ij")
    linked = (np.strings.slice(judge, 1) == np.strings.slice(model, 1)).ravel()
    cells = cells_from(names, names, {name: name for name in names}, kept=linked)
    quality = default_rng(2).normal(size=len(names))[np.searchsorted(names, cells.model)]
    mean = noise(cells) + quality + 5.0 * np.strings.startswith(cells.judge, "q")
    slope = MixedFit(CellTable.of(cells), mean).slope
    assert slope.any()
    for part in "pq":
        assert abs(slope[np.strings.startswith(cells.model, part)].mean()) < 1e-12
