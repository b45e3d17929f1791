"""What the configuration says of inference: the specs of each table, and the views of what is concluded."""

from collections.abc import Mapping

from judgebias.errors import ConfigError
from judgebias.fits.design import EQUATION_1
from judgebias.fits.estimands import against_judges
from judgebias.fits.spec import Spec
from judgebias.inference.views import TABLES, View
from judgebias.settings import check_known

OF_SPECS = ("placebo", "identifiability", "noisy_reference", "sensitivity", "missingness", "leaderboard")  # tables of specs


def check_inference(config: Mapping) -> None:
    """Raise ConfigError, naming the key, unless each table of `config` is of specs that have one, and each view of its rows."""
    inference, specs = config["inference"], config["specs"]
    for key in OF_SPECS:
        check_known(f"inference: {key}", inference[key], specs, "specs")
        for name in inference[key]:
            _check_spec(f"inference: {key}: {name}", specs[name], absorbs=key == "identifiability")
    _check_stand_ins(inference["without_human_scores"], specs)
    views = View.from_config(inference["conclusions"])
    for view in views:
        where = f"inference: conclusions: {view.name}"
        _check_table(where, view)
        _check_rows(where, view, inference, specs)
        same = next(other for other in views if other.title == view.title)
        if same is not view:
            raise ConfigError(f"config: {where}: title: '{view.title}' is also that of {same.name}; write another")


def _check_stand_ins(instead: Mapping[str, str], specs: Mapping[str, Mapping]) -> None:
    """Refuse a spec that is as little use without human scores as the one whose place it takes."""
    for name, stand_in in instead.items():
        where = f"inference: without_human_scores: {name}"
        check_known("inference: without_human_scores", [name], specs, "specs")
        check_known(where, [stand_in], specs, "specs")
        _check_spec(where, specs[stand_in], absorbs=False)
        if not against_judges(Spec(stand_in, **specs[stand_in])):
            raise ConfigError(
                f"config: {where}: the spec {stand_in} needs human scores, too; take one with the term model or model:dimension"
            )
        if specs[stand_in].get("slice") != specs[name].get("slice"):
            raise ConfigError(f"config: {where}: the spec {stand_in} has other slices; take one with those of {name}")


def _check_spec(where: str, spec: Mapping, *, absorbs: bool) -> None:
    """Refuse a spec that has no table beside its estimates."""
    unfit = {"estimator": "least_squares", "reference": None} | ({} if absorbs else {"absorb": None})
    for key, default in unfit.items():
        if spec.get(key, default) != default:
            raise ConfigError(f"config: {where}: a spec with {key}, which has no such table; leave it out")
    _check_biases(where, spec)


def _check_biases(where: str, spec: Mapping) -> None:
    if not {"self", "same_family"} & set(spec.get("terms", EQUATION_1)):
        raise ConfigError(
            f"config: {where}: a spec that estimates no self- or family-bias; take one with the term self or same_family"
        )


def _check_table(where: str, view: View) -> None:
    """Refuse a way to decide, or methods, that the view's table does not have."""
    table = TABLES[view.table]
    if view.by not in table.by:
        raise ConfigError(
            f"config: {where}: by: found {view.by}, which the table {view.table} does not have; write {' or '.join(table.by)}"
        )
    if view.methods and not table.methods:
        raise ConfigError(f"config: {where}: methods: the table {view.table} has none; leave this key out")
    check_known(f"{where}: methods", view.methods, table.methods, f"the methods of the table {view.table}")
    if table.methods and not view.methods:
        raise ConfigError(
            f"config: {where}: methods: the table {view.table} has several rows of a bias; write some of "
            f"{', '.join(table.methods)}"
        )


def _check_rows(where: str, view: View, inference: Mapping, specs: Mapping[str, Mapping]) -> None:
    """Refuse specs that are not there or without such rows of judges' own models, in points of the unit scale."""
    check_known(f"{where}: specs", view.specs, specs, "specs")
    for name in view.specs:
        place, spec = f"{where}: specs: {name}", specs[name]
        if spec.get("slice", "dimension") != "dimension" or spec.get("reference") or spec.get("estimator") == "ordinal_logit":
            raise ConfigError(f"config: {place}: found a slice not by dimension, a reference or log-odds; take another")
        _check_biases(place, spec)
        needed = view.decision.needs
        if needed and not any(spec.get(key) for key in needed):
            raise ConfigError(
                f"config: {place}: found no {' and no '.join(needed)}, without which there is no {view.by}; write it in this "
                "spec, or take another"
            )
        if view.table in inference:
            check_known(
                f"{where}: specs", [name], inference[view.table], f"inference: {view.table}, where its table comes from"
            )
    sliced = [specs[name].get("slice", "") for name in view.specs]
    if len(set(sliced)) < len(sliced) or ("" in sliced and any(specs[name].get("whole") for name in view.specs)):
        raise ConfigError(
            f"config: {where}: specs: {' and '.join(view.specs)} have rows of the same ratings; write a view for each"
        )
