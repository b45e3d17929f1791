"""What `import recuse` makes: ratings and verdicts that were read and checked, the tables made from
them, checks and fits.
"""

import os
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from tempfile import mkdtemp
from typing import TYPE_CHECKING, TypeAlias

from recuse.arguments import ONE_AT_A_TIME, in_python, in_terms_of_arguments, tell
from recuse.base.database import bounded, bytes_of, connect, files
from recuse.base.errors import ConfigError, DataError
from recuse.base.log import listening
from recuse.base.reasons import in_words as reason_in_words
from recuse.base.tables import column_names, read_table, write_table
from recuse.base.words import counted, visible
from recuse.data.registry import IMPORTED, NOT_IN_CONFIG
from recuse.findings import (
    findings_on,
    findings_on_pairs,
    pairs_of,
    reliability_in,
    tables_of_pairs,
)
from recuse.inputs import KEPT, Inputs, imported, in_folder, tables_of

if TYPE_CHECKING:
    import pandas as pd

    from recuse.check.facts import Finding
    from recuse.data.study import StudyTables
    from recuse.model.estimates import Estimated

Rows: TypeAlias = list[dict]

# Columns of texts; all others are numbers.
TEXTS = frozenset(
    column_names(
        "study spec slice kind quantity term note doubt estimand verdict favours reason advice",
        "topic subject level words scores model file kind example",
    )
)
DRAWN = ("bootstrap", "wild")  # settings of a spec that its intervals by formula do not need


def table_of(columns: Sequence[str], rows: Iterable[Mapping]) -> "pd.DataFrame":
    """Rows as a DataFrame: texts are empty where there are none, numbers NaN."""
    import pandas as pd

    rows = list(rows)
    table = pd.DataFrame({name: [row.get(name) for row in rows] for name in columns})
    for name in columns:
        if name in TEXTS:
            table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
        else:
            table[name] = pd.to_numeric(table[name].replace("", None))
    return table


@dataclass(frozen=True)
class Check:
    """What the data support: the findings, most important first, as a table, and as the page of
    `recuse check`.
    """

    table: "pd.DataFrame"
    page: str

    def __str__(self) -> str:
        """The page."""
        return self.page

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.page)}</pre>"


class Fit:
    """A spec fitted to ratings.

    table: the rows of the workflow's estimates/<spec>.csv; biases: those of self-bias and
    family-bias, in short; not_estimable: what has no estimate, and why; remarks: lines on the fit;
    words: the model.
    """

    def __init__(
        self, study: str, spec: str, settings: Mapping, config: Mapping, estimated: "Estimated"
    ) -> None:
        """Take the tables of the fit."""
        from recuse.model.estimates import ESTIMATES, NOT_ESTIMABLE
        from recuse.model.spec import BIASES, Spec, spec_in_words

        self.spec, self.words = spec, spec_in_words(Spec.of(spec, **settings))
        self.table = table_of(ESTIMATES, estimated.estimates)
        self.not_estimable = table_of(NOT_ESTIMABLE, estimated.not_estimable)
        self.remarks = [row["remark"] for row in estimated.remarks]
        shown = ["slice"] if self.table["slice"].any() else []
        shown += ["quantity", "term", "estimate", "std_error", "ci_low", "ci_high", "p_value"]
        self.biases = self.table.loc[self.table["quantity"].isin(BIASES), shown].reset_index(
            drop=True
        )
        self._heading = (
            f"{study}: {self.words}; {100 * config['confidence']:g} % intervals, sizes as shares of"
            " the scale"
        )
        self._lines = list(self.remarks)
        for row in estimated.not_estimable:
            term = (
                " of ".join(filter(None, (row["slice"], row["quantity"], row["term"]))) or "the fit"
            )
            self._lines.append(f"not estimable: {term}: {reason_in_words(row['reason'])}")

    def __repr__(self) -> str:
        """The biases in words and numbers."""
        return "\n".join(
            [
                visible(self._heading),
                self.biases.round(4).to_string(index=False),
                *map(visible, self._lines),
            ]
        )

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(visible(line))}</p>" for line in self._lines)
        return f"<p>{escape(visible(self._heading))}</p>{self.biases.round(4).to_html(index=False, border=0)}{lines}"


class Checked:
    """Rows that were read and checked, as tables in a folder of temporary files that goes with the
    object.
    """

    def __init__(self, inputs: Inputs) -> None:
        """Read and check the rows; nothing is left if an error is raised."""
        self.study, self._config = inputs.study.name, inputs.study.config
        self._folder = mkdtemp(prefix="recuse-")
        self._estimates: dict[tuple[str, bool], Estimated] = {}
        self._tables: dict[str, Rows] = {}
        self._found: list[Finding] | None = None
        remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        try:
            with ONE_AT_A_TIME, listening() as lines, in_folder(inputs, self._folder):
                self._inputs = imported(inputs, self._folder)._replace(frames={})
                self._read()
        except BaseException:
            remove()
            raise
        for line in lines:
            if NOT_IN_CONFIG not in line:  # families are shown
                tell(in_python(line.removeprefix("warning: ")))

    def __copy__(self) -> None:
        """Refuse: the folder of tables goes with this object."""
        raise DataError(
            "an object of recuse cannot be copied, as its tables go with it; use the object itself"
        )

    def __deepcopy__(self, memo: dict) -> None:
        """Refuse."""
        self.__copy__()

    @property
    def imported(self) -> "pd.DataFrame":
        """What was read: rows, failed judgments by reason, repeats, words read as numbers, human
        scores.
        """
        path = f"{self._folder}/imported.csv"
        return table_of(IMPORTED, read_table(path) if os.path.exists(path) else [])

    def _read(self) -> None:
        raise NotImplementedError

    def _supported(self) -> "list[Finding]":
        """What the data support, found when first asked for."""
        if self._found is None:
            self._found = self._findings()
        return self._found

    def _findings(self) -> "list[Finding]":
        raise NotImplementedError

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Limit DuckDB to this object's tables, one thread at a time."""
        own = [f"{self._folder}/{name}" for name in KEPT]
        raters = filter(None, [self._inputs.study.settings.get("raters")])
        limits = {
            "limit": self._config["memory_limit"],
            "longest_line": int(bytes_of(self._config["line_limit"])),
        }
        bounds = bounded(**limits, folder=f"{self._folder}/work", files=raters, outputs=own)
        with in_terms_of_arguments(self.study), ONE_AT_A_TIME, bounds:
            yield

    def _has(self, name: str) -> bool:
        return name.removeprefix("tables/") in self._tabulated()

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        raise NotImplementedError

    def _table(self, name: str) -> Rows:
        """The rows of a table, made when first asked for."""
        if name not in self._tables:
            self._tables[name] = list(self._tabulated()[name][1]())
        return self._tables[name]

    def _as_in_file(self, name: str, columns: Sequence[str], rows: Iterable[Mapping]) -> str:
        """The path of the rows as the workflow writes them."""
        path = f"{self._folder}/{name.replace('/', '_')}.csv"
        write_table(path, columns, rows, study=self.study)
        return path

    def _written(self, name: str, specs: Iterable[str]) -> str:
        """The path of a table of a figure, `tables/power` or `estimates/main`."""
        table = name.removeprefix("tables/")
        return self._as_in_file(name, self._tabulated()[table][0], self._table(table))

    def _shown(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Counts."""
        return visible(f"{type(self).__name__}: {self._shown()}")

    def _repr_html_(self) -> str:
        """Counts, and what the data support."""
        with self._opened():
            supported = [
                finding.words for finding in self._supported() if finding.topic == "verdict"
            ]
        listed = "".join(f"<li>{escape(visible(words))}</li>" for words in supported)
        return f"<p>{escape(repr(self))}</p><ul>{listed}</ul>"


class Ratings(Checked):
    """Ratings of single answers, read and checked; made by `ratings`."""

    def _read(self) -> None:
        self._study: StudyTables = tables_of(self._inputs, self._folder)
        cells = self._study.cells()
        self._counts = {
            name: [str(level) for level in dict.fromkeys(cells.factors[name].tolist())]
            for name in ("judge", "model", "dimension")
        }
        self._rows, self._prompts = int(cells.counts.sum()), self._study.prompts
        families = zip(cells.factors["model"], cells.factors["model_family"], strict=True)
        self.families: dict[str, str] = {
            str(model): str(family) for model, family in sorted(set(families))
        }
        self.has_human_scores: bool = self._study.scored.has_human_scores

    @property
    def judges(self) -> list[str]:
        """Their names, by alphabet."""
        return sorted(self._counts["judge"])

    @property
    def models(self) -> list[str]:
        """Names of the models whose answers are rated, by alphabet."""
        return sorted(self._counts["model"])

    @property
    def dimensions(self) -> list[str]:
        """What is rated."""
        return sorted(self._counts["dimension"])

    def __len__(self) -> int:
        """The number of complete ratings."""
        return self._rows

    def to_pandas(self) -> "pd.DataFrame":
        """The complete ratings, one in a row, with names as the fits use them, in the units of what
        was passed.
        """
        from recuse.data.cells import levels_of
        from recuse.data.ratings import in_units

        with self._opened():
            levels = levels_of(self._study.ratings[0])
            steps = dict(zip(levels.dimension, levels.step, strict=False))  # none if all are 1
            columns = ("rating", "gt", "scale_low", "scale_high")
            return connect().execute(in_units(self._study.ratings, steps, columns)).df()

    def _shown(self) -> str:
        kind = "gold labels" if self._inputs.study.has_gold_labels() else "human scores"
        human = f"with {kind}" if self.has_human_scores else "no human scores"
        return (
            f"{counted(self._rows, 'rating')} by {counted(len(self.judges), 'judge')} of"
            f" {counted(len(self.models), 'model')} on {counted(self._prompts, 'prompt')} in"
            f" {counted(len(self.dimensions), 'dimension')}; {human}"
        )

    def _findings(self) -> "list[Finding]":
        return findings_on(self._inputs, self._study, self._folder)

    def _estimated(self, name: str, settings: Mapping, *, drawn: bool = True) -> "Estimated":
        """The fit of a spec; drawn: with its bootstraps, which the intervals of a fit do not
        need.
        """
        from recuse.model.estimates import estimate
        from recuse.model.spec import Spec

        config = self._config
        kept = {key: value for key, value in settings.items() if drawn or key not in DRAWN}
        return estimate(
            Spec.of(name, **kept), self._study, confidence=config["confidence"], seed=config["seed"]
        )

    def _of_config(self, name: str, *, drawn: bool = False) -> "Estimated":
        if (name, drawn) not in self._estimates:
            self._estimates[name, drawn] = self._estimated(
                name, self._config["specs"][name], drawn=drawn
            )
        return self._estimates[name, drawn]

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        from recuse.data.describe import CORRELATIONS, MEAN_SCORES
        from recuse.inference.idiosyncrasy import IDIOSYNCRASY, RESIDUALS
        from recuse.inference.leaderboard import LEADERBOARD
        from recuse.inference.power import POWER
        from recuse.inference.verdict import VERDICTS
        from recuse.inference.wordings import WORDINGS

        return {
            "mean_scores": (MEAN_SCORES, self._mean_scores),
            "correlations": (CORRELATIONS, self._correlations),
            "idiosyncrasy": (IDIOSYNCRASY, self._idiosyncrasy),
            "residuals": (RESIDUALS, self._residuals),
            "leaderboard": (LEADERBOARD, self._leaderboard),
            "power": (POWER, lambda: self._power(self._config["inference"]["power"])),
            "verdicts": (VERDICTS, self._verdicts),
            "wordings": (WORDINGS, self._wordings),
        }

    def _has(self, name: str) -> bool:
        from recuse.model.estimates import OF_SPECS

        return (
            name.startswith("estimates/")
            or name.rpartition("/")[2] in OF_SPECS
            or super()._has(name)
        )

    def _written(self, name: str, specs: Iterable[str]) -> str:
        from recuse.model.estimates import ESTIMATES, OF_SPECS

        table = name.rpartition("/")[2]
        of_specs = OF_SPECS.get(table)
        if name.startswith("estimates/"):
            return self._as_in_file(
                name, ESTIMATES, self._of_config(name.removeprefix("estimates/")).estimates
            )
        if of_specs is None:
            return super()._written(name, specs)
        drawn = table == "multiplicity"
        rows = [
            row
            for spec in sorted(specs)
            for row in getattr(self._of_config(spec, drawn=drawn), table)
        ]
        return self._as_in_file(f"tables/{table}", of_specs, rows)

    def _mean_scores(self) -> Rows:
        from recuse.data.describe import mean_scores

        return list(mean_scores(self._study.cells(), self._study.scored.cells()))

    def _correlations(self) -> Rows:
        from recuse.data.describe import correlations

        scored = self._study.scored.cells()
        return list(correlations(scored, confidence=self._config["confidence"]))

    def _slices(self, names: Iterable[str]) -> list:
        from recuse.inference.idiosyncrasy import idiosyncrasies
        from recuse.model.estimable import sliced_by

        config = self._config
        specs = sliced_by(config["specs"], names, self._study)
        return [each for spec in specs for each in idiosyncrasies(spec, self._study)]

    def _idiosyncrasy(self) -> Rows:
        from recuse.inference.idiosyncrasy import idiosyncrasy_rows

        return list(
            idiosyncrasy_rows(self._slices(["main"]), confidence=self._config["confidence"])
        )

    def _residuals(self) -> Rows:
        from recuse.inference.idiosyncrasy import residual_rows

        return list(residual_rows(self._slices(["main"]), confidence=self._config["confidence"]))

    def _leaderboard(self) -> Rows:
        from recuse.inference.idiosyncrasy import IDIOSYNCRASY, idiosyncrasy_rows
        from recuse.inference.leaderboard import REGRESSION, leaderboards, removed_biases
        from recuse.model.estimable import estimable_specs
        from recuse.model.estimates import ESTIMATES

        config, inference = self._config, self._config["inference"]
        drawn = {
            "replicates": inference["replicates"],
            "confidence": config["confidence"],
            "seed": config["seed"],
        }
        instead = inference["without_human_scores"]
        specs = estimable_specs(
            config["specs"], inference["leaderboard"], self._study.scored, instead=instead
        )
        if inference["debias"] == REGRESSION:
            columns, biases = (
                ESTIMATES,
                [row for spec in specs for row in self._of_config(spec.name).estimates],
            )
        else:
            slices = self._slices(inference["leaderboard"])
            columns, biases = (
                IDIOSYNCRASY,
                idiosyncrasy_rows(slices, confidence=config["confidence"]),
            )
        read, rows = read_table(self._as_in_file("biases", columns, biases)), []
        for spec in specs:
            removed = removed_biases(spec, read, debias=inference["debias"], instead=instead)
            rows += leaderboards(spec, self._study, removed, **drawn)
        return [row | {"study": self.study} for row in rows]

    def _power(self, settings: Mapping) -> Rows:
        from recuse.inference.power import power_rows
        from recuse.model.spec import Spec

        config = self._config
        reliability = reliability_in(self._inputs, self._study, self._folder)
        of_dimensions = [
            {"dimension": dimension, **vars(each)} for dimension, each in reliability.items()
        ]
        main = Spec.of("main", **config["specs"]["main"])
        rows = power_rows(
            main, self._study, of_dimensions, **settings, confidence=config["confidence"]
        )
        return [{"study": self.study, **row} for row in rows]

    def _verdicts(self) -> Rows:
        """The rows of the table of verdicts, from the first robustness check and those that answer
        the three questions.
        """
        from recuse.config.studies import conclusions_params
        from recuse.data.describe import CORRELATIONS, judges_astray
        from recuse.inference.idiosyncrasy import IDIOSYNCRASY
        from recuse.inference.robustness import ESTIMATES as OF_FITS
        from recuse.inference.robustness import Robustness, RobustnessCheck, conclusions
        from recuse.inference.robustness import Tables as CheckedTables
        from recuse.inference.verdict import rating_judges, verdicts_on_ratings
        from recuse.inference.wordings import WORDINGS
        from recuse.model.estimates import ESTIMATES, NOT_ESTIMABLE

        config, inference = self._config, self._config["inference"]
        params = conclusions_params(config)
        first, asked = next(iter(params["checks"])), inference["verdict"]
        checks = [
            replace(each, specs=list(filter(None, [each.spec_of("", params["specs"])])))
            for each in RobustnessCheck.from_config(params["checks"])
            if each.name in {first, *asked.values()}
        ]
        if others := {each.table for each in checks} - {OF_FITS, "idiosyncrasy"}:
            raise ConfigError(
                f"config: inference: verdict: a check reads {', '.join(sorted(others))}.csv; run"
                " the workflow"
            )
        specs = dict.fromkeys(spec for each in checks for spec in each.specs)
        drawn = any(each.by != "ci" for each in checks)
        fits = [self._of_config(spec, drawn=drawn) for spec in specs]
        rows = {
            OF_FITS: (ESTIMATES, [row for fit in fits for row in fit.estimates]),
            "not_estimable": (NOT_ESTIMABLE, [row for fit in fits for row in fit.not_estimable]),
            "correlations": (CORRELATIONS, self._table("correlations")),
            "idiosyncrasy": (IDIOSYNCRASY, self._table("idiosyncrasy")),
            "wordings": (WORDINGS, self._table("wordings")),
        }
        read = {name: read_table(self._as_in_file(name, *of)) for name, of in rows.items()}
        reasons, of_checks = (
            read["not_estimable"],
            {name: read[name] for name in (OF_FITS, "idiosyncrasy")},
        )
        tables = CheckedTables(of_checks, reasons, read["wordings"])
        robustness = Robustness(checks, params["specs"], params["confidence"], params["power"])
        robustness = robustness.of_study(tables, reasons, instead=inference["without_human_scores"])
        order = self._inputs.study.order()
        concluded = conclusions(robustness, tables, order=order)
        judges = rating_judges(read_table(f"{self._folder}/completeness.csv"), order["self_bias"])
        disagreeing = judges_astray(read["correlations"])
        rows = verdicts_on_ratings(
            concluded, judges, disagreeing, checks=asked, confidence=config["confidence"]
        )
        return [{"study": self.study, **row} for row in rows]

    def _wordings(self) -> Rows:
        from recuse.config.studies import conclusions_params
        from recuse.inference.wordings import wording_rows

        return list(wording_rows(study=self._study, **conclusions_params(self._config)))


class Pairs(Checked):
    """Verdicts on two answers, read and checked; made by `pairs`."""

    def _read(self) -> None:
        self._comparisons = pairs_of(self._inputs, self._folder)
        connection, kept = connect(), files([self._comparisons])
        models = "select model_a from kept union select model_b from kept"
        query = f"""
            with kept as (from {kept})
            select count(*), count(distinct judge), count(distinct item), (select count(*) from ({models})), count(human)
            from kept"""
        self._verdicts, self._judges, self._items, self._models, self._labels = connection.execute(
            query
        ).fetchone()

    def __len__(self) -> int:
        """The number of verdicts."""
        return self._verdicts

    def _shown(self) -> str:
        human = "with human verdicts" if self._labels else "no human verdicts"
        return (
            f"{counted(self._verdicts, 'verdict')} by {counted(self._judges, 'judge')} on"
            f" {counted(self._items, 'question')}, of {counted(self._models, 'model')}; {human}"
        )

    def _findings(self) -> "list[Finding]":
        return findings_on_pairs(self._inputs, self._comparisons)

    def _tabulated(self) -> Mapping[str, tuple[Sequence[str], Callable[[], Rows]]]:
        from recuse.inference.verdict import VERDICTS
        from recuse.pairwise.choices import CHOICES

        return {
            "choices": (CHOICES, self._choices),
            "verdicts": (VERDICTS, lambda: self._choices() and self._tables["verdicts"]),
        }

    def _choices(self) -> Rows:
        tables = tables_of_pairs(self._inputs, self._comparisons)
        self._tables["verdicts"] = [{"study": self.study, **row} for row in tables.verdicts]
        return tables.choices
