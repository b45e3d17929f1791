"""The hierarchical model against NUTS of NumPyro, with all that is normal integrated out; NumPyro
itself runs with --long.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import ndtr
from test_mixed import cells_from

from recuse.inference import hierarchy
from text_tables import lines

TABLES = {  # seed, sizes of families, judges, number of a cell without ratings, sd of log t_m
    "models differ": (2, (3, 2, 2, 2), range(9), 78, 0.7),
    "four judges": (3, (3, 2, 2, 2), [0, 1, 3, 5], 26, 0.0),
    "families of one": (4, (1,) * 6, range(6), 4, 0.0),
    "two judges": (5, (1,) * 4, [0, 2], 3, 0.0),
}

# Mean, standard deviation and probability above 0 of each bias, of 16,000 draws: errors of at most
# .0004, .0002 and .002
BY_NUMPYRO = {
    "models differ": """
         0.0038   0.0258   0.5919
         0.0314   0.0243   0.9170
         0.0395   0.0384   0.8913
         0.0112   0.0325   0.6902
        -0.0302   0.0471   0.3169
         0.0460   0.0323   0.9501
         0.0290   0.0247   0.8972
         0.0053   0.0306   0.6190
         0.0283   0.0334   0.8412
        -0.0023   0.0176   0.4608
         0.0153   0.0264   0.7199
        -0.0019   0.0202   0.4792
         0.0171   0.0290   0.7200
        """,
    "four judges": """
         0.0253   0.0225   0.8788
         0.0336   0.0235   0.9358
         0.0286   0.0221   0.9099
         0.0311   0.0229   0.9234
         0.0025   0.0220   0.5642
         0.0283   0.0271   0.8691
         0.0317   0.0299   0.8760
        """,
    "families of one": """
         0.0325   0.0238   0.9314
         0.0401   0.0234   0.9711
         0.0505   0.0360   0.9635
         0.0218   0.0208   0.8646
         0.0253   0.0247   0.8699
         0.0058   0.0252   0.6269
        """,
}


def drawn(seed, sizes, judges, missing, differ, *, turned=False):
    """A table with biases of .03, half of it for the family, and a fit that knows effects of
    models; turned: other names.
    """
    random = default_rng(seed)
    models = np.arange(sum(sizes))
    names = (models[::-1] if turned else models).astype(str)
    families = dict(zip(names, np.repeat(np.arange(len(sizes)), sizes).astype(str), strict=True))
    cells = cells_from(
        names[judges], names, families, kept=np.arange(len(judges) * len(names)) != missing
    )
    judge, model = (names.astype(int)[codes.astype(int)] for codes in (cells.judge, cells.model))
    effects, use, factor = random.normal(size=(3, len(models)))
    mean = (
        0.05 * effects[model] * (1 + 0.3 * use[judge])
        + 0.03 * cells.is_self
        + 0.015 * cells.is_family
    )
    mean += 0.025 * np.exp(differ * factor[model]) * random.normal(size=len(mean))
    return replace(cells, mean=mean), SimpleNamespace(
        slope=0.05 * effects[model], spreads=np.full(len(judges), 0.02)
    )


def by_numpyro(cells, slope, *, draws, seed=0):
    """Mean, standard deviation and probability above 0 of each self- and family-bias, (biases,
    3).
    """
    numpyro = pytest.importorskip("numpyro")
    import jax
    from jax import numpy as jnp
    from numpyro.distributions import (
        InverseGamma,
        MultivariateNormal,
        Normal,
        TruncatedNormal,
        Uniform,
    )

    jax.config.update("jax_enable_x64", True)
    names = cells.judge, cells.model, cells.judge_family, cells.model_family
    judge, model, judges, models = (each[:, None] == each for each in names)
    at_judge, at_model = (np.unique(each, return_inverse=True)[1] for each in names[:2])
    own = np.diag(cells.is_self * 1.0)
    family = judges * np.outer(cells.is_family, cells.is_family)
    # (biases, cells)
    biases = np.concatenate([own[cells.is_self], np.unique(family[cells.is_family], axis=0)[::-1]])
    is_self = np.arange(len(biases)) < cells.is_self.sum()
    means = np.where(is_self[:, None], cells.is_self, cells.is_family) * 0.03**2
    common = (
        judge
        + 0.3**2 * model
        + 0.03**2 * sum(np.outer(kind, kind) * 1.0 for kind in (cells.is_self, cells.is_family))
        + judge * np.outer(slope, slope)
    )
    parts = np.stack([judge & models, judges & model, judges & models]) * 1.0
    scales = np.array([0.03, 0.03, 0.015, 0.015, 0.015, 1, 0.6])
    y = cells.mean - cells.mean.mean()

    def hierarchical():
        sds = numpyro.sample("sds", TruncatedNormal(0, scales, low=0.05 * scales))
        logs_of_judges, logs_of_models = (
            numpyro.sample(name, Normal().expand([20])) for name in "st"
        )
        logs = sds[5] * logs_of_judges[at_judge] + sds[6] * logs_of_models[at_model]
        preference = jnp.exp(numpyro.sample("m", Uniform(np.log(1e-3), np.log(0.15))) + logs)
        stretch = numpyro.sample("stretch", InverseGamma(1, 1).expand([len(biases)]))
        variance = stretch * jnp.where(is_self, sds[0], sds[1]) ** 2
        v = common + jnp.tensordot(sds[2:5] ** 2, parts, 1) + biases.T * variance @ biases
        v += jnp.diag(preference**2 + cells.variance)
        numpyro.sample("y", MultivariateNormal(0, v), obs=y)
        across = variance[:, None] * biases + means
        solved = jnp.linalg.solve(v, across.T)
        numpyro.deterministic("mean", y @ solved)
        numpyro.deterministic("variance", variance + 0.03**2 - (across.T * solved).sum(axis=0))

    chain = numpyro.infer.MCMC(
        numpyro.infer.NUTS(hierarchical), num_warmup=500, num_samples=draws, progress_bar=False
    )
    chain.run(jax.random.PRNGKey(seed))
    mean, variance = (np.asarray(chain.get_samples()[name]) for name in ("mean", "variance"))
    square = (mean**2 + variance).mean(axis=0)
    found = (
        mean.mean(axis=0),
        np.sqrt(square - mean.mean(axis=0) ** 2),
        ndtr(mean / np.sqrt(variance)).mean(axis=0),
    )
    return np.transpose(found)


def sampled(name, tests=None, *, turned=False, **settings):
    """The posterior of each bias of a table, by settings of the sampler."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in settings.items():
            patch.setattr(hierarchy, constant, value)
        return hierarchy.posteriors(*drawn(*TABLES[name], turned=turned), tests or {})


def assert_close(found, expected):
    """Within about three Monte Carlo errors, which are smaller where a probability is near 0 or
    1.
    """
    tolerance = np.full(expected.shape, (0.003, 0.0015, 0.03))
    tolerance[np.abs(expected[:, 2] - 0.5) > 0.4, 2] = 0.01
    np.testing.assert_array_less(np.abs(found - expected), tolerance)


def long_run(name, *, turned=False):
    """What many draws find, (biases, 3), with self-biases in the order of names that are not
    turned.
    """
    found = sampled(name, turned=turned, CHAINS=256, BURN_IN=50, KEPT=250, MOST=250)
    of_self = [numbers for (quantity, _), numbers in found.items() if quantity == "self_bias"]
    return np.array(of_self[:: -1 if turned else 1] + list(found.values())[len(of_self) :])


@pytest.mark.parametrize(
    ("name", "turned"),
    [
        ("four judges", True),
        pytest.param("families of one", False, marks=pytest.mark.long),
        pytest.param("models differ", False, marks=pytest.mark.long),
    ],
)
def test_many_sweeps_find_what_numpyro_finds(name, turned):
    """Without --long, of four judges alone: with families, a missing cell and a model that no
    family shares.
    """
    assert_close(long_run(name, turned=turned), np.array(lines(BY_NUMPYRO[name]), float))


@pytest.mark.long
def test_numpyro_finds_what_many_sweeps_find():
    cells, fit = drawn(*TABLES["four judges"])
    assert_close(by_numpyro(cells, fit.slope, draws=2000), long_run("four judges"))


def test_cells_without_sampling_variance_leave_no_density_infinite():
    """As where each judge gives a model the same rating on every prompt."""
    cells, fit = drawn(*TABLES["four judges"])
    exact = replace(cells, variance=np.zeros_like(cells.variance))
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        found = hierarchy.posteriors(exact, fit, {})
    assert all(0 < bias.positive < 1 for bias in found.values())


@pytest.mark.parametrize(("name", "families"), [("models differ", 4), ("two judges", 0)])
def test_two_calls_agree_in_each_bit(name, families):
    first = sampled(name)
    assert first == sampled(name)
    assert sum(quantity == "family_bias" for quantity, _ in first) == families


@pytest.mark.parametrize(
    ("p_value", "margin", "precise", "sweeps"),
    [(0.05, 5.0, 0.0, 4), (0.05, 0.01, 0.0, 2), (0.2, 5.0, 0.0, 2), (0.05, 5.0, 0.5, 2)],
    ids=["near", "far", "not watched", "precise"],
)
def test_sampling_goes_on_while_a_watched_probability_is_near_a_cut_off(
    p_value, margin, precise, sweeps
):
    """Two sweeps at a time, four at most."""
    bias = "self_bias", "0"
    known = {
        number: sampled("two judges", BURN_IN=2, KEPT=number, MOST=number) for number in (2, 4)
    }
    cut_offs = known[2][bias].positive + np.array([0.01, 1])
    near = {"CUT_OFFS": cut_offs, "MARGIN": margin, "PRECISE": precise}
    tests = {bias: (0.0, p_value)}
    assert sampled("two judges", tests, BURN_IN=2, KEPT=2, MOST=4, **near) == known[sweeps]
    assert known[2] != known[4]
