"""Estimand C's mixed model by NUTS in NumPyro, with the same covariance and priors, beside the project's own fit.

    python -m venv numpyro && numpyro/bin/pip install . numpyro
    numpyro/bin/python tests/engine_numpyro.py [results/play_favorites_2d]

on ten simulated tables and that of the study. NumPyro is no requirement of the project, and pytest does not collect the script.
The sampler integrates over all variances, of which the project's fit plugs in estimates; and, unless they are `given`, over the
effects of models on which use of the scale acts.
"""

import sys
from types import SimpleNamespace

import numpy as np
from scipy.linalg import null_space
from scipy.stats import t

from recuse.data.study import Study
from recuse.inference import mixed
from recuse.inference.judge_model import tables_of_slices
from recuse.inference.mixed import MixedFit, Table, pooled
from recuse.model.spec import Spec

WARMUP, DRAWS, CONFIDENCE, MOST_TAU = 150, 150, 0.9, 0.2
AS_MEASURED = (0.009, 0.010, 0.012, 0.013, 0.014, 0.015, 0.016, 0.018, 0.031)
WORLDS = {  # of 9 judges and models of 4 families: sd of preferences, of those shared by families, of c_m; range of b_j
    "preferences": {},
    "preferences as measured": {"spread": AS_MEASURED},
    "models differ": {"effects": 0.05},
    "use of the scale 0.4 to 1.6": {"effects": 0.05, "use": (0.4, 1.6)},
    "shared by families": {"effects": 0.05, "shared": 0.015},
}


def simulated(seed, *, spread=0.018, noise=0.0102, effects=0.0, use=(1.0, 1.0), shared=0.0, bias=0.03):
    """A table and its means: every judge favours itself by `bias`; shared: by judge x family and family x model alike."""
    generator = np.random.default_rng(seed)
    family = np.repeat(np.arange(4), (3, 2, 2, 2))
    judge, model = (index.ravel() for index in np.indices((9, 9)))
    table = Table(judge, model, family[judge], family[model], np.full(81, noise**2))
    c, b = effects * generator.normal(size=9), np.linspace(*use, 9)
    mean = 0.1 * generator.normal(size=9)[judge] + b[judge] * c[model] + bias * table.is_self
    mean += np.broadcast_to(spread, 9)[judge] * generator.normal(size=81) + noise * generator.normal(size=81)
    mean += shared * (generator.normal(size=(9, 4))[judge, family[model]] + generator.normal(size=(4, 9))[family[judge], model])
    return table, mean


def parts_of(table):
    """Codes, indicators and design of a table, for the sampler."""
    judge = np.searchsorted(table.judges, table.judge)
    models, model = np.unique(table.model, return_inverse=True)
    codes = (table.judge, table.judge_family, table.model, table.model_family)
    same_judge, judges, same_model, siblings = (each[:, None] == each for each in codes)
    same = np.stack([same_judge & same_model, same_judge & siblings, judges & same_model, judges & siblings]).astype(float)
    effects = np.concatenate(
        [table.effects[:, : len(table.judges)], table.effects[:, len(table.judges) + len(models) :]], axis=1
    )
    centred = null_space(np.ones((1, len(models))))  # c_m sum to 0
    return SimpleNamespace(judge=judge, model=model, same=same, same_judge=same_judge, x=effects, centred=centred)


def sampled(table, mean, start, *, pool, given, seed=0):
    """Mean and interval of the mean of self-biases if `pool`, else of each self-bias; and the number of divergent steps."""
    import jax
    import jax.numpy as jnp
    import numpyro
    from numpyro.distributions import ImproperUniform, Normal, Uniform, constraints
    from numpyro.infer import MCMC, NUTS, init_to_value

    jax.config.update("jax_enable_x64", True)
    parts, judges = parts_of(table), len(table.judges)
    if given:
        parts.x, slope = table.effects, (parts.centred @ start["free"])[parts.model]
    x = np.concatenate([parts.x, table.is_self[:, None]], axis=1) if pool else parts.x
    fitted = np.ones(len(mean), dtype=bool) if pool else ~table.is_self
    contrasts = np.zeros((len(mean), fitted.sum() - np.linalg.matrix_rank(x[fitted])))
    contrasts[fitted] = null_space(x[fitted].T)

    def covariance(xp, logs, ratios, log_tau2, c, tau):
        spread, weights = xp.exp(logs / 2)[parts.judge], xp.exp(xp.concatenate([xp.zeros(1), ratios]))
        common = xp.tensordot(weights / weights.sum(), parts.same, 1)
        slopes = xp.exp(log_tau2) * parts.same_judge * xp.outer(c, c)
        return xp.outer(spread, spread) * common + slopes + xp.diag(table.sampling + tau**2 * table.is_self)

    def model():
        logs = numpyro.sample("logs", ImproperUniform(constraints.real_vector, (), (judges,)))
        numpyro.factor("spread", -0.5 * ((logs - logs.mean()) ** 2).sum() / mixed.SPREAD**2)
        means, sds = np.array(mixed.SHARES).T
        ratios = numpyro.sample("ratios", Normal(means, sds).to_event(1))
        log_tau2 = numpyro.sample("log_tau2", Normal(*mixed.SLOPES))
        if not given:
            free = numpyro.sample("free", ImproperUniform(constraints.real_vector, (), (parts.centred.shape[1],)))
        tau = numpyro.sample("tau", Uniform(0.0, MOST_TAU)) if pool else 0.0
        c = slope if given else (parts.centred @ free)[parts.model]
        root = jnp.linalg.cholesky(contrasts.T @ covariance(jnp, logs, ratios, log_tau2, c, tau) @ contrasts)
        left = jax.scipy.linalg.solve_triangular(root, contrasts.T @ (mean - c), lower=True)
        numpyro.factor("likelihood", -0.5 * left @ left - jnp.log(jnp.diag(root)).sum())

    chain = MCMC(
        NUTS(model, init_strategy=init_to_value(values=start), target_accept_prob=0.9, dense_mass=True, max_tree_depth=6),
        num_warmup=WARMUP,
        num_samples=DRAWS,
        progress_bar=False,
    )
    chain.run(jax.random.PRNGKey(seed))
    draws = {name: np.asarray(value) for name, value in chain.get_samples().items()}
    generator = np.random.default_rng(seed)
    centres, result = [], []
    for place in range(DRAWS):
        c = slope if given else (parts.centred @ draws["free"][place])[parts.model]
        at = [draws[name][place] for name in ("logs", "ratios", "log_tau2")]
        v = covariance(np, *at, c, draws["tau"][place] if pool else 0.0)
        inverse = np.linalg.inv(v[np.ix_(fitted, fitted)])
        spread = np.linalg.pinv(x[fitted].T @ inverse @ x[fitted])
        effects = spread @ x[fitted].T @ inverse @ (mean - c)[fitted]
        if pool:
            centres.append(effects[-1:])
            result.append(effects[-1:] + np.sqrt(spread[-1, -1]) * generator.normal(size=1))
            continue
        across = v[~fitted][:, fitted] @ inverse
        rows = x[~fitted] - across @ x[fitted]
        gaps = (mean - c)[~fitted] - x[~fitted] @ effects - across @ ((mean - c)[fitted] - x[fitted] @ effects)
        error = v[~fitted][:, ~fitted] - across @ v[fitted][:, ~fitted] + rows @ spread @ rows.T
        centres.append(gaps)
        result.append(generator.multivariate_normal(gaps, error))
    ends = np.quantile(result, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return np.mean(centres, axis=0), ends[1] - ends[0], int(chain.get_extra_fields()["diverging"].sum())


def compared(table, mean, seed=0):
    """Differences in units of the fit's standard error (mean, largest); ratio of lengths; ! for a divergence."""
    fit = MixedFit(table, mean)
    contrasts = np.array([fit.against_others(cell) for cell in np.flatnonzero(table.is_self)])
    errors, gaps = fit.errors(contrasts), contrasts @ mean
    whole = pooled(gaps, errors)
    single = [errors.of(unit) for unit in np.eye(len(gaps))]
    parts, judges = parts_of(table), len(table.judges)
    c = fit.slope[np.unique(table.model, return_index=True)[1]]
    ratios = np.array([at for at, _ in mixed.SHARES])
    ratios[fit._used] = fit.parameters[judges:-1]
    start = {"logs": np.maximum(fit.parameters[:judges], np.log(1e-6)), "ratios": ratios, "tau": 0.01}
    start |= {"log_tau2": fit.parameters[-1], "free": parts.centred.T @ c}
    columns = []
    single = list(zip(gaps, single, strict=True))
    for ours, pool in ((single, False), ([(whole.mean, (whole.std_error**2, whole.df))], True)):
        for given in (True, False):
            means, lengths, divergences = sampled(table, mean, start, pool=pool, given=given, seed=seed)
            error = np.array([np.sqrt(variance) for _, (variance, _) in ours])
            length = np.array([2 * t.ppf((1 + CONFIDENCE) / 2, df) for _, (_, df) in ours]) * error
            differences = np.abs(means - [estimate for estimate, _ in ours]) / error
            most = "" if pool else f", {differences.max():.2f}"
            columns.append(f"{differences.mean():.2f}{most}; {np.median(lengths / length):.2f}" + divergences * "!")
    return columns


def main():
    cases = {}
    for folder in sys.argv[1:]:
        study = Study(folder, f"{folder}/cells.parquet", [f"{folder}/ratings.parquet"])
        ((_, cells),) = tables_of_slices(Spec.of("main"), study)
        cases[folder.rstrip("/").split("/")[-1]] = Table.of(cells), cells.mean
    cases |= {f"{name} ({seed})": simulated(seed, **world) for seed in (1, 2) for name, world in WORLDS.items()}
    print("| table | self-bias, c_m given | c_m integrated | pooled mean, c_m given | c_m integrated |", flush=True)
    for name, (table, mean) in cases.items():
        print(f"| {name} | {' | '.join(compared(table, mean))} |", flush=True)


if __name__ == "__main__":
    main()
