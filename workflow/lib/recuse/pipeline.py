"""The results of one study in a folder of its own, without Snakemake: each table is made when it is
first asked for, by the step that makes it in the workflow.

Slow imports, numpy above all, are in the functions, as the command sets the number of threads
before.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from recuse.base.database import bounded, parse_bytes
from recuse.base.errors import ConfigError, DataError
from recuse.base.log import listening
from recuse.base.places import PROJECT
from recuse.base.products import registered
from recuse.base.tables import read_table
from recuse.data.registry import files_in
from recuse.inputs import RATERS, RAW, Inputs

if TYPE_CHECKING:
    from recuse.catalogue.figures import Figure
    from recuse.check.facts import Finding
    from recuse.data.codes import CodedRows
    from recuse.data.doubts import Doubt

# What DuckDB writes into the folder.
WRITTEN = (
    RAW,
    RATERS,
    "ratings.parquet",
    "codes.parquet",
    "coded.parquet",
    "raters.parquet",
    "comparisons.parquet",
    "debiased.parquet",
)
DRAWN = ("bootstrap", "wild")  # settings of a spec that its intervals by formula do not need


@contextmanager
def in_folder(
    inputs: Inputs, place: str | None = None, *, reads_inputs: bool = True
) -> Iterator[str]:
    """Give a folder for tables, and let DuckDB open no files but these and, if it reads them, the
    inputs' files, within the limits of config.

    place: a folder that stays; None: one that is removed afterwards.
    """
    study = inputs.study
    named = []
    if reads_inputs:
        named = [file.path for file in inputs.files]
        named = study.collect_files() if study.asks_judges() else named
        named += study.references()
    files = [path for name in named if name not in inputs.frames for path in files_in(name)]
    if study.raters is not None:
        files.append(study.raters)
    with TemporaryDirectory() if place is None else nullcontext(place) as folder:
        limits = {
            "limit": study.shared.memory_limit,
            "longest_line": int(parse_bytes(study.shared.line_limit)),
            "outputs": [f"{folder}/{name}" for name in WRITTEN] if place is not None else [],
        }
        # Processes may share a folder.
        work = f"{folder}/work_{os.getpid()}"
        with bounded(**limits, folder=work, files=files, frames=inputs.frames):
            yield work if place is None else place


def with_imported_files(inputs: Inputs, folder: str) -> Inputs:
    """The inputs with files of ratings or verdicts, now in `folder`, if a product makes these, as
    an import does.
    """
    for product in registered():
        for key, function in product.reads.items():
            if key in inputs.study.settings.as_written():
                return resolve_name(function)(inputs, folder)
    return inputs


class Pipeline:
    """The tables of one study, made on demand in a folder."""

    MAKES: ClassVar[Mapping[str, str]] = {}  # table -> the method that makes it

    def __init__(self, inputs: Inputs, folder: str) -> None:
        """Store the study and the folder of its tables."""
        self.inputs, self.study, self.folder = inputs, inputs.study, folder
        self._done: set[str] = set()

    def path(self, table: str) -> str:
        """The path of a table that its step has written."""
        self._once(self.MAKES[table])
        return self._place(table)

    def rows(self, table: str) -> list[dict[str, str]]:
        """The rows of a table."""
        return read_table(self.path(table))

    def makes(self, table: str) -> bool:
        """Whether it makes a table of a figure, such as `tables/verdicts`."""
        return table.removeprefix("tables/") in self.MAKES

    def located(self, figure: "Figure") -> dict[str, str | list[str]]:
        """Argument -> path of the tables that a figure is drawn from."""
        return figure.located(lambda table: self.path(table.removeprefix("tables/")))

    def findings(self) -> "list[Finding]":
        """What the data support, most important first."""
        raise NotImplementedError

    def _once(self, step: str) -> None:
        if step not in self._done:
            with listening():  # steps print for the log of a job, which nobody reads here
                getattr(self, step)()
            self._done.add(step)

    def _place(self, table: str) -> str:
        return f"{self.folder}/{table}.csv"

    def _outputs(self, step: str) -> dict[str, str]:
        """Table -> path, for what a step makes."""
        return {
            table: self._place(table) for table, made_by in self.MAKES.items() if made_by == step
        }


class RatingsPipeline(Pipeline):
    """Results of ratings of single answers."""

    MAKES: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("mean_scores", "correlations"), "_describe"),
        **dict.fromkeys(
            ("idiosyncrasy", "pooled", "residuals", "identifiability", "wordings"), "_estimands"
        ),
        **dict.fromkeys(
            ("measurement_error", "reliability_curve", "breakdowns", "sensitivity"),
            "_sensitivity",
        ),
        "reliability": "_reliability",
        **dict.fromkeys(("leaderboard", "calibration", "judgments", "power"), "_rank"),
        "verdicts": "_conclude",
    }

    def __init__(self, inputs: Inputs, folder: str) -> None:
        """Check the files, and count their rows into cells; DataError about a row."""
        from recuse.data.ratings import check_ratings
        from recuse.data.shards import count_prompts
        from recuse.data.study import StudyTables

        super().__init__(inputs, folder)
        self._fits: set[str] = set()
        self._source = inputs.source()
        name, self._ratings = self.study.name, f"{folder}/ratings.parquet"
        paths = {"ratings": self._ratings, "completeness": self._place("completeness")}
        self._coded, levels, cells = check_ratings(name, self._source, **paths)
        self.prompts = count_prompts(self._coded)
        known = {"levels": levels, "find_doubts": self._find_doubts}
        self.tables = StudyTables(name, cells, self._written, **known)

    def release(self) -> None:
        """Keep the rows in files, not on the connection on which they were read."""
        self._coded.write(self.folder)
        self._coded = None

    def findings(self) -> "list[Finding]":
        """What the ratings support, most important first."""
        from recuse.steps.describe import findings

        return findings(
            **self._rated,
            **self._humans,
            of_alpha=self.study.inference.raters,
            completeness=self._place("completeness"),
            imports=self.study.import_settings(),
            named=self.study.setting("families"),
            power=self.study.power_settings(),
        )

    def fits(self, specs: Mapping[str, Mapping], *, drawn: bool = False) -> str:
        """The folder of the estimates of these specs, `estimates/<spec>.csv`, and of the tables on
        their fits.

        drawn: with their bootstraps, which the intervals of a fit do not need.
        """
        from recuse.steps.fit import fit_specs

        key = hashlib.sha256(repr((specs, drawn)).encode()).hexdigest()
        folder = f"{self.folder}/fits/{key}"
        if folder in self._fits:
            return folder
        fitted = {
            name: {key: value for key, value in spec.items() if drawn or key not in DRAWN}
            for name, spec in specs.items()
        }
        os.makedirs(f"{folder}/estimates", exist_ok=True)
        with listening():
            fit_specs(
                **self._rated,
                before=[],
                specs=fitted,
                order=list(specs),
                seed=self.study.seed,
                estimates=[f"{folder}/estimates/{name}.csv" for name in specs],
                outputs={table: f"{folder}/{table}.csv" for table in self._tables_of_fits},
            )
        self._fits.add(folder)
        return folder

    def makes(self, table: str) -> bool:
        """Whether it makes a table of a figure, such as `estimates/main` or `tables/verdicts`."""
        folder, _, name = table.rpartition("/")
        return folder == "estimates" or name in self._tables_of_fits or super().makes(table)

    def located(self, figure: "Figure") -> dict[str, str | list[str]]:
        """Argument -> path of the tables that a figure is drawn from."""
        drawn = any(table.endswith("/multiplicity") for table in figure.every_table)
        wanted = figure.specs | (_simultaneous_specs(figure.settings) if drawn else set())
        specs = {name: self.study.specs[name] for name in sorted(wanted)}

        def place(table: str) -> str:
            folder, _, name = table.rpartition("/")
            if folder == "estimates":
                return f"{self.fits(specs, drawn=drawn)}/{table}.csv"
            if name in self._tables_of_fits:
                return f"{self.fits(specs, drawn=drawn)}/{name}.csv"
            return self.path(name)

        return figure.located(place)

    def power(self, settings: Mapping) -> Iterator[dict]:
        """The rows of a table of power by other settings than those of config."""
        from recuse.inference.power import power_rows

        main = self.study.every_spec["main"]
        confidence = self.study.confidence
        reliability = self.rows("reliability")
        return power_rows(main, self.tables, reliability, **settings, confidence=confidence)

    def _rows(self) -> "CodedRows":
        from recuse.data.codes import CodedRows
        from recuse.data.ratings import repeat_counts

        coded = self._coded or CodedRows.read(self.folder)
        repeat_counts(self._source, coded)
        return coded

    def _written(self) -> list[str]:
        self._once("_write_ratings")
        return [self._ratings]

    def _write_ratings(self) -> None:
        from recuse.data.ratings import check_prompts
        from recuse.data.shards import write_sorted

        check_prompts(self._source)
        write_sorted(self._rows(), self.tables.levels, first=0, ratings=self._ratings)

    def _find_doubts(self) -> "list[Doubt]":
        from recuse.data.doubts import answers_by_judge, doubts
        from recuse.data.shards import numbered_ratings

        rows = self._rows()
        levels = self.tables.levels
        answers = answers_by_judge(rows.connection, numbered_ratings(rows), levels)
        return doubts(self.tables.cells_from, answers, levels)

    @property
    def _tables_of_fits(self) -> Mapping[str, object]:
        from recuse.model.estimates import OF_SPECS

        return OF_SPECS

    @property
    def _rated(self) -> dict:
        return {"tables": self.tables, "confidence": self.study.confidence}

    @property
    def _humans(self) -> dict[str, list[str]]:
        """Paths of the single raters' scores and of their published agreement, if there are any."""
        alphas = [str(PROJECT / "workflow" / "data" / "twin_facts.csv")]
        raters = [] if self._raw_raters is None else [f"{self.folder}/raters.parquet"]
        if raters:
            self._once("_check_raters")
        return {"raters": raters, "alphas": [] if self.study.source() is None else alphas}

    @property
    def _raw_raters(self) -> str | None:
        if self.study.imports_raters():
            return f"{self.folder}/{RATERS}"
        return self.study.raters

    def _check_raters(self) -> None:
        from recuse.data.raters import check_raters

        check_raters(
            self._raw_raters,
            self._source.registry,
            ratings=self.tables.ratings,
            output=f"{self.folder}/raters.parquet",
            declared=self._source.declared,
        )

    def _describe(self) -> None:
        from recuse.steps.describe import describe

        describe(**self._rated, outputs=self._outputs("_describe"))

    def _estimands(self) -> None:
        from recuse.steps.robustness import estimands

        settings = self.study.preference_settings()
        estimands(**self._rated, preference=settings, outputs=self._outputs("_estimands"))

    def _reliability(self) -> None:
        from recuse.steps.robustness import tabulate_reliability

        tabulate_reliability(
            tables=self.tables,
            **self._humans,
            of_alpha=self.study.inference.raters,
            reliability=self._place("reliability"),
        )

    def _sensitivity(self) -> None:
        from recuse.steps.robustness import sensitivity

        settings, outputs = self.study.distortion_settings(), self._outputs("_sensitivity")
        outputs["reliability"] = self._place("reliability")
        sensitivity(**self._rated, **self._humans, distortion=settings, outputs=outputs)

    def _rank(self) -> None:
        from recuse.steps.conclusions import rank

        settings = self.study.ranking_settings()
        fits = self.fits(settings["specs"])
        rank(
            **self._rated,
            ranking=settings,
            fitted=[f"{fits}/estimates/{name}.csv" for name in settings["specs"]],
            idiosyncrasy=self.path("idiosyncrasy"),
            reliability=self.path("reliability"),
            seed=self.study.seed,
            outputs=self._outputs("_rank") | {"debiased": f"{self.folder}/debiased.parquet"},
        )

    def _preferences(self, names: Sequence[str]) -> dict[str, str]:
        """Table -> path of biases beyond ordinary preference and over wordings, by these specs
        alone.
        """
        from recuse.steps.robustness import estimands

        settings = self.study.preference_settings()
        asked = {**settings["settings"], "idiosyncrasy": names, "identifiability": []}
        outputs = {
            table: self._place(f"{table}_of_verdicts") for table in self._outputs("_estimands")
        }
        estimands(**self._rated, preference=settings | {"settings": asked}, outputs=outputs)
        return {table: outputs[table] for table in ("idiosyncrasy", "wordings")}

    def _conclude(self) -> None:
        """Verdicts need the first robustness check and those that answer the three questions, each
        for the whole study alone.
        """
        from recuse.inference.robustness import RobustnessCheck
        from recuse.steps.conclusions import conclude

        settings = self.study.conclusions_settings()
        checks, asked = [], {}
        for check in self.study.robustness_checks():
            if not checks or check.name in settings["verdict"].values():
                spec = check.spec_with_slice("", settings["specs"])
                specs_of_check = [] if spec is None else [spec]
                checks.append(replace(check, specs=specs_of_check))
                asked[check.name] = {**settings["checks"][check.name], "specs": specs_of_check}
        settings["checks"] = asked
        specs = dict.fromkeys(spec for check in checks for spec in check.specs)
        drawn = any(check.by != RobustnessCheck.by for check in checks)
        beyond = [check for check in checks if check.table == "idiosyncrasy"]
        of_preference = dict.fromkeys(spec for check in beyond for spec in check.specs)
        fits = self.fits({name: settings["specs"][name] for name in specs}, drawn=drawn)
        read = {check.table for check in checks} - {"estimates"}
        if unknown := read - self.MAKES.keys():
            problem = f"a check reads {', '.join(sorted(unknown))}.csv; run the workflow"
            raise ConfigError.at(["inference", "verdict"], problem)
        tables = {"correlations", "reliability", *read} - {"idiosyncrasy"}
        inputs = {
            **{table: self.path(table) for table in tables},
            "estimates": [f"{fits}/estimates/{name}.csv" for name in specs],
            "not_estimable": f"{fits}/not_estimable.csv",
            "completeness": self._place("completeness"),
            **self._preferences(list(of_preference)),
        }
        conclude(
            study=self.study.name,
            inputs=inputs,
            settings=settings,
            outputs={
                "verdicts": self._place("verdicts"),
                "conclusions": self._place("conclusions"),
            },
        )


class PairsPipeline(Pipeline):
    """Results of verdicts on pairs of answers."""

    MAKES: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("regression", "strengths"), "_regress"),
        **dict.fromkeys(("choices", "verdicts"), "_judge"),
    }

    def __init__(self, inputs: Inputs, folder: str) -> None:
        """Check the files, and write their comparisons; DataError about a row."""
        from recuse.pairwise.table import normalise

        super().__init__(inputs, folder)
        study, self.comparisons = self.study, f"{folder}/comparisons.parquet"
        self._findings: list[Finding] = []
        normalise(
            study.name,
            [file.path for file in inputs.files],
            both_orders=study.setting("both_orders"),
            declared={} if study.settings.import_ is not None else study.setting("verify"),
            models=study.models(),
            comparisons=self.comparisons,
            completeness=self._place("completeness"),
        )

    def findings(self) -> "list[Finding]":
        """What the verdicts support, most important first."""
        self._once("_judge")
        return self._findings

    @property
    def _sampling(self) -> dict:
        return {
            "comparisons": self.comparisons,
            "families": self.study.families(),
            "confidence": self.study.confidence,
            "seed": self.study.seed,
        }

    def _regress(self) -> None:
        from recuse.steps.pairs import regression_tables

        outputs = self._outputs("_regress")
        regression_tables(study=self.study.name, **self._sampling, outputs=outputs)

    def _judge(self) -> None:
        from recuse.steps.pairs import choices_tables

        self._findings = choices_tables(
            study=self.study.name,
            **self._sampling,
            regression=[self.path("regression")] if "regression" in self.study.analyses() else [],
            power=self.study.inference.power.power,
            outputs=self._outputs("_judge") | {"check": self._place("check")},
        )


def pipeline(inputs: Inputs, folder: str) -> Pipeline:
    """The results of a study's files, imported into the folder if necessary.

    Raises what the steps of the workflow raise about the files; about a name that is not in config,
    with what to write for all such names.
    """
    inputs = with_imported_files(inputs, folder)
    if not inputs.study.has_ratings():
        return PairsPipeline(inputs, folder)
    try:
        return RatingsPipeline(inputs, folder)
    except DataError as error:
        from recuse.check.names import unknown_names, what_to_write

        names = unknown_names(inputs.source())
        if not names:
            raise
        models = inputs.study.shared.as_written()["models"]
        raise DataError(str(error), *what_to_write(names, models)) from error


def _simultaneous_specs(settings: object) -> set[str]:
    """The specs whose simultaneous intervals the settings of a figure name."""
    if isinstance(settings, Mapping):
        named = settings.get("simultaneous")
        own = {named["spec"]} if isinstance(named, Mapping) else set()
        return own.union(*map(_simultaneous_specs, settings.values()))
    if isinstance(settings, list | tuple):
        return set().union(*map(_simultaneous_specs, settings))
    return set()
