"""The report of a study: one HTML file that needs nothing else, from the answer to the sources of
the data.
"""

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from os.path import relpath
from pathlib import Path

from recuse.base.reasons import in_words as reason_in_words
from recuse.base.tables import read_table
from recuse.base.words import (
    BADGES,
    WORDS_ALONE,
    counted,
    with_gold_labels,
)
from recuse.inference.robustness import without_human_scores
from recuse.model.spec import Spec, spec_in_words
from recuse.report.answers import answer_of_ratings
from recuse.report.html import font_rules, inlined, picture_facts, rendered, rendered_caption
from recuse.report.pairwise import answer_of_comparisons
from recuse.report.tables import TableRows, Tables, excerpts, shown, where
from recuse.report.verdict import Point, summary

PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "scipy", "seaborn", "snakemake")
# Tables that the answer reads and the page does not show
READ = ("pooled", "correlations", "mean_scores")
# The figure after the answer: the first that has something to show.
LEADS = ("verdicts", "gold", "bias_jitter", "attack_success", "position")
COUNTS = {"used": "ratings used", "comparisons": "comparisons", "verdicts": "verdicts"}
# Folded parts of the page -> their figures and tables; the others are in the last two.
TOPICS = {
    "Robustness": (
        "judgments",
        "conclusions",
        "wordings",
        "idiosyncrasy",
        "pooled",
        "estimates",
        "gam",
        "by_dataset",
        "fig04_slices",
        "fig07_length_control",
        "fig08_ordinal",
        "fig09_llm_reference",
        "fig10_weak_models_dropped",
        "one_model_dropped",
        "sensitivity",
    ),
    "Against the paper": ("scorecard", "claims"),
    "Figures": (),
    "Tables": (),
}


def report(
    *,
    study: str,
    about: Mapping,
    figures: Mapping[str, Mapping],
    formats: Sequence[str],
    inputs: Mapping[str, Sequence[str]],
    files: Sequence[tuple[str, str]],
    context: Mapping,
    page: str,
    further: Callable[[Tables], Iterable[Point]],
) -> tuple[str, dict]:
    """Render the report of a study; returns the page and its summary.

    about: as by `recuse.workflow.page_params.report_params`. figures: of each figure its caption's
    template, its `tables`, and its `drawing`, which the caption reads; formats: of its files.
    inputs: paths of `figures`, `tables`, `estimates`, other `pages`, and the `template`. files:
    path and SHA-256 of each of the user's. context: wildcards, for captions.
    page: path of the report, which links are relative to. further: gives points on the tables of
    products.
    """
    folder = Path(page).parent
    paths = {Path(path).stem: path for path in inputs["tables"]}
    estimates = {Path(path).stem: path for path in inputs["estimates"]}
    wanted = {*excerpts(), *READ}
    tables = {name: read_table(path) for name, path in paths.items() if name in wanted}
    relative = reason_in_words(without_human_scores(tables.get("not_estimable", ())))
    first = about["substitute"] if relative else "main"
    if estimates:
        paths["main"], tables["main"] = estimates[first], read_table(estimates[first])
        tables["estimates"] = [row for path in estimates.values() for row in read_table(path)]
        tables["leaderboard"] = where(tables.get("leaderboard", ()), spec=first)
    specs = Spec.from_config(about["specs"])
    if specs:
        answer = answer_of_ratings(
            tables,
            confidence=about["confidence"],
            scales=about["scales"],
            first=first,
            relative=relative,
        )
    else:
        answer = answer_of_comparisons(
            tables, confidence=about["confidence"], further=further(tables)
        )
    drawn = [
        _figure(path, figures[Path(path).stem], formats, context, folder)
        for path in inputs["figures"]
    ]
    spec_words = {name: spec_in_words(spec) for name, spec in specs.items()}
    words = {"check": about["checks"], "spec": spec_words}
    parts = []
    for name, excerpt in excerpts(has_human_scores=not relative).items():
        if name in tables:
            file = relpath(paths[name], folder) if name in paths else ""
            parts.append(shown(name, excerpt, tables[name], file, words))
    data = [path for kind in ("pages", "tables", "estimates") for path in inputs[kind]]
    html = rendered(
        inputs["template"][0],
        about=about,
        answer=answer,
        relative=relative,
        badge=BADGES[about["subject"]["kind"]],
        facts=_facts(tables.get("completeness", ())),
        **_parts(drawn, parts),
        against=_against_the_paper(tables),
        errors=specs[first].errors.covariance if specs else "",
        specs=spec_words,
        files=[relpath(path, folder) for path in data],
        pages=[relpath(path, folder) for path in inputs["pages"]],
        users=files,
        versions=versions(),
    )
    if about["subject"].get("gold"):
        html = with_gold_labels(html)
    return html, summary(study, about, answer, tables.get("verdicts", ()))


def versions() -> list[tuple[str, str]]:
    """Name and version of Python and of the packages that numbers and figures come from."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def _figure(
    path: str, figure: Mapping, formats: Sequence[str], context: Mapping, folder: Path
) -> dict:
    """A figure as the template shows it."""
    svg, name = Path(path).read_text("utf-8"), Path(path).stem
    caption = Path(figure["caption"]).read_text("utf-8")
    return {
        "name": name,
        **picture_facts(svg, figure["drawing"]["subject"]["label"]),
        "picture": inlined(svg, name),
        "silent": f'id="{WORDS_ALONE}"' in svg,
        "caption": rendered_caption(
            caption, {**context, "params": {"figures": {name: figure["drawing"]}}}
        ),
        "files": [relpath(Path(path).with_suffix(f".{form}"), folder) for form in formats],
        "tables": [relpath(table, folder) for table in figure["tables"]],
    }


def _parts(figures: Sequence[Mapping], tables: Sequence[Mapping]) -> dict:
    """The figures with something to show, and the font that they need; the leading one, if any; and
    of each topic that has some, figures, tables, and figures with nothing to show.
    """
    pictures = [figure for figure in figures if not figure["silent"]]
    names = {figure["name"]: figure for figure in pictures}
    lead = next((names[name] for name in LEADS if name in names), None)
    topics = {title: {"figures": [], "tables": [], "silent": []} for title in TOPICS}
    for figure in pictures:
        if figure is not lead:
            topics[_topic(figure, "Figures")]["figures"].append(figure)
    for table in tables:
        topics[_topic(table, "Tables")]["tables"].append(table)
    topics["Figures"]["silent"] = [figure for figure in figures if figure["silent"]]
    present = {title: parts for title, parts in topics.items() if any(parts.values())}
    fonts = font_rules(figure["picture"] for figure in pictures)
    return {"pictures": pictures, "fonts": fonts, "lead": lead, "topics": present}


def _topic(part: Mapping, rest: str) -> str:
    """The title of the topic that shows a figure or a table."""
    return next((title for title, names in TOPICS.items() if part["name"] in names), rest)


def _against_the_paper(tables: Tables) -> dict[str, list[tuple[str, int]]]:
    """Of the scorecard and the claims, how many have each verdict."""
    counts = {}
    for name in TOPICS["Against the paper"]:
        if name in tables:
            rows = [row for row in tables[name] if row.get("item") != "claim"]
            counts[name] = sorted(Counter(row["verdict"] for row in rows if row["verdict"]).items())
    return counts


def _facts(completeness: TableRows) -> list[str]:
    """Counts of judges, models, dimensions and ratings or verdicts."""
    given = [row for row in completeness if row.get("used", row.get("verdicts")) not in ("0", "")]
    facts = []
    for column in ("judge", "model", "dimension"):
        if names := {row.get(column, "") for row in given} - {""}:
            facts.append(counted(len(names), column))
    for column, what in COUNTS.items():
        if completeness and column in completeness[0]:
            facts.append(f"{sum(int(row[column]) for row in completeness):,} {what}")
    return facts
