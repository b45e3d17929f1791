"""Views of what is concluded of biases, as config names them, and what each table can be asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from judgebias.fits.design import EQUATION_1, ON_HUMAN_SCORES
from judgebias.fits.spec import BIASES
from judgebias.ratings.registry import NO_HUMAN_SCORE

ESTIMATES = "estimates"  # of all specs: not one table but one for each


class Decision(NamedTuple):
    """What decides: columns of an interval, "" if it has none, and of the p-value; keys of a spec, one of which makes them."""

    low: str
    high: str
    p_value: str
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class ViewTable:
    """What a view may ask of a table. by: key of config -> what decides.

    methods: method -> the biases that it has rows of; none where the table has one row of each bias. errors: the kind that all
    its rows have; "" where it is that of the spec.
    """

    by: Mapping[str, Decision]
    methods: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: str = ""


INTERVAL = Decision("ci_low", "ci_high", "p_value")
TABLES = {
    ESTIMATES: ViewTable({"ci": INTERVAL, "wild_ci": Decision("wild_ci_low", "wild_ci_high", "wild_p_value", ["wild"])}),
    "multiplicity": ViewTable(
        {
            "simultaneous_ci": Decision("simultaneous_ci_low", "simultaneous_ci_high", "max_t_p_value", ["wild"]),
            "holm_p_value": Decision("", "", "holm_p_value", ["bootstrap", "wild"]),
            "bh_p_value": Decision("", "", "bh_p_value", ["bootstrap", "wild"]),
        }
    ),
    "placebo": ViewTable({"ci": INTERVAL}, errors="spread of cells"),
    "noisy_reference": ViewTable(
        {"ci": INTERVAL},
        methods=dict.fromkeys(("uncorrected", "moments", "simex", "split raters"), BIASES),
        errors="CR1",
    ),
    "sensitivity": ViewTable({"as_length_ci": Decision("as_length_ci_low", "as_length_ci_high", "", ["length"])}, errors="CR1"),
    "missingness": ViewTable(
        {"ci": INTERVAL},
        methods={
            "all rows": BIASES,
            "complete blocks": BIASES,
            "lowest by own missing": BIASES[:1],
            "highest by own missing": BIASES[:1],
            "lowest by any missing": BIASES,
            "highest by any missing": BIASES,
        },
        errors="CR1",
    ),
}


@dataclass(frozen=True)
class View:
    """Where a conclusion is read, by what it is decided, and the question that it answers; keys as in config.

    specs: of the whole study, by dimension, or one of each. methods: of the table, whose rows count; all if none is named. Of
    several rows of one bias the interval is from their lowest to their highest end, and the estimate in their middle.
    """

    name: str
    title: str
    specs: Sequence[str]
    asks: str
    lost: str = ""
    table: str = ESTIMATES
    methods: Sequence[str] = ()
    by: str = "ci"

    @classmethod
    def from_config(cls, views: Mapping[str, Mapping]) -> list["View"]:
        """The views of config, in its order."""
        return [cls(name, **settings) for name, settings in views.items()]

    @property
    def decision(self) -> Decision:
        """What decides in it."""
        return TABLES[self.table].by[self.by]

    def spec_of(self, label: str, specs: Mapping[str, Mapping]) -> str | None:
        """The spec whose rows are of this slice, "" for the whole study, by the settings of `specs`; None if there is none."""
        for name in self.specs:
            sliced = specs[name].get("slice") == "dimension"
            if sliced if label else not sliced or specs[name].get("whole"):
                return name
        return None

    def is_of(self, quantity: str, spec: Mapping) -> bool:
        """Whether its rows of a spec with these settings are of such biases, too."""
        methods = TABLES[self.table].methods
        tested = spec.get("tests", BIASES) if self.table == "multiplicity" else BIASES
        return quantity in tested and all(quantity in methods[method] for method in self.methods)

    def errors(self, spec: Mapping) -> str:
        """The kind of errors that it has with a spec of these settings."""
        return TABLES[self.table].errors or spec.get("covariance", "HC0")


@dataclass(frozen=True)
class Asked:
    """What a table of conclusions is asked: its views, the first first, the settings of their specs, level and power."""

    views: Sequence[View]
    specs: Mapping[str, Mapping]
    confidence: float
    power: float
    relative: bool = False  # the study has no human scores: a bias is a gap to the other judges

    @property
    def first(self) -> View:
        """The view that the others are held against."""
        return self.views[0]

    def without_human_scores(self, known: Mapping[str, Sequence[str]]) -> "Asked":
        """The same of a study without human scores: views with what there is of them, specs without slopes on the scores.

        known: view -> its specs that have rows; a view without any is left out, unless all are.
        """
        views = [replace(view, specs=known[view.name]) for view in self.views if known.get(view.name)]
        terms = {
            name: [term for term in settings.get("terms", EQUATION_1) if term not in ON_HUMAN_SCORES]
            for name, settings in self.specs.items()
        }
        specs = {name: {**settings, "terms": terms[name]} for name, settings in self.specs.items()}
        return replace(self, views=views or self.views, specs=specs, relative=True)


def without_human_scores(not_estimable: Iterable[Mapping[str, str]]) -> bool:
    """Whether a study has none, by its table of what is not estimable: some spec is not for that reason."""
    return any(row["reason"] == NO_HUMAN_SCORE for row in not_estimable)
