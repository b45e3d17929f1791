"""recuse in Python: from a table of ratings, or of verdicts on two answers, to biases and verdicts,
without files.

Rows are imported and checked by the code of the workflow, and every number is the workflow's:

>>> import recuse
>>> judged, human = recuse.example()
>>> ratings = recuse.ratings(
...     judged, judge="grader", model="candidate", prompt="item", dimension="metric",
...     rating="score", missing="ERROR",
...     references=human, human=["first", "second"], scale=(1, 10),
...     families={"GPT": ["gpt-4.1", "gpt-4.1-mini"],
...               "Claude": ["claude-sonnet-4", "claude-haiku-4"]},
... )
>>> ratings.judges
['claude-haiku-4', 'claude-sonnet-4', 'gpt-4.1', 'gpt-4.1-mini', 'qwen3-32b']
>>> recuse.verdict(ratings).frame[["term", "verdict"]].head(2)
           term      verdict
0       gpt-4.1  established
1  gpt-4.1-mini    not shown

An object keeps its tables in a folder of temporary files, which is removed with it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

from recuse.arguments import (
    Columns,
    Data,
    OneColumn,
    Source,
    argument_named,
    configured,
    families_as_named,
    is_configuration,
    listed,
    passed_arguments,
    plain,
    tell,
)
from recuse.base.errors import ConfigError, DataError, did_you_mean
from recuse.base.places import PROJECT
from recuse.base.products import register
from recuse.base.settings import named_as_arguments
from recuse.base.words import enumerated, with_gold_labels
from recuse.config.load import with_study
from recuse.data.registry import COMPARED, DEFAULT, RATED
from recuse.objects import Pairs, Ratings
from recuse.products import PRODUCTS
from recuse.results import FitResult, Result, fit_result, frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

register(PRODUCTS)


def ratings(
    data: Data,
    *,
    judge: OneColumn | None = None,
    model: OneColumn | None = None,
    prompt: str | None = None,
    rating: Columns | None = None,
    human: Columns | None = None,
    dimension: OneColumn | None = None,
    dataset: OneColumn | None = None,
    length: str | None = None,
    labelling_probability: str | float | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    trusted: str | Sequence[str] = (),
    scale: tuple[float, float] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
    missing: str | float | Sequence[str | float] = (),
    values: Mapping[str, float] | None = None,
    decimal: str | None = None,
    step: float | None = None,
    round: bool = False,
    repeats: str | None = None,
    references: Data | None = None,
    rater: str | None = None,
    gold: bool = False,
    format: str | None = None,
    study: str | None = None,
    confidence: float | None = None,
) -> "Ratings":
    """Read and check ratings of single answers.

    data: a pandas or polars DataFrame, an Arrow table, a file in any format that recuse reads, or
    several files; or a configuration such as `mine.yaml` (`study` chooses one of its studies).

    Columns. Each of judge, model, prompt, rating, dimension, dataset and length names a column; the
    default is its own name.
    judge: also `{"value": "gpt-4o"}`, one name for all rows, and so for model, dimension
    and dataset.
    rating: also `["a", "b"]`, a column for each judge, model or dimension; or `{judge: {model:
    column}}`, one for each judge and model.
    length: the tokens of the answer.
    labelling_probability: the probability with which the answer was chosen for a human score; one
    number if answers were drawn at random. With `references`, it may also be a column there, of
    this name.
    human: human scores, on the scale of the ratings. With `references`, the column there, or the
    columns of several raters.
    references: a table of human scores, with the same columns for model and prompt.
    rater: the column of the rater in `references`, if each row has one rater's score.
    gold: the human scores are labels by a key, right or wrong.

    Values.
    scale: lowest and highest rating; scales: the same by dimension. Without either, the scale is
    taken from the data, with a warning.
    missing: values that mark a failed judgment or a missing human score.
    values: numbers that words stand for, such as {"yes": 1, "no": 0}, also in human scores.
    decimal: "," for texts such as 7,5.
    step: the step of the ratings, such as 0.5, if they do not show it. round: round scores to the
    nearest step (default: 1).
    repeats: what to do if a judge rated an answer several times: mean, first, last or error (the
    default).
    format: the format of the files; by default it is recognised.

    The study.
    families: the models of each family; a model in none is a family of its own.
    trusted: judges whose ratings count even if `check` doubts them.
    study: its name in results. confidence: the level of intervals; default: 0.9.

    Raises DataError for the first invalid row, with its column and number (from 1), and ConfigError
    for an invalid argument.
    """
    if is_configuration(data):
        return Ratings(configured(ratings, locals(), RATED))
    columns = {
        "judge": judge,
        "model": model,
        "prompt": prompt,
        "rating": rating,
        "dimension": dimension,
        "dataset": dataset,
        "length": length,
        "labelling_probability": labelling_probability,
    }
    if scale is not None and scales is not None:
        raise ConfigError("found scale and scales; pass one of them")
    words = {"missing": listed(missing) or None, "values": values, "decimal": decimal}
    source = Source(
        data,
        columns,
        **words,
        step=step,
        round=round or None,
        repeats=repeats,
        gold=gold or None,
        format=format,
    )
    if references is None:
        source.name_column("human", human)
    else:
        keys = {key: columns[key] for key in ("model", "prompt", "dimension", "dataset")}
        source.refer_to(references, {**keys, "rating": human, "rater": rater}, **words)
    with named_as_arguments(argument_named):
        given = scales or ({DEFAULT: scale} if scale is not None else source.scales())
        settings = {"scales": plain(given), **families_as_named(families)}
        if trusted:
            settings["trusted"] = listed(trusted)
        read_in = Ratings(source.inputs(RATED, study or "ratings", settings, confidence))
    if unused := {name for names in (families or {}).values() for name in names} - {
        *read_in.models,
        *read_in.judges,
    }:
        tell(
            "families: neither a judge nor a model of these ratings is named"
            f" {enumerated(sorted(unused))}"
        )
    return read_in


def pairs(
    data: Data,
    *,
    judge: str | None = None,
    item: str | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    outcome: Columns | None = None,
    order: str | None = None,
    human: str | None = None,
    length_a: str | None = None,
    length_b: str | None = None,
    condition: str | None = None,
    experiment: str | None = None,
    vote: str | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    missing: str | float | Sequence[str | float] = (),
    values: Mapping[str, str] | None = None,
    references: Data | None = None,
    both_orders: bool = True,
    format: str | None = None,
    study: str | None = None,
    confidence: float | None = None,
) -> "Pairs":
    """Read and check verdicts on two answers.

    judge, item, model_a, model_b, ...: names of columns; the default is their own name.
    item: the question.
    outcome: `a`, `b`, `tie`, `error`, or the model that won. It may be in one column, one for each
    judge (`["gpt-4o", "claude"]`) or one for each order (`{"ab": "first", "ba": "second"}`).
    order: `ab`, `ba`, or the model that was shown first.
    human: the humans' verdict, like `outcome`, here or in `references`, a table with the same
    columns for item and models.
    length_a, length_b: words of the answers.
    both_orders: whether each pair must be shown in both orders.
    missing, values: as for `ratings`, such as {"left": "a"}, also in the humans' verdicts.
    Other arguments, and the errors, are those of `ratings`.

    >>> import pandas as pd
    >>> verdicts = pd.DataFrame(
    ...     {"judge": "A", "item": [1, 1], "model_a": "A", "model_b": "B", "order": ["ab", "ba"],
    ...      "outcome": ["a", "tie"]}
    ... )
    >>> recuse.pairs(verdicts)
    Pairs: 2 verdicts by 1 judge on 1 question, of 2 models; no human verdicts
    """
    if is_configuration(data):
        return Pairs(configured(pairs, locals(), COMPARED))
    columns = {
        "judge": judge,
        "item": item,
        "model_a": model_a,
        "model_b": model_b,
        "outcome": outcome,
        "order": order,
        "length_a": length_a,
        "length_b": length_b,
        "condition": condition,
        "experiment": experiment,
        "vote": vote,
    }
    words = {"missing": listed(missing) or None, "values": values}
    source = Source(data, columns, **words, format=format)
    if references is None:
        source.name_column("human", human)
    else:
        keys = {key: columns[key] for key in ("item", "model_a", "model_b", "experiment")}
        source.refer_to(references, {**keys, "human": human}, **words)
    settings = {"both_orders": both_orders, **families_as_named(families)}
    with named_as_arguments(argument_named):
        return Pairs(source.inputs(COMPARED, study or "pairs", settings, confidence))


def check(data: "Ratings | Pairs") -> Result:
    """Say before any fit what the data support: which biases, how small, and what is wrong.

    It prints as the page of `recuse check`.

    >>> print(str(recuse.check(ratings))[:69])
    ratings: what these ratings support
    <BLANKLINE>
      supports: self-bias of 5 of 5
    """
    from recuse.check.facts import CHECK
    from recuse.check.page import check_page

    _check_is(data, Ratings | Pairs, "check")
    findings = data.findings()
    kind = {"of_ratings": isinstance(data, Ratings), "gold": data.has_gold_labels}
    page = check_page(data.study, findings, **kind)
    rows = ({"study": data.study, **finding.row} for finding in findings)
    draw = _drawing(data, "mean_scores") if isinstance(data, Ratings) else None
    return Result(frame(CHECK, rows), page, draw=draw)


def fit(ratings: "Ratings", spec: str = "main", **settings: Any) -> FitResult:
    """Fit Equation 1 or another spec of the configuration to the ratings.

    spec: its name, such as `main` (Equation 1), `clustered` or `model_effects`.
    settings: changes to the spec, such as `slice="dimension"`, `covariance="CR1"`, `terms=[...]` or
    `length="prompt"`; see docs/configuration.md. ConfigError for an unknown one.
    The frame has the rows of the workflow's estimates/<spec>.csv.

    >>> biases = recuse.fit(ratings, covariance="CR1").biases
    >>> biases[["quantity", "term", "estimate"]].round(3).head(2)
        quantity             term  estimate
    0  self_bias   claude-haiku-4     0.014
    1  self_bias  claude-sonnet-4     0.092
    """
    _check_is(ratings, Ratings, "fit")
    with ratings.results() as results:
        study = results.study
        specs = study.specs
        _check_named("spec", spec, specs, "specs of the configuration")
        name, wanted = spec, specs[spec]
        if settings:
            name, wanted = "changed", {**wanted, **plain(settings)}
            shared = with_study(study.shared.as_written(), specs={name: wanted})
            wanted = shared.specs_by_name[name]
        fitted = fit_result(study, name, wanted, results.fits({name: wanted}, drawn=True))
    if "slice" in wanted:
        return fitted
    return replace(fitted, draw=lambda: _plot_fit(ratings, name, wanted))


def verdict(data: "Ratings | Pairs") -> Result:
    """Give a verdict on each judge and family, what it rests on, and what to do.

    This is the table of the report. The frame has the rows of the workflow's tables/verdicts.csv,
    with sizes as shares of the scale.
    """
    from recuse.base.reasons import WITHOUT_PEOPLE, code, in_words
    from recuse.inference.verdict import VERDICTS
    from recuse.model.estimable import not_estimable
    from recuse.model.spec import Spec
    from recuse.pipeline import RatingsPipeline
    from recuse.report.answers import NO_TRUTH
    from recuse.report.verdict import (
        POINTS,
        PageAnswer,
        further_biases,
        headline,
        scale_unit,
        shown_verdicts,
        table_as_texts,
    )

    _check_is(data, Ratings | Pairs, "verdict")
    lacking = None
    with data.results() as results:
        rows = results.rows("verdicts")
        if isinstance(results, RatingsPipeline):
            lacking = not_estimable(Spec.of("main"), results.tables)
    unit = scale_unit(results.study.setting("scales")) if isinstance(data, Ratings) else POINTS
    relative = code(lacking or "") in WITHOUT_PEOPLE
    shown = headline(rows, unit, relative=relative)
    answer = PageAnswer("", shown, **shown_verdicts(rows, unit))
    table = table_as_texts(answer)
    notes = [f"Sizes are in {unit.name}."] if table.rows else []
    if relative:
        notes.append(NO_TRUTH.format(in_words(lacking)))
    said = with_gold_labels if data.has_gold_labels else str
    return Result(
        frame(VERDICTS, rows),
        said(f"{data.study}: {answer.headline}"),
        [said(heading) for heading in table.headings],
        [[said(cell) for cell in row] for row in table.rows],
        [*notes, *map(said, further_biases(rows, unit)), *map(said, answer.untested)],
        draw=_drawing(data, "verdicts"),
    )


def leaderboard(ratings: "Ratings") -> Result:
    """Rank models by their mean rating, with and without the biases, with intervals.

    The setting `debias` says which biases are removed (default: C's). The frame has the rows of the
    workflow's tables/leaderboard.csv. `scores` is raw, debiased, leave_self_out, leave_family_out,
    human or, if only some answers have human scores, as_people. `slice` is "" for all dimensions
    together.
    """
    from recuse.inference.leaderboard import LEADERBOARD
    from recuse.report.answers import leaderboard_section
    from recuse.report.verdict import scale_unit

    _check_is(ratings, Ratings, "leaderboard")
    with ratings.results() as results:
        rows = results.rows("leaderboard")
        tables = {"leaderboard": rows, "mean_scores": results.rows("mean_scores")}
    study, first = results.study, rows[0]["spec"] if rows else ""
    unit = scale_unit(study.setting("scales"))
    section = leaderboard_section(tables, first, unit, study.confidence)
    shown = ("No two models can be ranked.",)
    if section is not None:
        shown = section.sentence, section.headings, section.rows
    words, *table = shown
    draw = _drawing(ratings, "leaderboard")
    return Result(frame(LEADERBOARD, rows), f"{ratings.study}: {words}", *table, draw=draw)


def power(
    ratings: "Ratings",
    *,
    self_bias: float | None = None,
    power: float | None = None,
    prompts: Sequence[int] | None = None,
    raters: Sequence[int] | None = None,
    copies: Sequence[int] | None = None,
) -> Result:
    """Say how small a self-bias studies like this one would find, and how many prompts they need.

    self_bias: the bias to find with probability `power`, as a share of the scale.
    prompts: numbers of prompts. raters: numbers of human raters of an answer.
    copies: numbers of models and judges, as multiples of those of this study.
    Defaults are the configuration's; without arguments, the rows are those of the workflow's
    tables/power.csv. `detectable` is the smallest bias that is found.

    >>> rows = recuse.power(ratings, prompts=[200], copies=[1]).frame
    >>> rows[["estimand", "raters", "detectable", "floor"]].round(3).head(1)
               estimand  raters  detectable  floor
    0  A against humans       1       0.066  0.063
    """
    from recuse.inference.power import POWER

    _check_is(ratings, Ratings, "power")
    given = passed_arguments(
        {
            "self_bias": self_bias,
            "power": power,
            "prompts": prompts,
            "raters": raters,
            "copies": copies,
        }
    )
    with ratings.results() as results:
        study = results.study
        # This refuses what does not fit.
        with_study(study.shared.as_written(), inference={"power": given})
        settings = {**study.inference.power.as_written(), **given}
        rows = [{"study": ratings.study, **row} for row in results.power(settings)]
    title = (
        f"{ratings.study}: self-bias that would be found with {100 * settings['power']:g} % power,"
        f" as a share of the scale, and prompts needed to find {settings['self_bias']:g}"
    )
    columns = ("estimand", "models", "raters", "prompts", "detectable", "prompts_needed")
    cells = [[_short(row.get(column)) for column in columns] for row in rows]
    headings = [column.replace("_", " ") for column in columns]
    return Result(frame(POWER, rows), title, headings, cells, draw=_drawing(ratings, "power"))


def plot(data: "Ratings | Pairs", figure: str = "verdicts") -> "Figure":
    """Draw a figure of the report with matplotlib.

    figure: `verdicts`, `self_family_bias`, `mean_scores`, `correlations`, `slices`, `leaderboard`,
    `power`, `idiosyncrasy` or another one of the report that needs no other tables; default:
    `verdicts`. Needs the extra `plot`.
    """
    from recuse.catalogue.figures import figures

    _check_is(data, Ratings | Pairs, "plot")
    with data.results() as results:
        study = results.study
        entries = {
            name: entry
            for name, entry in figures(study).items()
            if entry.applies(study) and all(map(results.makes, entry.every_table))
        }
        names = {
            name.partition("_")[2] if name.startswith("fig") else name: name for name in entries
        }
        name = names.get(figure, figure)
        _check_named("figure", name, {*entries, *names}, "figures of these data")
        entry = entries[name]
        about = {"subject": entry.drawing(study)["subject"], "settings": entry.settings}
        return _drawn(entry.draw, results.located(entry), about)


def _plot_fit(ratings: "Ratings", name: str, wanted: Mapping) -> "Figure":
    """Draw the biases of a spec with these settings."""
    from recuse.catalogue.figures import by_equation_1
    from recuse.model.spec import Spec

    with ratings.results() as results:
        study, folder = results.study, results.fits({name: wanted}, drawn=True)
        entry = by_equation_1(study)
        settings = {
            "spec": name,
            "simultaneous": None,
            "confidence": study.confidence,
            "covariance": Spec.of(name, **wanted).errors.covariance,
        }
        paths = {"estimates": f"{folder}/estimates/{name}.csv"}
        paths |= {table: f"{folder}/{table}.csv" for table in ("not_estimable", "multiplicity")}
        about = {"subject": entry.drawing(study)["subject"], "settings": settings}
        return _drawn(entry.draw, paths, about)


def _drawn(draw: str, paths: Mapping, about: Mapping) -> "Figure":
    try:
        from recuse.plot.style import Drawing, drawn
    except ModuleNotFoundError as error:
        raise DataError(
            f"plot: {error.name} is not installed; install it: pip install 'recuse[plot]'"
        ) from error
    made = drawn(draw, paths, **about)
    made.__class__ = Drawing
    return made


def example() -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return simulated ratings by five judges, some of them biased, and scores by two humans."""
    import pandas as pd

    paths = (PROJECT / "docs" / "example" / name for name in ("judged.csv", "human.csv"))
    judged, human = (pd.read_csv(path) for path in paths)
    return judged, human


def _check_is(data: object, kinds: type | UnionType, name: str) -> None:
    if not isinstance(data, kinds):
        made_by = " or ".join(
            f"recuse.{kind.__name__.lower()}(...)" for kind in get_args(kinds) or [kinds]
        )
        raise DataError(f"{name}: found {type(data).__name__}; it is for what {made_by} returns")


def _check_named(argument: str, name: str, known: Iterable[str], place: str) -> None:
    if name not in (known := [*known]):
        raise ConfigError(f"{argument}: '{name}' is none of the {place}{did_you_mean(name, known)}")


def _drawing(data: "Ratings | Pairs", figure: str) -> "Callable[[], Figure]":
    """What draws a figure of the report."""
    return lambda: plot(data, figure)


def _short(value: object) -> str:
    """A value of a table, with three decimals unless it is whole."""
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.{0 if value.is_integer() else 3}f}"
    return "" if value is None else str(value)
