"""What a figure of the catalogue is, and the figures of specs: which tables and settings of the configuration they draw."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recuse.catalogue.tables import Applies, never, of_ratings
from recuse.config.studies import kind, models_of, settings_of, source_of
from recuse.model.covariance import COVARIANCES
from recuse.model.spec import BIASES, PLACEBO, SLICED, TESTED, C, Spec, changes_of, estimand_of, estimands_in_words, in_words


def subject_of(config: Mapping, study: str) -> dict[str, object]:
    """What a figure says of the study that it shows: title and kind, and the models and families of its colours."""
    shown = {"label": settings_of(config, study)["title"], "kind": kind(config, study)}
    if study in config["comparisons"]:  # its judges are named beside their marks, and have no colours
        return {"models": {}, "families": {}, **shown}
    # All families, so that one without a colour of its own has the same in every study.
    return {"models": models_of(config, study), "families": config["families"], **shown}


def subject_of_texts(config: Mapping, study: str) -> dict[str, object]:
    """The same of a figure of the published texts, which are real whatever the votes on them are."""
    repository = config["sources"][source_of(config, study)]["repository"]
    return {"models": {}, "families": {}, "label": f"texts of {repository}", "kind": "published"}


@dataclass(frozen=True)
class Figure:
    """A figure of a study: what draws it, from which tables, and which studies have it.

    draw: `module:function`, imported by the figure's job alone and called with the tables, the subject and the settings.
    title: of the files, before the study's.
    tables: argument of the function -> table of the study, as `tables/rbo` or `estimates/main`, or several in a list.
    settings: further arguments, which the caption reads, too. ablation: name and words of a user's spec, for its caption.
    estimand: what the biases in it are gaps to, in words. caption: its template in workflow/report, if not the figure's name.
    of_study: whose tables and title it shows, if not those of the study that it is made for.
    published, beside: a file of what papers print, whose path is the argument `published`, for the studies of which `beside` is
    true.
    """

    draw: str
    title: str
    tables: Mapping[str, str | Sequence[str]]
    settings: Mapping[str, object] = field(default_factory=dict)
    applies: Applies = of_ratings
    estimand: str = ""
    caption: str = ""
    ablation: Mapping[str, str] | None = None
    of_study: str = "{study}"
    subject: Callable[[Mapping, str], dict[str, object]] = subject_of
    published: str = ""
    beside: Applies = never

    @property
    def module(self) -> str:
        """The module of the function that draws it."""
        return self.draw.partition(":")[0]

    @property
    def inputs(self) -> dict[str, str | list[str]]:
        """Paths of the tables, by argument; the study is a wildcard."""
        folder = f"results/{self.of_study}"
        return {
            name: f"{folder}/{tables}.csv" if isinstance(tables, str) else [f"{folder}/{table}.csv" for table in tables]
            for name, tables in self.tables.items()
        }

    @property
    def paths(self) -> list[str]:
        """The same in one list."""
        return [path for paths in self.inputs.values() for path in ([paths] if isinstance(paths, str) else paths)]


def figure_params(config: Mapping, study: str, *, figure: Figure) -> dict[str, object]:
    """What the job of a figure is told, and its caption reads."""
    subject = figure.subject(config, figure.of_study.format(study=study))
    return {
        "draw": figure.draw,
        "title": f"{figure.title}: {subject['label']}",
        "subject": {**subject, "estimand": "" if study in config["comparisons"] else figure.estimand},
        "settings": figure.settings,
        "ablation": figure.ablation,
    }


def by_equation_1(config: Mapping) -> Figure:
    """Self- and family-bias by Equation 1."""
    return Figure(
        "recuse.plot.biases:self_family_bias",
        "Self-bias by judge and family-bias by family",
        {"estimates": "estimates/main", "not_estimable": "tables/not_estimable", "multiplicity": "tables/multiplicity"},
        {"spec": "main", "simultaneous": simultaneous_of(config, "main"), **interval_of(config, "main")},
        estimand=measured(config, "main"),
    )


def by_slice(config: Mapping, title: str, headings: Mapping[str, str], *, words: str = "") -> Figure:
    """Self-bias, a panel for each slice of the specs: `headings`, by spec, stand over their panels, `words` at the foot."""
    return Figure(
        "recuse.plot.slices:slices_of_specs",
        title,
        {
            "estimates": [f"estimates/{spec}" for spec in headings],
            "whole": "estimates/main",
            "not_estimable": "tables/not_estimable",
            "multiplicity": "tables/multiplicity",
        },
        {
            "blocks": [
                {"spec": spec, "heading": heading, "simultaneous": simultaneous_of(config, spec)}
                for spec, heading in headings.items()
            ],
            "words": words,
            **interval_of(config, next(iter(headings))),
        },
        estimand=measured(config, *headings),
    )


def compared(config: Mapping, title: str, labels: Mapping[str, str], *, placebo: str = "") -> Figure:
    """Self- and family-bias of the specs on one axis; `labels`, by spec, are the words of the legend.

    placebo: with words for it, estimand C of the first spec is another variant, where the table of placebo cells has it.
    """
    variants = [{"spec": spec, "label": label, "covariance": covariance_of(config, spec)} for spec, label in labels.items()]
    estimands = estimands_of(config, labels)
    with_placebo = bool(placebo) and next(iter(labels)) in config["inference"]["placebo"]
    if with_placebo:
        variants.append({"spec": PLACEBO, "label": placebo})
        estimands.append(C)
    return Figure(
        "recuse.plot.compare_specs:compare_specs",
        title,
        {
            "estimates": [f"estimates/{spec}" for spec in labels],
            "not_estimable": "tables/not_estimable",
            "placebo": ["tables/placebo"] * with_placebo,
        },
        {"variants": variants, "confidence": config["confidence"]},
        estimand=estimands_in_words(estimands),
    )


def in_log_odds(config: Mapping, title: str, spec: str, *, words: str = "") -> Figure:
    """Self- and family-bias of an ordinal spec, a panel for each slice; `words` stand at the foot."""
    by = SLICED[config["specs"][spec]["slice"]]
    return Figure(
        "recuse.plot.slices:ordinal",
        title,
        {"estimates": f"estimates/{spec}", "not_estimable": "tables/not_estimable"},
        {"spec": spec, "by": by, "words": words, **interval_of(config, spec)},
        estimand=measured(config, spec),
    )


def ablation(config: Mapping, spec: str) -> Figure:
    """The figure of a spec that a user adds: what it changes of Equation 1."""
    settings = config["specs"][spec]
    words = in_words(settings)
    title = f"Ablation {spec}: {words}"
    if "slice" not in settings:
        label = changes_of(settings, whose="{slice}", most=3) or spec
        figure, caption = compared(config, title, {"main": "Equation 1", spec: label}), "ablation_compare_specs"
    elif settings.get("estimator") == "ordinal_logit":
        figure, caption = in_log_odds(config, title, spec, words=f"{title}."), "ablation_fig08_ordinal"
    else:
        heading = f"Self-bias {SLICED[settings['slice']]}"
        figure, caption = by_slice(config, title, {spec: heading}, words=f"{title}."), "ablation_slices_of_specs"
    return replace(figure, ablation={"name": spec, "words": words}, caption=caption)


def covariance_of(config: Mapping, spec: str) -> str:
    """The covariance of a spec."""
    return config["specs"][spec].get("covariance", "HC0")


def interval_of(config: Mapping, spec: str) -> dict[str, object]:
    """Level and covariance of the intervals of a spec."""
    return {"confidence": config["confidence"], "covariance": covariance_of(config, spec)}


def simultaneous_of(config: Mapping, spec: str) -> dict[str, str] | None:
    """What a figure says of the simultaneous intervals of a spec's model; None if there are none.

    They are those of the first spec that fits the same model with a wild bootstrap.
    """
    of_errors = {"covariance", "bootstrap", "wild", "tests"}  # what may differ between specs of one model

    def model(settings):
        return {key: value for key, value in settings.items() if key not in of_errors}

    for name, settings in config["specs"].items():
        if "wild" in settings and model(settings) == model(config["specs"][spec]):
            covariance = covariance_of(config, name)
            return {
                "spec": name,
                "tests": TESTED[frozenset(settings.get("tests", BIASES))],
                "sliced": SLICED.get(settings.get("slice"), ""),
                "errors": COVARIANCES[covariance].words,
            }
    return None


def estimands_of(config: Mapping, specs: Iterable[str]) -> list[str]:
    """The estimand of each of these specs."""
    return [estimand_of(spec) for spec in Spec.from_config({spec: config["specs"][spec] for spec in specs})]


def measured(config: Mapping, *specs: str) -> str:
    """What a figure says of the estimands of these specs."""
    return estimands_in_words(estimands_of(config, specs))
