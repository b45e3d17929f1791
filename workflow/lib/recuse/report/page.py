"""The report of a study: one HTML file that needs nothing else, from the answer to the sources of the data."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from os.path import relpath
from pathlib import Path

from recuse.base.records import PROJECT, read_record
from recuse.base.tables import read_table
from recuse.base.words import BADGES, WORDS_ALONE, counted, setting_in_words
from recuse.inference.robustness import without_human_scores
from recuse.model.spec import in_words
from recuse.report.answers import answer_of_ratings
from recuse.report.html import facts_of, inlined, rendered, rendered_caption
from recuse.report.pairwise import answer_of_comparisons
from recuse.report.tables import EXCERPTS, EXCERPTS_WITHOUT_HUMAN_SCORES, Excerpt, Row, shown
from recuse.report.verdict import summary

PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "pygam", "scipy", "seaborn", "snakemake", "statsmodels")
READ = ("pooled", "correlations", "mean_scores")  # tables that the answer reads and the page does not show
AGAINST_THE_PAPER = ("scorecard", "claims")  # tables in their own section
# Figures that follow the answer: of each group the first that has something to show.
LEADS = (("verdicts", "verbosity_bias", "bias_jitter", "attack_success", "position"),)


def report(
    *,
    study: str,
    about: Mapping,
    figures: Mapping[str, Mapping],
    inputs: Mapping[str, Sequence[str]],
    context: Mapping,
    page: str,
) -> tuple[str, dict]:
    """Render the report of a study; returns the page and its summary.

    about: as by `recuse.catalogue.tables.report_params`. figures: of each figure its caption's template, its `tables`, and the
    `params` that the caption reads. inputs: paths of `figures`, `tables`, `estimates`, other `pages`, the `template`, and
    records (`made`) of the jobs that read the user's files. context: wildcards and config, for captions. page: path of the
    report, which links are relative to.
    """
    folder = Path(page).parent
    paths, estimates = ({Path(path).stem: path for path in inputs[kind]} for kind in ("tables", "estimates"))
    tables = {name: read_table(path) for name, path in paths.items() if name in {*EXCERPTS, *READ}}
    first, excerpts, leads = "main", EXCERPTS, LEADS
    if relative := without_human_scores(tables.get("not_estimable", ())):
        first, excerpts, leads = about["substitute"], EXCERPTS | EXCERPTS_WITHOUT_HUMAN_SCORES, LEADS
        figures = {name: _with_checks_of(tables["conclusions"], figure) for name, figure in figures.items()}
    if estimates:
        paths["main"], tables["main"] = estimates[first], read_table(estimates[first])
        tables["estimates"] = [row for path in estimates.values() for row in read_table(path)]
        tables["leaderboard"] = [row for row in tables.get("leaderboard", ()) if row["spec"] == first]
    errors = about["specs"].get(first, {}).get("covariance", "HC0")  # not shown for comparisons
    if about["specs"]:
        settings = {key: about[key] for key in ("confidence", "scales")}
        answer = answer_of_ratings(tables, first=first, relative=relative, **settings)
    else:
        answer = answer_of_comparisons(tables, confidence=about["confidence"])
    html = rendered(
        inputs["template"][0],
        study=study,
        about=about,
        answer=answer,
        relative=relative,
        first=first,
        badge=BADGES[about["subject"]["kind"]],
        facts=list(_facts(tables.get("completeness", ()))),
        **_figures([_figure(path, figures[Path(path).stem], context, folder) for path in inputs["figures"]], leads),
        **_shown(tables, excerpts, {name: relpath(path, folder) for name, path in paths.items()}, about["checks"]),
        errors=errors,
        specs=[(name, in_words(settings)) for name, settings in about["specs"].items()],
        files=[relpath(path, folder) for path in (*inputs["pages"], *inputs["tables"], *inputs["estimates"])],
        pages=[relpath(path, folder) for path in inputs["pages"]],
        planted=setting_in_words(about["origin"].get("simulate")),
        users=files_of_the_user(inputs["made"]),
        versions=versions(),
    )
    return html, summary(study, about, answer, tables.get("verdicts", ()))


def versions() -> list[tuple[str, str]]:
    """Name and version of Python and of the packages that numbers and figures come from."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def files_of_the_user(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Path, as in config, and SHA-256 of each file that the jobs with these records read."""
    contents = [read_record(path)["contents"] for path in paths]
    return [(setting_in_words(file), digest) for files in contents for file, digest in files.items() if file != PROJECT]


def _with_checks_of(conclusions: Sequence[Row], figure: Mapping) -> Mapping:
    """The figure, with only the checks in its `params` that the table of conclusions has rows of."""
    settings = figure["params"]["settings"]
    if "checks" not in settings:
        return figure
    present = {row["check"] for row in conclusions}
    checks = {name: check for name, check in settings["checks"].items() if name in present}
    return {**figure, "params": {**figure["params"], "settings": {**settings, "checks": checks}}}


def _figure(path: str, figure: Mapping, context: Mapping, folder: Path) -> dict:
    """A figure as the template shows it."""
    svg, name = Path(path).read_text("utf-8"), Path(path).stem
    caption = Path(figure["caption"]).read_text("utf-8")
    return {
        "name": name,
        **facts_of(svg, figure["params"]["subject"]["label"]),
        "picture": inlined(svg, name),
        "silent": f'id="{WORDS_ALONE}"' in svg,
        "caption": rendered_caption(caption, {**context, "params": figure["params"]}),
        "files": [relpath(Path(path).with_suffix(suffix), folder) for suffix in (".svg", ".pdf", ".png")],
        "tables": [relpath(table, folder) for table in figure["tables"]],
    }


def _figures(drawn: Sequence[dict], groups: Sequence[Sequence[str]]) -> dict[str, list[dict]]:
    """The leading figures, the first of each group that has something to show; the others; and those with nothing to show."""
    telling = {figure["name"]: figure for figure in drawn if not figure["silent"]}
    names = [next((name for name in group if name in telling), None) for group in groups]
    leads = [telling.pop(name) for name in names if name]
    return {"leads": leads, "figures": [*telling.values()], "silent": [figure for figure in drawn if figure["silent"]]}


def _shown(
    tables: Mapping[str, Sequence[Row]], excerpts: Mapping[str, Excerpt], links: Mapping[str, str], titles: Mapping[str, str]
) -> dict[str, object]:
    """Tables as the page shows them, those against the paper apart, with the counts of their verdicts.

    titles: of the robustness checks, which replace their names.
    """
    if "conclusions" in tables:
        titled = [row | {"check": titles.get(row["check"], row["check"])} for row in tables["conclusions"]]
        tables = {**tables, "conclusions": titled}
    verdicts = {}
    for name in AGAINST_THE_PAPER:
        if name in tables:
            counts = Counter(row["verdict"] for row in tables[name] if row["verdict"] and row.get("item") != "claim")
            verdicts[name] = sorted(counts.items())
    parts = [shown(name, excerpt, tables[name], links.get(name, "")) for name, excerpt in excerpts.items() if name in tables]
    return {
        "tables": [table for table in parts if table["name"] not in AGAINST_THE_PAPER],
        "against": [table for table in parts if table["name"] in AGAINST_THE_PAPER],
        "verdicts": verdicts,
    }


def _facts(completeness: Sequence[Row]) -> Iterator[str]:
    """Counts of judges, models, dimensions and ratings or verdicts."""
    for column in ("judge", "model", "dimension"):
        if count := len({row[column] for row in completeness if row.get(column)}):
            yield counted(count, column)
    for column, what in {"used": "ratings used", "comparisons": "comparisons", "verdicts": "verdicts"}.items():
        if completeness and column in completeness[0]:
            yield f"{sum(int(row[column]) for row in completeness):,} {what}"
